"""What many SAs cost: ESP in memory with one SA, and with thousands in random order, singly and in runs of eight."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import dataplane
from gateway.stats import Summary

FRAME_BYTES = 1422
"""An inner packet of 1408 bytes."""
SLICE_S = 0.04
RUN = 8
"""Packets of one SA at a time in the third column."""


@dataclass(frozen=True, slots=True)
class Row:
    """ns a packet."""

    suite: str
    implementation: str
    op: str
    sas: int
    one: Summary
    random: Summary
    runs: Summary

    @property
    def random_ratio(self) -> float:
        return self.random.median / self.one.median

    @property
    def runs_ratio(self) -> float:
        return self.runs.median / self.one.median

    def as_dict(self) -> dict[str, object]:
        return {
            "suite": self.suite,
            "implementation": self.implementation,
            "op": self.op,
            "sas": self.sas,
            "inner_bytes": FRAME_BYTES - 14,
            "ns_one_sa": self.one.as_dict(),
            "ns_random_order": self.random.as_dict(),
            "ns_runs_of_8": self.runs.as_dict(),
            "random_ratio": self.random_ratio,
            "runs_ratio": self.runs_ratio,
        }


def measure(
    suites: Sequence[str], sas: int, rounds: int, progress: Callable[[str], None] = lambda _: None
) -> list[Row]:
    """Interleaved: each round has every suite, direction and order once."""
    orders = ((1, 1), (sas, 1), (sas, RUN))
    keys = [(suite, op) for suite in suites for op in ("seal", "open")]
    taken: dict[tuple[str, str], list[list[float]]] = {key: [[], [], []] for key in keys}
    for number in range(rounds):
        for suite, op in keys:
            progress(f"round {number + 1}/{rounds}: {suite} {op}")
            for column, (n, run) in enumerate(orders):
                sample = dataplane.bench_esp(
                    suite,
                    "auto",
                    opening=op == "open",
                    inner_len=FRAME_BYTES - 14,
                    batch=64,
                    sas=n,
                    run=run,
                    min_ns=round(SLICE_S * 1e9),
                )
                taken[suite, op][column].append(sample.ns / sample.ops)
    return [
        Row(suite, dataplane.resolve(suite, "auto"), op, sas, *(Summary(tuple(column)) for column in columns))
        for (suite, op), columns in taken.items()
    ]


def render(rows: Sequence[Row]) -> list[str]:
    """Lines for people."""
    lines = [
        f"{'suite':<20}{'':<6}{'1 SA':>8}{'random':>16}{'runs of 8':>16}   ns a packet of 1408 bytes, and times one SA"
    ]
    for r in rows:
        random, runs = f"{r.random.median:.0f} ({r.random_ratio:.2f})", f"{r.runs.median:.0f} ({r.runs_ratio:.2f})"
        lines.append(f"{r.suite:<20}{r.op:<6}{r.one.median:>8.0f}{random:>16}{runs:>16}")
    return lines
