"""Events that differ in their text alone are read by comparing what stands around it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raif_integrations.engines.server.events import EventDecoder
from raif_integrations.engines.server.reply import DeltaReader
from raif_integrations.engines.server.text_frame import TextFrame


def event(text: Any, *, ensure_ascii: bool = True, **more: Any) -> bytes:
    delta = {"content": text, **more.pop("delta", {})}
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None, **more.pop("choice", {})}
    return json.dumps(
        {"id": "c1", "model": "m", "choices": [choice], **more}, ensure_ascii=ensure_ascii
    ).encode()


@given(st.lists(st.text(min_size=1), min_size=1), st.booleans())
def test_any_text_is_read_as_a_parser_reads_it(texts: list[str], ensure_ascii: bool) -> None:
    frame = TextFrame()
    frame.learn(event(texts[0], ensure_ascii=ensure_ascii), texts[0])
    for text in texts:
        try:
            written = event(text, ensure_ascii=ensure_ascii)
        except UnicodeEncodeError:
            continue  # half a surrogate pair has no UTF-8
        assert frame.text_of(written) == text


@pytest.mark.parametrize(
    "other",
    [
        event("b", choice={"finish_reason": "stop"}),
        event("b", usage={"prompt_tokens": 1}),
        event("b", delta={"reasoning": "hm"}),
        event(None),
        event(""),
        event(["b"]),
        event("b", id="c2"),
        event("b", model="n"),
        b'{"error": {"message": "broken"}}',
        b"[DONE]",
        b"",
        event("a")[:-1],
        event('x", "finish_reason": "stop').replace(b"\\", b""),
    ],
)
def test_anything_else_is_left_to_the_parser(other: bytes) -> None:
    frame = TextFrame()
    frame.learn(event("a"), "a")
    assert frame.text_of(event("b")) == "b"
    assert frame.text_of(other) is None


def test_nothing_is_learned_where_two_texts_may_be_meant() -> None:
    frame = TextFrame()
    frame.learn(event("a", note={"content": "a"}), "a")
    assert frame.text_of(event("b", note={"content": "a"})) is None
    assert TextFrame().text_of(event("a")) is None


def test_a_reader_gives_the_same_deltas_however_much_it_learned() -> None:
    events = [event("a"), event("b"), event("", choice={"finish_reason": "stop"}), event("ü\n"), b"[DONE]"]
    reader = DeltaReader()
    together = [delta for one in events if (delta := reader.read(one)) is not None]
    assert [(delta.text, delta.model, delta.request_id) for delta in together[:3]] == [
        ("a", "m", "c1"), ("b", "m", "c1"), ("ü\n", "m", "c1"),
    ]  # fmt: skip
    assert together[-1].finish_reason == "stop"


@given(
    st.lists(st.binary(max_size=12).map(lambda b: b.replace(b"\r", b"").replace(b"\n", b"")), max_size=5),
    st.data(),
)
def test_events_are_the_same_however_they_are_cut(datas: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(b"data: " + one + b"\n\n" for one in datas)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    pieces = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    decoder = EventDecoder()
    assert [found for piece in pieces for found in decoder.feed(piece)] == datas
    by_event = EventDecoder()
    assert [found for one in datas for found in by_event.feed(b"data: " + one + b"\n\n")] == datas
