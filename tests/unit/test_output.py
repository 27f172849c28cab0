"""Human output: ASCII without colour when piped, one line an event."""

from __future__ import annotations

import io

import pytest

from gateway.load.iperf3_parse import Interval
from gateway.output.console import Console, human
from gateway.output.progress import Lines
from gateway.output.table import _full_of_softirq
from gateway.rounds import Case


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_pipe_gets_ascii_without_colour() -> None:
    stream = io.StringIO()
    console = Console(stream)
    console.print(console.bold("suite") + console.bad(" é") + console.faint("."))
    assert stream.getvalue() == "suite ?.\n"


def test_a_terminal_gets_colour_unless_it_asks_not_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert Console(Terminal()).bold("x") == "\x1b[1mx\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert Console(Terminal()).bold("x") == "x"


def test_a_reader_that_went_away_ends_nothing() -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    Console(Closed()).print("x")


def test_human_output_makes_room_for_json(capsys: pytest.CaptureFixture[str]) -> None:
    human(True).print("to stderr")
    human(False).print("to stdout")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("to stdout\n", "to stderr\n")


def test_live_lines() -> None:
    stream = io.StringIO()
    lines = Lines(Console(stream), 3)
    lines.candidate(Case("generic", "aes128gcm16", "generic"), 1, 3)
    lines.interval(Interval(0, 1, 2912.34, 1, 3, False, "forward"))
    lines.interval(Interval(1, 2, 10, 1, None, True, "reverse"))
    lines.repeat(Case("plain"), 0, "0.30 cores stolen by the hypervisor")
    assert stream.getvalue().splitlines() == [
        "round 2/3: aes128gcm16 generic",
        "  ->   0.00-1.00 s     2912.3 Mbit/s  3 retransmits",
        "  <-   1.00-2.00 s       10.0 Mbit/s  (omitted)",
        "  again, because 0.30 cores stolen by the hypervisor",
    ]


def test_a_core_full_of_softirq_is_named() -> None:
    def row(*softirq: float) -> dict[str, object]:
        cores = [{"number": n, "busy": 1.0, "softirq": share} for n, share in enumerate(softirq)]
        return {"rounds": [{"machine": {"cores": cores}}]}

    lines = _full_of_softirq([row(0.1, 0.9), row(0.2, 0.97), {"rounds": [{"machine": {}}]}])
    assert lines == ["Softirq filled core 1 97% in at least one round: see packet steering in gwbench doctor."]
    assert _full_of_softirq([row(0.5, 0.6)]) == []
