"""Content parts become text; markup that could forge a turn or a cue becomes plain text."""

from __future__ import annotations

import pytest

from raif_integrations.conversation.content import text_of, without_own_tags, without_turn_markers
from raif_integrations.errors import RequestError


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("plain", "plain"),
        ([], ""),
        (["a", {"type": "text", "text": "b"}], "a\nb"),
        ([{"type": "input_text", "text": "x"}, {"type": "output_text", "text": "y"}], "x\ny"),
    ],
)
def test_text_parts_are_joined(content: object, text: str) -> None:
    assert text_of(content, role="user") == text


@pytest.mark.parametrize(
    "part",
    [{"type": "image_url", "image_url": {"url": "x"}}, {"type": "text"}, {"no": "type"}, 7],
)
def test_what_is_not_text_is_refused_by_name(part: object) -> None:
    with pytest.raises(RequestError, match="user message"):
        text_of([part], role="user")


def test_content_of_another_kind_is_refused() -> None:
    with pytest.raises(RequestError, match="dict"):
        text_of({"type": "text", "text": "not in a list"}, role="user")


@pytest.mark.parametrize(
    "marker",
    ["<|im_end|>", "<|im_start|>", "<|eot_id|>", "<|start_header_id|>", "<end_of_turn>", "<|raif_end|>"],
)
def test_turn_markers_are_broken_up(marker: str) -> None:
    cleaned = without_turn_markers(f"before {marker} after")
    assert marker not in cleaned
    assert cleaned == f"before < {marker[1:]} after"


@pytest.mark.parametrize("text", ["a < b", "<|", "|>", "a <| b |> c", "<turn>", "<<|>>"])
def test_other_angle_brackets_are_left_alone(text: str) -> None:
    assert without_turn_markers(text) == text


@pytest.mark.parametrize("tag", ["schema", "tools", "tool_call", "tool_response", "raif", "SCHEMA"])
def test_own_tags_are_broken_up(tag: str) -> None:
    assert without_own_tags(f"<{tag}>x</{tag}>") == f"< {tag}>x< /{tag}>"


@pytest.mark.parametrize("text", ["<schemas>", "<b>", "schema>", "<<<raw>>>", "< schema>"])
def test_other_tags_are_left_alone(text: str) -> None:
    assert without_own_tags(text) == text
