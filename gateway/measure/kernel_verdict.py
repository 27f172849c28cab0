"""The kernel's data path against ours, and its drivers against each other: which is faster on this box, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gateway.measure.sample import Sample
from gateway.rounds import Case, Taken
from gateway.stats import Interval, median, paired_ratio

Measured = Mapping[Case, Sequence[Taken[Sample]]]


def lines(measured: Measured) -> list[str]:
    """A line for each suite and pair; empty without the kernel's data path."""
    found = []
    for suite in dict.fromkeys(case.suite for case in measured if case.role == "kernel"):
        of_suite = {case: taken for case, taken in measured.items() if case.suite == suite and taken}
        kernels = {case: taken for case, taken in of_suite.items() if case.role == "kernel"}
        ours = next((taken for case, taken in of_suite.items() if case.role == "accelerated"), None)
        first = next(iter(kernels.values()))
        if ours is not None:
            found.append(_against_ours(suite, first, ours))
        elif len(kernels) == 1:
            rate = median([_rate(t.value) for t in first])
            found.append(f"{suite} in the kernel: {rate:.0f} Mbit/s with {_drivers(first)}.{_drops(first)}")
        for case, taken in list(kernels.items())[1:]:
            found.append(_drivers_line(suite, case, taken, first))
    return found


def _rate(sample: Sample) -> float:
    return sum(flow.mbit_per_s for flow in sample.load.flows)


def _rates(taken: Sequence[Taken[Sample]]) -> dict[int, float]:
    return {t.round: _rate(t.value) for t in taken}


def _cost(taken: Sequence[Taken[Sample]]) -> float | None:
    """CPU seconds of the machine, iperf3's left out, per GB: both data paths have that figure."""
    costs = [(t.value.busy.busy_s - t.value.iperf3_cpu_s) / t.value.carried_gb for t in taken if t.value.carried_gb > 0]
    return median(costs) if costs else None


def _drivers(taken: Sequence[Taken[Sample]]) -> str:
    return taken[0].value.implementation


def _drops(taken: Sequence[Taken[Sample]]) -> str:
    total: dict[str, int] = {}
    for one in taken:
        for counters in one.value.gateways.values():
            for drops in (counters.drops, *(sa.drops for sa in counters.sas)):
                for reason, count in drops.items():
                    total[reason] = total.get(reason, 0) + count
    words = ", ".join(f"{reason} {count}" for reason, count in sorted(total.items()) if count)
    return f" Drops: {words}." if words else ""


def _interval(interval: Interval | None) -> str:
    return f" ({interval.low:.2f} to {interval.high:.2f})" if interval else ""


def _against_ours(suite: str, kernel: Sequence[Taken[Sample]], ours: Sequence[Taken[Sample]]) -> str:
    ratio, interval = paired_ratio(_rates(kernel), _rates(ours))
    if ratio is None:
        return f"{suite}: no round has both data paths."
    which = "the kernel's data path is faster" if ratio > 1 else "gwbench's data path is faster"
    if interval is not None and interval.low <= 1 <= interval.high:
        which = "no difference between the data paths beyond noise"
    line = f"{suite}: {which}: the kernel makes {ratio:.2f}{_interval(interval)} of ours"
    costs = _cost(kernel), _cost(ours)
    if costs[0] is not None and costs[1] is not None:
        line += f"; CPU per GB of this machine without iperf3: {costs[0]:.2f} s in the kernel, {costs[1]:.2f} s ours"
    return f"{line}; the kernel ran {_drivers(kernel)}, one packet at a time.{_drops(kernel)}"


def _drivers_line(suite: str, case: Case, taken: Sequence[Taken[Sample]], first: Sequence[Taken[Sample]]) -> str:
    ratio, interval = paired_ratio(_rates(taken), _rates(first))
    if ratio is None:
        return f"{suite}: no round has both drivers."
    beyond = interval is not None and not interval.low <= 1 <= interval.high
    verdict = "beyond noise" if beyond else "within noise"
    return (
        f"{suite}: {case.driver} makes {ratio:.2f}{_interval(interval)} of {first[0].value.case.driver}, {verdict}."
        f"{_drops(taken)}"
    )
