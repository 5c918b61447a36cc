"""Chat histories become OpenAI-shaped message dicts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from llama_index.core.base.llms.types import (
    CacheControl,
    CachePoint,
    ChatMessage,
    CitableBlock,
    CitationBlock,
    ImageBlock,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)

from raif_integrations.errors import ConfigurationError
from raif_integrations.llama_index.messages import to_message_dicts


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        (MessageRole.SYSTEM, "system"),
        (MessageRole.DEVELOPER, "system"),
        (MessageRole.USER, "user"),
        (MessageRole.ASSISTANT, "assistant"),
        (MessageRole.CHATBOT, "assistant"),
        (MessageRole.MODEL, "assistant"),
        (MessageRole.TOOL, "tool"),
        (MessageRole.FUNCTION, "tool"),
    ],
)
def test_every_role_has_a_counterpart(role: MessageRole, expected: str) -> None:
    (message,) = to_message_dicts([ChatMessage(role=role, content="hello")])
    assert message["role"] == expected
    assert message["content"] == "hello"


def test_no_role_is_forgotten() -> None:
    assert len(to_message_dicts([ChatMessage(role=role, content="x") for role in MessageRole])) == 8


@pytest.mark.parametrize(
    ("blocks", "content"),
    [
        ([], ""),
        ([TextBlock(text="one")], "one"),
        ([TextBlock(text="one"), TextBlock(text="two")], "one\ntwo"),
        ([ThinkingBlock(content="secret"), TextBlock(text="said")], "said"),
        ([TextBlock(text="a"), CachePoint(cache_control=CacheControl(type="ephemeral", ttl="5m"))], "a"),
        ([CitableBlock(title="t", source="s", content=[TextBlock(text="cited")])], "cited"),
        (
            [
                CitationBlock(
                    cited_content=TextBlock(text="quoted"), source="s", title="t", additional_location_info={}
                )
            ],
            "quoted",
        ),
        (
            [TextBlock(text="look"), ImageBlock(url="http://example.org/a.png")],
            [{"type": "text", "text": "look"}, {"type": "image"}],
        ),
    ],
    ids=["empty", "text", "texts", "thinking", "cache", "citable", "citation", "image"],
)
def test_blocks_become_content(blocks: list[Any], content: Any) -> None:
    (message,) = to_message_dicts([ChatMessage(role="user", blocks=blocks)])
    assert message["content"] == content


OPENAI_CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city": "Oslo"}'},
}
OPENAI_OBJECT = SimpleNamespace(
    id="c1", type="function", function=SimpleNamespace(name="weather", arguments='{"city": "Oslo"}')
)


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        (
            ChatMessage(
                role="assistant",
                blocks=[ToolCallBlock(tool_call_id="c1", tool_name="weather", tool_kwargs={"city": "Oslo"})],
            ),
            {"city": "Oslo"},
        ),
        (
            ChatMessage(
                role="assistant",
                blocks=[
                    ToolCallBlock(tool_call_id="c1", tool_name="weather", tool_kwargs='{"city": "Oslo"}')
                ],
            ),
            '{"city": "Oslo"}',
        ),
        (
            ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": [OPENAI_CALL]}),
            '{"city": "Oslo"}',
        ),
        (
            ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": [OPENAI_OBJECT]}),
            '{"city": "Oslo"}',
        ),
    ],
    ids=["block dict", "block text", "legacy dict", "legacy object"],
)
def test_tool_calls_are_read_from_every_place(message: ChatMessage, arguments: Any) -> None:
    (converted,) = to_message_dicts([message])
    assert converted["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": arguments}}
    ]


def test_a_call_kept_twice_is_one_call() -> None:
    message = ChatMessage(
        role="assistant",
        blocks=[ToolCallBlock(tool_call_id="c1", tool_name="weather", tool_kwargs={"city": "Oslo"})],
        additional_kwargs={"tool_calls": [OPENAI_CALL]},
    )
    (converted,) = to_message_dicts([message])
    assert len(converted["tool_calls"]) == 1


def test_results_without_ids_answer_the_calls_in_order() -> None:
    history = [
        ChatMessage(
            role="assistant",
            blocks=[ToolCallBlock(tool_name="weather"), ToolCallBlock(tool_name="time")],
        ),
        ChatMessage(role="tool", content="sunny"),
        ChatMessage(role="tool", content="noon"),
    ]
    assistant, first, second = to_message_dicts(history)
    ids = [call["id"] for call in assistant["tool_calls"]]
    assert len(set(ids)) == 2
    assert [first["tool_call_id"], second["tool_call_id"]] == ids


def test_results_with_ids_keep_them_in_any_order() -> None:
    history = [
        ChatMessage(
            role="assistant",
            blocks=[
                ToolCallBlock(tool_call_id="a", tool_name="weather"),
                ToolCallBlock(tool_call_id="b", tool_name="time"),
            ],
        ),
        ChatMessage(role="tool", content="noon", additional_kwargs={"tool_call_id": "b"}),
        ChatMessage(role="tool", content="sunny"),
    ]
    converted = to_message_dicts(history)
    assert [message["tool_call_id"] for message in converted[1:]] == ["b", "a"]


def test_a_function_message_keeps_its_name() -> None:
    (message,) = to_message_dicts(
        [ChatMessage(role="function", content="1", additional_kwargs={"name": "add"})]
    )
    assert message == {"role": "tool", "content": "1", "name": "add"}


def test_the_history_is_not_changed() -> None:
    history = [
        ChatMessage(role="system", content="be brief"),
        ChatMessage(
            role="assistant", blocks=[ToolCallBlock(tool_name="weather", tool_kwargs={"city": "Oslo"})]
        ),
        ChatMessage(role="tool", content="sunny"),
    ]
    before = [message.model_copy(deep=True) for message in history]
    to_message_dicts(history)
    assert history == before


@pytest.mark.parametrize("wrong", ["hello", ChatMessage(content="hello"), ["hello"], [{"role": "user"}]])
def test_what_is_not_a_list_of_messages_is_refused(wrong: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"messages.* is a .*ChatMessage"):
        to_message_dicts(wrong)
