"""Chunks with a piece of a call's arguments, of which a stream has one for nearly every token.

Core validates each chunk it is asked to make, and tries to complete the arguments in it to a JSON object:
35 µs for something that cannot succeed, because only the first piece of an object begins with a brace.
"""

from __future__ import annotations

from copy import copy
from functools import cache

from langchain_core.messages import AIMessageChunk
from langchain_core.messages.tool import invalid_tool_call, tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk


def argument_chunk(index: int, piece: str) -> ChatGenerationChunk:
    """The chunk for a further piece of a call's arguments, equal to what core's constructors make.

    Args:
        index: The call's index among the blocks of the message.
        piece: The new JSON text.
    """
    piece_of_call = tool_call_chunk(id=None, name=None, args=piece, index=index)
    if not piece or piece.lstrip().startswith("{"):
        return ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[piece_of_call]))
    made = _made_by_core()
    message = copy(made.message)
    vars(message).update(
        additional_kwargs={},
        response_metadata={},
        tool_calls=[],
        tool_call_chunks=[piece_of_call],
        # What core's validator finds in a piece that is no object.
        invalid_tool_calls=[invalid_tool_call(id=None, name=None, args=piece, error=None)],
    )
    chunk = copy(made)
    vars(chunk)["message"] = message
    return chunk


@cache
def _made_by_core() -> ChatGenerationChunk:
    """A chunk to copy; no field that is a container is left in the copies."""
    call = tool_call_chunk(id=None, name=None, args="1", index=0)
    return ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[call]))
