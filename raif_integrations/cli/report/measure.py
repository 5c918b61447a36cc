"""The comparison itself: the same schemas and values as RAIF and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Any

from raif_integrations.cli.report.dropped import Dropped, dropped
from raif_integrations.cli.report.payloads import Payloads
from raif_integrations.cli.report.samples import sample_values
from raif_integrations.cli.report.subjects import Subject
from raif_integrations.cli.report.tokenizers import Counter

MOST_COSTLIER = 5
"""Values listed of those that RAIF makes longer."""


@dataclass(frozen=True, slots=True)
class ValueCount:
    """What one value costs in a reply.

    Attributes:
        raif: As this package has it written.
        json_compact: As JSON without a space.
        json_spaced: As JSON with spaces after commas and colons, the way models write it.
        text: The RAIF text.
    """

    raif: int
    json_compact: int
    json_spaced: int
    text: str


@dataclass(frozen=True, slots=True)
class SubjectCount:
    """What one schema costs.

    Attributes:
        name: What the model calls it.
        is_tool: It is a tool; otherwise the schema of a structured output.
        wire: ``raif`` or ``json``.
        limits: Fields that RAIF cannot carry, with the reason.
        sampled: The values are made from the schema, not a user's own.
        prompt_json: The tool definition or JSON Schema as text.
        prompt_bare: What a model trained on RAIF is shown.
        prompt_described: What any other model is shown.
        values: Each value's cost in a reply.
        dropped: What the bare cue leaves out.
    """

    name: str
    is_tool: bool
    wire: str
    limits: tuple[str, ...]
    sampled: bool
    prompt_json: int
    prompt_bare: int
    prompt_described: int
    values: tuple[ValueCount, ...]
    dropped: tuple[Dropped, ...]

    def mean(self, of: str) -> float | None:
        """Mean cost of a value: ``raif``, ``json_compact`` or ``json_spaced``."""
        return fmean(getattr(value, of) for value in self.values) if self.values else None

    @property
    def costlier(self) -> list[ValueCount]:
        """The values that are longer as RAIF than as compact JSON, the worst first."""
        worse = [value for value in self.values if value.raif > value.json_compact]
        return sorted(worse, key=lambda value: value.json_compact - value.raif)


@dataclass(frozen=True, slots=True)
class Report:
    """The comparison of all schemas.

    Attributes:
        tokenizer: Its name.
        unit: ``tokens`` or ``bytes``.
        subjects: One entry for each schema.
        unfit: Lines of the payloads that fit no schema.
        seed: Of the values made from schemas.
    """

    tokenizer: str
    unit: str
    subjects: tuple[SubjectCount, ...]
    unfit: tuple[str, ...] = ()
    seed: int = 0
    totals: dict[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON data."""
        return asdict(self)


def compare(
    subjects: Sequence[Subject], counter: Counter, given: Payloads | None, *, samples: int, seed: int
) -> Report:
    """Counts everything.

    Args:
        subjects: The schemas.
        counter: The tokenizer.
        given: A user's own values, or ``None`` to make some. A schema without any of its own gets made ones.
        samples: How many to make of each schema.
        seed: Of the values that are made.
    """
    counts = []
    for index, subject in enumerate(subjects):
        own = given.values[index] if given is not None else []
        values = own or sample_values(subject.contract, samples, seed)
        counts.append(_count(subject, counter.count, values, sampled=not own))
    unfit = tuple(given.unfit) if given is not None else ()
    return Report(counter.name, counter.unit, tuple(counts), unfit, seed, _totals(counts))


def _count(
    subject: Subject, count: Callable[[str], int], values: Iterable[Any], *, sampled: bool
) -> SubjectCount:
    contract = subject.contract
    return SubjectCount(
        name=subject.name,
        is_tool=subject.is_tool,
        wire=contract.wire,
        limits=tuple(f"{limit.path or 'the schema'}: {limit.reason}" for limit in contract.limits),
        sampled=sampled,
        prompt_json=count(subject.json_prompt()),
        prompt_bare=count(subject.raif_prompt(trained=True)),
        prompt_described=count(subject.raif_prompt(trained=False)),
        values=tuple(_count_value(subject, count, value) for value in values),
        dropped=tuple(dropped(contract.tree)) if contract.wire == "raif" else (),
    )


def _count_value(subject: Subject, count: Callable[[str], int], value: Any) -> ValueCount:
    compact = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # What travels as JSON costs what JSON costs, in whichever form the model writes it.
    text = subject.contract.encode(value) if subject.contract.wire == "raif" else compact
    return ValueCount(
        raif=count(text),
        json_compact=count(compact),
        json_spaced=count(json.dumps(value, ensure_ascii=False)),
        text=text,
    )


def _totals(counts: Sequence[SubjectCount]) -> dict[str, int]:
    values = [value for count in counts for value in count.values]
    return {
        "prompt_json": sum(count.prompt_json for count in counts),
        "prompt_bare": sum(count.prompt_bare for count in counts),
        "prompt_described": sum(count.prompt_described for count in counts),
        "values": len(values),
        "reply_raif": sum(value.raif for value in values),
        "reply_json_compact": sum(value.json_compact for value in values),
        "reply_json_spaced": sum(value.json_spaced for value in values),
        "costlier": sum(len(count.costlier) for count in counts),
    }


def change(new: float | None, old: float | None) -> str:
    """``-35 %``, ``+4 %``: how much longer or shorter something is; ``n/a`` where it cannot be said."""
    if new is None or not old:
        return "n/a"
    percent = round(100 * (new - old) / old)
    return f"{percent:+d} %" if percent else "±0 %"


def costlier_prompt(count: SubjectCount, unit: str) -> str:
    """A sentence where the longest prompt is longer than the JSON definition; empty where it is not."""
    more = count.prompt_described - count.prompt_json
    if more <= 0:
        return ""
    if count.wire == "json":
        return f"asking for JSON takes {more} {unit} more than the schema alone"
    return f"the described cue is {more} {unit} longer than the JSON definition"
