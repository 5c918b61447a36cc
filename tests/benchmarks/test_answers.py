"""Asking, counting and reporting, with a scripted engine in place of a model."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import answers
from answers_engines import Engines
from answers_items import Item, load_items, parse_item
from answers_methods import Answer, Limits, TurnMethod
from answers_report import Report, rates
from answers_runs import Pace, Records, run
from answers_scoring import NO_ANSWER, Score
from merging import merge
from raif_integrations.engines.base import GrammarConstraint, JsonConstraint, Request, Usage
from tests.support.scripted_engine import Reply, ScriptedEngine

BASE_JSON, BASE_GRAMMAR, FREE, GRAMMAR, JSON_ADAPTER = answers.methods(Limits())


def user(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def text_property(*names: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": list(names),
    }


def tool(name: str, *parameters: str) -> dict[str, Any]:
    function = {"name": name, "description": f"Does {name}", "parameters": text_property(*parameters)}
    return {"type": "function", "function": function}


ROPE = {
    "id": "record-1",
    "kind": "record",
    "messages": user("A rope, red."),
    "schema": text_property("thing", "color") | {"title": "Thing"},
    "value": {"thing": "rope", "color": "red"},
}
TIE = {
    "id": "plan-1",
    "kind": "plan",
    "messages": user("Tie the rope."),
    "tools": [tool("tie", "what"), tool("cut", "what")],
    "tool_choice": "auto",
    "calls": [{"name": "tie", "arguments": {"what": "rope"}}],
}
HELLO = {"id": "chat-1", "kind": "chat", "messages": user("Hello!"), "facts": []}
ITEMS = [parse_item(record) for record in (ROPE, TIE, HELLO)]


def knows(request: Request) -> str:
    """A model that answers every request of :data:`ITEMS` right, in the wire it is asked for."""
    asked = request.messages[-1]["content"]
    as_json = isinstance(request.constraint, JsonConstraint)
    if "Hello" in asked:
        return "Hello to you."
    if "A rope, red." in asked:
        return '{"thing":"rope","color":"red"}' if as_json else "color=red\nthing=rope"
    if "<tools>" in asked:
        return "tie"
    return '{"what":"rope"}' if as_json else "what=rope"


def asked_by(method: TurnMethod, script: Callable[[Request], Any], items: list[Item] = ITEMS) -> Records:
    records = Records({})
    assert run(ScriptedEngine(script), [method], items, records)
    return records


@pytest.mark.parametrize(
    "method", [BASE_JSON, BASE_GRAMMAR, FREE, GRAMMAR, JSON_ADAPTER], ids=lambda m: m.key
)
def test_right_answers_score_in_every_way_of_asking(method: TurnMethod) -> None:
    given = asked_by(method, knows)[method.key].answers
    assert given["record-1"].score == Score(exact=True, fields=1.0, valid=True)
    assert given["plan-1"].score == Score(exact=True, fields=1.0, valid=True, choice=True)
    assert given["chat-1"].score == Score(reply=True)


@pytest.mark.parametrize(
    ("method", "model", "constraint", "shown", "hidden"),
    [
        (BASE_JSON, None, JsonConstraint, "JSON Schema", "<schema>"),
        (BASE_GRAMMAR, None, GrammarConstraint, "Answer only with lines", "JSON"),
        (FREE, "raif", type(None), "<schema>\ncolor:s\nthing:s\n</schema>", "Answer only"),
        (GRAMMAR, "raif", GrammarConstraint, "<schema>\ncolor:s\nthing:s\n</schema>", "Answer only"),
        (JSON_ADAPTER, "json", JsonConstraint, "JSON Schema", "<schema>"),
    ],
    ids=lambda value: value.key if isinstance(value, TurnMethod) else None,
)
def test_each_way_asks_what_its_name_says(
    method: TurnMethod, model: str | None, constraint: type, shown: str, hidden: str
) -> None:
    engine = ScriptedEngine(knows)
    run(engine, [method], ITEMS[:1], Records({}))
    request = engine.last_request
    assert (request.model, type(request.constraint)) == (model, constraint)
    assert shown in request.messages[-1]["content"]
    assert hidden not in request.messages[-1]["content"]
    assert (request.sampling.temperature, request.sampling.max_tokens) == (0.0, Limits().object)


def test_grammars_are_compiled_before_the_time_counts() -> None:
    engine = ScriptedEngine(knows)
    run(engine, [GRAMMAR], ITEMS, Records({}))
    first = [request for request in engine.requests if request.sampling.max_tokens == 1]
    assert engine.requests[: len(first)] == first
    assert {request.constraint for request in first} == {
        GrammarConstraint(contract.grammar())
        for item in ITEMS
        for contract, _ in item.expected_objects("raif")
    }


@pytest.mark.parametrize(
    ("written", "score"),
    [
        ("color=red\nthing=knot", Score(exact=False, fields=0.5, valid=True)),
        ("color=red", Score(exact=False, fields=0.5, valid=False)),
        ("I see a red rope.", Score(exact=False, fields=0.0, valid=False)),
        (Reply("color=red\nthing=rope", "length"), Score(exact=False, fields=0.5, valid=False)),
    ],
    ids=["wrong field", "missing field", "prose", "cut off"],
)
def test_wrong_objects(written: str | Reply, score: Score) -> None:
    records = asked_by(FREE, lambda request: written, ITEMS[:1])
    assert records["adapter-free"].answers["record-1"].score == score


def test_a_wrong_tool_and_a_reply_in_its_place() -> None:
    def cuts(request: Request) -> str:
        return "cut" if "<tools>" in request.messages[-1]["content"] else "what=rope"

    wrong = asked_by(FREE, cuts, [ITEMS[1]])["adapter-free"].answers["plan-1"]
    assert wrong.score == Score(exact=False, fields=0.0, valid=True, choice=False)
    talks = asked_by(FREE, lambda request: "reply", [ITEMS[1]])["adapter-free"].answers["plan-1"]
    assert talks.score == Score(exact=False, fields=0.0, valid=False, choice=False)


def test_a_turn_without_a_call_where_one_is_required_is_a_wrong_answer() -> None:
    required = parse_item(TIE | {"kind": "tool", "tool_choice": "required"})
    answer = asked_by(FREE, lambda request: "none of them", [required])["adapter-free"].answers["plan-1"]
    assert answer.score == Score(exact=False, fields=0.0, valid=False, choice=False)
    assert answer.text in ("none of them", NO_ANSWER)


def test_tokens_are_those_of_all_generations_of_a_turn() -> None:
    def costs(request: Request) -> Reply:
        return Reply(knows(request), usage=Usage(prompt_tokens=40, completion_tokens=3))

    given = asked_by(GRAMMAR, costs)["adapter-grammar"].answers
    assert [(given[item.id].prompt_tokens, given[item.id].output_tokens) for item in ITEMS] == [
        (40, 3),
        (80, 6),
        (40, 3),
    ]


def test_a_stopped_run_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    settings = {"model": "m"}
    run(ScriptedEngine(knows), [FREE], ITEMS[:1], Records(settings, path))
    engine = ScriptedEngine(knows)
    records = Records(settings, path)
    assert run(engine, [FREE], ITEMS, records)
    assert all("A rope, red." not in request.messages[-1]["content"] for request in engine.requests)
    assert records["adapter-free"].answers.keys() == {item.id for item in ITEMS}
    again = ScriptedEngine([])
    assert run(again, [FREE], ITEMS, Records(settings, path))
    assert again.requests == []


def test_a_run_stops_in_time_and_says_so() -> None:
    engine = ScriptedEngine([])
    assert not run(engine, [FREE], ITEMS, Records({}), Pace(until=time.perf_counter() - 1))
    assert engine.requests == []


def test_answers_of_other_settings_are_not_mixed(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    Records({"model": "m", "raif_adapter": "one"}, path).save()
    with pytest.raises(ValueError, match="raif_adapter"):
        Records({"model": "m", "raif_adapter": "two"}, path)
    grown = Records({"model": "m", "raif_adapter": "one", "json_adapter": "new"}, path)
    assert grown.settings["json_adapter"] == "new"


def test_progress_counts_every_answer() -> None:
    seen: list[tuple[str, int, int]] = []
    run(
        ScriptedEngine(knows),
        [FREE],
        ITEMS,
        Records({}),
        Pace(side_by_side=1),
        progress=lambda *told: seen.append(told),
    )
    assert seen == [(FREE.label, 1, 3), (FREE.label, 2, 3), (FREE.label, 3, 3)]


def report_of(**exact: list[bool]) -> Report:
    """A report of records whose exact scores are given, by method."""
    items = [parse_item(ROPE | {"id": f"record-{n}"}) for n in range(len(next(iter(exact.values()))))]
    records = Records({})
    methods = [TurnMethod(key, key, None, "raif", True, True) for key in exact]
    for key, right in exact.items():
        records[key].seconds = 2.0
        records[key].answers = {
            item.id: Answer(Score(exact=one, fields=float(one), valid=True), 10, 5, "")
            for item, one in zip(items, right, strict=True)
        }
    return Report(methods, items, records)


def test_a_report_has_rates_by_kind_and_differences() -> None:
    report = report_of(good=[True] * 30 + [False] * 10, bad=[True] * 10 + [False] * 30)
    good, bad = report.rows()
    assert (good.rates["exact"].value, bad.rates["exact"].value) == (0.75, 0.25)
    assert (good.items, good.prompt_tokens, good.output_tokens, good.seconds) == (40, 10, 5, 2.0)
    assert [row.rates["exact"].value for row in report.rows_of("record")] == [0.75, 0.25]
    assert report.rows_of("table") == []
    (gain,) = report.differences([("good", "bad"), ("good", "unknown")])
    assert gain.exact.value == 0.5
    assert 0.3 < gain.exact.low < 0.5 < gain.exact.high < 0.7
    text = report.text([("good", "bad")])
    assert "75.0 %" in text
    assert "good against bad: +50.0 points" in text
    assert json.loads(json.dumps(report.to_dict([("good", "bad")])))["rows"][0]["rates"]["exact"]["n"] == 40


def test_a_rate_counts_only_what_asks_for_it() -> None:
    found = rates([Score(exact=True, valid=True), Score(exact=False, valid=True), Score(reply=True)])
    assert {name: (rate.value, rate.n) for name, rate in found.items()} == {
        "exact": (0.5, 2),
        "valid": (1.0, 2),
        "reply": (1.0, 1),
        "right": (2 / 3, 3),
    }


def test_methods_of_one_model_share_an_engine() -> None:
    known = [BASE_JSON, BASE_GRAMMAR, FREE, GRAMMAR, JSON_ADAPTER]
    assert Engines(Path("m")).groups(known) == [[BASE_JSON, BASE_GRAMMAR], [FREE, GRAMMAR], [JSON_ADAPTER]]
    assert Engines(Path("m"), as_requests=True).groups(known) == [known]


def test_a_merged_model_computes_what_base_and_adapter_do(tmp_path: Path) -> None:
    import torch
    from safetensors.torch import load_file, save_file

    base, adapter, merged = (tmp_path / name for name in ("base", "adapter", "merged"))
    for folder in (base, adapter, merged):
        folder.mkdir()
    weight, down, up = torch.randn(6, 4), torch.randn(2, 4), torch.randn(6, 2)
    save_file({"model.a.weight": weight, "model.b.weight": weight.clone()}, base / "model.safetensors")
    (base / "config.json").write_text("{}")
    prefix = "base_model.model.model.a"
    save_file(
        {f"{prefix}.lora_A.weight": down, f"{prefix}.lora_B.weight": up},
        adapter / "adapter_model.safetensors",
    )
    (adapter / "adapter_config.json").write_text('{"r": 2, "lora_alpha": 6}')
    merge(base, adapter, merged)
    weights = load_file(merged / "model.safetensors")
    given = torch.randn(4)
    assert torch.allclose(
        weights["model.a.weight"] @ given, weight @ given + 3 * up @ (down @ given), atol=1e-5
    )
    assert torch.equal(weights["model.b.weight"], weight)
    assert (merged / "config.json").exists()


@pytest.mark.parametrize(
    ("config", "matrices", "why"),
    [
        ({"use_dora": True}, "a", "use_dora"),
        ({}, "c", "no model.c.weight"),
    ],
)
def test_an_adapter_that_cannot_be_merged_is_refused(
    tmp_path: Path, config: dict[str, Any], matrices: str, why: str
) -> None:
    import torch
    from safetensors.torch import save_file

    save_file({"model.a.weight": torch.zeros(6, 4)}, tmp_path / "model.safetensors")
    prefix = f"base_model.model.model.{matrices}"
    save_file(
        {f"{prefix}.lora_A.weight": torch.zeros(2, 4), f"{prefix}.lora_B.weight": torch.zeros(6, 2)},
        tmp_path / "adapter_model.safetensors",
    )
    (tmp_path / "adapter_config.json").write_text(json.dumps({"r": 2, "lora_alpha": 4, **config}))
    with pytest.raises(ValueError, match=why):
        merge(tmp_path, tmp_path, tmp_path)


def test_the_held_out_items_score_full_marks_when_answered_by_their_own_values() -> None:
    """What is right is reachable: the right text, decoded and scored, counts as exact for every item."""
    for item in load_items():
        for contract, value in item.expected_objects("raif"):
            assert contract.decode(contract.encode(value), constrained=True).value == value


def test_the_right_answers_are_counted_in_both_wires() -> None:
    engine = ScriptedEngine([])
    # "color=red", "thing=rope" and "what=rope" are words of their own; each JSON text is one word.
    assert answers.tokens_of_right_answers(engine, ITEMS).startswith("3 in RAIF, 2 in JSON")


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int]:
    """Runs the benchmark's command line with engines that greet whoever asks."""

    @contextmanager
    def opened(self: Engines, asked: list[TurnMethod]) -> Iterator[ScriptedEngine]:
        yield ScriptedEngine(lambda request: "Good day to you.")

    def run_command(*arguments: str) -> int:
        monkeypatch.setattr("sys.argv", ["answers.py", "--model", str(tmp_path), *arguments])
        return answers.main()

    monkeypatch.setattr(Engines, "open", opened)
    return run_command


def test_the_command_prints_tables_and_writes_the_file(
    command: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "answers.json"
    assert command("--kinds", "chat", "record", "--limit", "10", "--json", str(path)) == 0
    printed = capsys.readouterr().out
    assert all(method.label in printed for method in answers.methods(Limits()))
    kept = json.loads(path.read_text())
    assert kept["settings"]["adapters_as"] == "merged weights"
    rows = {row["method"]: row["rates"] for row in kept["results"][0]["rows"]}
    assert rows["adapter-free"]["exact"]["value"] == 0.0
    assert rows["adapter-free"]["reply"]["value"] == 1.0
    assert str(tmp_path) not in path.read_text()


def test_the_command_says_that_a_part_is_left(command: Callable[..., int], tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    assert command("--kinds", "chat", "--json", str(path), "--stop-after", "0") == 3
    assert command("--kinds", "chat", "--json", str(path), "--only", "base-json") == 0
    assert list(json.loads(path.read_text())["records"]["base-json"]["answers"]) == [
        item.id for item in load_items(kinds=("chat",))
    ]


def test_the_command_needs_a_model(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("RAIF_TEST_MODEL", raising=False)
    monkeypatch.setattr("sys.argv", ["answers.py"])
    with pytest.raises(SystemExit):
        answers.main()
    assert "--model is needed" in capsys.readouterr().err
