"""What the object is for callbacks, caches, tracing and serialisation."""

import copy
import json
import pickle

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.load import dumpd, dumps, load
from langchain_core.rate_limiters import InMemoryRateLimiter
from pydantic import SecretStr, ValidationError

from raif_integrations.errors import ConfigurationError
from raif_integrations.langchain import ChatRaifVLLM
from tests.langchain.chats import chat, get_weather
from tests.support.scripted_engine import ScriptedEngine

URL = "http://127.0.0.1:9/v1"


def _load(written, **settings):
    return load(written, valid_namespaces=["raif_integrations"], allowed_objects="all", **settings)


def test_neither_model_nor_server_nor_engine():
    with pytest.raises(ConfigurationError, match="Neither model nor base_url"):
        ChatRaifVLLM()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"modle": "m"}, "modle"),
        ({"model": "m", "wire": "xml"}, "wire"),
        ({"model": "m", "prompting": "none"}, "prompting"),
        ({"model": "m", "repair_attempts": -1}, "repair_attempts"),
    ],
)
def test_an_argument_that_cannot_be_is_named(settings, message):
    with pytest.raises(ValidationError, match=message):
        ChatRaifVLLM(**settings)


@pytest.mark.parametrize("settings", [{"temperature": -1}, {"top_p": 2}, {"max_tokens": 0}])
def test_sampling_out_of_range_is_refused_at_once(settings):
    with pytest.raises(ConfigurationError, match=next(iter(settings))):
        ChatRaifVLLM(model="m", **settings)


def test_serialised_and_read_again_without_the_key(monkeypatch):
    model = ChatRaifVLLM(
        base_url=URL,
        adapter="raif",
        api_key=SecretStr("hush"),
        default_headers={"X-Key": "hush"},
        temperature=0.0,
        stop=["a"],
        wire="raif",
    )
    written = dumpd(model)
    assert "hush" not in json.dumps(written) + repr(model) + str(model.asdict())
    monkeypatch.setenv("VLLM_API_KEY", "hush")
    again = load(
        written, valid_namespaces=["raif_integrations"], allowed_objects="all", secrets_from_env=True
    )
    assert isinstance(again, ChatRaifVLLM)
    assert again.asdict() == model.asdict()
    assert again.api_key.get_secret_value() == "hush"


def test_an_engine_is_never_serialised_and_must_be_given_again():
    written = dumpd(chat([]))
    assert "engine" not in written["kwargs"]
    with pytest.raises(ConfigurationError, match="Neither model nor base_url"):
        _load(written)


def test_a_bound_model_can_be_serialised():
    bound = ChatRaifVLLM(base_url=URL, model="m").bind_tools([get_weather], tool_choice="any")
    again = _load(dumpd(bound))
    assert again.kwargs == bound.kwargs


def test_copies_share_the_engine():
    model = ChatRaifVLLM(base_url=URL, model="m")
    engine = model._open_engine()
    assert copy.deepcopy(model)._open_engine() is engine
    assert pickle.loads(pickle.dumps(model))._open_engine() is engine
    assert model.model_copy(update={"model": "other"})._open_engine() is not engine


def test_replies_are_cached_by_everything_that_shapes_them():
    cache = InMemoryCache()
    model = chat(["one", "two", "three"], cache=cache)
    assert model.invoke("hi").content == "one"
    assert model.invoke("hi").content == "one"
    assert model.invoke("hi", temperature=1).content == "two"
    assert model.invoke("hi", stop=["x"]).content == "three"
    other = chat(["other"], cache=cache)
    assert other.invoke("hi").content == "other"


@pytest.mark.parametrize(
    "settings",
    [
        {"adapter": "a"},
        {"temperature": 1.0},
        {"wire": "json"},
        {"prompting": "primer"},
        {"constrain": False},
        {"repair_attempts": 0},
        {"model_kwargs": {"min_p": 0.1}},
        {"chat_template_kwargs": {"enable_thinking": False}},
    ],
)
def test_every_setting_that_shapes_a_reply_is_part_of_the_cache_key(settings):
    plain = ChatRaifVLLM(base_url=URL, model="m")
    other = ChatRaifVLLM(base_url=URL, model="m", **settings)
    assert plain._get_llm_string() != other._get_llm_string()
    assert plain._get_llm_string() == ChatRaifVLLM(base_url=URL, model="m")._get_llm_string()


def test_tracing_parameters():
    model = ChatRaifVLLM(base_url=URL, model="m", temperature=0.2, max_tokens=7, stop=["a"])
    params = model._get_ls_params()
    assert (params["ls_provider"], params["ls_model_name"], params["ls_model_type"]) == ("vllm", "m", "chat")
    assert (params["ls_temperature"], params["ls_max_tokens"], params["ls_stop"]) == (0.2, 7, ["a"])
    assert model._get_ls_params(model="x")["ls_model_name"] == "x"
    assert ChatRaifVLLM(model="m", adapter="folder/raif")._get_ls_params()["ls_model_name"] == "raif"


class _Recorder(BaseCallbackHandler):
    def __init__(self):
        self.events = []

    def on_chat_model_start(self, serialized, messages, **kwargs):
        self.events.append(("start", kwargs["invocation_params"]))
        json.dumps(kwargs["invocation_params"])

    def on_llm_new_token(self, token, **kwargs):
        self.events.append(("token", token))

    def on_llm_end(self, response, **kwargs):
        self.events.append(("end", response.generations[0][0].message.content))

    def on_llm_error(self, error, **kwargs):
        self.events.append(("error", type(error).__name__))


def test_callbacks_of_a_stream_fire_once_a_token():
    recorder = _Recorder()
    list(chat(["abcdefg"]).stream("hi", config={"callbacks": [recorder]}))
    assert [event for event in recorder.events if event[0] != "start"] == [
        ("token", "abcd"),
        ("token", "efg"),
        ("token", ""),
        ("end", "abcdefg"),
    ]


def test_a_model_set_to_streaming_tells_tokens_while_it_is_invoked():
    recorder = _Recorder()
    chat(["abcdefg"], streaming=True).invoke("hi", config={"callbacks": [recorder]})
    assert ("token", "abcd") in recorder.events


def test_the_rate_limiter_is_asked():
    class Counting(InMemoryRateLimiter):
        asked = 0

        def acquire(self, *, blocking=True):
            type(self).asked += 1
            return True

    chat(["a"], rate_limiter=Counting(requests_per_second=1)).invoke("hi")
    assert Counting.asked == 1


def test_the_profile_says_what_agents_want_to_know():
    profile = ChatRaifVLLM(model="m", engine_args={"max_model_len": 2048}).profile
    assert [profile[key] for key in ("tool_calling", "tool_choice", "structured_output")] == [True] * 3
    assert profile["max_input_tokens"] == 2048
    assert profile["image_inputs"] is False


def test_making_a_model_loads_neither_engine_nor_client_nor_contracts():
    import subprocess
    import sys

    code = (
        "import sys\n"
        "from raif_integrations import ChatRaifVLLM\n"
        "ChatRaifVLLM(model='m'); ChatRaifVLLM(base_url='http://127.0.0.1:9/v1')\n"
        "heavy = {'vllm', 'torch', 'openai', 'transformers', 'jsonschema', 'raif'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_tokens_are_counted_by_the_engine_and_tools_count():
    engine = ScriptedEngine([], model="raif-x")
    model = ChatRaifVLLM(engine=engine)
    assert model.get_num_tokens("one two three") == 3
    messages = [("human", "one two three")]
    plain = model.get_num_tokens_from_messages(model._convert_input(messages).to_messages())
    assert plain == 3
    with_tools = model.get_num_tokens_from_messages(
        model._convert_input(messages).to_messages(), tools=[get_weather]
    )
    assert with_tools > plain


def test_dumps_of_a_reply_is_plain_json():
    assert "scripted-0" in dumps(chat(["a"]).invoke("hi"))


def test_secrets_of_the_engine_are_written_nowhere() -> None:
    chat = ChatRaifVLLM(model="m", engine_args={"hf_token": "hf_secret", "max_model_len": 8})
    written = [
        dumpd(chat),
        chat._identifying_params,
        chat._get_llm_string(),
        chat._get_ls_params(),
        chat.asdict(),
    ]
    assert "hf_secret" not in str(written)
    assert "max_model_len" in str(written[0])
    assert chat.engine_args["hf_token"] == "hf_secret"
