"""``raif-integrations report``: what it takes, what it counts, and what it says."""

from __future__ import annotations

import json
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from raif_integrations.cli import main
from raif_integrations.cli.report.dropped import dropped
from raif_integrations.cli.report.measure import change
from raif_integrations.cli.report.samples import sample_values
from raif_integrations.cli.report.subjects import find_subjects
from raif_integrations.contract import OutputContract

DATA = Path(__file__).parents[2] / "benchmarks" / "data"

MODULE = '''
from typing import Literal
from pydantic import BaseModel, Field

class Line(BaseModel):
    name: str
    quantity: int = Field(ge=1, le=9)

class Order(BaseModel):
    """An order."""
    status: Literal["new", "paid"] = Field(description="Where it is.")
    lines: list[Line]

class Tree(BaseModel):
    name: str
    children: list["Tree"] = []

def search(query: str, limit: int = 10) -> str:
    """Searches the shop."""
    return query

PING = {"name": "ping", "parameters": {"type": "object", "properties": {}}}
TOOLS = [search, {"type": "function", "function": PING}]
number = 7
'''


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module of schemas, as the working directory."""
    (tmp_path / "shop_schemas.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("shop_schemas", None)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["report", *arguments]) == 0
    return capsys.readouterr().out


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(capsys, *arguments, "--json"))
    return found


@pytest.mark.parametrize(
    ("reference", "names"),
    [
        ("shop_schemas:Order", [("Order", False)]),
        ("shop_schemas.py:Order", [("Order", False)]),
        ("shop_schemas:search", [("search", True)]),
        ("shop_schemas:TOOLS", [("search", True), ("ping", True)]),
        (str(DATA / "tools.json"), None),
    ],
)
def test_schemas_are_found_by_reference(
    shop: Path, reference: str, names: list[tuple[str, bool]] | None
) -> None:
    found = [(subject.name, subject.is_tool) for subject in find_subjects(reference)]
    if names is None:
        tools = json.loads((DATA / "tools.json").read_text())
        names = [(tool["function"]["name"], True) for tool in tools]
    assert found == names


@pytest.mark.parametrize(
    ("content", "name", "is_tool"),
    [
        ({"type": "object", "properties": {"a": {"type": "string"}}}, "given", False),
        ({"title": "Card", "type": "object", "properties": {"a": {"type": "string"}}}, "Card", False),
        ({"name": "f", "input_schema": {"type": "object", "properties": {}}}, "f", True),
        ({"tools": [{"type": "function", "function": {"name": "g", "parameters": {}}}]}, "g", True),
        ({"type": "json_schema", "json_schema": {"name": "h", "schema": {"type": "object"}}}, "h", False),
        ({"type": "object", "properties": {"name": {"type": "string"}}}, "given", False),
    ],
)
def test_files_hold_schemas_and_tools(tmp_path: Path, content: Any, name: str, is_tool: bool) -> None:
    path = tmp_path / "given.json"
    path.write_text(json.dumps(content))
    (subject,) = find_subjects(str(path))
    assert (subject.name, subject.is_tool) == (name, is_tool)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing"], "'nothing' is no schema"),
        (["missing.json"], "missing.json cannot be read"),
        (["no_such_module:Order"], "no_such_module"),
        (["shop_schemas:Absent"], "has no 'Absent'"),
        (["shop_schemas:number"], "neither a tool nor a schema"),
        (["missing.py:Order"], "no file 'missing.py'"),
        (["shop_schemas:Order", "--tokenizer", "."], "holds no tokenizer.json"),
        (["shop_schemas:Order", "--payloads", "missing.jsonl"], "missing.jsonl cannot be read"),
        (["shop_schemas:Order", "--samples", "0"], "--samples is 0"),
        (["shop_schemas:Order", "--payloads", "shop_schemas.py"], "line 2 is not JSON"),
    ],
)
def test_what_cannot_be_read_is_named(
    shop: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert main(["report", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_the_counts_are_those_of_the_texts(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    value = {"status": "paid", "lines": [{"name": "lamp, red", "quantity": 2}, {"name": "é", "quantity": 1}]}
    (shop / "values.jsonl").write_text(json.dumps(value) + "\n\n")
    report = run_json(capsys, "shop_schemas:Order", "--payloads", "values.jsonl")
    (subject,) = report["subjects"]
    (count,) = subject["values"]
    contract = find_subjects("shop_schemas:Order")[0].contract
    assert count["text"] == contract.encode(value)
    assert count["raif"] == len(contract.encode(value).encode())
    assert count["json_compact"] == len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
    assert count["json_spaced"] == len(json.dumps(value, ensure_ascii=False).encode())
    assert subject["prompt_json"] == len(json.dumps(contract.schema).encode())
    assert subject["prompt_bare"] == len(f"<schema>\n{contract.cue()}\n</schema>".encode())
    assert report["totals"]["reply_raif"] == count["raif"]
    assert not subject["sampled"]


def test_a_tokenizer_counts_tokens(shop: Path, capsys: pytest.CaptureFixture[str], model_path: Path) -> None:
    from tokenizers import Tokenizer

    report = run_json(capsys, "shop_schemas:search", "--tokenizer", str(model_path), "--samples", "3")
    tokenizer = Tokenizer.from_file(str(model_path / "tokenizer.json"))
    (subject,) = report["subjects"]
    assert (report["unit"], report["tokenizer"]) == ("tokens", model_path.name)
    for count in subject["values"]:
        assert count["raif"] == len(tokenizer.encode(count["text"], add_special_tokens=False).ids)


def test_payloads_go_to_the_schema_they_name_or_fit(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        {"name": "search", "arguments": {"query": "lamp"}},
        {"name": "search", "arguments": json.dumps({"query": "desk", "limit": 3})},
        {"type": "function", "function": {"name": "search", "arguments": '{"query": "mug"}'}},
        {"status": "new", "lines": []},
        {"query": "bare"},
        {"name": "search", "arguments": {"limit": "many"}},
        {"nothing": "known"},
    ]
    (shop / "calls.jsonl").write_text("\n".join(map(json.dumps, lines)))
    report = run_json(capsys, "shop_schemas:Order", "shop_schemas:search", "--payloads", "calls.jsonl")
    counts = {subject["name"]: len(subject["values"]) for subject in report["subjects"]}
    assert counts == {"Order": 1, "search": 4}
    assert [sentence.partition(" fits")[0] for sentence in report["unfit"]] == ["line 6", "line 7"]


def test_what_raif_cannot_carry_is_said_and_costs_nothing_more(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = run_json(capsys, "shop_schemas:Tree")
    (subject,) = report["subjects"]
    assert subject["wire"] == "json"
    assert "refers back to itself" in subject["limits"][0]
    assert all(count["raif"] == count["json_compact"] for count in subject["values"])
    assert "Written as JSON" in run(capsys, "shop_schemas:Tree")


def test_the_table_says_where_raif_costs_more(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema = {"type": "object", "properties": {"t": {"type": "string"}}}
    (shop / "text.json").write_text(json.dumps(schema))
    (shop / "values.jsonl").write_text('{"t": "a\\nb"}\n')
    said = run(capsys, "text.json", "--payloads", "values.jsonl")
    assert "Where RAIF costs more" in said
    assert "Bytes are no tokens" in said


def test_made_values_are_valid_and_the_same_each_time() -> None:
    for subject in find_subjects(str(DATA / "tools.json")):
        values = sample_values(subject.contract, 20, seed=3)
        assert values == sample_values(subject.contract, 20, seed=3)
        assert values != sample_values(subject.contract, 20, seed=4)
        assert len(values) == 20
        assert not any(subject.contract.validate(value) for value in values)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "integer"}, "minItems": 3},
        {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 2},
        {
            "type": "object",
            "properties": {"a": {"type": ["string", "null"], "minLength": 40}},
            "required": ["a"],
        },
        {"anyOf": [{"type": "string"}, {"type": "number", "minimum": 1000}]},
        {"type": "object", "properties": {"d": {"type": "string", "format": "date-time"}, "u": {"const": 4}}},
    ],
)
def test_values_are_made_for_any_shape(schema: dict[str, Any]) -> None:
    contract = OutputContract.from_json_schema(schema, name="made")
    values = sample_values(contract, 10, seed=0)
    assert len(values) == 10
    assert not any(contract.validate(value) for value in values)


def test_everything_the_bare_cue_leaves_out_is_listed() -> None:
    schema = {
        "type": "object",
        "properties": {
            "plain": {"type": "string"},
            "code": {"type": "string", "pattern": "^[A-Z]+$", "maxLength": 3, "description": "A code."},
            "kind": {"enum": ["a", "b"]},
            "rows": {
                "type": "array",
                "items": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}},
            },
            "day": {"type": "string", "format": "date"},
        },
    }
    found = {(one.path, one.what): one for one in dropped(OutputContract.from_json_schema(schema).tree)}
    assert set(found) == {
        ("code", "description"), ("code", "pattern"), ("code", "length"), ("kind", "allowed values"),
        ("rows[].n", "range"), ("day", "format"),
    }  # fmt: skip
    assert found["kind", "allowed values"].described
    assert found["code", "description"].enforced is None
    assert found["rows[].n", "range"].detail == "at least 1"


@pytest.mark.parametrize(
    ("new", "old", "said"),
    [(65, 100, "-35 %"), (104, 100, "+4 %"), (100, 100, "±0 %"), (None, 3, "n/a"), (1, 0, "n/a")],
)
def test_a_change_is_a_whole_percentage(new: float | None, old: float, said: str) -> None:
    assert change(new, old) == said


class _Outline(HTMLParser):
    """Tags in order, and everything that is fetched from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.fetched: list[str] = []
        self.labels: list[str] = []
        self.text: list[str] = []
        self._script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._script = tag in ("script", "style")
        given = dict(attrs)
        self.fetched += [str(given[name]) for name in ("src", "href") if given.get(name)]
        if given.get("role") == "img":
            self.labels.append(str(given.get("aria-label")))

    def handle_endtag(self, tag: str) -> None:
        self._script = False

    def handle_data(self, data: str) -> None:
        if not self._script:
            self.text.append(data)


def test_the_page_holds_everything_itself(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = {
        "title": "<script>alert(1)</script>",
        "type": "object",
        "properties": {"<b>": {"type": "string"}},
    }
    (shop / "hostile.json").write_text(json.dumps(hostile))
    page = shop / "report.html"
    run(capsys, "shop_schemas:Order", "shop_schemas:Tree", "hostile.json", "--html", str(page))
    outline = _Outline()
    outline.feed(page.read_text())
    assert not outline.fetched
    assert outline.tags.count("h1") == 1
    assert len(outline.labels) == 3
    text = " ".join(outline.text)
    for said in (
        "Order",
        "Tree",
        "<script>alert(1)</script>",
        "Written as JSON",
        "What the bare cue leaves out",
    ):
        assert said in text
    assert "<script>alert(1)" not in page.read_text()


def test_the_page_says_what_is_missing(
    shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "plotly", None)
    assert main(["report", "shop_schemas:Order", "--html", "report.html"]) == 1
    assert "raif-integrations[report]" in capsys.readouterr().err
    assert not (shop / "report.html").exists()
