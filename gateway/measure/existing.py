"""Measures through SAs that somebody else made - an IKE daemon, as a rule - without touching a key or a policy.

The counters of this end's SAs are the witness that the traffic went through them. A rekey replaces SAs in the middle of
a run: what a deleted one had counted comes with the kernel's event, and sums are taken over the SPIs of the tunnel.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import socket
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from gateway.errors import UnusableError
from gateway.lab.namespaces import NetworkNamespace
from gateway.load import iperf3
from gateway.load.iperf3_parse import FORWARD, Interval
from gateway.netlink import xfrm
from gateway.netlink.connection import Connection
from gateway.netlink.ipsec import Ipsec, KernelSa
from gateway.node import kernel, kernel_crypto, xfrm_stat

DEFAULT_BITRATE = "10M"
_POLL_S = 0.5
Key = tuple[int, str]


class Here:
    """This process's own namespace, where the load runs as it would without gwbench."""

    def popen(self, command: Sequence[str], **more: Any) -> subprocess.Popen[Any]:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **more)


class RunningServer:
    """An ``iperf3 -s`` that somebody started behind the tunnel."""

    def start(self, load: iperf3.Load, binary: iperf3.Iperf3Binary) -> None:
        """Nothing to do."""

    def moved_bytes(self, direction: str) -> int | None:
        return None

    def finish(self) -> int | None:
        return None

    def kill(self) -> None:
        """It is not ours."""


def kernel_sas() -> list[KernelSa]:
    """All of this network namespace. UnusableError without XFRM, ESP or privilege."""
    try:
        with Ipsec() as ipsec:
            sas = ipsec.sas()
    except OSError as error:
        raise _unusable(error) from None
    if not sas:
        _require_esp()
    return sas


def _require_esp() -> None:
    """Where nothing is found: was ESP possible at all? UnusableError names the module."""
    if lack := kernel.missing():
        raise UnusableError(lack, "modprobe esp4 esp6, where the kernel was built with them", "kernel-lacks")


def _unusable(error: OSError) -> UnusableError:
    if error.errno == errno.EPROTONOSUPPORT:
        return UnusableError(
            "this kernel has no XFRM: module xfrm_user is missing", "modprobe xfrm_user", "kernel-lacks"
        )
    if error.errno == errno.EPERM:
        return UnusableError("the kernel's SAs are shown to root only", "run it with sudo")
    return UnusableError(f"the kernel does not list its SAs: {error.strerror or error}")


@dataclass(frozen=True, slots=True)
class Tunnel:
    """Which SAs carry packets to an address."""

    source: str
    """Inner, of this host."""
    outer: tuple[str, str]
    """Ours, the peer's."""
    reqid: int
    mode: str

    def direction(self, sa: KernelSa) -> str:
        """``out``, ``in``, or empty for another tunnel's."""
        if self.reqid and sa.reqid and sa.reqid != self.reqid:
            return ""
        ends = (sa.src, sa.dst)
        return "out" if ends == self.outer else "in" if ends == self.outer[::-1] else ""


def source_of(server: str) -> str:
    """The address that packets to ``server`` leave with."""
    try:
        family = socket.AF_INET6 if ":" in server else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as sock:
            sock.connect((server, 9))
            return str(sock.getsockname()[0])
    except OSError as error:
        raise UnusableError(f"{server} cannot be reached: {error.strerror or error}") from None


def find_tunnel(server: str, source: str, policies: Sequence[Any]) -> Tunnel:
    """By the outbound policy that takes packets source -> server. UnusableError when there is none."""
    matching = [
        one
        for one in policies
        if one["dir"] == xfrm.XFRM_POLICY_OUT and _in(server, one, "d") and _in(source, one, "s")
    ]
    if not matching:
        raise UnusableError(
            f"no IPsec policy takes packets from {source} to {server}",
            "ip xfrm policy shows which there are; is the tunnel up?",
            "no-policy",
        )
    first = min(matching, key=lambda one: one["priority"])
    templates = first.get_attr("XFRMA_TMPL") or []
    if first["action"] == xfrm.XFRM_POLICY_BLOCK or not templates:
        raise UnusableError(
            f"a policy lets packets from {source} to {server} pass in clear, or blocks them", "ip xfrm policy"
        )
    template = templates[0]
    mode = "tunnel" if template["mode"] == xfrm.XFRM_MODE_TUNNEL else "transport"
    outer = (template["saddr"], template["daddr"]) if mode == "tunnel" else (source, server)
    return Tunnel(source, outer, template["reqid"], mode)


def _in(address: str, policy: Any, which: str) -> bool:
    """Is the address inside the selector's destination (d) or source (s)?"""
    name = "daddr" if which == "d" else "saddr"
    wanted = ipaddress.ip_address(address)
    if policy["sel_family"] != (socket.AF_INET6 if wanted.version == 6 else socket.AF_INET):
        return False
    prefix = f"{policy[f'sel_{name}']}/{policy[f'sel_prefixlen_{which}']}"
    return wanted in ipaddress.ip_network(prefix, strict=False)


@dataclass(frozen=True, slots=True)
class Counted:
    """Packets and inner bytes."""

    packets: int = 0
    bytes: int = 0


class Books:
    """Counters of a tunnel's SAs over a time in which SAs come and go."""

    def __init__(self, tunnel: Tunnel, sas: Sequence[KernelSa]) -> None:
        self._tunnel = tunnel
        self._first: dict[Key, Counted] = {}
        self._last: dict[Key, tuple[str, Counted]] = {}
        self._lock = threading.Lock()
        self.note(sas, first=True)

    def note(self, sas: Sequence[KernelSa], *, first: bool = False) -> None:
        """A reading of what is there."""
        for sa in sas:
            direction = self._tunnel.direction(sa)
            if direction and sa.protocol == socket.IPPROTO_ESP:
                self._keep((sa.spi, sa.dst), direction, Counted(sa.packets, sa.bytes), first)

    def note_last(self, spi: int, src: str, dst: str, counted: Counted) -> None:
        """What a deleted SA had counted."""
        ends = (src, dst)
        outer = self._tunnel.outer
        if ends in (outer, outer[::-1]):
            self._keep((spi, dst), "out" if ends == outer else "in", counted, False)

    def _keep(self, key: Key, direction: str, counted: Counted, first: bool) -> None:
        with self._lock:
            if first:
                self._first[key] = counted
            former = self._last.get(key, (direction, Counted()))[1]
            # Readings and events come by two sockets, and not in order: counters never fall.
            most = Counted(max(former.packets, counted.packets), max(former.bytes, counted.bytes))
            self._last[key] = (direction, most)

    def moved(self, direction: str) -> Counted:
        """Over all SPIs of a direction, since the beginning."""
        with self._lock:
            packets = size = 0
            for key, (way, counted) in self._last.items():
                if way == direction:
                    before = self._first.get(key, Counted())
                    packets += counted.packets - before.packets
                    size += counted.bytes - before.bytes
        return Counted(packets, size)

    def spis(self, direction: str) -> list[int]:
        """All that were seen."""
        return [spi for (spi, _), (way, _) in self._last.items() if way == direction]

    def new_spis(self, direction: str) -> list[int]:
        """Those that came in the course of it."""
        return [key[0] for key, (way, _) in self._last.items() if way == direction and key not in self._first]


class Watcher:
    """Keeps the books while the load runs: readings twice a second, and the kernel's events of SAs that go."""

    def __init__(self, books: Books) -> None:
        self._books = books
        self._events = Connection(xfrm.NETLINK_XFRM, xfrm.MESSAGES, timeout_s=_POLL_S)
        for group in ("sa", "expire"):
            self._events.join(xfrm.GROUPS[group])
        self._ipsec = Ipsec()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Watcher:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        with contextlib.suppress(OSError):
            self._books.note(self._ipsec.sas())
        self._events.close()
        self._ipsec.close()

    def _run(self) -> None:
        while not self._done.is_set():
            with contextlib.suppress(OSError, KeyError):
                if (event := self._events.event()) is not None:
                    self._event(*event)
                self._books.note(self._ipsec.sas())

    def _event(self, kind: int, message: Any) -> None:
        sa = message.get_attr("XFRMA_SA") if kind == xfrm.XFRM_MSG_DELSA else None
        if kind == xfrm.XFRM_MSG_EXPIRE and message["hard"]:
            sa = message
        if sa is not None:
            self._books.note_last(sa["spi"], sa["saddr"], sa["daddr"], Counted(sa["cur_packets"], sa["cur_bytes"]))


@dataclass(frozen=True, slots=True)
class Run:
    """One measurement."""

    load: iperf3.LoadReport
    moved: Mapping[str, Counted]
    """By direction, ``out`` and ``in``."""
    spis: Mapping[str, list[int]]
    rekeyed: int
    """SAs that came during the run, both directions."""
    drops: Mapping[str, int]
    """/proc/net/xfrm_stat, of the whole namespace."""
    reasons: tuple[str, ...]
    """Why it is not valid; empty when it is."""


@dataclass(slots=True)
class Report:
    """All rounds."""

    tunnel: Tunnel
    sa: KernelSa
    """One that carries the traffic out."""
    implementation: str
    runs: list[Run] = field(default_factory=list)


def implementation_of(sa: KernelSa, listing: Sequence[kernel_crypto.CryptoAlgorithm]) -> str:
    """Drivers of the transforms in use that have the SA's algorithms; empty when the kernel does not tell."""
    found = [
        one.driver
        for one in listing
        if one.refcnt > 1 and sa.cipher in one.name and (not sa.integrity or sa.integrity in one.name)
        if one.name.startswith(("seqiv(", "echainiv(", "authenc"))
    ]
    return kernel_crypto.words(found[0]) if found else ""


def run(
    load: iperf3.Load, rounds: int, on_interval: Callable[[Interval], None], stage: Callable[[str], None]
) -> Report:
    """UnusableError before anything is sent when no SA would carry it."""
    source = source_of(load.server)
    try:
        with Ipsec() as ipsec:
            policies, sas = ipsec.policies(), ipsec.sas()
    except OSError as error:
        raise _unusable(error) from None
    if not policies:
        _require_esp()
    tunnel = find_tunnel(load.server, source, policies)
    outward = [sa for sa in sas if tunnel.direction(sa) == "out"]
    if not outward:
        raise UnusableError(
            f"there is no SA {tunnel.outer[0]} -> {tunnel.outer[1]}: the tunnel is not up",
            "swanctl --initiate",
            "no-sa",
        )
    newest = max(outward, key=lambda sa: sa.added_at)
    report = Report(tunnel, newest, implementation_of(newest, kernel_crypto.read()))
    for number in range(rounds):
        stage(f"round {number + 1}/{rounds}")
        report.runs.append(_one(load, source, tunnel, on_interval))
    return report


def _one(load: iperf3.Load, source: str, tunnel: Tunnel, on_interval: Callable[[Interval], None]) -> Run:
    from dataclasses import replace

    before = xfrm_stat.read()
    books = Books(tunnel, kernel_sas())
    with Watcher(books):
        done = iperf3.run(
            replace(load, client=source),
            cast(NetworkNamespace, Here()),
            RunningServer(),
            on_interval=on_interval,
        )
    moved = {direction: books.moved(direction) for direction in ("out", "in")}
    return Run(
        load=done,
        moved=moved,
        spis={direction: books.spis(direction) for direction in ("out", "in")},
        rekeyed=sum(len(books.new_spis(direction)) for direction in ("out", "in")),
        drops=xfrm_stat.difference(before, xfrm_stat.read()),
        reasons=tuple(check(done, moved)),
    )


def check(done: iperf3.LoadReport, moved: Mapping[str, Counted]) -> list[str]:
    """Does what the SAs carried fit what iperf3 says? This end only: the other's counters are not at hand."""
    reasons = []
    for flow in done.result.flows:
        way = "out" if flow.direction == FORWARD else "in"
        there, back = moved[way], moved["in" if way == "out" else "out"]
        payload = flow.received_bytes + flow.omitted_bytes
        # 28 bytes of headers a packet at the least (UDP), 40 for TCP.
        if there.bytes - 28 * there.packets < flow.received_bytes:
            reasons.append(
                f"{flow.direction}: iperf3 moved {payload} bytes, but the SAs {way} only {there.bytes} with headers: "
                "it did not go through the tunnel"
            )
        allowance = 100 * there.packets + flow.sent_bytes // 10 + (4 << 20)
        if there.bytes > flow.sent_bytes + flow.omitted_bytes + allowance:
            reasons.append(f"{flow.direction}: the SAs {way} carried {there.bytes} bytes: other traffic is in them")
        if not back.packets:
            reasons.append(f"{flow.direction}: no packet came back through the tunnel")
    return reasons
