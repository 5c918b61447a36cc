"""The grammar never pulls a trained model off its path.

The adapter writes what it was trained to write: keys sorted, tables, lists, no final line break. Wherever
what it writes freely is right, it writes the same under the grammar.
"""

from __future__ import annotations

from typing import Any

import pytest

from raif_integrations.contract import OutputContract
from raif_integrations.conversation.prompt import cue_block, with_block
from raif_integrations.engines.base import GrammarConstraint, Request, Sampling
from raif_integrations.engines.embedded import EmbeddedEngine

pytestmark = pytest.mark.real

_TYPES = {"s": "string", "n": "number", "i": "integer", "b": "boolean"}
_FEWEST_RIGHT = 12
"""So many of the free replies must be right, or the test says nothing."""


def record(*fields: str, **others: Any) -> dict[str, Any]:
    """An object schema: ``"name:s"`` is a required string, ``"age:n?"`` an optional number."""
    properties = dict(others)
    required = list(others)
    for field in fields:
        name, _, code = field.partition(":")
        properties[name] = {"type": _TYPES[code[0]]}
        if not code.endswith("?"):
            required.append(name)
    return {"type": "object", "properties": properties, "required": required}


INVOICE = record(
    "invoice_number:s",
    "company:s",
    "total:n",
    items={"type": "array", "items": record("item:s", "price:n", "quantity:i")},
)
EVENT = record(
    "title:s",
    tags={"type": "array", "items": {"type": "string"}},
    address=record("city:s", "zip_code:s"),
)

REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "weather": ("How is the weather in Bergen in celsius?", record("city:s", "unit:s?")),
    "weather without a unit": ("What's the weather in Hong Kong?", record("city:s", "unit:s?")),
    "currency": (
        "Convert 347 NOK to EUR",
        record("amount:n", "from_currency:s", "to_currency:s"),
    ),
    "addition": ("What is 212 plus -17?", record("a:n", "b:n")),
    "reminder": (
        "Remind me on 2026-05-14 at 09:30: Check the report again",
        record("message:s", "date:s", "time:s"),
    ),
    "mail": (
        "Email hana.novak@contoso.io. Subject: Order is ready. Body: See you tomorrow at noon.",
        record("to:s", "subject:s", "body:s"),
    ),
    "order": ("Check the status of order ORD48213", record("order_id:s")),
    "user": (
        "Register Priya Khan, priya@hooli.net, age 41",
        record("name:s", "email:s", "age:i?", "verified:b?"),
    ),
    "search": ("Find 12 results about astronomy events", record("query:s", "limit:i?")),
    "paragraph": (
        "Extract the fields.\nMeet Jonas Berg, 52, chef, living in Lisbon.",
        record("name:s", "age:i", "job_title:s", "city:s"),
    ),
    "other paragraph": (
        "Sofia Rossi is a 27 year old analyst from Quito.",
        record("name:s", "age:i", "city:s"),
    ),
    "invoice": (
        "Read this and fill the schema: Invoice INV-7731 from Globex Ltd: 4 x lamp at 25, 2 x kettle at 39.5."
        " Total 179.",
        INVOICE,
    ),
    "longer invoice": (
        "Invoice A913 from Wayne: 11 x desk at 120, 3 x mug at 7.25, 8 x router at 64. Total 1853.75.",
        INVOICE,
    ),
    "event": ("Yoga Class takes place in Vienna (01907). Topics: chess, jazz.", EVENT),
    "event with one topic": ("Text: Board Meeting takes place in Cape Town (48210). Topics: travel.", EVENT),
}


@pytest.fixture(scope="module")
def replies(embedded_engine: EmbeddedEngine, adapter_name: str) -> dict[str, tuple[str, str]]:
    """What the adapter writes freely and under the grammar, all in one batch at temperature 0."""
    requests = []
    for text, schema in REQUESTS.values():
        contract = OutputContract.from_json_schema(schema, wire="raif")
        messages = with_block([{"role": "user", "content": text}], cue_block(contract, trained=True))
        for constraint in (None, GrammarConstraint(contract.grammar())):
            sampling = Sampling(temperature=0, max_tokens=160)
            requests.append(
                Request(messages=messages, sampling=sampling, constraint=constraint, model=adapter_name)
            )
    texts = [completion.text for completion in embedded_engine.generate_many(requests)]
    return dict(zip(REQUESTS, zip(texts[::2], texts[1::2], strict=True), strict=True))


def is_right(name: str, text: str) -> bool:
    """Whether a text is valid as it stands."""
    decoded = OutputContract.from_json_schema(REQUESTS[name][1]).decode(text)
    return decoded.ok and not decoded.repairs


@pytest.mark.parametrize("name", REQUESTS)
def test_what_is_right_stays_as_it_is(name: str, replies: dict[str, tuple[str, str]]) -> None:
    free, constrained = replies[name]
    assert is_right(name, constrained), constrained
    if is_right(name, free):
        assert constrained.removesuffix("\n") == free.removesuffix("\n")


def test_most_free_replies_are_right(replies: dict[str, tuple[str, str]]) -> None:
    right = [name for name, (free, _) in replies.items() if is_right(name, free)]
    assert len(right) >= _FEWEST_RIGHT, {name: replies[name][0] for name in REQUESTS if name not in right}
