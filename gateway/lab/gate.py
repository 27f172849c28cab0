"""The correctness gate: nothing is measured that does not carry every packet unchanged.

Through the tunnel as it stands, before any speed:

* UDP over IPv4 and IPv6, every payload length that makes inner packets from the smallest to MTU + 100 bytes, both
  ways, DF on and off. What fits arrives with its content; what does not fit arrives in fragments where fragments are
  allowed, and is refused with "too big" to its sender where they are not.
* TCP over IPv4 and IPv6, both ways: some hundred super-packets' worth of random bytes, compared - segmentation,
  coalescing and checksums at work, which UDP does not show.

One pair of sockets a family lives through it all; sockets stay in the namespace in which they were made, so a single
thread of this process is both ends. Where the server is another machine it echoes, and a single socket is both ends:
every packet then goes both ways. Some 12,000 packets, about a second.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.errors import MeasurementError
from gateway.lab.namespaces import NetworkNamespace
from gateway.lab.topology import CLIENT_V4, CLIENT_V6, SERVER_V4, SERVER_V6

BEYOND_MTU_BYTES = 100
_PORT = 9077
_CHUNK = 24
"""Packets under way at once: far below any queue on the path."""
_PATIENCE_S = 2.0
_TCP_BYTES = 3 << 20
_HEADER_BYTES = {socket.AF_INET: 20 + 8, socket.AF_INET6: 40 + 8}

# linux/in.h, linux/in6.h
_IP_MTU_DISCOVER, _IP_RECVERR = 10, 11
_IPV6_MTU_DISCOVER, _IPV6_RECVERR, _IPV6_DONTFRAG = 23, 25, 62
_PMTUDISC_DONT, _PMTUDISC_PROBE = 0, 3


class GateError(MeasurementError):
    """The tunnel changed, lost or let through a packet that it must not."""


@dataclass(slots=True)
class GateReport:
    """What was proven."""

    packets: int = 0
    """UDP packets that arrived with their content."""
    refused: int = 0
    """UDP packets with DF beyond the MTU that were held back, as they must be."""
    tcp_bytes: int = 0
    seconds: float = 0.0
    families: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Host:
    """A namespace of this machine, and its inner addresses."""

    namespace: NetworkNamespace
    v4: str
    v6: str

    def address(self, family: socket.AddressFamily) -> str:
        return self.v4 if family == socket.AF_INET else self.v6


@dataclass(frozen=True, slots=True)
class Echo:
    """A server elsewhere that sends back what it gets, by UDP and TCP."""

    ports: Mapping[tuple[socket.AddressFamily, bool], tuple[str, int]]
    """Address and port by family, and by whether its answers carry DF."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Who talks to whom."""

    client: Host
    server: Host | Echo
    families: tuple[socket.AddressFamily, ...] = (socket.AF_INET, socket.AF_INET6)


def between(client: NetworkNamespace, server: NetworkNamespace) -> Pair:
    """The laboratory's."""
    return Pair(Host(client, CLIENT_V4, CLIENT_V6), Host(server, SERVER_V4, SERVER_V6))


@dataclass(frozen=True, slots=True)
class _Ends:
    family: socket.AddressFamily
    client: socket.socket
    server: socket.socket
    """The client's own where an echo answers."""

    @property
    def ways(self) -> tuple[tuple[socket.socket, socket.socket, str], ...]:
        if self.client is self.server:
            return ((self.client, self.client, "there and back"),)
        return ((self.client, self.server, "client to server"), (self.server, self.client, "server to client"))


def run(pair: Pair, inner_mtu: int) -> GateReport:
    """Raises GateError at the first packet that is wrong. inner_mtu: of the TUNs, bytes."""
    report = GateReport()
    begun = time.monotonic()
    # One source of content: a packet of n bytes is any slice of it, so a shifted or mixed payload cannot match.
    content = os.urandom(inner_mtu + BEYOND_MTU_BYTES + 4096)
    for family in pair.families:
        with contextlib.ExitStack() as stack:
            ends = None
            for df in (False, True):
                # One pair lives through it all, but an echo with DF is another one than one without.
                if ends is None or isinstance(pair.server, Echo):
                    ends = _udp_pair(pair, family, df, stack)
                _set_df(ends, df)
                for sender, receiver, way in ends.ways:
                    _sweep(sender, receiver, family, df, way, inner_mtu, content, report)
        _tcp(pair, family, report)
        report.families.append("IPv4" if family == socket.AF_INET else "IPv6")
    report.seconds = time.monotonic() - begun
    return report


def _udp_pair(pair: Pair, family: socket.AddressFamily, df: bool, stack: contextlib.ExitStack) -> _Ends:
    client = _bound(pair.client, family, stack)
    if isinstance(pair.server, Echo):
        client.connect(pair.server.ports[family, df])
        return _Ends(family, client, client)
    server = _bound(pair.server, family, stack)
    client.connect((pair.server.address(family), _PORT))
    server.connect((pair.client.address(family), _PORT))
    return _Ends(family, client, server)


def _bound(host: Host, family: socket.AddressFamily, stack: contextlib.ExitStack) -> socket.socket:
    with host.namespace.entered():
        end = stack.enter_context(socket.socket(family, socket.SOCK_DGRAM))
    end.setblocking(False)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    end.bind((host.address(family), _PORT))
    return end


def _set_df(ends: _Ends, df: bool) -> None:
    """On: DF whatever the path MTU is thought to be (PROBE), and errors told. Off: fragments allowed."""
    mode = _PMTUDISC_PROBE if df else _PMTUDISC_DONT
    for end in (ends.client, ends.server):
        if ends.family == socket.AF_INET:
            end.setsockopt(socket.IPPROTO_IP, _IP_MTU_DISCOVER, mode)
            end.setsockopt(socket.IPPROTO_IP, _IP_RECVERR, int(df))
        else:
            end.setsockopt(socket.IPPROTO_IPV6, _IPV6_MTU_DISCOVER, mode)
            end.setsockopt(socket.IPPROTO_IPV6, _IPV6_DONTFRAG, int(df))
            end.setsockopt(socket.IPPROTO_IPV6, _IPV6_RECVERR, int(df))


def _sweep(
    sender: socket.socket,
    receiver: socket.socket,
    family: socket.AddressFamily,
    df: bool,
    way: str,
    inner_mtu: int,
    content: bytes,
    report: GateReport,
) -> None:
    header = _HEADER_BYTES[family]
    largest = inner_mtu - header
    what = f"{'IPv4' if family == socket.AF_INET else 'IPv6'}, DF {'on' if df else 'off'}, {way}"
    fitting = largest + 1 if df else largest + BEYOND_MTU_BYTES + 1
    if not df and family == socket.AF_INET6:
        _learn_path_mtu(sender, receiver, content[: largest + BEYOND_MTU_BYTES])
    for begin in range(0, fitting, _CHUNK):
        lengths = range(begin, min(begin + _CHUNK, fitting))
        for length in lengths:
            _send(sender, _payload(content, length), what)
        _receive_all(receiver, lengths, content, what, header)
        report.packets += len(lengths)
    if df:
        report.refused += _refused(sender, receiver, range(fitting, largest + BEYOND_MTU_BYTES + 1), content, what)


def _payload(content: bytes, length: int) -> bytes:
    offset = length * 7 % 4096
    return content[offset : offset + length]


def _send(sender: socket.socket, payload: bytes, what: str) -> None:
    try:
        sender.send(payload)
    except OSError as error:
        raise GateError(f"gate: {what}: {len(payload)} bytes cannot be sent: {error.strerror}", code="gate") from error


def _receive_all(receiver: socket.socket, lengths: range, content: bytes, what: str, header: int) -> None:
    missing = set(lengths)
    deadline = time.monotonic() + _PATIENCE_S
    while missing:
        try:
            packet = receiver.recv(65536)
        except BlockingIOError:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([receiver], [], [], left)[0]:
                lost = sorted(missing)
                raise GateError(
                    f"gate: {what}: inner packet of {lost[0] + header} bytes did not arrive"
                    + (f", nor {len(lost) - 1} more up to {lost[-1] + header}" if len(lost) > 1 else ""),
                    code="gate",
                ) from None
            continue
        except OSError as error:
            raise GateError(f"gate: {what}: {error.strerror}", code="gate") from error
        if len(packet) not in missing:
            raise GateError(f"gate: {what}: a packet of {len(packet) + header} bytes came unasked", code="gate")
        if packet != _payload(content, len(packet)):
            raise GateError(f"gate: {what}: the packet of {len(packet) + header} bytes was changed", code="gate")
        missing.remove(len(packet))


def _learn_path_mtu(sender: socket.socket, receiver: socket.socket, payload: bytes) -> None:
    """IPv6 routers never fragment: the first packet that is too big is lost and teaches the sender."""
    for _ in range(3):
        with contextlib.suppress(OSError):
            sender.send(payload)
        if select.select([receiver], [], [], 0.05)[0]:
            receiver.recv(65536)
            return


def _refused(sender: socket.socket, receiver: socket.socket, lengths: range, content: bytes, what: str) -> int:
    """Each must be told "too big" to its sender - at once or by ICMP - and none may arrive."""
    told = 0
    for length in lengths:
        for attempt in range(2):
            try:
                sender.send(_payload(content, length))
                break
            except OSError as error:
                if error.errno != errno.EMSGSIZE:
                    raise GateError(f"gate: {what}: {error.strerror} instead of too big", code="gate") from error
                told += 1
                # With RECVERR an earlier packet's ICMP may be reported here: then this one was not tried yet.
                if not _drain_errors(sender) or attempt:
                    break
    # What follows in order proves, without waiting, that what came before it did not get through.
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            _drain_errors(sender)
            sender.send(b"end")
            break
        except OSError as error:
            told += error.errno == errno.EMSGSIZE
            if time.monotonic() > deadline:
                raise GateError(f"gate: {what}: {error.strerror}", code="gate") from error
    if not select.select([receiver], [], [], _PATIENCE_S)[0]:
        raise GateError(f"gate: {what}: nothing passes after packets that were too big", code="gate")
    packet = receiver.recv(65536)
    if packet != b"end":
        raise GateError(f"gate: {what}: {len(packet)} bytes of payload passed, more than the MTU", code="gate")
    told += _drain_errors(sender)
    if lengths and not told:
        raise GateError(f"gate: {what}: nobody told the sender that its packets are too big", code="gate")
    return len(lengths)


def _drain_errors(sender: socket.socket) -> int:
    count = 0
    while True:
        try:
            sender.recvmsg(1, 512, socket.MSG_ERRQUEUE)
            count += 1
        except OSError:
            return count


def _tcp(pair: Pair, family: socket.AddressFamily, report: GateReport) -> None:
    what = f"TCP over {'IPv4' if family == socket.AF_INET else 'IPv6'}"
    with contextlib.ExitStack() as stack:
        with pair.client.namespace.entered():
            client = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
        client.bind((pair.client.address(family), 0))
        client.settimeout(_PATIENCE_S)
        try:
            ends = _connected(client, pair.server, family, stack)
        except OSError as error:
            raise GateError(f"gate: {what}: no connection: {error}", code="gate") from error
        for sender, receiver, way in ends.ways:
            _tcp_one_way(sender, receiver, f"{what}, {way}")
            report.tcp_bytes += _TCP_BYTES


def _connected(
    client: socket.socket, server: Host | Echo, family: socket.AddressFamily, stack: contextlib.ExitStack
) -> _Ends:
    if isinstance(server, Echo):
        client.connect(server.ports[family, False])
        return _Ends(family, client, client)
    with server.namespace.entered():
        listener = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
    listener.bind((server.address(family), 0))
    listener.listen(1)
    listener.settimeout(_PATIENCE_S)
    client.connect(listener.getsockname()[:2])
    return _Ends(family, client, stack.enter_context(listener.accept()[0]))


def _tcp_one_way(sender: socket.socket, receiver: socket.socket, what: str) -> None:
    content = os.urandom(_TCP_BYTES)
    sender.setblocking(False)
    receiver.setblocking(False)
    sent, received = 0, bytearray()
    deadline = time.monotonic() + 10 * _PATIENCE_S
    while len(received) < len(content):
        want = [sender] if sent < len(content) else []
        readable, writable, _ = select.select([receiver], want, [], _PATIENCE_S)
        if time.monotonic() > deadline or not (readable or writable):
            raise GateError(f"gate: {what}: stuck after {len(received)} of {len(content)} bytes", code="gate")
        try:
            if writable:
                sent += sender.send(content[sent : sent + 200_000])
            if readable:
                received += receiver.recv(1 << 20)
        except OSError as error:
            raise GateError(f"gate: {what}: {error.strerror}", code="gate") from error
    if bytes(received) != content:
        first = next(i for i, (a, b) in enumerate(zip(received, content, strict=False)) if a != b)
        raise GateError(f"gate: {what}: content differs at byte {first}", code="gate")
