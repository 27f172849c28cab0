"""SAs in memory: packets in, packets out, no I/O. Mirrors RFC 4303 sections 3.3 (seal) and 3.4 (open)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from dataplane._native import Buffer, DataplaneError, buffer, check, fail, ffi, init, lib, new_err, set_addr, text
from dataplane.suites import MODES, find_suite

DIRECTIONS = {"out": int(lib.GW_DIR_OUT), "in": int(lib.GW_DIR_IN)}
DIRECTION_NAMES = {value: name for name, value in DIRECTIONS.items()}
STATES = {
    int(lib.GW_SA_STATE_VALID): "valid",
    int(lib.GW_SA_STATE_DYING): "dying",
    int(lib.GW_SA_STATE_EXPIRED): "expired",
}
DROP_REASONS: tuple[str, ...] = tuple(text(lib.gw_drop_name(i)) for i in range(int(lib.GW_DROP_REASONS)))
"""By GW_* status; index 0 is success."""

OUT_CANARY = b"\x5a" * 64
NEXT_HEADER_BY_VERSION = {4: 4, 6: 41}
"""RFC 4303 2.6: IPv4 in IP is protocol 4, IPv6 in IP is 41."""


@dataclass(frozen=True, slots=True)
class Selector:
    """RFC 4301 4.4.1.1. Empty address, protocol 0 and the full port range mean any."""

    src: str = ""
    dst: str = ""
    """Address or prefix."""
    proto: int = 0
    src_ports: tuple[int, int] = (0, 65535)
    dst_ports: tuple[int, int] = (0, 65535)


@dataclass(frozen=True, slots=True)
class SaParams:
    """Everything an SA is made of. The caller owns the key buffers and wipes them; they are copied."""

    spi: int
    suite: str
    direction: str
    """``out`` or ``in``."""
    enc_key: Buffer = field(repr=False)
    auth_key: Buffer = field(default=b"", repr=False)
    salt: Buffer = field(default=b"", repr=False)
    implementation: str = "auto"
    mode: str = "tunnel"
    esn: bool = True
    lab: bool = False
    """Permits bench-only suites."""
    encap_udp: bool = True
    copy_df: bool = False
    set_df: bool = False
    copy_dscp: bool = False
    ecn: bool = True
    replay: bool = True
    roam: bool = False
    """in, UDP: the peer is followed to where its newest authentic packet came from (NAT rebinding)."""
    icv_bytes: int = 0
    replay_window: int = 0
    tfc_pad_to: int = 0
    seq: int = 0
    """out: last number used; in: top of the window."""
    soft_packets: int = 0
    hard_packets: int = 0
    soft_bytes: int = 0
    hard_bytes: int = 0
    soft_ns: int = 0
    hard_ns: int = 0
    selector: Selector = Selector()
    loop: int = 0
    """Which loop of a running dataplane owns it (RFC 9611: an SA for each CPU)."""
    local: str = ""
    local_port: int = 0
    peer: str = ""
    peer_port: int = 0


@dataclass(frozen=True, slots=True)
class SaCounters:
    """One SA's counters at one moment."""

    spi: int
    direction: str
    packets: int
    bytes: int
    """Inner bytes."""
    wire_bytes: int
    """ESP bytes, SPI to ICV."""
    drops: dict[str, int]
    """By reason; zero ones left out."""
    seq: int
    state: str
    created_ns: int
    last_ns: int


@dataclass(frozen=True, slots=True)
class Sealed:
    """``status`` is ``ok`` or a drop reason; ``esp`` is SPI to ICV, ``tos`` the outer TOS to send with."""

    status: str
    esp: bytes
    tos: int


@dataclass(frozen=True, slots=True)
class Opened:
    """``status`` is ``ok`` or a drop reason; ``inner`` is the packet inside."""

    status: str
    inner: bytes
    next_header: int


def status_name(status: int) -> str:
    """``ok`` or the drop reason."""
    return "ok" if status == 0 else DROP_REASONS[status]


def drops_by_name(values: Any) -> dict[str, int]:
    """A C drops[] array as a dict without zeros."""
    return {DROP_REASONS[i]: int(n) for i, n in enumerate(values) if n and i}


def fill_selector(target: Any, selector: Selector) -> None:
    """Writes a gw_selector."""
    set_addr(target.src, selector.src)
    set_addr(target.dst, selector.dst)
    target.proto = selector.proto
    target.sport_lo, target.sport_hi = selector.src_ports
    target.dport_lo, target.dport_hi = selector.dst_ports


def c_params(params: SaParams) -> tuple[Any, list[Any]]:
    """A gw_sa_params and the objects that must live as long as it. DataplaneError for keys of a wrong length."""
    suite = find_suite(params.suite).index
    err = new_err()
    lengths = (len(params.enc_key), len(params.auth_key), len(params.salt))
    check(int(lib.gw_suite_check_keys(suite, *lengths, err)), err, "keys")
    p = ffi.new("gw_sa_params *")
    keep = [buffer(params.enc_key), buffer(params.auth_key), buffer(params.salt)]
    implementation = ffi.new("char[]", params.implementation.encode())
    flags = (
        (params.esn, lib.GW_SA_ESN),
        (params.lab, lib.GW_SA_LAB),
        (params.encap_udp, lib.GW_SA_ENCAP_UDP),
        (params.copy_df, lib.GW_SA_COPY_DF),
        (params.set_df, lib.GW_SA_SET_DF),
        (params.copy_dscp, lib.GW_SA_COPY_DSCP),
        (not params.ecn, lib.GW_SA_NO_ECN),
        (not params.replay, lib.GW_SA_NO_REPLAY),
        (params.roam, lib.GW_SA_ROAM),
    )
    p.spi = params.spi
    p.suite = suite
    p.direction = DIRECTIONS[params.direction]
    p.mode = MODES[params.mode]
    p.flags = sum(int(bit) for on, bit in flags if on)
    for name in ("icv_bytes", "replay_window", "tfc_pad_to", "seq", "loop"):
        setattr(p, name, getattr(params, name))
    for level in ("soft", "hard"):
        for unit in ("packets", "bytes", "ns"):
            setattr(p, f"{level}_{unit}", getattr(params, f"{level}_{unit}"))
    fill_selector(p.selector, params.selector)
    set_addr(p.local, params.local, params.local_port)
    set_addr(p.peer, params.peer, params.peer_port)
    p.enc_key, p.auth_key, p.salt = keep
    p.impl = implementation
    return p, [*keep, implementation]


def sa_counters(c: Any) -> SaCounters:
    """A gw_sa_counters as a dataclass."""
    return SaCounters(
        spi=int(c.spi),
        direction=DIRECTION_NAMES[int(c.direction)],
        packets=int(c.packets),
        bytes=int(c.bytes),
        wire_bytes=int(c.wire_bytes),
        drops=drops_by_name(c.drops),
        seq=int(c.seq),
        state=STATES[int(c.state)],
        created_ns=int(c.created_ns),
        last_ns=int(c.last_ns),
    )


class Sa:
    """One SA in memory. ``close`` (or the end of a ``with``) wipes it."""

    def __init__(self, params: SaParams, now_ns: int = 0) -> None:
        init()
        err = new_err()
        p, keep = c_params(params)
        self.params = params
        self._sa = lib.gw_sa_new(p, now_ns, err)
        del keep
        if self._sa == ffi.NULL:
            raise fail(err, 0, f"cannot make an SA for {params.suite}")

    @property
    def pointer(self) -> Any:
        """The gw_sa; DataplaneError after ``close``."""
        if self._sa == ffi.NULL:
            raise DataplaneError("the SA was closed")
        return self._sa

    @property
    def implementation(self) -> str:
        """``driver + driver`` that runs."""
        return text(lib.gw_sa_implementation(self.pointer))

    def seal_len(self, inner_len: int) -> int:
        """Bytes of output that an inner packet of this length needs at most."""
        return int(lib.gw_seal_len(self.pointer, inner_len))

    def seal(
        self,
        packets: Sequence[bytes],
        now_ns: int = 0,
        *,
        next_header: int | None = None,
        first_span: int = 0,
        room: int | None = None,
    ) -> list[Sealed]:
        """Seals a batch under this SA; see :func:`seal_batch`."""
        return seal_batch(
            [(self, packet) for packet in packets], now_ns, next_header=next_header, first_span=first_span, room=room
        )

    def open(self, packets: Sequence[bytes], now_ns: int = 0, *, outer_tos: int = 0) -> list[Opened]:
        """Opens a batch under this SA; see :func:`open_batch`."""
        return open_batch([(self, packet) for packet in packets], now_ns, outer_tos=outer_tos)

    def counters(self) -> SaCounters:
        """Counters now."""
        out = ffi.new("gw_sa_counters *")
        lib.gw_sa_read(self.pointer, out)
        return sa_counters(out)

    def close(self) -> None:
        """Wipes and frees; safe twice."""
        if self._sa != ffi.NULL:
            lib.gw_sa_free(self._sa)
            self._sa = ffi.NULL

    def __enter__(self) -> Sa:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_sa", ffi.NULL) != ffi.NULL:
            self.close()


def _guarded(size: int) -> tuple[Any, Any]:
    """Memory of ``size`` bytes followed by a canary: (object, pointer)."""
    memory = ffi.new("uint8_t[]", size + len(OUT_CANARY))
    ffi.memmove(memory + size, OUT_CANARY, len(OUT_CANARY))
    return memory, memory + 0


def _intact(memory: Any, size: int) -> bool:
    return bytes(ffi.buffer(memory + size, len(OUT_CANARY))) == OUT_CANARY


def seal_batch(
    items: Sequence[tuple[Sa, bytes]],
    now_ns: int = 0,
    *,
    next_header: int | None = None,
    first_span: int = 0,
    room: int | None = None,
) -> list[Sealed]:
    """Seals packets, each under its SA, as one batch in this order.

    ``next_header``: default by the packet's IP version; ``first_span``: bytes (a multiple of 64) handed over as a
    span of their own; ``room``: bytes of output offered (default :meth:`Sa.seal_len`).
    AssertionError when something was written past the room.
    """
    pkts = ffi.new("gw_pkt[]", max(len(items), 1))
    keep: list[tuple[Any, Any, int]] = []
    for pkt, (sa, packet) in zip(_each(pkts, len(items)), items, strict=True):
        size = sa.seal_len(len(packet)) if room is None else room
        memory, out = _guarded(size)
        source = ffi.from_buffer("uint8_t[]", packet)
        spans = getattr(pkt, "in")  # a keyword in Python
        if 0 < first_span < len(packet):
            spans[0].data, spans[0].len = source, first_span
            spans[1].data, spans[1].len = source + first_span, len(packet) - first_span
            pkt.n_in = 2
        else:
            spans[0].data, spans[0].len = source, len(packet)
            pkt.n_in = 1
        pkt.sa, pkt.out, pkt.out_cap = sa.pointer, out, size
        version = packet[0] >> 4 if packet else 0
        pkt.next_header = NEXT_HEADER_BY_VERSION.get(version, 59) if next_header is None else next_header
        keep.append((memory, source, size))
    lib.gw_seal_batch(pkts, len(items), now_ns)
    sealed = []
    for pkt, (memory, _, size) in zip(_each(pkts, len(items)), keep, strict=True):
        if not _intact(memory, size):
            raise AssertionError("seal wrote past its output")
        ok = int(pkt.status) == 0
        esp = bytes(ffi.buffer(pkt.out, pkt.out_len)) if ok else b""
        sealed.append(Sealed(status_name(int(pkt.status)), esp, int(pkt.outer_tos)))
    return sealed


def open_batch(items: Sequence[tuple[Sa, bytes]], now_ns: int = 0, *, outer_tos: int = 0) -> list[Opened]:
    """Opens ESP packets (SPI to ICV), each under its SA, as one batch in arrival order."""
    pkts = ffi.new("gw_pkt[]", max(len(items), 1))
    keep: list[tuple[Any, int]] = []
    for pkt, (sa, packet) in zip(_each(pkts, len(items)), items, strict=True):
        memory, out = _guarded(len(packet))
        ffi.memmove(out, packet, len(packet))
        pkt.sa, pkt.out, pkt.out_len, pkt.out_cap = sa.pointer, out, len(packet), len(packet)
        pkt.outer_tos = outer_tos
        keep.append((memory, len(packet)))
    lib.gw_open_batch(pkts, len(items), now_ns)
    opened = []
    for pkt, (memory, size) in zip(_each(pkts, len(items)), keep, strict=True):
        if not _intact(memory, size):
            raise AssertionError("open wrote past its packet")
        ok = int(pkt.status) == 0
        inner = bytes(ffi.buffer(pkt.inner, pkt.inner_len)) if ok else b""
        opened.append(Opened(status_name(int(pkt.status)), inner, int(pkt.next_header)))
    return opened


def _each(array: Any, n: int) -> Iterator[Any]:
    return (array[i] for i in range(n))
