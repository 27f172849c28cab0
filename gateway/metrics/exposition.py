"""Prometheus' text format 0.0.4, without a library: some microseconds a series, also on a router.

The tests read it back with the prometheus-client library and with promtool.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gateway.metrics.names import METRICS

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


class Families:
    """Samples of one scrape, collected by family and written in the order of the table."""

    def __init__(self) -> None:
        self._lines: dict[str, list[str]] = {}

    def add(self, name: str, values: Sequence[str], value: float) -> None:
        """One sample; ``values`` are those of the family's labels, in their order."""
        self._lines.setdefault(name, []).append(_sample(name, METRICS[name].labels, values, value))

    def labelled(self, name: str, rendered: str, value: float) -> None:
        """The same with labels that :func:`labels` has rendered before: what a thousand series cost counts."""
        lines = self._lines.get(name)
        if lines is None:
            lines = self._lines[METRICS[name].name] = []
        lines.append(f"{name}{rendered} {_number(value)}\n")

    def histogram(self, name: str, values: Sequence[str], buckets: Iterable[tuple[float, int]], total: float) -> None:
        """``buckets``: upper bound and count of the bucket itself, in order, the last bound infinite; ``total`` is
        the sum of what was observed."""
        lines = self._lines.setdefault(name, [])
        names = METRICS[name].labels
        seen = 0
        for bound, count in buckets:
            seen += count
            lines.append(_sample(f"{name}_bucket", (*names, "le"), (*values, _number(bound)), seen))
        lines.append(_sample(f"{name}_count", names, values, seen))
        lines.append(_sample(f"{name}_sum", names, values, total))

    def update(self, other: Families) -> None:
        """Adds all samples of ``other``."""
        for name, lines in other._lines.items():
            self._lines.setdefault(name, []).extend(lines)

    def __len__(self) -> int:
        return sum(map(len, self._lines.values()))

    def text(self) -> str:
        """The whole exposition."""
        parts = []
        for name, metric in METRICS.items():
            if lines := self._lines.get(name):
                parts.append(f"# HELP {name} {_help(metric.help)}\n# TYPE {name} {metric.kind}\n")
                parts += lines
        return "".join(parts)


def labels(names: Sequence[str], values: Sequence[str]) -> str:
    """``{a="x",b="y"}``, or nothing."""
    if len(names) != len(values):
        raise ValueError(f"{len(values)} values for the labels {', '.join(names)}")
    if not names:
        return ""
    pairs = ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in zip(names, values, strict=True))
    return f"{{{pairs}}}"


def _sample(name: str, names: Sequence[str], values: Sequence[str], value: float) -> str:
    return f"{name}{labels(names, values)} {_number(value)}\n"


def _number(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    if value == float("inf"):
        return "+Inf"
    return repr(value)


def _help(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n")
