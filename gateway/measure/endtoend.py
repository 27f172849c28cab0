"""The end-to-end test: one measurement of one candidate, and all of them in rounds, on whatever machines."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from dataplane import DataplaneError, resolve
from gateway import noise, rounds, validity, waterfall
from gateway.errors import UnusableError
from gateway.lab import gate, makers
from gateway.lab.topology import CLIENT_V4, SERVER_V4
from gateway.lab.tunnel import Tunnel, inner_mtu_of
from gateway.load import iperf3
from gateway.load.iperf3_parse import Interval
from gateway.measure import kernel_plan, machine
from gateway.measure.machines import Machines
from gateway.measure.sample import Sample
from gateway.node.base import OFFLOADS, NodeCounters
from gateway.rounds import Case
from gateway.suites import check_implementation, parse_suites

_HEALTH_EVERY_S = 0.5
_SETTLE_S = 2.0
_MOVING = ("udp_send_packets", "udp_send_errors", "udp_recv_packets", "udp_rcvbuf_drops", "tun_write_segments")
_MOVING_KERNEL = ("xfrm_out_packets", "xfrm_in_packets")
"""While packets are under way one of these moves."""
"""Patience for the last packets after the drain time: a stolen core may hold them longer."""


class Progress(Protocol):
    """Who is told what happens meanwhile."""

    def candidate(self, case: Case, number: int, of: int) -> None: ...

    def stage(self, text: str) -> None: ...

    def interval(self, interval: Interval) -> None: ...

    def measured(self, sample: Sample) -> None: ...

    def repeat(self, case: Case, number: int, why: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Options:
    """What ``gwbench iperf --lab`` was asked."""

    topology: str = "client"
    offload: str = "default"
    """Of the veths."""
    dataplane_offload: tuple[str, ...] = OFFLOADS
    suites: tuple[str, ...] = ("aes256-sha256", "aes128gcm16")
    implementations: tuple[str, ...] = ()
    """Empty = generic and accelerated."""
    legacy: bool = False
    """Takes suites of SHA-1 too."""
    rounds: int = 3
    repeats: int = -1
    """How many disturbed measurements may be repeated in all; negative = a third of them."""
    encap: str = "udp"
    """``udp``, or ``none`` for bare ESP."""
    outer: str = "ipv4"
    """IP version between the gateways."""
    udp_checksum: bool = True
    dataplanes: tuple[str, ...] = ("user",)
    """``user`` (ours) and ``kernel`` (XFRM)."""
    drivers: tuple[str, ...] = ()
    """Of the kernel's crypto: compared by raising their priorities in turn."""
    system_wide: bool = False
    """Priorities may be changed although others use the algorithm."""
    queues: int = 1
    """Loops a gateway."""
    waterfall: bool = False
    """The first suite step by step instead of all suites."""
    rfc6349: bool = False
    """RFC 6349's steps for each candidate instead of one transfer."""
    line: bool = True
    """The bare line between the gateways can be measured."""
    gwnodes: makers.Commands = field(default_factory=dict)
    load: iperf3.Load = field(default_factory=lambda: iperf3.Load(SERVER_V4, CLIENT_V4))


@dataclass(frozen=True, slots=True)
class Plan:
    """The candidates, checked: every one can run here."""

    cases: tuple[Case, ...]
    notes: tuple[str, ...]
    """What was left out, and why."""
    load: iperf3.Load


def plan(options: Options) -> Plan:
    """Checks everything that can be checked without touching the network. UnusableError lists what exists."""
    iperf3.find_iperf3()
    chosen = parse_suites(",".join(options.suites), legacy=options.legacy)
    for wish in options.implementations:
        check_implementation([s for s in chosen if s.name != rounds.NULL_SUITE], wish)
    notes: list[str] = []
    cases = []
    notes += kernel_plan.check(options.dataplanes, options.drivers, options.outer)
    names = [s.name for s in chosen]
    planned = rounds.plan(names, options.implementations, dataplanes=options.dataplanes, drivers=options.drivers)
    if options.waterfall:
        if options.dataplanes != ("user",):
            raise UnusableError("--waterfall takes gwbench's own data path apart", "without --dataplane kernel")
        planned = waterfall.cases(names[:1], options.implementations[:1], line=options.line)
    if options.rfc6349 and not options.implementations:
        planned = tuple(case for case in planned if case.role not in ("null", "generic"))
    for case in planned:
        if case.implementation == "accelerated" and not options.implementations:
            try:
                resolve(case.suite, case.implementation)
            except DataplaneError as error:
                notes.append(f"{case.suite}: nothing faster than generic runs on this CPU ({error.message})")
                continue
        cases.append(case)
    load = replace(options.load, congestion=congestion(options.load))
    if load.udp and not load.length:
        # One size for all rows, so that they compare: what fits into the tunnel with the largest overhead.
        load = replace(
            load, length=min(inner_mtu_of(c.suite, options.encap, options.outer) for c in cases if c.suite) - 28
        )
    return Plan(tuple(cases), tuple(notes), load)


def congestion(load: iperf3.Load, root: Path = Path("/proc/sys/net/ipv4")) -> str:
    """Pinned, because the machine's default decides the result: cubic where there is one."""
    try:
        available = (root / "tcp_available_congestion_control").read_text().split()
    except OSError:
        return load.congestion
    if load.udp or not available:
        return ""
    if load.congestion and load.congestion not in available:
        # A module's name only; anything else is a slip of the keyboard.
        module = f"; modprobe tcp_{load.congestion}" if re.fullmatch(r"[a-z][a-z0-9_]*", load.congestion) else ""
        raise UnusableError(
            f"this kernel has no congestion control {load.congestion!r}",
            f"there are: {', '.join(available)}" + module,
            "no-congestion-control",
        )
    return load.congestion or ("cubic" if "cubic" in available else available[0])


class EndToEnd:
    """Measures candidates on one set of machines."""

    def __init__(self, machines: Machines, options: Options, load: iperf3.Load, progress: Progress) -> None:
        self._machines = machines
        self._options = options
        self._load = load
        self._progress = progress
        self._gated: set[Case] = set()

    def measure(self, case: Case, number: int) -> Sample:
        """One round of one candidate: fresh paths, SAs and keys. GwbenchError when it cannot be measured."""
        self._progress.candidate(case, number, self._options.rounds)
        if not case.suite:
            self._machines.route_plain()
            return self._measured(case, None, None)
        self._machines.route_tunnel()  # the plain routes make room first
        tunnel = self._machines.open(case)
        try:
            report = None
            if case not in self._gated:
                self._progress.stage("checking every packet length")
                try:
                    report = self._machines.gate(tunnel.inner_mtu)
                except gate.GateError:
                    tunnel.health()  # a dead data path is the better reason
                    raise
                self._gated.add(case)
            self._machines.route_tunnel(tunnel.inner_mtu)
            return self._measured(case, tunnel, report)
        finally:
            tunnel.close()

    def _measured(self, case: Case, tunnel: Tunnel | None, report: gate.GateReport | None) -> Sample:
        before = _settled(tunnel, 0.0 if report is None else validity.DRAIN_S)
        busy_before, times_before = self._machines.cpu(), _times()
        done = self._machines.load(self._load, case, self._progress.interval, _watch(tunnel))
        disturbance = noise.noise_between(times_before, _times())
        busy = machine.between(busy_before, self._machines.cpu())
        after = _settled(tunnel, validity.DRAIN_S)
        sample = Sample(
            case=case,
            load=done.result,
            command=done.command,
            wall_s=disturbance.seconds,
            busy=busy,
            iperf3_cpu_s=done.cpu_ns / 1e9,
            noise=disturbance,
        )
        if tunnel is not None and before is not None and after is not None:
            left, right = (validity.difference(a, b) for a, b in zip(after, before, strict=True))
            sample = replace(
                sample,
                implementation=tunnel.implementation,
                inner_mtu=tunnel.inner_mtu,
                gateways=dict(zip(self._machines.names, (left, right), strict=True)),
                verdict=validity.check(
                    left,
                    right,
                    offload=self._options.offload,
                    received_bytes={f.direction: f.received_bytes for f in done.result.flows},
                    sent_bytes={f.direction: f.sent_bytes + f.omitted_bytes for f in done.result.flows},
                    outer_bytes=tunnel.config.outer_bytes,
                    wan=self._machines.wan,
                    line_loses=self._machines.line_loses,
                ),
                gate=report,
                paths=dict(tunnel.paths),
            )
        self._progress.measured(sample)
        return sample


def run(
    machines: Machines, options: Options, checked: Plan, progress: Progress
) -> dict[Case, list[rounds.Taken[Sample]]]:
    """All candidates in interleaved rounds."""
    end_to_end = EndToEnd(machines, options, checked.load, progress)
    return rounds.run(
        checked.cases,
        options.rounds,
        end_to_end.measure,
        lambda sample: sample.noise.reason,
        rounds.Repeats.for_run(len(checked.cases), options.rounds)
        if options.repeats < 0
        else rounds.Repeats(options.repeats),
        progress.repeat,
    )


def _watch(tunnel: Tunnel | None) -> Callable[[], None] | None:
    """Asks the gateways now and then whether they still run: a dead one must not cost the rest of the test."""
    if tunnel is None:
        return None
    last = time.monotonic()

    def watch() -> None:
        nonlocal last
        if time.monotonic() - last >= _HEALTH_EVERY_S:
            tunnel.health()
            last = time.monotonic()

    return watch


def _settled(tunnel: Tunnel | None, drain_s: float) -> tuple[NodeCounters, NodeCounters] | None:
    """Counters after the line has drained: after ``drain_s``, a reading during which nothing moved at either end. The
    two ends are read one after the other; a packet that passed between would be opened but never sealed."""
    if tunnel is None:
        return None
    time.sleep(drain_s)
    deadline = time.monotonic() + _SETTLE_S
    before = _moved(tunnel.counters(sas=False))
    while True:
        time.sleep(0.02)
        reading = tunnel.counters()
        after = _moved(tunnel.counters(sas=False))
        if before == _moved(reading) == after or time.monotonic() > deadline:
            return reading
        before = after


def _moved(counters: Sequence[NodeCounters]) -> list[int]:
    return [c.loop.get(name, 0) for c in counters for name in (*_MOVING, *_MOVING_KERNEL)]


def _times() -> noise.CpuTimes:
    """Now. What is not ours is counted directly, process by process: the kernel's own work for our packets (softirq,
    ksoftirqd) is charged to nobody in particular, so "everything minus ours" would blame others for it."""
    now = noise.cpu_times(time.monotonic_ns(), 0)
    return replace(now, busy_ns=machine.others_cpu_ns())
