"""Live lines: what is being measured, and iperf3's intervals as they come."""

from __future__ import annotations

from gateway.load.iperf3_parse import REVERSE, Interval
from gateway.measure.sample import Sample
from gateway.output.console import Console
from gateway.rounds import Case


class Lines:
    """Prints one line an event; nothing moves, so a log is as good as a terminal."""

    def __init__(self, console: Console, rounds: int) -> None:
        self._console = console
        self._rounds = rounds

    def candidate(self, case: Case, number: int, of: int) -> None:
        self._console.print(self._console.bold(f"round {number + 1}/{of}: {case.label}"))

    def stage(self, text: str) -> None:
        self._console.print(self._console.faint(f"  {text}"))

    def interval(self, interval: Interval) -> None:
        arrow = "<-" if interval.direction == REVERSE else "->"
        line = f"  {arrow} {interval.start_s:6.2f}-{interval.end_s:.2f} s  {interval.mbit_per_s:9.1f} Mbit/s"
        if interval.retransmits:
            line += f"  {interval.retransmits} retransmits"
        if interval.omitted:
            line += "  (omitted)"
        self._console.print(line)

    def measured(self, sample: Sample) -> None:
        for flow in sample.load.flows:
            arrow = "<-" if flow.direction == REVERSE else "->"
            line = f"  {arrow} {flow.mbit_per_s:.1f} Mbit/s"
            if sample.cpu_s_per_gb is not None:
                line += f", {sample.cpu_s_per_gb:.2f} CPU s/GB"
            if flow.lost_packets is not None and flow.packets:
                line += f", {flow.lost_packets / flow.packets:.3%} lost"
            if sample.noise.reason:
                line += f"  [{sample.noise.reason}]"
            self._console.print(line)
        if sample.verdict is not None:
            for reason in sample.verdict.reasons:
                self._console.print(self._console.bad(f"  INVALID: {reason}"))

    def repeat(self, case: Case, number: int, why: str) -> None:
        self._console.print(self._console.faint(f"  again, because {why}"))
