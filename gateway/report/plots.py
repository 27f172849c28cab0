"""Plots as SVG that lives inside a page: its text is the page's, its ink the page's colour. Needs matplotlib."""

from __future__ import annotations

import io
import re
from typing import Any

from gateway.errors import UnusableError, install_hint
from gateway.report.model import Plot, number

_INK = "#010203"
"""Stands for the page's own text colour until the SVG is written."""
_COLOURS = ("#3b82c4", "#d9822b", "#3a9e5f", "#8a63c9", "#c94f6d", "#5b8a8a", "#9a7b4f", "#7f7f7f")
"""Middle tones: readable on white and on black."""
_WIDTH_IN, _BAR_IN = 4.6, 0.3


def svg(plot: Plot, prefix: str) -> str:
    """An ``<svg>`` element whose ids begin with ``prefix``. UnusableError without matplotlib."""
    try:
        import matplotlib

        matplotlib.use("svg")
        from matplotlib import pyplot
    except ImportError:
        raise UnusableError("plots need matplotlib", install_hint("matplotlib")) from None
    style: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": "gwbench",
        "font.family": "sans-serif",
        "font.size": 9,
        "axes.facecolor": "none",
        "figure.facecolor": "none",
        "savefig.facecolor": "none",
        "axes.edgecolor": _INK,
        "axes.labelcolor": _INK,
        "text.color": _INK,
        "xtick.color": _INK,
        "ytick.color": _INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
        "path.simplify": True,
    }
    with pyplot.rc_context(style):
        figure = _bars(pyplot, plot) if plot.bars else _lines(pyplot, plot)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
        pyplot.close(figure)
    return _inline(text.getvalue(), prefix, plot.title)


def _bars(pyplot: Any, plot: Plot) -> Any:
    groups = list(dict.fromkeys(bar.group for bar in plot.bars))
    figure, axes = pyplot.subplots(figsize=(_WIDTH_IN, 0.7 + _BAR_IN * len(plot.bars)), layout="constrained")
    for i, bar in enumerate(plot.bars):
        colour = _COLOURS[groups.index(bar.group) % len(_COLOURS)]
        axes.barh(i, bar.value, height=0.62, color=colour)
        axes.plot([bar.low, bar.high], [i, i], color=_INK, linewidth=1.2, marker="|", markersize=5)
        axes.annotate(
            number(bar.value),
            (max(bar.high, bar.value), i),
            (6, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
    axes.set_yticks(range(len(plot.bars)), [bar.label for bar in plot.bars])
    axes.invert_yaxis()
    axes.set_xlim(left=0, right=1.15 * max(max(bar.high, bar.value) for bar in plot.bars) or 1)
    axes.set_xlabel(plot.x_label)
    axes.tick_params(axis="y", length=0)
    _furnish(axes, plot, "x")
    if plot.reference is not None:
        axes.axvline(plot.reference, color=_INK, linewidth=0.8, linestyle=":")
    return figure


def _lines(pyplot: Any, plot: Plot) -> Any:
    figure, axes = pyplot.subplots(figsize=(_WIDTH_IN, 3.0 + 0.09 * len(plot.lines)), layout="constrained")
    for i, line in enumerate(plot.lines):
        colour = _COLOURS[i % len(_COLOURS)]
        draw = {"drawstyle": "steps-post"} if plot.steps else {}
        marker = "o" if len(line.x) < 40 and not plot.steps else None
        axes.plot(line.x, line.y, color=colour, label=line.label, linewidth=1.6, marker=marker, markersize=3, **draw)
        if line.low and line.high:
            axes.fill_between(line.x, line.low, line.high, color=colour, alpha=0.2, linewidth=0)
    if plot.log_x:
        axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel(plot.x_label)
    axes.set_ylabel(plot.y_label)
    _furnish(axes, plot, "both")
    if plot.reference is not None:
        axes.axhline(plot.reference, color=_INK, linewidth=0.8, linestyle=":")
    if plot.lines:
        figure.legend(loc="outside lower center", ncol=2, fontsize=8)
    return figure


def _furnish(axes: Any, plot: Plot, axis: str) -> None:
    axes.grid(axis=axis, color="#808080", alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)


def _inline(text: str, prefix: str, title: str) -> str:
    """Without prologue and fixed size, with ids of its own, and ink of the page's colour."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r'<svg [^>]*?viewBox="([^"]*)"[^>]*>', _opening, text, count=1)
    text = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}\1"', text)
    text = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}\1"', text)
    text = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}\1)", text)
    text = text.replace(_INK, "currentColor")
    return text.replace("TITLE", _escape(title), 1)


def _opening(match: re.Match[str]) -> str:
    width = float(match.group(1).split()[2])
    return (
        f'<svg role="img" aria-label="TITLE" viewBox="{match.group(1)}" style="max-width:{1.6 * width:.0f}px" '
        'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
    )


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
