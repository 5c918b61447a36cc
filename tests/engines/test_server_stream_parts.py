"""Events out of bytes, and deltas out of events."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raif_integrations.engines.base import Usage
from raif_integrations.engines.server.events import EventDecoder
from raif_integrations.engines.server.reply import DeltaReader, read_completion
from raif_integrations.errors import EngineDiedError, ServerError
from tests.support.stub_server import chunk, completion, usage_chunk


def decode(data: bytes, cuts: list[int]) -> list[bytes]:
    decoder = EventDecoder()
    edges = [0, *sorted(cuts), len(data)]
    return [event for start, end in pairwise(edges) for event in decoder.feed(data[start:end])]


@pytest.mark.parametrize(
    ("data", "events"),
    [
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [b"a", b"b"]),
        (b"data: a\r\rdata: b\r\r\n", [b"a", b"b"]),
        (b"data:a\n\n", [b"a"]),
        (b"data:  a \n\n", [b" a "]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b": ping\n\nevent: x\nid: 7\nretry: 1\ndata: a\n\n", [b"a"]),
        (b"data: a\n\ndata: cut off", [b"a"]),
        (b"data: a\n\ndata: cut off\n", [b"a"]),
        ("data: \u2028é\x85\n\n".encode(), ["\u2028é\x85".encode()]),
        (b"", []),
    ],
)
def test_events_are_read_wherever_the_network_cuts(data: bytes, events: list[bytes]) -> None:
    assert decode(data, []) == events
    for cut in range(len(data)):
        assert decode(data, [cut]) == events
    assert decode(data, list(range(len(data)))) == events


@given(
    texts=st.lists(st.text(alphabet=st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
    data=st.data(),
)
def test_any_texts_come_back_from_any_pieces(texts: list[str], line_end: str, data: st.DataObject) -> None:
    # The "\r" after the last event may be half of "\r\n"; a comment settles it.
    stream = "".join(f"data: {text}{line_end}{line_end}" for text in texts) + ": end\n"
    raw = stream.encode()
    cuts = data.draw(st.lists(st.integers(0, len(raw))))
    assert decode(raw, cuts) == [text.encode() for text in texts]


def read_all(*payloads: Any) -> list[Any]:
    reader = DeltaReader()
    events = [payload if isinstance(payload, bytes) else json.dumps(payload).encode() for payload in payloads]
    deltas = [reader.read(event) for event in events]
    return [delta for delta in [*deltas, reader.finish()] if delta is not None]


def test_the_last_delta_alone_has_reason_and_usage() -> None:
    deltas = read_all(
        chunk("", role="assistant"),
        chunk("Hel"),
        chunk("lo"),
        chunk("", finish_reason="stop"),
        usage_chunk(11, 2),
        b"[DONE]",
    )
    assert [delta.text for delta in deltas] == ["Hel", "lo", ""]
    assert [delta.finish_reason for delta in deltas] == [None, None, "stop"]
    assert [delta.usage for delta in deltas] == [None, None, Usage(11, 2)]
    assert {(delta.model, delta.request_id) for delta in deltas} == {("served", "chatcmpl-1")}


def test_text_that_comes_with_the_reason_is_kept() -> None:
    deltas = read_all(chunk("all", finish_reason="length"), b"[DONE]")
    assert [(delta.text, delta.finish_reason) for delta in deltas] == [("all", None), ("", "length")]


def test_of_usages_in_every_chunk_the_last_counts() -> None:
    first = chunk("a", usage={"prompt_tokens": 11, "completion_tokens": 1})
    last = chunk("b", finish_reason="stop", usage={"prompt_tokens": 11, "completion_tokens": 2})
    assert read_all(first, last, b"[DONE]")[-1].usage == Usage(11, 2)


def test_a_stream_without_usage_has_none() -> None:
    assert read_all(chunk("a", finish_reason="stop"), b"[DONE]")[-1].usage is None


def test_a_stream_may_end_without_done() -> None:
    assert read_all(chunk("a", finish_reason="stop"))[-1].finish_reason == "stop"


def test_nothing_is_read_after_done() -> None:
    deltas = read_all(chunk("a", finish_reason="stop"), b"[DONE]", chunk("b"), b"[DONE]")
    assert [delta.text for delta in deltas] == ["a", ""]


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
def test_reasoning_is_kept_apart(name: str) -> None:
    deltas = read_all(chunk(None, **{name: "think"}), chunk("a", finish_reason="stop"))
    assert [(delta.text, delta.reasoning) for delta in deltas] == [("", "think"), ("a", None), ("", None)]
    reply = read_completion(completion("a", **{name: "think"}))
    assert (reply.text, reply.reasoning) == ("a", "think")


def test_both_names_of_reasoning_count_once() -> None:
    assert read_completion(completion("a", reasoning="r", reasoning_content="r")).reasoning == "r"


@pytest.mark.parametrize(
    ("reported", "meant"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("abort", "abort"),
        ("repetition", "length"),
        ("tool_calls", "stop"),
        ("content_filter", "stop"),
        (None, "stop"),
    ],
)
def test_finish_reasons(reported: str | None, meant: str) -> None:
    assert read_completion(completion("a", finish_reason=reported)).finish_reason == meant


def test_a_completion_is_read_whole() -> None:
    reply = read_completion(completion(None))
    assert reply.text == ""
    assert reply.usage == Usage(prompt_tokens=11, completion_tokens=5, cached_tokens=8)
    assert (reply.model, reply.request_id, reply.reasoning) == ("served", "chatcmpl-1", None)


def test_a_failed_generation_is_raised() -> None:
    with pytest.raises(ServerError, match="failed"):
        read_completion(completion("a", finish_reason="error"))
    with pytest.raises(ServerError, match="failed"):
        read_all(chunk("a", finish_reason="error"))


@pytest.mark.parametrize("payload", [None, [], {}, {"choices": []}, "text"])
def test_what_is_no_completion_is_shown(payload: Any) -> None:
    with pytest.raises(ServerError, match="no chat completion"):
        read_completion(payload)


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ({"error": {"message": "EngineCore failed", "type": "x", "code": 500}}, "EngineCore failed"),
        ({"error": "out of memory"}, "out of memory"),
        (b"not json", "not json"),
        ([], "no chat completion chunk"),
    ],
)
def test_an_error_inside_a_stream_is_raised(payload: Any, message: str) -> None:
    with pytest.raises(ServerError, match=message):
        read_all(chunk("a"), payload)


@pytest.mark.parametrize("end", [(), (b"[DONE]",)])
def test_a_stream_without_a_reason_is_cut_off(end: tuple[bytes, ...]) -> None:
    with pytest.raises(EngineDiedError, match="without a finish reason"):
        read_all(chunk("a"), *end)
