"""Tables and JSON of a run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from answers_items import KINDS, Item
from answers_methods import Answer, Method
from answers_runs import Record, Records
from answers_scoring import Score
from answers_statistics import Rate, mean, share

RATES: Final = ("exact", "fields", "valid", "choice", "reply", "right")

_HEADINGS: Final = {
    "exact": "exact",
    "fields": "fields right",
    "valid": "valid",
    "choice": "tool choice",
    "reply": "replies right",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One method over some items.

    Attributes:
        method: Key of the method.
        label: Its name for a reader.
        items: How many it answered.
        rates: By name; only those that the items ask for.
        prompt_tokens: Tokens read for an item, on average.
        output_tokens: Tokens written for an item, on average.
        seconds: Wall time of all answers, or ``None`` for a part of the items.
        compile_seconds: Wall time before the answers, for the first use of each grammar or schema.
    """

    method: str
    label: str
    items: int
    rates: Mapping[str, Rate]
    prompt_tokens: float
    output_tokens: float
    seconds: float | None = None
    compile_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """How much better one method is than another on the same items.

    Attributes:
        better: Key of the first method.
        worse: Key of the second.
        exact: Difference of the exact rates, from -1 to 1, with a paired interval.
    """

    better: str
    worse: str
    exact: Rate


class Report:
    """What a run shows.

    Args:
        methods: The methods, in the order of the rows; those without an answer are left out.
        items: The items of the run.
        records: What was answered.
    """

    def __init__(self, methods: Sequence[Method], items: Sequence[Item], records: Records) -> None:
        self._items = {item.id: item for item in items}
        self._records = records
        self._methods = [method for method in methods if self._answers(method)]

    def rows(self) -> list[Row]:
        """Each method over all items."""
        return [
            self._row(method, self._answers(method), self._records[method.key]) for method in self._methods
        ]

    def rows_of(self, kind: str) -> list[Row]:
        """Each method over one kind of item."""
        rows = []
        for method in self._methods:
            answers = {
                name: answer
                for name, answer in self._answers(method).items()
                if self._items[name].kind == kind
            }
            if answers:
                rows.append(self._row(method, answers))
        return rows

    def differences(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Difference]:
        """Compares methods by their exact rate, on the items that both answered."""
        known = {method.key: method for method in self._methods}
        for better, worse in pairs:
            if better not in known or worse not in known:
                continue
            first, second = self._answers(known[better]), self._answers(known[worse])
            gains = [
                float(one) - float(other)
                for name in self._items
                if name in first
                and name in second
                and (one := first[name].score.exact) is not None
                and (other := second[name].score.exact) is not None
            ]
            if gains:
                yield Difference(better, worse, mean(gains))

    def text(self, pairs: Iterable[tuple[str, str]]) -> str:
        """The tables in Markdown: all items, the right answers by kind, and the differences."""
        labels = {method.key: method.label for method in self._methods}
        parts = [_table(_overall(self.rows())), _table(self._by_kind())]
        differences = [
            f"* {labels[one.better]} against {labels[one.worse]}: "
            f"{100 * one.exact.value:+.1f} points of exact objects "
            f"({100 * one.exact.low:+.1f} to {100 * one.exact.high:+.1f}, {one.exact.n} items)"
            for one in self.differences(pairs)
        ]
        return "\n\n".join([*parts, "\n".join(differences)]).rstrip() + "\n"

    def to_dict(self, pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
        """The same as JSON data."""
        return {
            "rows": [asdict(row) for row in self.rows()],
            "kinds": {kind: rows for kind in KINDS if (rows := [asdict(row) for row in self.rows_of(kind)])},
            "differences": [asdict(one) for one in self.differences(pairs)],
        }

    def _answers(self, method: Method) -> dict[str, Answer]:
        answers = self._records[method.key].answers
        return {name: answers[name] for name in self._items if name in answers}

    def _row(self, method: Method, answers: Mapping[str, Answer], record: Record | None = None) -> Row:
        given = list(answers.values())
        return Row(
            method=method.key,
            label=method.label,
            items=len(given),
            rates=rates(answer.score for answer in given),
            prompt_tokens=math.fsum(answer.prompt_tokens for answer in given) / len(given),
            output_tokens=math.fsum(answer.output_tokens for answer in given) / len(given),
            seconds=None if record is None else record.seconds,
            compile_seconds=None if record is None else record.compile_seconds,
        )

    def _by_kind(self) -> list[list[str]]:
        rows = [["right, by kind", "items", *(method.label for method in self._methods)]]
        for kind in KINDS:
            found = {row.method: row for row in self.rows_of(kind)}
            if not found:
                continue
            cells = [
                _percent(found[method.key].rates.get("right")) if method.key in found else ""
                for method in self._methods
            ]
            rows.append([kind, str(max(row.items for row in found.values())), *cells])
        return rows


def rates(scores: Iterable[Score]) -> dict[str, Rate]:
    """Each rate over the scores that have it."""
    given = list(scores)
    found: dict[str, Rate] = {}
    for name in RATES:
        values = [value for score in given if (value := getattr(score, name)) is not None]
        if values:
            found[name] = mean(values) if name == "fields" else share(values)
    return found


def _overall(rows: Sequence[Row]) -> list[list[str]]:
    names = [name for name in RATES if name != "right" and any(name in row.rates for row in rows)]
    head = [
        "",
        *(_HEADINGS[name] for name in names),
        "prompt tokens",
        "output tokens",
        "seconds",
        "first use",
    ]
    body = [
        [
            row.label,
            *(_percent(row.rates.get(name)) for name in names),
            f"{row.prompt_tokens:.0f}",
            f"{row.output_tokens:.1f}",
            f"{row.seconds:.0f}",
            f"{row.compile_seconds:.0f}",
        ]
        for row in rows
    ]
    return [head, *body]


def _percent(rate: Rate | None) -> str:
    if rate is None:
        return ""
    return f"{100 * rate.value:.1f} % ({100 * rate.low:.0f}-{100 * rate.high:.0f})"


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])
