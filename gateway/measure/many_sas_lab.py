"""What many SAs cost end to end: a gateway in namespaces that opens, with one SA in use and with all.

ESP packets come from a tester over a veth, UDP-encapsulated; the gateway opens them, writes its TUN, and the kernel
forwards them to a sink that counts. What is compared is the CPU time of the gateway's loop a packet, at a rate that it
keeps up with: throughput of two ends on one machine varies by more than what is looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.cleanup import CleanupStack
from gateway.errors import MeasurementError
from gateway.lab.tester import Tester, TesterConfig
from gateway.lab.topology import Laboratory
from gateway.measure.many_sas import RUN
from gateway.measure.trial import Trials
from gateway.stats import Summary

INNER_BYTES = 1408
PACKETS_PER_S = 60_000.0
TRIAL_S = 0.3


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
        sent = arrived = 0
        reasons: list[str] = []
        for number in range(-1, rounds):  # the first warms up: every SA has had packets when it counts
            progress(f"{suite}: round {max(number, 0) + 1}/{rounds}")
            for column, order in enumerate(orders):
                before = tester.loop_cpu_ns()
                trial = trials.run("open", [INNER_BYTES], PACKETS_PER_S, seconds=TRIAL_S, **order)
                cpu_ns = tester.loop_cpu_ns() - before
                if not trial.forwarded:
                    raise MeasurementError("no packet came through the gateway")
                if number < 0:
                    continue
                taken[column].append(cpu_ns / trial.forwarded)
                sent += trial.offered
                arrived += trial.forwarded
                reasons += trial.reasons
        one, random, runs = (Summary(tuple(column)) for column in taken)
        return Row(suite, tester.implementation, sas, one, random, runs, 1 - arrived / sent, tuple(reasons))


def render(rows: Sequence[Row]) -> list[str]:
    """Lines for people."""
    head = "CPU ns a packet of the gateway that opens, and times one SA"
    lines = [f"{'end to end':<20}{'':<6}{'1 SA':>8}{'random':>16}{'runs of 8':>16}   {head}"]
    for r in rows:
        random, runs = f"{r.random.median:.0f} ({r.random_ratio:.2f})", f"{r.runs.median:.0f} ({r.runs_ratio:.2f})"
        lines.append(f"{r.suite:<20}{'open':<6}{r.one.median:>8.0f}{random:>16}{runs:>16}")
        lines += [f"  {reason}" for reason in dict.fromkeys(r.reasons)]
    return lines
