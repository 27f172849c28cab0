"""The kernel's crypto drivers with several requests under way (AF_ALG): throughput, latency, CPU share, crossover.

Engines live on depth: a request costs them microseconds however small it is, and only many at a time hide that.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import dataplane
from gateway.errors import MeasurementError, UnusableError
from gateway.measure import crypto, machine
from gateway.stats import Summary, median

SIZES = (64, 256, 1024, 1408, 4096, 16384)
DEPTHS = (1, 4, 16, 64)
SLICE_NS = 100_000_000
ROUNDS = 3
TAG = "af_alg"
PERCENTILES = (50.0, 90.0, 99.0)


@dataclass(frozen=True, slots=True)
class Row:
    """One driver at one size and depth."""

    driver: str
    algorithm: str
    op: str
    key_bits: int
    bytes: int
    depth: int
    mb_per_s: Summary
    ops: int
    cpu_share: float
    """Of the thread that asks, 0..1."""
    machine_share: float
    """Of one core, what the whole machine worked meanwhile: kernel threads of asynchronous drivers are in it."""
    latency_us: Mapping[str, float]
    """Percentiles: ``p50``, ``p90``, ``p99``, and ``max``."""


@dataclass(frozen=True, slots=True)
class Crossover:
    """From which request size a kernel driver at one depth beats our fastest implementation; None = at no size."""

    driver: str
    op: str
    depth: int
    ours: str
    from_bytes: int | None


@dataclass(slots=True)
class Report:
    """All of it."""

    rows: list[Row] = field(default_factory=list)
    ours: dict[tuple[str, str, int, int], tuple[str, float]] = field(default_factory=dict)
    """By algorithm, op, key bits and size: our fastest implementation and its MB/s, one request at a time."""
    crossovers: list[Crossover] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)


def drivers(algorithms: Sequence[str], names: Sequence[str]) -> list[dataplane.Impl]:
    """The kernel's, after the provider was loaded. UnusableError when there are none."""
    found = [i for i in dataplane.implementations() if i.tag == TAG]
    if not found:
        raise UnusableError(
            "no kernel driver can be reached by AF_ALG here", "modprobe algif_skcipher algif_aead algif_hash"
        )
    if names:
        wanted = {name if name.endswith(crypto.KERNEL) else name + crypto.KERNEL for name in names}
        unknown = wanted - {i.driver for i in found}
        if unknown:
            there = ", ".join(i.driver for i in found)
            raise UnusableError(f"AF_ALG reaches no driver {min(unknown)}", f"there are: {there}")
        return [i for i in found if i.driver in wanted]
    chosen = [i for i in found if not algorithms or i.alg in algorithms]
    if not chosen:
        raise UnusableError(f"AF_ALG reaches no driver of {', '.join(algorithms)}", "gwbench crypto lists algorithms")
    return chosen


def run(
    chosen: Sequence[dataplane.Impl],
    sizes: Sequence[int],
    depths: Sequence[int],
    rounds: int,
    slice_ns: int,
    progress: Callable[[str], None],
) -> Report:
    """Interleaved rounds of everything. A driver that fails is named and left out. MeasurementError: none worked."""
    report = Report()
    cells = [(i, op, size, depth) for i in chosen for op in crypto.ops_of(i) for size in sizes for depth in depths]
    cells = [c for c in cells if crypto.fits(c[0], c[2]) and (c[1] != "hash" or c[3] == 1)]
    taken: dict[tuple[str, str, int, int], list[tuple[dataplane.DepthSample, float]]] = {}
    failed: set[str] = set()
    for number in range(rounds):
        for impl, op, size, depth in cells:
            if impl.driver in failed:
                continue
            progress(f"round {number + 1}/{rounds}: {impl.driver} {op} {size} B, depth {depth}")
            try:
                taken.setdefault((impl.driver, op, size, depth), []).append(_one(impl, op, size, depth, slice_ns))
            except dataplane.DataplaneError as error:
                failed.add(impl.driver)
                report.trouble.append(f"{impl.driver} at depth {depth}, {size} B: {error.message}")
    if not taken:
        raise MeasurementError(f"no driver worked: {'; '.join(report.trouble)}")
    by_driver = {i.driver: i for i in chosen}
    for (driver, op, size, depth), some in taken.items():
        report.rows.append(_row(by_driver[driver], op, size, depth, some))
    _against_ours(report, progress, slice_ns // 4)
    return report


def _bits(impl: dataplane.Impl) -> int:
    return crypto.key_bits_of(impl)[0]


def _one(impl: dataplane.Impl, op: str, size: int, depth: int, ns: int) -> tuple[dataplane.DepthSample, float]:
    before = machine.read()
    begun = time.monotonic()
    sample = dataplane.bench_af_alg(
        impl.driver, opening=op in ("decrypt", "open"), key_len=_bits(impl) // 8, bytes_=size, depth=depth, min_ns=ns
    )
    busy = machine.between(before, machine.read())
    return sample, busy.busy_s / max(1e-9, time.monotonic() - begun)


def percentile(values: Sequence[int], percent: float) -> float:
    """Nearest rank; values sorted."""
    return float(values[min(len(values) - 1, max(0, round(percent / 100 * len(values)) - 1))])


def _row(
    impl: dataplane.Impl, op: str, size: int, depth: int, some: Sequence[tuple[dataplane.DepthSample, float]]
) -> Row:
    times = sorted(ns for sample, _ in some for ns in sample.latency_ns)
    latency = {f"p{p:g}": percentile(times, p) / 1000 for p in PERCENTILES} | {"max": times[-1] / 1000}
    return Row(
        driver=impl.driver,
        algorithm=impl.alg,
        op=op,
        key_bits=_bits(impl),
        bytes=size,
        depth=depth,
        mb_per_s=Summary(tuple(s.sample.bytes / s.sample.ns * 1000 for s, _ in some)),
        ops=sum(s.sample.ops for s, _ in some),
        cpu_share=median([s.cpu_ns / s.sample.ns for s, _ in some]),
        machine_share=median([share for _, share in some]),
        latency_us=latency,
    )


def _against_ours(report: Report, progress: Callable[[str], None], ns: int) -> None:
    """Our fastest implementation of the same work, one request at a time, and where the driver passes it."""
    for row in report.rows:
        place = (row.algorithm, row.op, row.key_bits, row.bytes)
        if place not in report.ours and (best := _fastest(row, ns)):
            progress(f"ours: {row.algorithm} {row.op} {row.bytes} B")
            report.ours[place] = best
    for driver, op, depth in dict.fromkeys((r.driver, r.op, r.depth) for r in report.rows):
        some = sorted(
            (r for r in report.rows if (r.driver, r.op, r.depth) == (driver, op, depth)), key=lambda r: r.bytes
        )
        known = [(r, report.ours.get((r.algorithm, r.op, r.key_bits, r.bytes))) for r in some]
        if not any(ours for _, ours in known):
            continue
        # From the smallest size on from which it stays ahead.
        start: int | None = None
        for r, ours in known:
            if ours and r.mb_per_s.median > ours[1]:
                start = r.bytes if start is None else start
            elif ours:
                start = None
        name = next(ours[0] for _, ours in known if ours)
        report.crossovers.append(Crossover(driver, op, depth, name, start))


def _fastest(row: Row, ns: int) -> tuple[str, float] | None:
    best: tuple[str, float] | None = None
    for impl in dataplane.implementations():
        if impl.alg != row.algorithm or not impl.driver.endswith(crypto.OWN) or not impl.runnable:
            continue
        try:
            sample = dataplane.bench_impl(
                impl.driver,
                opening=row.op in ("decrypt", "open"),
                key_len=row.key_bits // 8,
                bytes_=row.bytes,
                batch=1,
                min_ns=ns,
            )
        except dataplane.DataplaneError:
            continue
        speed = sample.bytes / sample.ns * 1000
        if best is None or speed > best[1]:
            best = (impl.driver, speed)
    return best
