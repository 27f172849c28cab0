"""One trial: packets at a rate through the gateway under test, counted at both ends and everywhere between."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dataplane import Generator, GeneratorStats, Sink, SinkStats
from gateway import noise
from gateway.errors import MeasurementError
from gateway.lab.tester import INNER_PORT, Reading, Tester
from gateway.lab.topology import CLIENT_V4, SERVER_V4
from gateway.measure import machine
from gateway.node.base import NodeCounters

DIRECTIONS = ("seal", "open", "both")
"""``seal``: plain UDP in, ESP out. ``open``: ESP in, plain UDP out."""
CHECK_EVERY = 64
"""One of so many packets has its content compared; sealed ones are opened for it."""
SLIP = 0.02
"""Of a trial's time by which a generator may be late; more, and it did not make the rate."""
HOPELESS = 0.1
"""Loss that no disturbance explains."""
_DRAIN_S, _DRAIN_MOST_S = 0.03, 2.0
_POLL_S = 0.01
_GRACE = 1.25
"""Times its duration, and a trial is broken off."""


def ways(direction: str) -> tuple[str, ...]:
    """``seal``, ``open`` of a direction."""
    return ("seal", "open") if direction == "both" else (direction,)


@dataclass(frozen=True, slots=True)
class Stream:
    """One way of one trial. Packets."""

    way: str
    generator: GeneratorStats
    sink: SinkStats
    drops: dict[str, int]
    """Where packets were seen to be lost."""
    histogram: dict[int, int] = field(default_factory=dict)
    """Nanoseconds -> packets, where latencies were taken."""

    @property
    def lost(self) -> int:
        return self.generator.sent - self.sink.packets


@dataclass(frozen=True, slots=True)
class Trial:
    """What one trial counted."""

    packets_per_s: float
    """Intended, of one way."""
    intended: int
    """Packets of all ways."""
    seconds: float
    """That the slowest generator took."""
    streams: tuple[Stream, ...]
    noise: noise.Noise
    reasons: tuple[str, ...]
    """Why its numbers do not add up; empty when they do."""
    repeats: int = 0

    @property
    def offered(self) -> int:
        return sum(stream.generator.sent for stream in self.streams)

    @property
    def forwarded(self) -> int:
        return sum(stream.sink.packets for stream in self.streams)

    @property
    def loss_ratio(self) -> float:
        return 1 - self.forwarded / self.offered if self.offered else 0.0

    @property
    def late(self) -> bool:
        """The generator did not make the rate."""
        slipped = max((s.generator.slipped_ns for s in self.streams), default=0) / 1e9
        return slipped > SLIP * max(self.seconds, 1e-9) or self.offered < self.intended

    def as_dict(self) -> dict[str, Any]:
        """For the result file."""
        return {
            "packets_per_s": self.packets_per_s,
            "seconds": self.seconds,
            "intended": self.intended,
            "offered": self.offered,
            "forwarded": self.forwarded,
            "loss_ratio": self.loss_ratio,
            "generator_late": self.late,
            "repeats": self.repeats,
            "noise": noise.as_json(self.noise),
            "drops": {f"{s.way}: {name}": n for s in self.streams for name, n in s.drops.items() if n},
            "reordered": sum(s.sink.reordered for s in self.streams),
            "content_checked": sum(s.sink.checked for s in self.streams),
            "reasons": list(self.reasons),
        }


class Trials:
    """Runs trials on one tester; numbers them, so that stragglers of one are not counted in the next."""

    def __init__(self, tester: Tester, *, train: int = 64) -> None:
        self.tester = tester
        self.train = train
        self._number = 0

    def sink(self, way: str) -> Sink:
        """Where this way's packets arrive."""
        return self.tester.esp_sink if way == "seal" else self.tester.plain_sink

    def start(
        self,
        way: str,
        sizes: Sequence[int],
        *,
        packets_per_s: float,
        count: int,
        max_s: float,
        fd: int = -1,
        **more: Any,
    ) -> Generator:
        """A generator of this way, running. fd: another socket than the tester's."""
        tester = self.tester
        if way == "open":
            more |= {"sa": tester.out_sa, "src": (CLIENT_V4, INNER_PORT), "dst": (SERVER_V4, INNER_PORT)}
        own = (tester.plain if way == "seal" else tester.outer).fileno()
        return Generator(
            own if fd < 0 else fd,
            sizes,
            packets_per_s=packets_per_s,
            count=count,
            max_s=max_s,
            trial=self._number,
            **{"train": self.train, **more},
        )

    def next_number(self) -> int:
        self._number = self._number % 0xFFFF + 1
        return self._number

    def run(
        self,
        direction: str,
        sizes: Sequence[int],
        packets_per_s: float,
        *,
        seconds: float = 0.0,
        count: int = 0,
        times: bool = False,
        **more: Any,
    ) -> Trial:
        """count, or as many as the rate makes in the time; packets_per_s 0 = as fast as it goes. MeasurementError when
        the gateway ended."""
        number = self.next_number()
        count = count or max(1, round(packets_per_s * seconds))
        seconds = seconds or (count / packets_per_s if packets_per_s else 2.0)
        for way in ways(direction):
            self.sink(way).begin(number, check_every=1 if times else CHECK_EVERY, times=times)
        before, times_before = self.tester.read(), cpu_times()
        max_s = _GRACE * seconds + 0.1
        generators: dict[str, Generator] = {}
        try:
            for way in ways(direction):
                generators[way] = self.start(way, sizes, packets_per_s=packets_per_s, count=count, max_s=max_s, **more)
            while not all(g.done for g in generators.values()):
                time.sleep(_POLL_S)
        finally:
            made = {way: generator.finish() for way, generator in generators.items()}
        disturbance = noise.noise_between(times_before, cpu_times())
        self._drain(direction)
        self.tester.health()
        after = self.tester.read()
        streams = tuple(
            Stream(
                way,
                made[way],
                self.sink(way).read(),
                _drops(way, before, after, self.tester),
                self.sink(way).histogram() if times else {},
            )
            for way in ways(direction)
        )
        took = max(stats.seconds for stats in made.values())
        intended = count * len(streams)
        if any(stats.last_errno and not stats.sent for stats in made.values()):
            raise MeasurementError("the generator could send nothing")
        slipped = max(stats.slipped_ns for stats in made.values()) / 1e9
        if packets_per_s and slipped > SLIP * took:
            intended = max(intended, round(packets_per_s * took) * len(streams))
        reasons = tuple(
            f"{stream.way}: {reason}" for stream in streams for reason in check(stream, before, after, self.tester)
        )
        return Trial(packets_per_s, intended, took, streams, disturbance, reasons)

    def run_undisturbed(
        self, direction: str, sizes: Sequence[int], packets_per_s: float, *, seconds: float, repeats: int
    ) -> Trial:
        """The same, again where the machine was disturbed and it shows: the generator was late, or packets were lost
        while the hypervisor or others took the cores."""
        number = -1
        while True:
            number += 1
            trial = self.run(direction, sizes, packets_per_s, seconds=seconds)
            disturbed = trial.late or (trial.noise.dirty and trial.forwarded < trial.offered)
            if not disturbed or trial.loss_ratio > HOPELESS or number >= repeats:
                return replace(trial, repeats=number)

    def _drain(self, direction: str) -> None:
        """Until nothing arrives any more."""
        deadline = time.monotonic() + _DRAIN_MOST_S
        last: list[int] = []
        still = 0
        while still < 2 and time.monotonic() < deadline:
            time.sleep(_DRAIN_S)
            now = [self.sink(way).read().packets for way in ways(direction)]
            still = still + 1 if now == last else 0
            last = now


def cpu_times() -> noise.CpuTimes:
    """Now; what is not ours is counted process by process."""
    now = noise.cpu_times(time.monotonic_ns(), 0)
    return replace(now, busy_ns=machine.others_cpu_ns())


# ---- the books ----

WHERE = {
    "tun_queue": "the TUN's queue was full",
    "socket": "the gateway's socket was full",
    "backlog": "a core's queue of received packets was full",
    "veth": "a veth refused it",
    "sink": "the sink's socket was full",
}


def _interface(reading: Reading, where: str, name: str, counter: str) -> int:
    interfaces = reading.node.interfaces if where == "gateway" else reading.interfaces.get(where, {})
    return interfaces.get(name, {}).get(counter, 0)


def _drops(way: str, before: Reading, after: Reading, tester: Tester) -> dict[str, int]:
    """Where packets of this way were lost, as far as somebody counted."""

    def more(where: str, name: str, counter: str) -> int:
        return _interface(after, where, name, counter) - _interface(before, where, name, counter)

    tun = tester.path.tun if tester.path else "esp0"
    direction = "out" if way == "seal" else "in"
    found = {f"gateway {reason}": n for reason, n in _sa_drops(before.node, after.node, direction).items()}
    found |= {
        f"gateway {reason}": n - before.node.drops.get(reason, 0)
        for reason, n in after.node.drops.items()
        if reason.startswith(direction)
    }
    if way == "seal":
        found["tun_queue"] = more("gateway", tun, "tx_dropped")
        found["send"] = after.node.loop["udp_send_errors"] - before.node.loop["udp_send_errors"]
        found["veth"] = more("server", "lan", "tx_dropped") + more("gateway", "wan", "tx_dropped")
    else:
        found["socket"] = after.node.loop["udp_rcvbuf_drops"] - before.node.loop["udp_rcvbuf_drops"]
        found["veth"] = more("client", "wan", "tx_dropped") + more("gateway", "lan", "tx_dropped")
    found["backlog"] = after.backlog_drops - before.backlog_drops
    found["sink"] = (tester.esp_sink if way == "seal" else tester.plain_sink).read().socket_drops
    return {name: n for name, n in found.items() if n}


def _sa_drops(before: NodeCounters, after: NodeCounters, direction: str) -> dict[str, int]:
    total: dict[str, int] = {}
    for sign, counters in ((1, after), (-1, before)):
        for sa in counters.sas:
            if sa.direction == direction:
                for reason, n in sa.drops.items():
                    total[reason] = total.get(reason, 0) + sign * n
    return total


def _passed(counters: NodeCounters, direction: str) -> int:
    return sum(sa.packets for sa in counters.sas if sa.direction == direction)


def check(stream: Stream, before: Reading, after: Reading, tester: Tester) -> list[str]:
    """Why the numbers of one way do not add up. What a full socket or veth refused is counted there in datagrams, which
    may be trains of packets: exact equality is asked where nothing was refused so."""
    direction = "out" if stream.way == "seal" else "in"
    passed = _passed(after.node, direction) - _passed(before.node, direction)
    drops, sink, sent = stream.drops, stream.sink, stream.generator.sent
    trains = any(drops.get(name) for name in ("socket", "veth", "backlog", "sink"))
    gateway = sum(n for name, n in drops.items() if name.startswith("gateway")) + drops.get("tun_queue", 0)
    reasons = []
    if sink.wrong:
        reasons.append(f"{sink.wrong} of {sink.checked} packets compared were not what was sent")
    if sink.packets > passed or passed > sent:
        reasons.append(f"{sent} sent, {passed} passed the gateway, {sink.packets} arrived: more than before")
    elif not trains and sent != passed + gateway:
        reasons.append(f"{sent} sent, but {passed} passed the gateway and {gateway} were dropped and counted")
    if not trains and sink.packets != passed - drops.get("send", 0):
        reasons.append(f"{passed} passed the gateway, but {sink.packets} arrived")
    return reasons
