"""The report as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from raif_integrations.cli.report.measure import (
    MOST_COSTLIER,
    Report,
    SubjectCount,
    change,
    costlier_prompt,
)

_MOST_NOTES = 8
_LONGEST_NAME = 32


def lines(report: Report) -> Iterator[str]:
    """The table, what it leaves open, and how it was counted."""
    yield f"Counted in {report.unit} ({report.tokenizer})."
    if report.unit == "bytes":
        yield "Bytes are no tokens: give --tokenizer to count what your model reads and writes."
    yield ""
    yield from _table(report)
    yield ""
    yield "Prompt JSON is the tool definition (or JSON Schema) as text. The reply is the mean of the values:"
    yield "compact JSON, JSON with spaces as models write it, and RAIF, compared with the compact form."
    yield from _sampled(report)
    yield from _costlier(report)
    yield from _wire_json(report)
    yield from _dropped(report)
    yield from _unfit(report)


def _table(report: Report) -> Iterator[str]:
    head = ("", "prompt JSON", "bare cue", "described", "values", "reply JSON", "spaced", "RAIF", "")
    rows = [_row(count) for count in report.subjects]
    if len(rows) > 1:
        rows.append(_total(report))
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    rule = "─" * (sum(widths) + 2 * (len(widths) - 1))
    yield _aligned(head, widths)
    yield rule
    for number, row in enumerate(rows):
        if number == len(report.subjects):
            yield rule
        yield _aligned(row, widths)


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [
        f"{row[0]:<{widths[0]}}",
        *(f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True)),
    ]
    return "  ".join(cells).rstrip()


def _row(count: SubjectCount) -> tuple[str, ...]:
    name = count.name if len(count.name) <= _LONGEST_NAME else count.name[: _LONGEST_NAME - 1] + "…"
    raif = count.mean("raif")
    return (
        name + ("" if count.wire == "raif" else " (JSON)"),
        str(count.prompt_json),
        f"{count.prompt_bare} {change(count.prompt_bare, count.prompt_json)}",
        f"{count.prompt_described} {change(count.prompt_described, count.prompt_json)}",
        str(len(count.values)) + ("*" if count.sampled else ""),
        _mean(count.mean("json_compact")),
        _mean(count.mean("json_spaced")),
        _mean(raif),
        change(raif, count.mean("json_compact")),
    )


def _total(report: Report) -> tuple[str, ...]:
    total = report.totals
    values = total["values"] or 1
    return (
        "all",
        str(total["prompt_json"]),
        f"{total['prompt_bare']} {change(total['prompt_bare'], total['prompt_json'])}",
        f"{total['prompt_described']} {change(total['prompt_described'], total['prompt_json'])}",
        str(total["values"]),
        _mean(total["reply_json_compact"] / values),
        _mean(total["reply_json_spaced"] / values),
        _mean(total["reply_raif"] / values),
        change(total["reply_raif"], total["reply_json_compact"]),
    )


def _mean(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.1f}"


def _sampled(report: Report) -> Iterator[str]:
    if any(count.sampled for count in report.subjects):
        yield f"* Values made from the schema (seed {report.seed}); --payloads counts your own."
    for count in report.subjects:
        if not count.values:
            yield f"No valid value could be made for {count.name}: give --payloads."


def _costlier(report: Report) -> Iterator[str]:
    found = [
        (count.name, value) for count in report.subjects for value in count.costlier if count.wire == "raif"
    ]
    prompts = [
        (count.name, sentence)
        for count in report.subjects
        if (sentence := costlier_prompt(count, report.unit))
    ]
    if not found and not prompts:
        return
    yield ""
    yield "Where RAIF costs more"
    for name, sentence in prompts:
        yield f"  {name}: {sentence}"
    for name, value in sorted(found, key=lambda pair: pair[1].json_compact - pair[1].raif)[:MOST_COSTLIER]:
        first = value.text.replace("\n", "⏎")
        shown = first if len(first) <= 60 else first[:59] + "…"
        yield f"  {name}: {value.raif} for {value.json_compact} as compact JSON: {shown}"
    if len(found) > MOST_COSTLIER:
        yield f"  … and {len(found) - MOST_COSTLIER} values more"


def _wire_json(report: Report) -> Iterator[str]:
    limited = [count for count in report.subjects if count.wire == "json"]
    if limited:
        yield ""
        yield "Written as JSON, because RAIF cannot carry"
    for count in limited:
        for limit in count.limits[:_MOST_NOTES]:
            yield f"  {count.name}, {limit}"


def _dropped(report: Report) -> Iterator[str]:
    found = [(count.name, one) for count in report.subjects for one in count.dropped]
    if not found:
        return
    yield ""
    yield "What the bare cue does not show (✓ the described cue does; ⚙ enforced all the same)"
    for name, one in found[:_MOST_NOTES]:
        marks = ("✓" if one.described else " ") + ("⚙" if one.enforced else " ")
        yield f"  {marks} {name}.{one.path}: {one.what}: {one.detail}"
    if len(found) > _MOST_NOTES:
        yield f"  … and {len(found) - _MOST_NOTES} more: --html or --json lists them all"


def _unfit(report: Report) -> Iterator[str]:
    if report.unfit:
        yield ""
        yield f"{len(report.unfit)} payloads fit no schema and are not counted"
    for sentence in report.unfit[:_MOST_NOTES]:
        yield f"  {sentence}"
