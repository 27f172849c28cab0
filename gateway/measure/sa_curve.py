"""What the number of SAs costs, as a curve: packets a second in memory, and how many SAs are set up a second."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import dataplane
from gateway.output.plain import table
from gateway.stats import Summary

INNER_BYTES = 1408
BATCH = 64
SLICE_S = 0.03


@dataclass(frozen=True, slots=True)
class Row:
    """One suite and number of SAs, which come in random order."""

    suite: str
    implementation: str
    sas: int
    seal_ns: Summary
    open_ns: Summary
    """A packet."""
    setup_per_s: Summary
    """SAs made a second: keys expanded, memory laid out."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "suite": self.suite,
            "implementation": self.implementation,
            "sas": self.sas,
            "inner_bytes": INNER_BYTES,
            "seal_ns": self.seal_ns.as_dict(),
            "open_ns": self.open_ns.as_dict(),
            "setup_per_s": self.setup_per_s.as_dict(),
        }


def measure(
    suites: Sequence[str], counts: Sequence[int], rounds: int, progress: Callable[[str], None] = lambda _: None
) -> list[Row]:
    """Interleaved: each round has every suite and number once. DataplaneError where a suite cannot run."""
    places = [(suite, n) for suite in suites for n in counts]
    taken: dict[tuple[str, int], tuple[list[float], list[float], list[float]]] = {p: ([], [], []) for p in places}
    for number in range(rounds):
        for suite, n in places:
            progress(f"round {number + 1}/{rounds}: {suite}, {n} SAs")
            seal, open_, setup = taken[suite, n]
            seal.append(_ns(suite, n, opening=False))
            open_.append(_ns(suite, n, opening=True))
            setup.append(_setup_per_s(suite, n))
    return [
        Row(suite, dataplane.resolve(suite, "auto"), n, *(Summary(tuple(values)) for values in taken[suite, n]))
        for suite, n in places
    ]


def _ns(suite: str, sas: int, *, opening: bool) -> float:
    sample = dataplane.bench_esp(
        suite,
        "auto",
        opening=opening,
        inner_len=INNER_BYTES,
        batch=BATCH,
        sas=sas,
        min_ns=round(SLICE_S * 1e9),
    )
    return sample.ns / sample.ops


def _setup_per_s(suite: str, sas: int) -> float:
    """At least a hundred are timed, whatever the number."""
    sample = dataplane.bench_sa_setup(suite, "auto", max(sas, 100))
    return sample.ops / sample.ns * 1e9


def render(rows: Sequence[Row]) -> list[str]:
    """Lines for people."""
    body = []
    for row in rows:
        first = next(r for r in rows if r.suite == row.suite)
        body.append(
            [
                row.suite,
                f"{row.sas:,}",
                f"{1e6 / row.seal_ns.median:,.0f}",
                f"{row.seal_ns.median / first.seal_ns.median:.2f}",
                f"{1e6 / row.open_ns.median:,.0f}",
                f"{row.open_ns.median / first.open_ns.median:.2f}",
                f"{row.setup_per_s.median:,.0f}",
            ]
        )
    head = ["suite", "SAs", "sealed/ms", "x first", "opened/ms", "x first", "set up/s"]
    return [
        *table(head, body),
        "",
        f"Packets of {INNER_BYTES} bytes, {BATCH} at a time, SAs in random order; x first: over the first row's cost.",
    ]
