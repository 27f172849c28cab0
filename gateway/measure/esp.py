"""Whole ESP packets in memory: every suite, direction, frame size and batch size in interleaved rounds."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import dataplane
from gateway import costmodel
from gateway.measure.crypto import has_cycle_counter
from gateway.stats import Summary

FRAMES = (64, 128, 256, 512, 594, 1024, 1280, 1408, 1518)
"""Ethernet frames; 594 is IMIX's middle one."""
BATCHES = (1, 8, 32, 64)
SLICE_S = 0.0003
ROUNDS = (5, 15)
BUDGET_S = 12.0
OVERHEAD_S = 0.001
"""Making SAs, and sealing what is opened."""


def inner_bytes(frame: int) -> int:
    """The IP packet that a frame carries."""
    return frame - costmodel.ETHERNET_BYTES


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to measure."""

    suite: str
    wish: str
    implementation: str
    """What runs: driver + driver."""
    op: str
    frame: int
    batch: int


@dataclass(frozen=True, slots=True)
class Row:
    """A case's result; costs are of one packet."""

    case: Case
    ns: Summary
    cycles: Summary | None

    @property
    def packets_per_s(self) -> float:
        return 1e9 / self.ns.median

    @property
    def gbit_per_s(self) -> float:
        """Of inner IP packets."""
        return self.packets_per_s * inner_bytes(self.case.frame) * 8 / 1e9

    @property
    def cost(self) -> float:
        """In cycles where they can be counted, else in ns."""
        return self.cycles.median if self.cycles else self.ns.median

    def as_dict(self) -> dict[str, object]:
        c = self.case
        return {
            "suite": c.suite,
            "implementation": c.implementation,
            "op": c.op,
            "frame_bytes": c.frame,
            "inner_bytes": inner_bytes(c.frame),
            "batch": c.batch,
            "packets_per_s": self.packets_per_s,
            "gbit_per_s": self.gbit_per_s,
            "ns": self.ns.as_dict(),
            "cycles": self.cycles.as_dict() if self.cycles else None,
        }


def cases(suites: Sequence[str], wishes: Sequence[str], frames: Sequence[int], batches: Sequence[int]) -> list[Case]:
    """In the order of a round: what differs least stands next to each other. DataplaneError for an unknown wish."""
    ran: dict[tuple[str, str], str] = {}
    for suite in suites:
        for wish in wishes:
            name = dataplane.resolve(suite, wish)
            if name not in [n for (s, _), n in ran.items() if s == suite]:
                ran[suite, wish] = name
    return [
        Case(suite, wish, name, op, frame, batch)
        for frame in frames
        for batch in batches
        for op in ("seal", "open")
        for (suite, wish), name in ran.items()
    ]


Bench = Callable[[Case, int], dataplane.BenchSample]


def bench(case: Case, min_ns: int) -> dataplane.BenchSample:
    """One measurement."""
    return dataplane.bench_esp(
        case.suite,
        case.wish,
        opening=case.op == "open",
        inner_len=inner_bytes(case.frame),
        batch=case.batch,
        sas=1,
        min_ns=min_ns,
    )


def rounds_for(n_cases: int, budget_s: float = BUDGET_S) -> int:
    """As many as fit."""
    return round(min(max(budget_s / (n_cases * (SLICE_S + OVERHEAD_S)), ROUNDS[0]), ROUNDS[1]))


def measure(
    wanted: Sequence[Case],
    rounds: int,
    progress: Callable[[str], None] = lambda _: None,
    run: Bench = bench,
    budget_s: float | None = BUDGET_S,
    clock: Callable[[], float] = time.monotonic,
) -> list[Row]:
    """Every case once a round; rounds after the first stop at the budget."""
    taken: dict[Case, list[dataplane.BenchSample]] = {case: [] for case in wanted}
    limit = None if budget_s is None else clock() + budget_s * 1.15
    for number in range(rounds):
        for case in wanted:
            if number and limit is not None and clock() > limit:
                break
            progress(f"round {number + 1}/{rounds}: {case.suite} {case.op} {case.frame} x{case.batch}")
            taken[case].append(run(case, round(SLICE_S * 1e9)))
    counted = has_cycle_counter()
    return [
        Row(
            case,
            Summary(tuple(s.ns / s.ops for s in samples)),
            Summary(tuple(s.cycles / s.ops for s in samples)) if counted and all(s.cycles for s in samples) else None,
        )
        for case, samples in taken.items()
    ]


def clock_hz(rows: Sequence[Row]) -> float:
    """Ticks of the counter per second of wall time; 10^9 where costs are in ns."""
    ratios = sorted(row.cycles.median / row.ns.median * 1e9 for row in rows if row.cycles)
    return ratios[len(ratios) // 2] if ratios else 1e9


def cost_file(rows: Sequence[Row], cpu_model: str) -> costmodel.CostFile:
    """Fits every suite, direction, implementation and batch size that has two frame sizes at least."""
    groups: dict[tuple[str, str, str, int], list[Row]] = {}
    for row in rows:
        c = row.case
        groups.setdefault((c.suite, c.op, c.implementation, c.batch), []).append(row)
    fitted = []
    for (suite, op, implementation, batch), group in groups.items():
        points = tuple(sorted((inner_bytes(r.case.frame), r.cost) for r in group))
        if len(points) >= 2:
            fitted.append(costmodel.CostRow(suite, op, implementation, batch, costmodel.fit(points), points))
    unit = "cycles" if any(row.cycles for row in rows) else "ns"
    return costmodel.CostFile(cpu_model, clock_hz(rows), unit, tuple(fitted))
