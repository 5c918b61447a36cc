"""Drafts say what comes next, for each kind of unit and both forms of the cue."""

from __future__ import annotations

from typing import Any

import pytest

from raif_integrations.contract import OutputContract
from raif_integrations.conversation.one_pass import OnePass, one_pass_block
from raif_integrations.conversation.routing import plan_block
from raif_integrations.conversation.tools import Tool
from raif_integrations.engines.speculation.vocabulary import Vocabulary
from tests.speculation.replays import END, Replay, chat, prompt_for

TEXT = {"type": "string"}
NUMBER = {"type": "number"}


def record(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {**required, **optional}, "required": list(required)}


ORDER = record(
    {
        "customer": record({"name": TEXT, "zip": TEXT}),
        "lines": {"type": "array", "items": record({"item": TEXT, "price": NUMBER})},
        "status": {"enum": ["open", "closed"]},
        "tags": {"type": "array", "items": TEXT},
        "paid": {"type": "boolean"},
    }
)
REQUEST = (
    "Ada Lovelace (02134) ordered a desk lamp at 25.50 and a mug at 7. Topics: gift wrap, speed and care."
)

HEAD = "customer.name=Ada Lovelace\ncustomer.zip=02134\n"
ROWS = HEAD + "paid=false\nstatus=open\nlines::item,price\n"

BOTH = {
    "first key, begun": ("customer", ".name="),
    "rest of a copied value, next key": ("customer.name=Ada", " Lovelace\ncustomer.zip="),
    "inside a word": ("customer.name=Ada Love", "lace\ncustomer.zip="),
    "digits that are text": ("customer.name=Ada Lovelace\ncustomer.zip=0", "2134\npaid="),
    "key after a line": (HEAD, "paid="),
    "rest of a key": (HEAD + "pa", "id="),
    "truth value": (HEAD + "paid=true", "\nstatus="),
    "header of a table and its first row": (
        HEAD + "paid=true\nstatus=open\n",
        "lines::item,price\nlines[0]=",
    ),
    "cells": (ROWS + "lines[0]=desk", " lamp,"),
    "number without idle zeros": (ROWS + "lines[0]=desk lamp,25", ".5\nlines[1]="),
    "second row": (ROWS + "lines[0]=desk lamp,25.5\n", "lines[1]="),
    "third row": (ROWS + "lines[0]=desk lamp,25.5\nlines[1]=mug,7\n", "lines[2]="),
    "list after a table": (ROWS + "lines[0]=desk lamp,25.5\nlines[1]=mug,7\nta", "gs=[\n"),
    "list after an empty list": (HEAD + "paid=true\nstatus=open\nlines=[]\n", "tags=[\n"),
    "one row in brackets": (HEAD + "paid=true\nstatus=open\nlines=[\n", "{item="),
    "cells in brackets": (HEAD + "paid=true\nstatus=open\nlines=[\n{item=desk", " lamp,price="),
    "end of a row in brackets": (
        HEAD + "paid=true\nstatus=open\nlines=[\n{item=mug,price=7}",
        "\n]\ntags=[\n",
    ),
    "elements one after the other": (
        HEAD + "paid=true\nstatus=open\nlines=[]\ntags=[\ngift",
        f" wrap\nspeed\ncare\n]{END}",
    ),
    "end of a list": (HEAD + "paid=true\nstatus=open\nlines=[]\ntags=[\ncare\n", f"]{END}"),
    "end of the reply": (HEAD + "paid=true\nstatus=open\nlines=[]\ntags=[\ncare\n]", END),
}


@pytest.mark.parametrize("trained", [True, False], ids=["trained", "described"])
@pytest.mark.parametrize("case", BOTH)
def test_draft(case: str, trained: bool, vocabulary: Vocabulary) -> None:
    written, expected = BOTH[case]
    replay = Replay.of(vocabulary, prompt_for(REQUEST, ORDER, trained=trained))
    assert replay.write(written).draft().startswith(expected)


def test_a_described_cue_tells_the_rest_of_a_word(vocabulary: Vocabulary) -> None:
    written = HEAD + "paid=true\nstatus=cl"
    described = Replay.of(vocabulary, prompt_for(REQUEST, ORDER, trained=False)).write(written)
    assert described.draft().startswith("osed\nlines::item,price\n")
    bare = Replay.of(vocabulary, prompt_for(REQUEST, ORDER)).write(written)
    assert not bare.draft().startswith("osed")


def test_nothing_is_drafted_where_nothing_is_known(vocabulary: Vocabulary) -> None:
    replay = Replay.of(vocabulary, prompt_for(REQUEST, ORDER))
    assert replay.write("customer.name=").draft() == ""
    assert replay.write("Zebediah").draft() == ""


def test_a_label_in_the_request_tells_where_a_value_begins(vocabulary: Vocabulary) -> None:
    schema = record({"due_date": TEXT, "title": TEXT})
    replay = Replay.of(vocabulary, prompt_for("Title: The Salt Harbour\nDue date: 14 March\n", schema))
    assert replay.write("due").draft() == f"_date=14 March\ntitle=The Salt Harbour{END}"


def test_an_optional_field_may_be_left_out(vocabulary: Vocabulary) -> None:
    schema = record({"name": TEXT, "zip": TEXT}, phone=TEXT)
    replay = Replay.of(vocabulary, prompt_for("Ada, 02134", schema)).write("name=Ada\n")
    assert replay.draft() == "phone="
    assert replay.write("zip=0").draft() == f"2134{END}"


def test_elements_with_lists_of_their_own_take_turns(vocabulary: Vocabulary) -> None:
    team = record({"name": TEXT, "members": {"type": "array", "items": TEXT}})
    schema = record({"teams": {"type": "array", "items": team}, "town": TEXT})
    replay = Replay.of(vocabulary, prompt_for("Reds: Ann, Bob. Blues: Cy.", schema))
    assert replay.write("teams[0].name=Reds\n").draft().startswith("teams[0].members=[\n")
    assert replay.write("teams[0].members=[\nAnn\nBob\n]\n").draft().startswith("teams[1].name=")


def test_a_text_of_several_lines_is_copied_line_by_line(vocabulary: Vocabulary) -> None:
    schema = record({"body": TEXT, "to": TEXT})
    replay = Replay.of(vocabulary, prompt_for("Hi Ilona,\nthe keys are here.\nPlease water it.\n", schema))
    assert replay.write("body=<<<\nHi").draft().startswith(" Ilona,\nthe keys are here.\nPlease water it.\n")
    assert replay.write(" Ilona,\nthe keys are here.\n>>>\n").draft() == "to="


def test_keys_in_quotes(vocabulary: Vocabulary) -> None:
    schema = record({"a.b": TEXT, "c:d": TEXT})
    replay = Replay.of(vocabulary, prompt_for("Oslo and Rome", schema)).write("<<<a.b>>>=Os")
    assert replay.draft() == "lo\n<<<c:d>>>="


def tools() -> list[Tool]:
    weather = OutputContract.from_json_schema(record({"city": TEXT}, unit=TEXT), name="get_weather")
    time = OutputContract.from_json_schema(record({"zone": TEXT}), name="get_time")
    return [
        Tool("get_weather", "Tells the weather: now", weather),
        Tool("get_time", "", time),
    ]


@pytest.mark.parametrize("trained", [True, False], ids=["trained", "asked"])
def test_the_plan(trained: bool, vocabulary: Vocabulary) -> None:
    block = plan_block(tools(), trained=trained, may_reply=True, parallel=True)
    prompt = chat("How is Bergen?", block)
    assert Replay.of(vocabulary, prompt).write("get_w").draft() == f"eather{END}"
    assert Replay.of(vocabulary, prompt).write("reply").draft() == END
    assert Replay.of(vocabulary, prompt).write("get_time\nget_w").draft() == f"eather{END}"


@pytest.mark.parametrize("trained", [True, False], ids=["trained", "described"])
def test_names_and_arguments_in_one(trained: bool, vocabulary: Vocabulary) -> None:
    block = one_pass_block(OnePass(tuple(tools())), trained=trained)
    replay = Replay.of(vocabulary, chat("How is Bergen? And the time in Asia/Tokyo?", block))
    assert replay.write("get_weather").draft() == "\ncity="
    assert replay.write("\ncity=Ber").draft().startswith("gen\nunit=")
    assert replay.write("gen\nget_t").draft() == "ime\nzone="
    assert replay.write("ime\nzone=Asia").draft() == f"/Tokyo{END}"


def test_an_answer_in_text_is_left_alone(vocabulary: Vocabulary) -> None:
    block = one_pass_block(OnePass(tuple(tools())), trained=True)
    replay = Replay.of(vocabulary, chat("How is Bergen?", block)).write("reply\nIt rains in Ber")
    assert replay.draft() == ""


def test_reasoning_is_left_alone(vocabulary: Vocabulary) -> None:
    replay = Replay.of(vocabulary, prompt_for(REQUEST, ORDER)).write("<think>\ncustomer.name=Ada")
    assert replay.draft() == ""
    assert replay.write(" Lovelace\n</think>\n\ncus").draft() == "tomer.name="


def test_reasoning_the_template_opened(vocabulary: Vocabulary) -> None:
    replay = Replay.of(vocabulary, prompt_for(REQUEST, ORDER) + "<think>\n")
    assert replay.write("customer.name=Ada").draft() == ""
    closed = Replay.of(vocabulary, prompt_for(REQUEST, ORDER) + "<think>\n\n</think>\n\n")
    assert closed.write("customer.name=Ada").draft().startswith(" Lovelace\n")


def test_nothing_after_the_end(vocabulary: Vocabulary) -> None:
    replay = Replay.of(vocabulary, prompt_for(REQUEST, ORDER)).write("customer.name=Ada" + END)
    assert replay.reply.over
    assert replay.draft() == ""


@pytest.mark.parametrize(
    ("chance", "expected"),
    [(0.0, " Lovelace\ncustomer.zip="), (0.7, "")],
)
def test_large_batches_draft_only_what_is_probable(
    chance: float, expected: str, vocabulary: Vocabulary
) -> None:
    replay = Replay.of(vocabulary, prompt_for(REQUEST, ORDER)).write("customer.name=Ada")
    assert replay.draft(chance=chance) == expected
    assert replay.write(" Lovelace\n").draft(chance=chance) == "customer.zip="


@pytest.mark.parametrize("most", [1, 3, 5])
def test_no_draft_is_longer_than_allowed(most: int, vocabulary: Vocabulary) -> None:
    replay = Replay.of(vocabulary, prompt_for(REQUEST, ORDER)).write("customer.name=Ada")
    assert len(replay.reply.draft(most, 0.0)) == most
