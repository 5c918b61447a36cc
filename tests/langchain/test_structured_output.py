"""Objects from text, in every form a schema can be given in."""

import datetime
import enum
import itertools
import json
from dataclasses import dataclass
from typing import Annotated, Generic, Literal, TypedDict, TypeVar

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage
from langchain_core.utils.function_calling import convert_to_json_schema
from pydantic import BaseModel, ConfigDict
from pydantic.v1 import BaseModel as BaseModelV1

from raif_integrations.engines.base import GrammarConstraint, JsonConstraint
from raif_integrations.errors import ConfigurationError, SchemaError
from tests.langchain.chats import INVOICE, INVOICE_TEXT, Invoice, chat, get_weather
from tests.support.scripted_engine import Reply

T = TypeVar("T")


class OldInvoice(BaseModelV1):
    number: str
    total: float
    tags: list[str] = []


class InvoiceDict(TypedDict):
    """An invoice."""

    number: Annotated[str, ..., "its number"]
    tags: list[str]
    total: float


@dataclass
class InvoiceData:
    number: str
    total: float
    tags: list[str]


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)
    day: datetime.date
    size: Literal["s", "l"]


class Box(BaseModel, Generic[T]):
    inside: T


class Node(BaseModel):
    name: str
    kids: list["Node"] = []


INVOICE_SCHEMA = {
    "title": "Invoice",
    "type": "object",
    "properties": {
        "number": {"type": "string"},
        "total": {"type": "number"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["number", "total"],
}
UNTITLED = {key: value for key, value in INVOICE_SCHEMA.items() if key != "title"}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (Invoice, Invoice(**INVOICE)),
        (OldInvoice, OldInvoice(**INVOICE)),
        (InvoiceDict, INVOICE),
        (InvoiceData, InvoiceData(**INVOICE)),
        (INVOICE_SCHEMA, INVOICE),
        (UNTITLED, INVOICE),
        ({"name": "Invoice", "parameters": UNTITLED}, INVOICE),
        ({"type": "function", "function": {"name": "Invoice", "parameters": UNTITLED}}, INVOICE),
        ({"name": "Invoice", "input_schema": UNTITLED}, INVOICE),
        ({"type": "json_schema", "json_schema": {"name": "Invoice", "schema": UNTITLED}}, INVOICE),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
@pytest.mark.parametrize("method", ["raif", "function_calling"])
async def test_every_form_of_an_object(schema, expected, method):
    model = chat([INVOICE_TEXT] * 4).with_structured_output(schema, method=method)
    found = [
        model.invoke("bill"),
        await model.ainvoke("bill"),
        list(model.stream("bill"))[-1],
        [item async for item in model.astream("bill")][-1],
    ]
    assert found == [expected] * 4
    assert {type(one) for one in found} == {type(expected)}


@pytest.mark.parametrize(
    ("schema", "text", "expected"),
    [
        (Strict, "day=2024-02-29\nsize=s\n", Strict(day=datetime.date(2024, 2, 29), size="s")),
        (Box[int], "inside=3\n", Box[int](inside=3)),
    ],
)
def test_other_classes(schema, text, expected):
    assert chat([text]).with_structured_output(schema).invoke("x") == expected


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (list[Invoice], [Invoice(**INVOICE)]),
        ({"type": "array", "items": {"type": "integer"}}, [1, 2]),
        (int, 7),
        (Invoice | Strict, Invoice(**INVOICE)),
    ],
    ids=["list of a class", "array schema", "scalar", "union"],
)
def test_roots_that_are_not_objects(schema, value):
    plain = [one.model_dump() for one in value] if schema == list[Invoice] else value
    plain = plain.model_dump() if isinstance(plain, BaseModel) else plain

    def reply(request):
        return _as_the_model_writes(schema, plain)

    model = chat(reply).with_structured_output(schema)
    assert model.invoke("x") == value
    assert list(model.stream("x"))[-1] == value


def _as_the_model_writes(schema, value):
    from raif_integrations.langchain.output_shapes import output_shape
    from raif_integrations.openai_format import contract_for

    shape = output_shape(schema)
    return contract_for(shape.schema, name=shape.name).encode(value)


def test_a_recursive_class():
    value = Node(name="a", kids=[Node(name="b", kids=[])])
    text = _as_the_model_writes(Node, value.model_dump())
    assert chat([text]).with_structured_output(Node).invoke("x") == value


@pytest.mark.parametrize("method", ["json_schema", "json_mode"])
def test_methods_that_have_the_value_written_as_json(method):
    model = chat([json.dumps(INVOICE)])
    assert model.with_structured_output(Invoice, method=method).invoke("x") == Invoice(**INVOICE)
    assert isinstance(model.engine.last_request.constraint, JsonConstraint)


def test_json_mode_without_a_schema():
    model = chat(['{"a": [1, null]}'])
    assert model.with_structured_output(method="json_mode").invoke("x") == {"a": [1, None]}


def test_the_default_method_has_it_written_as_raif_under_a_grammar():
    model = chat([INVOICE_TEXT])
    model.with_structured_output(Invoice).invoke("x")
    assert isinstance(model.engine.last_request.constraint, GrammarConstraint)


@pytest.mark.parametrize("strict", [None, True, False])
@pytest.mark.parametrize("method", ["raif", "json_schema", "function_calling", "json_mode"])
def test_strict_is_accepted_everywhere(method, strict):
    text = json.dumps(INVOICE) if method.startswith("json") else INVOICE_TEXT
    model = chat([text]).with_structured_output(Invoice, method=method, strict=strict)
    assert model.invoke("x") == Invoice(**INVOICE)


def test_an_enum_is_refused():
    with pytest.raises(TypeError, match="Color is an Enum"):
        chat([]).with_structured_output(enum.Enum("Color", "RED BLUE"))


@pytest.mark.parametrize(
    ("schema", "method", "error", "message"),
    [
        (None, "raif", ConfigurationError, "schema is None"),
        ({}, "raif", ConfigurationError, "schema is empty"),
        (Invoice, "xml", ConfigurationError, "method is 'xml'"),
        (list[int], "function_calling", ConfigurationError, "type object"),
        (object(), "raif", TypeError, "no JSON Schema"),
    ],
)
def test_what_cannot_be_asked_for(schema, method, error, message):
    with pytest.raises(error, match=message):
        chat([]).with_structured_output(schema, method=method)


def test_a_schema_that_is_none_is_refused_when_it_is_used():
    with pytest.raises(SchemaError):
        chat(["x"]).with_structured_output({"title": "a", "type": "objekt"}).invoke("x")


FAILURES = {
    "cut off": (Reply("number=1\ntot", finish_reason="length"), "max_tokens"),
    "missing": (Reply("number=1\n"), "total"),
    "wrong type": (Reply("number=1\ntotal=much\n"), "total"),
    "prose": (Reply("I cannot read that."), ""),
    "empty": (Reply(""), ""),
}


@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.parametrize("method", ["raif", "function_calling"])
@pytest.mark.parametrize("way", ["invoke", "stream"])
def test_a_failure_is_an_exception_with_text_and_reason(name, method, way):
    reply, reason = FAILURES[name]
    model = chat(lambda request: reply, repair_attempts=0).with_structured_output(Invoice, method=method)
    with pytest.raises(OutputParserException, match=reason) as caught:
        list(model.stream("x")) if way == "stream" else model.invoke("x")
    assert caught.value.llm_output == reply.text
    assert "Invoice" in str(caught.value)


@pytest.mark.parametrize("name", FAILURES)
async def test_include_raw_returns_the_failure(name):
    reply, _ = FAILURES[name]
    model = chat(lambda request: reply, repair_attempts=0).with_structured_output(Invoice, include_raw=True)
    for found in (model.invoke("x"), await model.ainvoke("x"), _sum(model.stream("x"))):
        assert found["parsed"] is None
        assert isinstance(found["parsing_error"], OutputParserException)
        assert isinstance(found["raw"], AIMessage)


def test_include_raw_returns_the_object():
    model = chat([INVOICE_TEXT] * 2).with_structured_output(Invoice, include_raw=True)
    for found in (model.invoke("x"), _sum(model.stream("x"))):
        assert (found["parsed"], found["parsing_error"]) == (Invoice(**INVOICE), None)
        assert json.loads(found["raw"].content) == INVOICE


def _sum(pieces):
    total = None
    for piece in pieces:
        total = piece if total is None else total + piece
    return total


def test_a_class_that_refuses_the_value_is_a_failure():
    class Even(BaseModel):
        n: int

        def model_post_init(self, context):
            if self.n % 2:
                raise ValueError("n is odd")

    with pytest.raises(OutputParserException, match="n is odd"):
        chat(["n=3\n"]).with_structured_output(Even).invoke("x")


def test_a_streamed_dict_grows_field_by_field():
    items = list(chat([INVOICE_TEXT], chunk_sizes=(1,)).with_structured_output(INVOICE_SCHEMA).stream("x"))
    assert items[-1] == INVOICE
    assert {"number": "0042"} in items
    assert len(items) >= 4
    for before, after in itertools.pairwise(items):
        assert before.items() <= after.items() or before.get("tags") != after.get("tags")
    assert len({id(item) for item in items}) == len(items)


def test_streamed_instances_are_valid_as_they_stand():
    class Team(BaseModel):
        name: str
        players: list[str]

    text = "name=Reds\nplayers=[\nAnn\nBob\nCid\n]\n"
    items = list(chat([text], chunk_sizes=(1,)).with_structured_output(Team).stream("x"))
    assert items[-1] == Team(name="Reds", players=["Ann", "Bob", "Cid"])
    assert len(items) >= 3
    assert all(isinstance(item, Team) and item.name == "Reds" for item in items)


def test_tools_beside_an_output():
    model = chat(["reply", INVOICE_TEXT]).with_structured_output(Invoice, tools=[get_weather])
    assert model.invoke("x") == Invoice(**INVOICE)


def test_a_tool_call_instead_of_the_output():
    replies = ["get_weather", "city=Oslo\ndays=1\n"] * 2
    model = chat(replies)
    found = model.with_structured_output(Invoice, tools=[get_weather], include_raw=True).invoke("x")
    assert (found["parsed"], found["parsing_error"]) == (None, None)
    assert found["raw"].tool_calls[0]["name"] == "get_weather"
    with pytest.raises(OutputParserException, match="get_weather"):
        model.with_structured_output(Invoice, tools=[get_weather]).invoke("x")


def test_response_format_gives_json_text():
    bound = chat([INVOICE_TEXT] * 2).bind_tools([], response_format=Invoice)
    assert json.loads(bound.invoke("x").content) == INVOICE
    assert json.loads("".join(chunk.content for chunk in bound.stream("x"))) == INVOICE


@pytest.mark.parametrize("schema", [Invoice, OldInvoice, InvoiceDict, INVOICE_SCHEMA])
def test_tracing_is_told_the_schema(schema):
    told = []

    class Recorder(BaseCallbackHandler):
        def on_chat_model_start(self, serialized, messages, **kwargs):
            told.append(kwargs["options"]["ls_structured_output_format"])

    chat([INVOICE_TEXT]).with_structured_output(schema).invoke("x", config={"callbacks": [Recorder()]})
    assert told == [{"kwargs": {"method": "raif"}, "schema": convert_to_json_schema(schema)}]


def test_raif_demanded_where_it_cannot_carry_the_schema():
    schema = {
        "title": "maps",
        "type": "object",
        "properties": {
            "m": {
                "type": "object",
                "additionalProperties": {"type": "object", "additionalProperties": {"type": "object"}},
            }
        },
    }
    with pytest.raises(SchemaError, match="RAIF cannot carry"):
        chat(["x"], wire="raif").with_structured_output(schema).invoke("x")
    model = chat(['{"m": {"a": {"b": {}}}}'])
    assert model.with_structured_output(schema).invoke("x") == {"m": {"a": {"b": {}}}}
