"""The plots of the page. The colours are told apart with any kind of colour vision (Okabe and Ito)."""

from __future__ import annotations

import json

import plotly.graph_objects as go
import plotly.offline

from raif_integrations.cli.report.measure import Report

_JSON = "#56606b"
_JSON_LIGHT = "#aab4bf"
_RAIF = "#0072b2"
_RAIF_LIGHT = "#56b4e9"
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
_BAR_PIXELS = 56
_MARGIN_PIXELS = 110
_MOST_BARS = 30
_LONGEST_NAME = 28


def script() -> str:
    """The library that draws the plots, as a script element."""
    return f"<script>{plotly.offline.get_plotlyjs()}</script>"


def plots(report: Report) -> tuple[str, str, str]:
    """The prompt, the reply and the values, as HTML."""
    return (
        _div(
            _prompts(report), f"Bars: prompt {report.unit} of each schema; the table below holds the figures."
        ),
        _div(_replies(report), f"Bars: mean reply {report.unit} of each schema; see the table below."),
        _div(_values(report), f"Points: {report.unit} of each value as RAIF over those as compact JSON."),
    )


def _prompts(report: Report) -> go.Figure:
    names = _names(report)
    shown = report.subjects[:_MOST_BARS]
    series = (
        ("Cue for a model trained on RAIF", [count.prompt_bare for count in shown], _RAIF),
        ("Cue for any other model", [count.prompt_described for count in shown], _RAIF_LIGHT),
        ("JSON definition", [count.prompt_json for count in shown], _JSON),
    )
    return _bars(names, series, f"{report.unit} in the prompt")


def _replies(report: Report) -> go.Figure:
    names = _names(report)
    shown = report.subjects[:_MOST_BARS]
    series = (
        ("RAIF", [count.mean("raif") for count in shown], _RAIF),
        ("Compact JSON", [count.mean("json_compact") for count in shown], _JSON_LIGHT),
        ("JSON as models write it", [count.mean("json_spaced") for count in shown], _JSON),
    )
    return _bars(names, series, f"{report.unit} in the reply, mean of the values")


def _bars(
    names: list[str], series: tuple[tuple[str, list[int] | list[float | None], str], ...], title: str
) -> go.Figure:
    """Horizontal bars; the first schema and the first series are topmost."""
    figure = go.Figure()
    for label, values, colour in series:
        texts = ["" if value is None else f"{value:.0f}" for value in values]
        figure.add_bar(
            name=label, x=values, y=names, orientation="h", marker_color=colour, text=texts,
            textposition="outside", cliponaxis=False,
            hovertemplate=f"%{{y}}: %{{x:.1f}}<extra>{label}</extra>",
        )  # fmt: skip
    figure.update_layout(
        barmode="group", height=_MARGIN_PIXELS + _BAR_PIXELS * max(2, len(names)), bargap=0.28,
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        xaxis={"title": _axis_title(title), "rangemode": "tozero", "gridcolor": "#e3e7eb", "zeroline": False},
        yaxis={"autorange": "reversed", "automargin": True, "ticksuffix": "  "},
    )  # fmt: skip
    return _styled(figure)


def _values(report: Report) -> go.Figure:
    figure = go.Figure()
    pairs = [(value.json_compact, value.raif) for count in report.subjects for value in count.values]
    most = max((max(pair) for pair in pairs), default=1) * 1.06
    figure.add_scatter(
        x=[0, most], y=[0, most], mode="lines", line={"color": _JSON, "dash": "dash", "width": 1.5},
        hoverinfo="skip", showlegend=False,
    )  # fmt: skip
    symbols = ("circle", "diamond", "square", "triangle-up", "x", "cross", "star")
    colours = (_RAIF, "#d55e00", "#009e73", "#cc79a7", "#e69f00", _RAIF_LIGHT, "#000000")
    for number, count in enumerate(one for one in report.subjects if one.wire == "raif"):
        figure.add_scatter(
            name=_shortened(count.name), mode="markers", x=[value.json_compact for value in count.values],
            y=[value.raif for value in count.values],
            marker={
                "color": colours[number % len(colours)], "symbol": symbols[number % len(symbols)], "size": 9,
                "opacity": 0.75, "line": {"color": "#ffffff", "width": 0.8},
            },
            hovertemplate="JSON %{x}, RAIF %{y}<extra>%{fullData.name}</extra>",
        )  # fmt: skip
    for text, x, y in (("RAIF costs more", 0.3, 0.75), ("RAIF saves", 0.75, 0.3)):
        figure.add_annotation(
            text=text,
            x=x,
            y=y,
            xref="paper",
            yref="paper",
            showarrow=False,
            font={"color": _JSON, "size": 15},
        )
    axis = {"range": [0, most], "gridcolor": "#e3e7eb", "zeroline": False}
    figure.update_layout(
        height=460,
        xaxis={**axis, "title": _axis_title(f"{report.unit} as compact JSON")},
        yaxis={
            **axis,
            "title": _axis_title(f"{report.unit} as RAIF"),
            "automargin": True,
            "ticksuffix": "  ",
        },
        legend={"title": None, "x": 1.02, "y": 1},
    )
    return _styled(figure)


def _axis_title(text: str) -> dict[str, object]:
    return {"text": text, "font": {"size": 14, "color": _JSON}, "standoff": 14}


def _styled(figure: go.Figure) -> go.Figure:
    figure.update_layout(
        template="none", paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)",
        font={"family": _FONT, "size": 14, "color": "#1c2733"},
        margin={"l": 10, "r": 40, "t": 40, "b": 60}, hoverlabel={"font_size": 13},
    )  # fmt: skip
    return figure


def _div(figure: go.Figure, label: str) -> str:
    drawn = figure.to_html(
        full_html=False,
        include_plotlyjs=False,
        config={"displayModeBar": False, "responsive": True},
    )
    return f'<div role="img" aria-label={json.dumps(label)}>{drawn}</div>'


def _names(report: Report) -> list[str]:
    """Names of the schemas on an axis, where two of the same name would be drawn as one."""
    names: list[str] = []
    for count in report.subjects[:_MOST_BARS]:
        name = _shortened(count.name)
        names.append(name if name not in names else f"{name} ({len(names) + 1})")
    return names


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
