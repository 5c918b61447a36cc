"""Chunks that are not validated equal those that core makes and validates."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk

from raif_integrations.langchain.argument_chunks import argument_chunk

PIECES = [
    "",
    "{",
    '{"city": "Os',
    " {",
    "\n\t{}",
    "}",
    "[1]",
    ' "unit": ',
    "lo",
    '"',
    "7",
    "null",
    "\\u00e9",
    "🙂",
    " ",
]


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("index", [0, 3])
def test_a_piece_is_what_core_makes_of_it(piece: str, index: int) -> None:
    made = argument_chunk(index, piece)
    call = tool_call_chunk(id=None, name=None, args=piece, index=index)
    by_core = ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[call]))
    assert made == by_core
    assert made.model_dump() == by_core.model_dump()
    assert made.message.content_blocks == by_core.message.content_blocks


def test_pieces_share_nothing_that_can_be_changed() -> None:
    first, second = argument_chunk(0, "a"), argument_chunk(0, "b")
    for value in vars(first.message).values():
        if isinstance(value, dict | list):
            assert all(value is not other for other in vars(second.message).values())
    first.message.response_metadata["changed"] = True
    first.message.tool_call_chunks.clear()
    assert argument_chunk(0, "b") == second


def test_pieces_add_up_to_a_call() -> None:
    whole = '{"city": "Oslo", "days": [1, 2]}'
    begin = tool_call_chunk(id="call_1", name="weather", args="", index=0)
    message = AIMessageChunk(content="", tool_call_chunks=[begin])
    for start in range(0, len(whole), 3):
        message += argument_chunk(0, whole[start : start + 3]).message
    (call,) = message.tool_calls
    assert (call["name"], call["id"], call["args"]) == ("weather", "call_1", {"city": "Oslo", "days": [1, 2]})
