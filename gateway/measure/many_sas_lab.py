"""What many SAs cost end to end: a gateway in namespaces that opens, with one SA in use and with all.

ESP packets come from a tester over a veth, UDP-encapsulated; the gateway opens them, writes its TUN, and the kernel
forwards them to a sink that counts. What is compared is the CPU time of the gateway's loop a packet, at a rate that it
keeps up with: throughput of two ends on one machine varies by more than what is looked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.cleanup import CleanupStack
from gateway.errors import MeasurementError
from gateway.lab.tester import Tester, TesterConfig
from gateway.lab.topology import Laboratory
from gateway.measure.many_sas import RUN
from gateway.measure.trial import CHECK_EVERY, Trials
from gateway.stats import Summary

INNER_BYTES = 1408
PACKETS_PER_S = 60_000.0
TRIAL_S = 0.3
_POLL_S, _DRAIN_S = 0.005, 0.03


@dataclass(frozen=True, slots=True)
class Row:
    """CPU ns of the gateway's loop a packet."""

    suite: str
    implementation: str
    sas: int
    one: Summary
    random: Summary
    runs: Summary
    loss_ratio: float
    """Of all trials together."""
    reasons: tuple[str, ...]
    """Why counts do not add up; empty when they do."""

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
            "op": "end to end, open",
            "sas": self.sas,
            "inner_bytes": INNER_BYTES,
            "packets_per_s": PACKETS_PER_S,
            "cpu_ns_one_sa": self.one.as_dict(),
            "cpu_ns_random_order": self.random.as_dict(),
            "cpu_ns_runs_of_8": self.runs.as_dict(),
            "random_ratio": self.random_ratio,
            "runs_ratio": self.runs_ratio,
            "loss_ratio": self.loss_ratio,
            "valid": not self.reasons,
            "reasons": list(self.reasons),
        }


def measure(
    suites: Sequence[str], sas: int, rounds: int, progress: Callable[[str], None] = lambda _: None
) -> list[Row]:
    """One laboratory a suite; its rounds have each order once. Raises GwbenchError."""
    return [_suite(suite, sas, rounds, progress) for suite in suites]


def _suite(suite: str, sas: int, rounds: int, progress: Callable[[str], None]) -> Row:
    with CleanupStack() as cleanup:
        progress(f"{suite}: {sas} SAs")
        lab = Laboratory("client", "default")
        cleanup.push(lab.close, "the laboratory")
        tester = Tester(lab, TesterConfig(suite, more_sas=sas))
        cleanup.push(tester.close, "the testers and the gateway")
        trials = Trials(tester)
        orders: list[dict[str, Any]] = [
            {"sas": tester.more[:1], "run": 1},
            {"sas": tester.more, "run": 1},
            {"sas": tester.more, "run": RUN},
        ]
        taken: list[list[float]] = [[], [], []]
        total = _Counts()
        for number in range(-1, rounds):  # the first warms up: many an SA has had packets when it counts
            progress(f"{suite}: round {max(number, 0) + 1}/{rounds}")
            for column, order in enumerate(orders):
                counts = _trial(trials, order)
                total += counts
                if number >= 0:
                    taken[column].append(counts.cpu_ns / counts.arrived)
        one, random, runs = (Summary(tuple(column)) for column in taken)
        loss = 1 - total.arrived / total.sent
        return Row(suite, tester.implementation, sas, one, random, runs, loss, tuple(_faults(total, tester)))


@dataclass(frozen=True, slots=True)
class _Counts:
    cpu_ns: int = 0
    sent: int = 0
    arrived: int = 0
    wrong: int = 0

    def __add__(self, other: _Counts) -> _Counts:
        return _Counts(
            self.cpu_ns + other.cpu_ns,
            self.sent + other.sent,
            self.arrived + other.arrived,
            self.wrong + other.wrong,
        )


def _trial(trials: Trials, order: dict[str, Any]) -> _Counts:
    """Counters of ten thousand SAs take a while to read, so that is done once, at the end."""
    tester, sink = trials.tester, trials.sink("open")
    sink.begin(trials.next_number(), check_every=CHECK_EVERY, times=False)
    before = tester.loop_cpu_ns()
    count = round(PACKETS_PER_S * TRIAL_S)
    generator = trials.start(
        "open", [INNER_BYTES], packets_per_s=PACKETS_PER_S, count=count, max_s=9 * TRIAL_S, **order
    )
    with generator:
        while not generator.done:
            time.sleep(_POLL_S)
        sent = generator.finish().sent
    last = -1
    while last != (last := sink.read().packets):  # until nothing arrives any more
        time.sleep(_DRAIN_S)
    cpu_ns = tester.loop_cpu_ns() - before
    tester.health()
    counted = sink.read()
    if not counted.packets:
        raise MeasurementError("no packet came through the gateway")
    return _Counts(cpu_ns, sent, counted.packets, counted.wrong)


def _faults(total: _Counts, tester: Tester) -> Iterator[str]:
    passed = sum(sa.packets for sa in tester.read().node.sas if sa.direction == "in")
    if total.wrong:
        yield f"{total.wrong} of the packets compared were not what was sent"
    if not total.arrived <= passed <= total.sent:
        yield f"{total.sent} packets were sent, the SAs count {passed}, {total.arrived} arrived"


def render(rows: Sequence[Row]) -> list[str]:
    """Lines for people."""
    head = "CPU ns a packet of the gateway that opens, and times one SA"
    lines = [f"{'end to end':<20}{'':<6}{'1 SA':>8}{'random':>16}{'runs of 8':>16}   {head}"]
    for r in rows:
        random, runs = f"{r.random.median:.0f} ({r.random_ratio:.2f})", f"{r.runs.median:.0f} ({r.runs_ratio:.2f})"
        lines.append(f"{r.suite:<20}{'open':<6}{r.one.median:>8.0f}{random:>16}{runs:>16}")
        lines += [f"  {reason}" for reason in dict.fromkeys(r.reasons)]
    return lines
