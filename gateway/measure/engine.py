"""Handing packets to another thread, by strategy, as drivers of crypto engines do: throughput, latency, CPU time.

All strategies take turns within a round; what one gains over another is the median of the rounds' ratios.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import dataplane
from gateway.compare.series import Comparison, Row, Series, compare
from gateway.errors import MeasurementError
from gateway.measure.depth import percentile
from gateway.stats import Summary, median

SUITES = ("aes128-sha256", "aes256-sha256")
SIZES = (64, 256, 1408)
BATCH, DEPTH = 1, 16
"""One packet a request, as the kernel hands over; sixteen under way."""
ROUNDS = 7
SLICE_NS = 30_000_000


@dataclass(frozen=True, slots=True)
class Options:
    """What is measured."""

    suites: tuple[str, ...] = SUITES
    implementation: str = "auto"
    strategies: tuple[str, ...] = dataplane.HANDOVERS
    sizes: tuple[int, ...] = SIZES
    """Inner packets, bytes."""
    batch: int = BATCH
    depth: int = DEPTH
    rounds: int = ROUNDS
    slice_ns: int = SLICE_NS


@dataclass(frozen=True, slots=True)
class Result:
    """One suite, strategy and packet size."""

    suite: str
    strategy: str
    bytes: int
    batch: int
    depth: int
    implementation: str
    mb_per_s: Summary
    """Of inner packets."""
    submitter_cpu: float
    worker_cpu: float
    """Cores."""
    cpu_ns_per_packet: float
    """Of both threads."""
    latency_us: dict[str, float]


def run(options: Options, progress: Callable[[str], None]) -> list[Result]:
    """MeasurementError when a sealed packet does not open."""
    cells = [(s, n, how) for s in options.suites for n in options.sizes for how in options.strategies]
    taken: dict[tuple[str, int, str], list[dataplane.EngineSample]] = {}
    for number in range(options.rounds):
        for suite, size, how in cells:
            progress(f"round {number + 1}/{options.rounds}: {suite} {size} B, {how}")
            try:
                sample = dataplane.bench_engine(
                    suite,
                    options.implementation,
                    how,
                    inner_len=size,
                    batch=options.batch,
                    depth=options.depth,
                    min_ns=options.slice_ns,
                )
            except dataplane.DataplaneError as error:
                raise MeasurementError(f"{suite}, {how}: {error.message}") from None
            taken.setdefault((suite, size, how), []).append(sample)
    return [_result(options, cell, samples) for cell, samples in taken.items()]


def _result(options: Options, cell: tuple[str, int, str], some: Sequence[dataplane.EngineSample]) -> Result:
    suite, size, how = cell
    times = sorted(ns for one in some for ns in one.latency_ns)
    return Result(
        suite=suite,
        strategy=how,
        bytes=size,
        batch=options.batch,
        depth=options.depth,
        implementation=dataplane.resolve(suite, options.implementation),
        mb_per_s=Summary(tuple(one.sample.bytes / one.sample.ns * 1000 for one in some)),
        submitter_cpu=median([one.submitter_cpu_ns / one.sample.ns for one in some]),
        worker_cpu=median([one.worker_cpu_ns / one.sample.ns for one in some]),
        cpu_ns_per_packet=median([(one.submitter_cpu_ns + one.worker_cpu_ns) / one.sample.ops for one in some]),
        latency_us={"p50": percentile(times, 50) / 1000, "p99": percentile(times, 99) / 1000, "max": times[-1] / 1000},
    )


def before_after(results: Sequence[Result], before: str, after: str) -> Comparison:
    """One strategy against another, a row a suite and size; MiB/s, as cryptsetup has it."""

    def series(strategy: str) -> Series:
        rows = [
            Row(
                (r.suite, f"{r.bytes}B", "seal"),
                "MiB/s",
                tuple(x * 1e6 / (1 << 20) for x in r.mb_per_s.samples),
            )
            for r in results
            if r.strategy == strategy
        ]
        return Series(strategy, "engine", tuple(rows))

    return compare(series(before), series(after))
