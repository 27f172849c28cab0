"""Do the numbers add up? A throughput whose packets cannot be accounted for is not a result. Pure.

In each direction, after the line has drained::

    sealed at A  =  opened at B + dropped at B by reason + socket buffer drops at B (SO_RXQ_OVFL)
                    + refused by A's socket + dropped by the veth between them
    opened at B  =  written to B's TUN + refused by it (in_buffer_error)

exactly, with one exception: the kernel counts a dropped *buffer*, which under GRO/GSO holds up to 128 packets. Then
what is missing must lie between that number of buffers and 128 times that.

The interfaces are a second witness: with all offloads off one interface packet is one ESP packet; otherwise only the
bytes can be compared, with one outer header (its Ethernet part may be missing) a send at least and one a packet at
most. And what iperf3 says it received must have passed through the SA, headers added, and not much more than it sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gateway.errors import MeasurementError
from gateway.node.base import LoopCounters, NodeCounters, SaCounters

DRAIN_S = 0.2
_MAX_SEGMENTS = 128
"""Packets in one kernel buffer at most (UDP_MAX_SEGMENTS)."""
_OUTER_BYTES = 14 + 20 + 8
"""Ethernet, IPv4 and UDP before the ESP packet, as interfaces count: the usual case."""
_ETHERNET_BYTES = 14
"""A veth that polls (GRO on) counts a packet after its Ethernet header was taken off, one that does not before."""
_NEIGHBOUR_PACKETS = 64
_NEIGHBOUR_BYTES = 64 * 128
"""ARP, neighbour discovery and multicast reports during a run: not ESP."""
_ARRIVAL_REASONS = frozenset(
    (
        "in_hdr_error",
        "in_no_states",
        "state_proto_error",
        "state_seq_error",
        "state_mode_error",
        "state_expired",
        "in_tmpl_mismatch",
        "in_dummy",
        "in_ecn_illegal",
        "in_state_invalid",
    )
)
"""Reasons for which the receiving gateway drops an ESP packet before it counts as opened."""
_AFTER_OPENING = ("in_buffer_error",)


@dataclass(frozen=True, slots=True)
class Account:
    """One direction's packets."""

    direction: str
    sealed: int
    opened: int
    dropped: Mapping[str, int]
    """At the receiving gateway, by reason."""
    socket_drops: int
    """Buffers that the receiving socket had no room for."""
    send_errors: int
    """Packets that the sending socket refused."""
    veth_drops: int
    """Buffers."""

    @property
    def missing(self) -> int:
        """Packets that no exact counter explains."""
        return self.sealed - self.opened - sum(self.dropped.values()) - self.send_errors

    @property
    def buffers_dropped(self) -> int:
        return self.socket_drops + self.veth_drops


@dataclass(frozen=True, slots=True)
class Verdict:
    """``reasons`` is empty when everything adds up."""

    accounts: tuple[Account, ...]
    reasons: tuple[str, ...] = field(default=())

    @property
    def valid(self) -> bool:
        return not self.reasons


def difference(after: NodeCounters, before: NodeCounters, removed: Iterable[SaCounters] = ()) -> NodeCounters:
    """What happened between two readings of one node. SAs that appeared meanwhile count from 0.

    removed: what ``delete_sa`` answered between the readings, oldest first. MeasurementError when an SA is gone whose
    last counters are not among them: what it carried after ``before`` would be lost to the books.
    """
    earlier = {(sa.spi, sa.direction): sa for sa in before.sas}
    # In order: an SPI may be used again, and what was removed must take its own beginning.
    sas = tuple(_sa_difference(sa, earlier.pop((sa.spi, sa.direction), None)) for sa in (*removed, *after.sas))
    if earlier:
        (spi, direction), *_ = earlier
        raise MeasurementError(
            f"SA {spi:#x} ({direction}) was removed during the measurement, and its last counters are missing"
        )
    return NodeCounters(
        sas=sas,
        loop=_minus(after.loop, before.loop),
        drops=_minus(after.drops, before.drops),
        stage_cycles=_minus(after.stage_cycles, before.stage_cycles),
        cpu_ns=after.cpu_ns - before.cpu_ns,
        interfaces={
            name: _minus(counters, before.interfaces.get(name, {})) for name, counters in after.interfaces.items()
        },
        loops=tuple(
            LoopCounters(
                cpu_ns=now.cpu_ns - then.cpu_ns,
                stage_cycles=_minus(now.stage_cycles, then.stage_cycles),
                drops=_minus(now.drops, then.drops),
                counters=_minus(now.counters, then.counters),
            )
            for now, then in zip(after.loops, before.loops, strict=True)
        ),
    )


def _sa_difference(after: SaCounters, before: SaCounters | None) -> SaCounters:
    if before is None:
        return after
    return SaCounters(
        spi=after.spi,
        direction=after.direction,
        packets=after.packets - before.packets,
        bytes=after.bytes - before.bytes,
        wire_bytes=after.wire_bytes - before.wire_bytes,
        drops={k: v for k, v in _minus(after.drops, before.drops).items() if v},
        seq=after.seq,
        state=after.state,
        implementation=after.implementation,
    )


def _minus(after: Mapping[str, int], before: Mapping[str, int]) -> dict[str, int]:
    return {name: value - before.get(name, 0) for name, value in after.items()}


def account(direction: str, sender: NodeCounters, receiver: NodeCounters, wan: str = "wan") -> Account:
    """One direction's books, from the two gateways' differences."""
    dropped: dict[str, int] = {}
    for drops in (*(sa.drops for sa in receiver.sas if sa.direction == "in"), receiver.drops):
        for reason, count in drops.items():
            if count and reason in _ARRIVAL_REASONS:
                dropped[reason] = dropped.get(reason, 0) + count
    return Account(
        direction=direction,
        sealed=sum(sa.packets for sa in sender.sas if sa.direction == "out"),
        opened=sum(sa.packets for sa in receiver.sas if sa.direction == "in"),
        dropped=dropped,
        socket_drops=receiver.loop.get("udp_rcvbuf_drops", 0),
        send_errors=sender.loop.get("udp_send_errors", 0),
        veth_drops=sender.interfaces.get(wan, {}).get("tx_dropped", 0)
        + receiver.interfaces.get(wan, {}).get("rx_dropped", 0),
    )


def check(
    left: NodeCounters,
    right: NodeCounters,
    *,
    offload: str,
    received_bytes: Mapping[str, int],
    sent_bytes: Mapping[str, int],
    outer_bytes: int = _OUTER_BYTES,
    wan: str = "wan",
    line_loses: bool = False,
) -> Verdict:
    """left, right: differences over the run of the client's and the server's gateway. offload: of the veths.

    received_bytes, sent_bytes: iperf3's payload a direction (``forward`` = left to right), the latter with omitted
    seconds; a direction that carried no load is absent. line_loses: switches and network cards between the two lose
    packets that nobody counts; such a loss is named (``missing``), and only packets from nowhere are an error.
    """
    accounts = (account("forward", left, right, wan), account("reverse", right, left, wan))
    reasons: list[str] = []
    for books, sender, receiver in zip(accounts, (left, right), (right, left), strict=True):
        reasons += _packets(books, line_loses)
        reasons += _tun(books, receiver)
        reasons += _interface(books, sender, offload, outer_bytes, wan)
        if books.direction in received_bytes:
            reasons += _load(
                books,
                sender,
                receiver,
                received_bytes[books.direction],
                sent_bytes.get(books.direction, received_bytes[books.direction]),
            )
    return Verdict(accounts, tuple(reasons))


def _packets(books: Account, line_loses: bool) -> list[str]:
    if line_loses and books.missing >= 0:
        return []
    if books.missing == 0 and books.buffers_dropped == 0:
        return []
    if books.buffers_dropped <= books.missing <= books.buffers_dropped * _MAX_SEGMENTS:
        return []
    parts = [f"opened {books.opened}"]
    parts += [f"{reason} {count}" for reason, count in sorted(books.dropped.items())]
    parts += [f"socket drops {books.socket_drops}"] if books.socket_drops else []
    parts += [f"send errors {books.send_errors}"] if books.send_errors else []
    parts += [f"veth drops {books.veth_drops}"] if books.veth_drops else []
    return [f"{books.direction}: sealed {books.sealed} packets, but {', '.join(parts)}: {books.missing} unexplained"]


def _tun(books: Account, receiver: NodeCounters) -> list[str]:
    written = receiver.loop.get("tun_write_segments")
    if written is None:
        return []
    refused = sum(
        drops.get(reason, 0)
        for drops in (*(sa.drops for sa in receiver.sas if sa.direction == "in"), receiver.drops)
        for reason in _AFTER_OPENING
    )
    if written + refused == books.opened:
        return []
    return [f"{books.direction}: opened {books.opened} packets, but {written} written to the TUN and {refused} refused"]


def _interface(books: Account, sender: NodeCounters, offload: str, outer_bytes: int, wan: str) -> list[str]:
    counters = sender.interfaces.get(wan)
    packets = sender.loop.get("udp_send_packets")
    if counters is None or packets is None:
        return []
    payload = sum(sa.wire_bytes for sa in sender.sas if sa.direction == "out")
    # Packets that the socket refused were sealed, but never reached the interface.
    lost = books.send_errors * 1500
    seen_packets = counters.get("tx_packets", 0) + counters.get("tx_dropped", 0)
    seen_bytes = counters.get("tx_bytes", 0)
    if offload == "off" and not -_NEIGHBOUR_PACKETS <= packets - seen_packets <= 0:
        return [f"{books.direction}: sent {packets} packets, but {wan} saw {seen_packets}"]
    sends = packets if offload == "off" else min(packets, sender.loop.get("udp_sends", packets))
    low = payload - lost + sends * (outer_bytes - _ETHERNET_BYTES) - books.veth_drops * 65536
    high = payload + packets * outer_bytes + _NEIGHBOUR_BYTES
    # A TUN's ICMP answers are not ESP; they are few and within the allowance.
    if low <= seen_bytes <= high:
        return []
    return [f"{books.direction}: {wan} sent {seen_bytes} bytes, not the {low} to {high} of {packets} ESP packets"]


def _load(
    books: Account, sender: NodeCounters, receiver: NodeCounters, received_bytes: int, sent_bytes: int
) -> list[str]:
    inner_out = sum(sa.bytes for sa in sender.sas if sa.direction == "out")
    inner_in = sum(sa.bytes for sa in receiver.sas if sa.direction == "in")
    # Every packet has 28 (UDP) or 40 (TCP) bytes of headers at the least.
    if inner_in - 28 * books.opened < received_bytes:
        return [
            f"{books.direction}: iperf3 received {received_bytes} bytes, but the SA opened only {inner_in} with headers"
        ]
    # Retransmissions, what was under way at the end, and headers of up to 40 + 60 bytes, IPv6 and options.
    # A tenth covers what iperf3 does not know of its omitted seconds, too.
    allowance = 100 * books.sealed + sent_bytes // 10 + (64 << 20)
    if inner_out > sent_bytes + allowance:
        return [f"{books.direction}: the SA sealed {inner_out} bytes, far more than the {sent_bytes} that iperf3 sent"]
    return []
