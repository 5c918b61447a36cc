"""What becomes of a request: its plan, its constraint, and what it says of itself afterwards."""

from __future__ import annotations

import json
from typing import Any

import pytest
from vllm.entrypoints.serve.tokenize.protocol import TokenizeChatRequest
from vllm.exceptions import VLLMValidationError
from vllm.renderers import ChatParams
from vllm.v1.structured_output.backend_xgrammar import validate_xgrammar_grammar
from xgrammar import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo

from raif_integrations.vllm_plugin import json_grammars, vllm_api
from raif_integrations.vllm_plugin.adjusting import (
    apply,
    bind_rendered,
    bind_request,
    give_back_text,
    plan_of,
)
from raif_integrations.vllm_plugin.binding import Decoding, binding_of
from raif_integrations.vllm_plugin.options import PROMPTING_VARIABLE, is_trained, prompting
from raif_integrations.vllm_plugin.plan import CHAT
from raif_integrations.vllm_plugin.renderer import shown
from tests.vllm_plugin.chat_requests import (
    END,
    NOW,
    PERSON,
    TEXT,
    TIME,
    TREE,
    WEATHER,
    bound,
    chat,
    responses,
    tool,
)

PERSON_TEXT = {"format": {"type": "json_schema", **PERSON["json_schema"]}}


class _Model:
    """As much of vLLM's model configuration as a binding needs."""

    model = "/models/llama-raif"
    served_model_name = "llama"

    def try_get_generation_config(self) -> dict[str, Any]:
        return {"eos_token_id": [2, 3]}


class _Tokenizer:
    eos_token_id = 2

    def decode(self, ids: list[int]) -> str:
        return "".join(f"<{number}>" for number in ids)


MODEL = vllm_api.served_model(_Model(), _Tokenizer())


def sampling(request: Any) -> Any:
    return request.to_sampling_params(64, {})


@pytest.fixture
def carrying(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests travel with their chat parameters, as on a server."""
    for request in (chat(), responses()):
        monkeypatch.setattr(type(request), "build_chat_params", type(request).build_chat_params)
    vllm_api.carry_requests()


@pytest.fixture(autouse=True)
def decoding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Decoding, "is_on", True)


# Constraints


@pytest.mark.parametrize("make", [chat, responses])
def test_a_grammar_takes_the_place_of_json_guidance(make: Any) -> None:
    request = make(response_format=PERSON) if make is chat else make(text=PERSON_TEXT)
    request.stop = ["\n"]
    request.stop_token_ids = [9]
    apply(request, bound(request), _Tokenizer())
    params = sampling(request)
    assert params.structured_outputs.grammar.startswith("root ::=")
    assert params.structured_outputs.json is None
    assert params.include_stop_str_in_output
    assert not params.skip_special_tokens
    assert not params.stop
    assert not params.stop_token_ids


def test_a_stop_token_of_the_client_ends_a_reply() -> None:
    request = chat(tools=[WEATHER, TIME], stop_token_ids=[9])
    binding = bound(request)
    apply(request, binding, _Tokenizer())
    assert sampling(request).stop_token_ids == [9]
    assert binding.endings == (END, "<9>")


def test_stop_strings_stay_where_text_may_come() -> None:
    request = chat(tools=[WEATHER, TIME], stop=["Observation:"])
    apply(request, bound(request), _Tokenizer())
    assert sampling(request).stop == ["Observation:"]


def test_adjusting_twice_changes_nothing() -> None:
    request = chat(tools=[WEATHER])
    binding = bound(request)
    apply(request, binding, _Tokenizer())
    once = request.model_dump()
    apply(request, binding, _Tokenizer())
    assert request.model_dump() == once


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"tools": [WEATHER], "tool_choice": "none"},
        {"response_format": {"type": "text"}},
        {"response_format": {"type": "json_object"}},
        {"structured_outputs": {"regex": "a+"}},
        {
            "response_format": {
                "type": "structural_tag",
                "format": {"type": "grammar", "grammar": "root ::= [a]"},
            }
        },
    ],
)
def test_other_requests_keep_what_they_ask_for(fields: dict[str, Any]) -> None:
    request = chat(**fields)
    before = request.model_dump()
    apply(request, bound(request), _Tokenizer())
    assert request.model_dump() == before


@pytest.mark.parametrize("keywords", [{}, {"uniqueItems": True}], ids=["recursive", "unknown to xgrammar"])
def test_json_is_written_where_raif_cannot_go(keywords: dict[str, Any]) -> None:
    parameters = TREE["function"]["parameters"]
    schema = {**parameters, "properties": {**parameters["properties"], "t": {"type": "array", **keywords}}}
    request = chat(response_format={"type": "json_schema", "json_schema": {"name": "t", "schema": schema}})
    binding = bound(request)
    apply(request, binding, _Tokenizer())
    outputs = sampling(request).structured_outputs
    assert outputs.json is None
    validate_xgrammar_grammar(sampling(request))
    assert binding.plan.block is not None
    assert "JSON Schema" in binding.plan.block
    tree = tool("tree", **schema["properties"])
    tree["function"]["parameters"] = schema
    forced = chat(tools=[tree], tool_choice="required")
    apply(forced, bound(forced), _Tokenizer())
    assert sampling(forced).structured_outputs.grammar == outputs.grammar


@pytest.mark.parametrize(
    ("schema", "written"),
    [({"type": "array"}, "[1]"), ({"anyOf": [{"type": "string"}]}, '"a"'), (True, "null")],
)
def test_a_schema_xgrammar_cannot_read_admits_what_it_may_ask_for(
    schema: Any, written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_grammars, "_LONGEST_SCHEMA", 0)
    assert _accepts(json_grammars.json_grammar(schema), written)
    assert not _accepts(json_grammars.json_grammar({"type": "object"}), written)


def _accepts(grammar: str, text: str) -> bool:
    tokens = TokenizerInfo([chr(number) for number in range(128)])
    matcher = GrammarMatcher(GrammarCompiler(tokens).compile_grammar(Grammar.from_ebnf(grammar)))
    return bool(matcher.accept_string(text)) and matcher.is_completed()


@pytest.mark.parametrize("make", [chat, responses])
def test_extra_fields_are_no_sign_of_another_api(make: Any) -> None:
    request = make(max_output_tokens=5)
    assert vllm_api.is_responses(request) is (make is responses)
    assert bound(request).plan == CHAT


def test_fields_vllm_does_not_know_may_be_plain_data() -> None:
    request = TokenizeChatRequest.model_validate(
        {"messages": [{"role": "user", "content": "-"}], "response_format": PERSON, "model": "m"}
    )
    assert vllm_api.response_format_of(request) == PERSON


@pytest.mark.parametrize("word", ["auto", "none", "required"])
def test_a_tool_choice_that_is_a_string_is_a_word(word: str) -> None:
    request = chat(tools=[tool(word, a={"type": "string"}), NOW], tool_choice=word)
    assert bound(request).plan.is_chat is (word == "none")
    assert (f"{word} —" in (bound(request).plan.block or "")) is (word != "none")


def test_images_may_be_seen_while_tools_are_not_to_be_called() -> None:
    plan = plan_of(chat(tools=[WEATHER], tool_choice="none"), ())
    image = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}
    messages, params = shown(plan, [image], ChatParams(chat_template_kwargs={"tools": [1]}))
    assert messages == [image]
    assert params.chat_template_kwargs["tools"] is None


def test_equal_requests_share_a_plan() -> None:
    first, second = chat(tools=[WEATHER, TIME]), chat(tools=[WEATHER, TIME])
    assert plan_of(first, ()) is plan_of(second, ())
    assert plan_of(first, ()) is not plan_of(chat(tools=[TIME, WEATHER]), ())


def test_the_binding_is_no_part_of_the_request() -> None:
    request = chat(tools=[WEATHER])
    before = request.model_dump_json()
    binding = bound(request)
    assert request.model_dump_json() == before
    assert binding_of(request.model_copy()) is binding
    assert binding_of(chat()) is None


def test_a_server_without_the_tool_parser_leaves_requests_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Decoding, "is_on", False)
    assert bind_request(chat(response_format=PERSON), ChatParams(), MODEL).plan is CHAT


# Responses


def test_a_response_repeats_its_text(carrying: None) -> None:
    request = responses(text=PERSON_TEXT)
    apply(request, bound(request), _Tokenizer())
    assert request.text is None
    sampling(request)
    request.build_chat_params(None, "auto")
    assert request.text.format.type == "json_schema"
    give_back_text(request)
    assert request.text.format.type == "json_schema"


@pytest.mark.parametrize("make", [chat, responses])
def test_the_renderer_gets_the_request(carrying: None, make: Any) -> None:
    vllm_api.carry_requests()
    request = make()
    params = request.build_chat_params(None, "auto").with_defaults({"tools": None, "x": 1})
    carried, plain = vllm_api.take_request(params)
    assert carried is request
    assert plain.response_format is None
    assert vllm_api.take_request(plain) == (None, plain)


# Errors


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        (
            {"response_format": {**PERSON, "json_schema": {"name": "x", "schema": {"type": 1}}}},
            "response_format",
        ),
        ({"tools": [tool("x", a={"type": "strin"})]}, "tools"),
        ({"tools": [NOW, NOW]}, "tools"),
        ({"tools": [tool("a=b"), NOW]}, "tools"),
        ({"tools": [tool(" "), NOW]}, "tools"),
    ],
)
def test_what_cannot_be_used_is_the_clients_error(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(VLLMValidationError) as caught:
        plan_of(chat(**fields), ())
    assert caught.value.parameter == field


def test_a_message_cannot_be_continued_with_tools() -> None:
    continued = ChatParams(chat_template_kwargs={"continue_final_message": True})
    with pytest.raises(VLLMValidationError, match="continue_final_message"):
        bind_request(chat(tools=[WEATHER]), continued, MODEL)
    assert bind_request(chat(response_format=PERSON), continued, MODEL).plan is CHAT


def test_a_prompt_that_came_ready_is_bound_by_its_request(carrying: None) -> None:
    request = chat(tools=[WEATHER])
    binding = bind_rendered(request, _Tokenizer())
    assert binding.plan is plan_of(request, ())
    assert binding.endings == ("<2>",)
    assert binding_of(request) is binding


def test_where_prompts_are_rendered_in_another_way_tools_are_refused() -> None:
    with pytest.raises(VLLMValidationError, match="chat template"):
        bind_rendered(chat(tools=[WEATHER]), _Tokenizer())
    assert bind_rendered(chat(response_format=PERSON), _Tokenizer()).plan is CHAT
    assert bind_rendered(chat(tools=[WEATHER], tool_choice="none"), _Tokenizer()).plan is CHAT


def test_the_tokens_with_which_the_model_ends_a_reply_are_known() -> None:
    request = chat(stop_token_ids=[9])
    assert bind_request(request, ChatParams(), MODEL).endings == ("<2>", "<3>")


# Prompts


@pytest.mark.parametrize(
    ("setting", "model", "trained"),
    [
        ("auto", None, True),
        ("auto", "llama", True),
        ("auto", "other", False),
        ("auto", "my-raif-adapter", True),
        ("primer", "my-raif-adapter", False),
        ("trained", "other", True),
    ],
)
def test_names_and_the_setting_decide_how_a_schema_is_shown(setting: Any, model: Any, trained: bool) -> None:
    assert is_trained(setting, model, MODEL.names) == trained


@pytest.mark.parametrize(("given", "setting"), [("", "auto"), ("Primer", "primer"), ("nonsense", "auto")])
def test_the_setting_comes_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, given: str, setting: str
) -> None:
    monkeypatch.setenv(PROMPTING_VARIABLE, given)
    assert prompting() == setting


HISTORY: list[dict[str, Any]] = [
    {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
    {
        "role": "assistant",
        "tool_calls": [{"id": "a", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}],
    },
    {"role": "tool", "tool_call_id": "a", "content": "rain"},
]
PARAMS = ChatParams(chat_template_kwargs={"tools": [WEATHER]})


def test_the_last_user_turn_gets_the_cue_and_the_template_no_tools() -> None:
    plan = plan_of(chat(tools=[WEATHER, TIME]), ())
    turns, params = shown(plan, [{"role": "user", "content": "Weather? </tools>"}], PARAMS)
    assert turns == [{"role": "user", "content": f"Weather? < /tools>\n\n{plan.block}"}]
    assert params.chat_template_kwargs["tools"] is None


@pytest.mark.parametrize("fields", [{}, {"tools": [WEATHER], "tool_choice": "none"}])
def test_earlier_calls_are_shown_as_raif(fields: dict[str, Any]) -> None:
    turns, _ = shown(plan_of(chat(**fields), ()), HISTORY, PARAMS)
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    assert turns[1]["content"] == "<tool_call>\nget_weather\ncity=Oslo\n</tool_call>"
    assert turns[2]["content"] == "<tool_response>\nrain\n</tool_response>"


def test_plain_messages_stay_the_same_objects() -> None:
    messages = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]
    turns, params = shown(plan_of(chat(), ()), messages, PARAMS)
    assert turns[0] is messages[0]
    assert params is PARAMS


def test_an_image_beside_a_schema_is_the_clients_error() -> None:
    messages = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]
    with pytest.raises(VLLMValidationError, match="image_url"):
        shown(plan_of(chat(response_format=PERSON), ()), messages, PARAMS)


def test_a_plan_holds_what_a_request_says() -> None:
    plan = plan_of(chat(tools=[WEATHER, TIME], parallel_tool_calls=False), ())
    assert plan.block is not None
    assert "get_weather — Calls get_weather. (city:s)" in plan.block
    assert plan_of(chat(tools=[WEATHER, TIME], model="llama"), ()).block != plan.block
    assert json.dumps(TEXT) not in plan.block
