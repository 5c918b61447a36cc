"""The report as one HTML page that needs nothing else, not even a network."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from string import Template

from raif_integrations import __version__
from raif_integrations._extras import ExplainMissingExtra
from raif_integrations.cli.report.measure import (
    MOST_COSTLIER,
    Report,
    SubjectCount,
    change,
    costlier_prompt,
)

_MOST_DROPPED = 60


def check_plots() -> None:
    """Makes sure that the page can be made, before anything is counted.

    Raises:
        ImportError: The plotting library is not installed.
    """
    with ExplainMissingExtra():
        import plotly  # noqa: F401


def page(report: Report) -> str:
    """The page.

    Args:
        report: What to show.

    Raises:
        ImportError: The plotting library is not installed.
    """
    check_plots()
    from raif_integrations.cli.report.plots import plots, script

    template = Template(files("raif_integrations.cli.report").joinpath("page.html").read_text("utf-8"))
    prompt_plot, reply_plot, values_plot = plots(report)
    return template.substitute(
        title="RAIF and JSON in tokens" if report.unit == "tokens" else "RAIF and JSON in bytes",
        script=script(),
        counted=escape(_counted(report)),
        cards=_cards(report),
        prompt_plot=prompt_plot,
        reply_plot=reply_plot,
        values_plot=values_plot,
        rows="".join(map(_row, report.subjects)) + (_total(report) if len(report.subjects) > 1 else ""),
        sections="".join((_costlier(report), _wire_json(report), _dropped(report), _unfit(report))),
        notes=_notes(report),
        version=escape(__version__),
    )


def _cards(report: Report) -> str:
    total = report.totals
    figures = (
        (
            change(total["reply_raif"], total["reply_json_spaced"]),
            "in the reply, against JSON as models write it",
        ),
        (change(total["reply_raif"], total["reply_json_compact"]), "in the reply, against compact JSON"),
        (change(total["prompt_bare"], total["prompt_json"]), "in the prompt, model trained on RAIF"),
        (change(total["prompt_described"], total["prompt_json"]), "in the prompt, any other model"),
    )
    return "".join(
        f'<div class="card"><dt>{escape(what)}</dt><dd>{escape(_signed(figure))}</dd></div>'
        for figure, what in figures
    )


def _counted(report: Report) -> str:
    schemas, values = len(report.subjects), report.totals["values"]
    return (
        f"{schemas} {'schema' if schemas == 1 else 'schemas'} and {values} values, counted in {report.unit} "
        f"({report.tokenizer})."
    )


def _signed(figure: str) -> str:
    """A change with a real minus sign, which screen readers say."""
    return figure.replace("-", "\N{MINUS SIGN}")


def _row(count: SubjectCount) -> str:
    kind = "tool" if count.is_tool else "schema"
    badge = "" if count.wire == "raif" else ' <span class="badge">JSON</span>'
    values = f"{len(count.values)}{' made' if count.sampled else ''}"
    return _cells(
        f"{escape(count.name)}{badge}<small>{kind}</small>",
        (count.prompt_json, count.prompt_bare, count.prompt_described),
        values,
        (count.mean("json_spaced"), count.mean("json_compact"), count.mean("raif")),
    )


def _total(report: Report) -> str:
    total, values = report.totals, report.totals["values"] or 1
    prompts = (total["prompt_json"], total["prompt_bare"], total["prompt_described"])
    replies = tuple(total[f"reply_{of}"] / values for of in ("json_spaced", "json_compact", "raif"))
    return _cells("All", prompts, str(total["values"]), replies, kind="total")


def _cells(
    name: str,
    prompts: tuple[int, int, int],
    values: str,
    replies: tuple[float | None, ...],
    kind: str = "",
) -> str:
    json_prompt, bare, described = prompts
    spaced, compact, raif = replies
    cells = [
        str(json_prompt),
        f"{bare}{_delta(bare, json_prompt)}",
        f"{described}{_delta(described, json_prompt)}",
        escape(values),
        _mean(spaced),
        _mean(compact),
        f"{_mean(raif)}{_delta(raif, compact)}",
    ]
    row = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr class="{kind}"><th scope="row">{name}</th>{row}</tr>'


def _delta(new: float | None, old: float | None) -> str:
    text = change(new, old)
    kind = "less" if text.startswith("-") else "more" if text.startswith("+") else "same"
    return f' <span class="{kind}">{escape(_signed(text))}</span>'


def _mean(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.1f}"


def _costlier(report: Report) -> str:
    items = [
        f"<li><b>{escape(count.name)}</b>: {escape(sentence)}</li>"
        for count in report.subjects
        if (sentence := costlier_prompt(count, report.unit))
    ]
    for count in report.subjects:
        worse = count.costlier
        if not worse:
            continue
        shown = "".join(
            f"<li>{value.raif} for {value.json_compact} as compact JSON<pre>{escape(value.text)}</pre></li>"
            for value in worse[:MOST_COSTLIER]
        )
        items.append(
            f"<li><b>{escape(count.name)}</b>: {len(worse)} of {len(count.values)} values"
            f"<details><summary>the worst of them</summary><ul>{shown}</ul></details></li>"
        )
    if not items:
        return _section(
            "Where RAIF costs more", "<p>Nowhere: no value and no cue is longer than its JSON.</p>"
        )
    return _section("Where RAIF costs more", f"<ul>{''.join(items)}</ul>")


def _wire_json(report: Report) -> str:
    items = "".join(
        f"<li><b>{escape(count.name)}</b>, {escape(limit)}</li>"
        for count in report.subjects
        if count.wire == "json"
        for limit in count.limits
    )
    if not items:
        return ""
    text = "<p>The engine's own JSON guidance is used for these, so the values are right all the same.</p>"
    return _section("Written as JSON", f"{text}<ul>{items}</ul>")


def _dropped(report: Report) -> str:
    found = [(count.name, one) for count in report.subjects for one in count.dropped]
    if not found:
        return ""
    rows = "".join(
        f"<tr><th scope='row'>{escape(name)}.{escape(one.path)}</th><td>{escape(one.what)}</td>"
        f"<td><code>{escape(one.detail)}</code></td><td>{'yes' if one.described else 'no'}</td>"
        f"<td>{'nothing to enforce' if one.enforced is None else 'yes'}</td></tr>"
        for name, one in found[:_MOST_DROPPED]
    )
    more = len(found) - _MOST_DROPPED
    rest = f"<p>… and {more} more; <code>--json</code> lists them all.</p>" if more > 0 else ""
    table = (
        '<div class="scroll"><table class="words"><caption>What the bare cue does not show. '
        "What can be enforced is enforced by the grammar, as far as a grammar can, and validated in full."
        "</caption><thead><tr><th scope='col'>Field</th><th scope='col'>What</th>"
        "<th scope='col'>The schema says</th><th scope='col'>In the described cue</th>"
        f"<th scope='col'>Enforced</th></tr></thead><tbody>{rows}</tbody></table></div>{rest}"
    )
    return _section("What the bare cue leaves out", table)


def _unfit(report: Report) -> str:
    if not report.unfit:
        return ""
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in report.unfit[:20])
    title = f"{len(report.unfit)} payloads fit no schema and are not counted"
    return _section(title, f"<ul>{items}</ul>")


def _section(title: str, body: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{body}</section>"


def _notes(report: Report) -> str:
    notes = [
        "The JSON prompt is the tool definition, or the JSON Schema, as text, as chat templates write it. A "
        "server that enforces a schema without showing it spends nothing; the model then does not know it.",
        "The RAIF prompt is what this package sends in its place: the cue and, for a tool, the line that "
        "offers it.",
        "Replies are counted without the token that ends them, which both forms need.",
    ]
    if any(count.sampled for count in report.subjects):
        notes.append(f"“Made” values come from the schema (seed {report.seed}), not from real use.")
    if report.unit == "bytes":
        notes.append("Bytes are no tokens: --tokenizer counts what a model reads and writes.")
    return "".join(f"<li>{escape(note)}</li>" for note in notes)
