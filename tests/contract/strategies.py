"""Hypothesis strategies: a schema together with a value that is valid under it."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import strategies as st

NASTY = [
    "",
    " ",
    "a",
    "null",
    "true",
    "false",
    "[]",
    "{}",
    "[",
    "]",
    "{",
    "}",
    "<",
    "<<",
    "<<<",
    "<<<a",
    "<<<ab",
    ">>>",
    ">>>a",
    "<<<x>>>",
    "a=<<<",
    "a=[",
    "a={",
    "=[",
    "123",
    "02134",
    "1e5",
    "-0.0",
    "1.0",
    "9007199254740993",
    "{a}={b}",
    "{scheme}://{h}?b={c}",
    "a,b",
    "a\nb",
    "a\n>>>\nb",
    ">>>\n>>>0",
    "a\r\nb",
    "a\rb",
    "a\r",
    "\n",
    "\n\n",
    "a\n",
    " lead",
    "trail ",
    "\u00a0",
    "\ufeffx",
    "\u2028",
    "'q'",
    '"q"',
    "key=value",
    "city: Oslo",
    "```",
    "```json\nx\n```",
    "</raif>",
    "<raif>",
    "<think>x</think>",
    "</tool_call>",
    "# c",
    "[1, 2]",
    '{"a": 1}',
    "\U0001f600\U00010348",
    "e\u0301",
    "\x00\x01",
    "\\n",
    "it's",
    "::a,b",
    "x[0]=1",
    "-",
    "None",
]

KEYS = [
    "a",
    "b",
    "city",
    "a.b",
    "a:b",
    "a=b",
    "a[0]",
    "x y",
    " edge ",
    "",
    "{k}",
    "é",
    "\U0001f600",
    "<k",
    "k>",
    "a,b",
    "```",
    "null",
    "0",
    "value",
    "items",
    "s",
    "'q'",
    '"q"',
    "[x",
    "-1",
    "#",
]


def texts() -> st.SearchStrategy[str]:
    """Strings, every troublesome form among them."""
    free = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
    pieces = st.lists(st.sampled_from([*NASTY, "\n", "=", " "]), max_size=4).map("".join)
    return st.one_of(st.sampled_from(NASTY), free, pieces)


def keys() -> st.SearchStrategy[str]:
    """Object keys that RAIF can write."""
    simple = st.text("abcdefgh_", min_size=1, max_size=6)
    return st.one_of(simple, st.sampled_from(KEYS))


def numbers() -> st.SearchStrategy[int | float]:
    """JSON numbers."""
    return st.one_of(
        st.integers(),
        st.integers(min_value=-(10**30), max_value=10**30),
        st.floats(allow_nan=False, allow_infinity=False),
        st.sampled_from([-0.0, 5.0, 1e22, 2**53 + 1, 10**400]),
    )


def json_values() -> st.SearchStrategy[Any]:
    """Any JSON value."""
    leaves = st.one_of(st.none(), st.booleans(), numbers(), texts())
    return st.recursive(
        leaves,
        lambda below: st.one_of(st.lists(below, max_size=3), st.dictionaries(keys(), below, max_size=3)),
        max_leaves=6,
    )


@st.composite
def scalars(draw: st.DrawFn) -> tuple[dict[str, Any], Any]:
    """A scalar schema and a value."""
    kind = draw(st.sampled_from(["string", "integer", "number", "boolean", "enum", "const", "null"]))
    if kind == "string":
        return {"type": "string"}, draw(texts())
    if kind == "integer":
        return {"type": "integer"}, draw(st.one_of(st.integers(), st.just(10**400)))
    if kind == "number":
        return {"type": "number"}, draw(numbers())
    if kind == "boolean":
        return {"type": "boolean"}, draw(st.booleans())
    if kind == "null":
        return {"type": "null"}, None
    words = draw(
        st.lists(st.one_of(texts(), st.booleans(), st.none(), st.integers()), min_size=1, max_size=4)
    )
    value = draw(st.sampled_from(words))
    return ({"const": value}, value) if kind == "const" else ({"enum": words}, value)


@st.composite
def documents(draw: st.DrawFn, depth: int = 2) -> tuple[dict[str, Any], Any]:
    """A schema of any kind and a value."""
    kinds = ["scalar", "scalar", "nullable", "union", "any", "array", "object", "map"]
    kind = draw(st.sampled_from(kinds if depth > 0 else kinds[:5]))
    if kind == "scalar":
        return draw(scalars())
    if kind == "nullable":
        schema, value = draw(documents(depth=depth - 1))
        return {"anyOf": [schema, {"type": "null"}]}, draw(st.sampled_from([value, None]))
    if kind == "union":
        options = draw(st.lists(documents(depth=depth - 1), min_size=2, max_size=3))
        return {"anyOf": [schema for schema, _ in options]}, draw(
            st.sampled_from([value for _, value in options])
        )
    if kind == "any":
        return {}, draw(json_values())
    if kind == "array":
        return draw(arrays(depth))
    if kind == "map":
        schema, _ = draw(scalars())
        value = draw(st.dictionaries(keys(), texts(), max_size=3))
        return {"type": "object", "additionalProperties": {"type": "string"}}, value
    return draw(objects(depth))


@st.composite
def arrays(draw: st.DrawFn, depth: int) -> tuple[dict[str, Any], list[Any]]:
    """An array schema and a list whose elements fit it."""
    options = draw(st.lists(documents(depth=depth - 1), min_size=1, max_size=2))
    schemas = [schema for schema, _ in options]
    items = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    return {"type": "array", "items": items}, draw(
        st.lists(st.sampled_from([value for _, value in options]), max_size=4)
    )


@st.composite
def objects(draw: st.DrawFn, depth: int = 2) -> tuple[dict[str, Any], dict[str, Any]]:
    """An object schema and an object that fits it."""
    names = draw(st.lists(keys(), unique=True, max_size=4))
    fields = {name: draw(documents(depth=depth - 1)) for name in names}
    required = [name for name in names if draw(st.booleans())]
    value = {name: below for name, (_, below) in fields.items() if name in required or draw(st.booleans())}
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: below for name, (below, _) in fields.items()},
        "required": required,
    }
    if draw(st.booleans()):
        schema["additionalProperties"] = False
    elif draw(st.booleans()):
        extra = draw(st.dictionaries(keys(), json_values(), max_size=2))
        value = {**{key: below for key, below in extra.items() if key not in names}, **value}
    return schema, value


def chunks(text: str, cuts: list[int]) -> list[str]:
    """A text cut at some places."""
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[start:end] for start, end in itertools.pairwise(places)]


def identical(left: Any, right: Any) -> bool:
    """Equality that tells ``5`` from ``5.0``, ``True`` from ``1`` and ``0.0`` from ``-0.0``."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(identical(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(identical, left, right))
    if isinstance(left, float):
        return repr(left) == repr(right)
    return bool(left == right)
