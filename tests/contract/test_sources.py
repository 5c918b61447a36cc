"""Every way in: models, tools, functions."""

from __future__ import annotations

import dataclasses
import typing
from typing import Annotated, Any, Literal, Optional

import pydantic
import pydantic.v1
import pytest
import typing_extensions

from raif_integrations.contract import OutputContract
from raif_integrations.errors import ConfigurationError, SchemaError


class Item(pydantic.BaseModel):
    sku: str
    price: float


class Invoice(pydantic.BaseModel):
    """An invoice."""

    number: str = pydantic.Field(description="As printed")
    items: list[Item]
    note: str | None = None
    kind: Literal["a", "b"] = "a"
    by_name: dict[str, int] = {}


INVOICE_CUE = "by_name:o?\nitems[]:o\nitems[].price:n\nitems[].sku:s\nkind:s?\nnote:s?\nnumber:s"


def test_pydantic_2() -> None:
    contract = OutputContract.from_pydantic(Invoice)
    assert (contract.name, contract.description, contract.wire) == ("Invoice", "An invoice.", "raif")
    assert contract.cue() == INVOICE_CUE


def test_pydantic_1() -> None:
    class Old(pydantic.v1.BaseModel):
        """Old style."""

        a: Optional[int]  # noqa: UP045
        b: list[str] = []

    contract = OutputContract.from_pydantic(Old)
    assert (contract.name, contract.description) == ("Old", "Old style.")
    assert contract.cue() == "a:n?\nb[]:s?"


def test_dataclasses() -> None:
    @dataclasses.dataclass
    class Point:
        x: int
        label: str = ""

    assert OutputContract.from_pydantic(Point).cue() == "label:s?\nx:n"


@pytest.mark.parametrize(
    "maker", [typing.TypedDict, typing_extensions.TypedDict], ids=["typing", "typing_extensions"]
)
def test_typed_dicts(maker: Any) -> None:
    inner: Any = maker("Inner", {"n": int})
    outer = maker(
        "Outer",
        {"q": Annotated[str, "the query"], "inner": list[inner], "o": typing.NotRequired[inner | None]},
    )
    contract = OutputContract.from_pydantic(outer)
    assert contract.name == "Outer"
    assert contract.cue() == "inner[]:o\ninner[].n:n\no:o?\no.n:n\nq:s"


@pytest.mark.parametrize(
    ("annotation", "value"),
    [(list[Item], [{"sku": "a", "price": 1.5}]), (int, 5), (str | None, None), (Literal["x"], "x")],
)
def test_other_types(annotation: Any, value: Any) -> None:
    contract = OutputContract.from_pydantic(annotation)
    assert contract.decode(contract.encode(value)).value == value


def test_types_without_a_schema() -> None:
    class Opaque:
        pass

    with pytest.raises(SchemaError, match="Opaque"):
        OutputContract.from_pydantic(Opaque)


SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class FrameworkTool:
    """Looks like a LangChain tool."""

    def __init__(self, arguments: Any) -> None:
        self.name = "weather"
        self.description = "Gets the weather"
        self.args_schema = arguments


class WeatherArguments(pydantic.BaseModel):
    city: str


class IndexMetadata:
    """Looks like a LlamaIndex tool's metadata."""

    name = "weather"
    description = "Gets the weather"
    fn_schema = WeatherArguments


class IndexTool:
    metadata = IndexMetadata()


@pytest.mark.parametrize(
    "tool",
    [
        {
            "type": "function",
            "function": {"name": "weather", "description": "Gets the weather", "parameters": SCHEMA},
        },
        {"name": "weather", "description": "Gets the weather", "parameters": SCHEMA},
        {"name": "weather", "description": "Gets the weather", "input_schema": SCHEMA},
        {"name": "weather", "description": "Gets the weather", "inputSchema": SCHEMA},
        FrameworkTool(SCHEMA),
        FrameworkTool(WeatherArguments),
        IndexTool(),
    ],
    ids=["openai", "openai function", "anthropic", "mcp", "schema", "model", "llama-index"],
)
def test_tools(tool: Any) -> None:
    contract = OutputContract.from_tool(tool)
    assert (contract.name, contract.description) == ("weather", "Gets the weather")
    assert contract.cue() == "city:s"
    assert OutputContract.from_tool(tool) is contract


def test_functions() -> None:
    def weather(city: str, *, days: int = 3, unit: Literal["C", "F"] = "C", self: Any = None) -> None:
        """Gets the weather."""

    contract = OutputContract.from_tool(weather)
    assert (contract.name, contract.description) == ("weather", "Gets the weather.")
    assert contract.cue() == "city:s\ndays:n?\nself:o?\nunit:s?"
    assert not contract.decode("city=Oslo\nforeign=1").ok


def test_bound_methods_and_keyword_dictionaries() -> None:
    class Service:
        def call(self, query: str, **more: int) -> None: ...

    contract = OutputContract.from_callable(Service().call)
    assert contract.cue() == "query:s"
    assert contract.decode("query=a\nlimit=3").value == {"query": "a", "limit": 3}


def test_functions_without_parameters() -> None:
    def ping() -> None: ...

    contract = OutputContract.from_callable(ping)
    assert contract.cue() == ""
    assert contract.decode("").value == {}


@pytest.mark.parametrize("function", [lambda *values: None, eval("lambda x, /: x")])
def test_parameters_that_cannot_be_given_by_keyword(function: Any) -> None:
    with pytest.raises(SchemaError, match=r"values|x"):
        OutputContract.from_callable(function)


def test_tools_without_parameters() -> None:
    assert OutputContract.from_tool({"type": "function", "function": {"name": "ping"}}).decode("").value == {}


@pytest.mark.parametrize("tool", [{"nothing": 1}, 5, "text"])
def test_what_is_no_tool(tool: Any) -> None:
    with pytest.raises(SchemaError, match=r"tool|Tool"):
        OutputContract.from_tool(tool)


def test_overrides() -> None:
    contract = OutputContract.from_tool({"name": "a", "parameters": SCHEMA}, name="b", description="c")
    assert (contract.name, contract.description) == ("b", "c")


def test_unknown_wire() -> None:
    with pytest.raises(ConfigurationError, match="wire"):
        OutputContract.from_json_schema({}, wire="xml")  # type: ignore[arg-type]


@pytest.mark.parametrize("schema", [None, 5, "text", []])
def test_what_is_no_schema(schema: Any) -> None:
    with pytest.raises(SchemaError, match="mapping or a boolean"):
        OutputContract.from_json_schema(schema)
