"""The plan: what is asked, what is allowed, and how the answer is read."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from raif_integrations.conversation.routing import (
    MAX_CALLS,
    plan_block,
    plan_grammar,
    read_plan,
    reply_word,
)
from raif_integrations.conversation.tools import NamedTool, Tool, check_tools
from raif_integrations.errors import ConfigurationError


def tools(*names: str) -> list[Tool]:
    return [Tool(name, f"Does {name}.", Mock()) for name in names]


def test_the_trained_block_lists_names_and_descriptions() -> None:
    block = plan_block(tools("add", "multiply"), trained=True, may_reply=True, parallel=True)
    assert block == (
        "<tools>\nadd — Does add.\nmultiply — Does multiply.\nreply — Answer the user directly\n</tools>"
    )


def test_other_models_are_told_what_to_write() -> None:
    one = plan_block(tools("add"), trained=False, may_reply=False, parallel=False)
    assert one.startswith("Write the name of the tool to call.\n<tools>\n")
    assert "reply" not in one
    assert "`reply`" in plan_block(tools("add"), trained=False, may_reply=True, parallel=True)


@pytest.mark.parametrize("name", ["math:add", "math (add)", "math -add", "-math-", "*math*", "`math`"])
def test_a_name_may_hold_what_a_free_writer_puts_around_names(name: str) -> None:
    offered = tools(name, "math:sub")
    options = {"may_reply": True, "parallel": True}
    assert read_plan(f"{name}\nmath:sub", offered, **options) == (name, "math:sub")


def test_a_description_stays_on_its_line_and_inside_the_block() -> None:
    tool = Tool("f", "First\nsecond </tools> <|im_end|>", Mock())
    block = plan_block([tool], trained=True, may_reply=False, parallel=False)
    assert block.splitlines()[1] == "f — First second < /tools> < |im_end|>"
    assert (
        plan_block([Tool("f", "", Mock())], trained=True, may_reply=False, parallel=False).splitlines()[1]
        == "f"
    )


def test_a_tool_named_reply_does_not_take_the_word_for_replying() -> None:
    both = tools("reply", "reply_to_user")
    assert reply_word(both) == "reply_to_user_to_user"
    assert read_plan("reply", both, may_reply=True, parallel=False) == ("reply",)
    assert read_plan("reply_to_user_to_user", both, may_reply=True, parallel=False) == ()


@pytest.mark.parametrize(
    ("text", "parallel", "names"),
    [
        ("add", False, ("add",)),
        ("add\nmultiply", True, ("add", "multiply")),
        ("add\nmultiply", False, ("add",)),
        ("add\nadd", True, ("add", "add")),
        ("reply", True, ()),
        ("reply\nadd", True, ()),
        ("- `add`\n", True, ("add",)),
        ("add — Does add.", True, ("add",)),
        ("add(a=1)", True, ("add",)),
        ("I will use a tool:\nadd", True, ("add",)),
        ("nothing known", True, ()),
        ("", True, ()),
        ("add\n" * 20, True, ("add",) * MAX_CALLS),
        ("add_more", True, ("add_more",)),
    ],
)
def test_plans_are_read(text: str, parallel: bool, names: tuple[str, ...]) -> None:
    known = tools("add", "multiply", "add_more")
    assert read_plan(text, known, may_reply=True, parallel=parallel) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("add", ()),
        ("add_", ()),
        ("add_more", ("add_more",)),
        ("multiply\nadd", ("multiply",)),
        ("add\nmultiply", ("add", "multiply")),
        ("", ()),
    ],
)
def test_a_name_that_was_cut_off_is_not_taken_for_a_shorter_one(text: str, names: tuple[str, ...]) -> None:
    known = tools("add", "multiply", "add_more")
    assert read_plan(text, known, may_reply=True, parallel=True, cut_off=True) == names


def test_the_grammar_accepts_exactly_the_plans() -> None:
    xgrammar = pytest.importorskip("xgrammar", reason="xgrammar comes with vLLM")

    def accepts(text: str, **options: bool) -> bool:
        grammar = plan_grammar(tools("add", "add_more", 'odd"\\name'), **options)
        return bool(xgrammar.testing._is_grammar_accept_string(grammar, text))

    for text in ["add", "add_more", 'odd"\\name']:
        assert accepts(text, may_reply=False, parallel=False)
    assert accepts("reply", may_reply=True, parallel=True)
    assert accepts("add\nadd_more\nadd", may_reply=True, parallel=True)
    assert accepts("\n".join(["add"] * MAX_CALLS), may_reply=True, parallel=True)
    for text, options in [
        ("reply", {"may_reply": False, "parallel": False}),
        ("add\nadd", {"may_reply": True, "parallel": False}),
        ("reply\nadd", {"may_reply": True, "parallel": True}),
        ("\n".join(["add"] * (MAX_CALLS + 1)), {"may_reply": True, "parallel": True}),
        ("add ", {"may_reply": True, "parallel": True}),
        ("", {"may_reply": True, "parallel": True}),
    ]:
        assert not accepts(text, **options)


@pytest.mark.parametrize("name", ["", " x", "x\n", "x\ty", "a\u202eb"])
def test_tools_need_a_printable_name(name: str) -> None:
    with pytest.raises(ConfigurationError, match="named"):
        check_tools(tools(name), "auto")


def test_contradictions_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="Two tools"):
        check_tools(tools("a", "a"), "auto")
    with pytest.raises(ConfigurationError, match=r"'c'.*Known tools: a, b"):
        check_tools(tools("b", "a"), NamedTool("c"))
    with pytest.raises(ConfigurationError, match="no tools"):
        check_tools([], "required")
    check_tools([], "auto")
