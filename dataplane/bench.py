"""Timed runs in C; nothing is allocated while the clock runs."""

from __future__ import annotations

from dataclasses import dataclass

from dataplane._native import DataplaneError, check, ffi, init, lib, new_err
from dataplane.suites import find_suite


@dataclass(frozen=True, slots=True)
class BenchSample:
    """One timed part."""

    ns: float
    """Wall time."""
    cycles: float
    """0 when no cycle counter is readable."""
    bytes: int
    ops: int


def _sample(sample: object) -> BenchSample:
    s = ffi.cast("gw_bench_sample *", sample)
    return BenchSample(ns=float(s.ns), cycles=float(s.cycles), bytes=int(s.bytes), ops=int(s.ops))


def bench_impl(driver: str, *, opening: bool, key_len: int, bytes_: int, batch: int, min_ns: int) -> BenchSample:
    """Runs one implementation on ``batch`` operations of ``bytes_`` each for at least ``min_ns``."""
    init()
    pointer = lib.gw_impl_find(driver.encode())
    if pointer == ffi.NULL:
        raise DataplaneError(f"no implementation is called '{driver}'")
    err, out = new_err(), ffi.new("gw_bench_sample *")
    result = lib.gw_bench_impl(pointer, 0 if opening else 1, key_len, bytes_, batch, min_ns, out, err)
    check(int(result), err, f"cannot bench {driver}")
    return _sample(out)


def bench_esp(
    suite: str, implementation: str, *, opening: bool, inner_len: int, batch: int, sas: int, min_ns: int, run: int = 1
) -> BenchSample:
    """Seals or opens packets of ``inner_len`` bytes in memory, in batches over ``sas`` SAs in random order with ``run``
    packets at a time each, for at least ``min_ns``."""
    init()
    err, out = new_err(), ffi.new("gw_bench_sample *")
    index = find_suite(suite).index
    result = lib.gw_bench_esp_runs(
        index, implementation.encode(), 0 if opening else 1, inner_len, batch, sas, run, min_ns, out, err
    )
    check(int(result), err, f"cannot bench {suite}")
    return _sample(out)


def bench_sa_setup(suite: str, implementation: str, sas: int) -> BenchSample:
    """Makes so many SAs with keys of their own; ``ops`` of ``ns`` together."""
    init()
    err, out = new_err(), ffi.new("gw_bench_sample *")
    result = lib.gw_bench_sa_setup(find_suite(suite).index, implementation.encode(), sas, out, err)
    check(int(result), err, f"cannot make SAs of {suite}")
    return _sample(out)


@dataclass(frozen=True, slots=True)
class DepthSample:
    """Requests of a kernel driver with several under way."""

    sample: BenchSample
    cpu_ns: int
    """Of the thread that asked; kernel threads come on top."""
    latency_ns: tuple[int, ...]
    """From giving a request to having its answer, of the first requests."""


def bench_af_alg(
    driver: str, *, opening: bool, key_len: int, bytes_: int, depth: int, min_ns: int, latencies: int = 65536
) -> DepthSample:
    """Runs a driver of the kernel's (``NAME/kernel``) with ``depth`` requests under way for at least ``min_ns``.

    Every answer of the first ``depth`` is compared with what a plain read gives. DataplaneError when one differs.
    """
    init()
    pointer = lib.gw_impl_find(driver.encode())
    if pointer == ffi.NULL:
        raise DataplaneError(f"no implementation is called '{driver}'")
    err, out, cpu = new_err(), ffi.new("gw_bench_sample *"), ffi.new("uint64_t *")
    times, count = ffi.new("uint32_t[]", latencies), ffi.new("size_t *", latencies)
    way = 0 if opening else 1
    result = lib.gw_bench_af_alg(pointer, way, key_len, bytes_, depth, min_ns, out, cpu, times, count, err)
    check(int(result), err, f"cannot bench {driver}")
    return DepthSample(_sample(out), int(cpu[0]), tuple(ffi.unpack(times, count[0])))


HANDOVERS = ("inline", "mutex", "spin", "ring")
"""By number, GW_HANDOVER_*."""


@dataclass(frozen=True, slots=True)
class EngineSample:
    """Jobs through an offload queue."""

    sample: BenchSample
    """``ops`` are packets."""
    submitter_cpu_ns: int
    worker_cpu_ns: int
    latency_ns: tuple[int, ...]
    """From making a job to having it back, of the first jobs."""


def bench_engine(
    suite: str,
    implementation: str,
    strategy: str,
    *,
    inner_len: int,
    batch: int,
    depth: int,
    min_ns: int,
    latencies: int = 65536,
) -> EngineSample:
    """Seals jobs of ``batch`` packets, ``depth`` under way, for at least ``min_ns``; what was sealed last is opened."""
    init()
    err, out, cpu = new_err(), ffi.new("gw_bench_sample *"), ffi.new("uint64_t[2]")
    times, count = ffi.new("uint32_t[]", latencies), ffi.new("size_t *", latencies)
    result = lib.gw_bench_engine(
        find_suite(suite).index,
        implementation.encode(),
        HANDOVERS.index(strategy),
        inner_len,
        batch,
        depth,
        min_ns,
        out,
        cpu,
        times,
        count,
        err,
    )
    check(int(result), err, f"cannot bench {suite}")
    return EngineSample(_sample(out), int(cpu[0]), int(cpu[1]), tuple(ffi.unpack(times, count[0])))
