"""The one interface to a gateway's data path, whoever carries it.

Three makers implement it: a Python worker over cffi (``local.py`` starts ``worker.py``), gwnode (``csrc/node``,
over ssh) and the kernel's XFRM (``kernel.py``). Each runs as a process of its own inside its network namespace and
speaks the line-JSON protocol of ``protocol.py`` on stdin and stdout.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

OFFLOADS = ("tun-tso", "udp-gso", "udp-gro", "tun-coalesce")
"""Offloads of a data path when none are named."""


@dataclass(frozen=True, slots=True)
class ImplementationInfo:
    """One implementation of one algorithm, ours or the kernel's."""

    alg: str
    """Kernel name, ``cbc(aes)``."""
    driver: str
    tag: str
    """Family name that an SA's ``implementation`` accepts."""
    isa: str
    """For people."""
    kind: str
    """``cipher``, ``hash``, ``mac``, ``aead`` or ``authenc``; the kernel's own words for its drivers."""
    priority: int
    constant_time: bool | None
    """None: not known, as of the kernel's drivers."""
    runnable: bool
    checked: str
    """Known answers: ``passed``, ``not run`` or ``failed``."""
    key_ctx_bytes: int = 0
    batch_hint: int = 0
    """Packets abreast that it likes; 0: not known."""


@dataclass(frozen=True, slots=True)
class Hello:
    """What a node says of itself; nothing on the machine was changed to learn it."""

    kind: str
    """``worker``, ``gwnode`` or ``kernel``."""
    protocol: int
    """Version of the line-JSON protocol."""
    version: str
    machine: str
    """``uname -m``."""
    kernel: str
    cpu_features: tuple[str, ...]
    implementations: tuple[ImplementationInfo, ...]
    suites: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PathConfig:
    """A data path to open: one TUN and one outer socket."""

    local: str
    """Outer address of this gateway."""
    port: int = 4500
    """Outer UDP port; 0 = any free one (the one bound is in :class:`PathInfo`)."""
    tun: str = "esp0"
    mtu: int = 1400
    """Inner MTU, bytes."""
    addresses: tuple[str, ...] = ()
    """Inner addresses with prefix length, set on the TUN."""
    routes: tuple[str, ...] = ()
    """Inner prefixes routed into the TUN."""
    offload: tuple[str, ...] = OFFLOADS
    txqueuelen: int = 10000
    """Packets."""
    queues: int = 1
    """Loops, each with a thread, a TUN queue and an outer port of its own (``port`` and those that follow); a number
    that a node cannot run is refused."""
    rcvbuf_bytes: int = 8 << 20
    sndbuf_bytes: int = 8 << 20
    udp_checksum: bool = True
    encap: str = "udp"
    """``udp`` (RFC 3948), or ``none``: bare ESP, IP protocol 50; the port means nothing then."""
    max_sas: int = 64
    """Of all loops."""
    clamp_mss: bool = True
    """TCP's MSS is lowered to what the tunnel has room for, both directions."""
    fragment: str = "after"
    """Where an IPv4 packet without DF that does not fit is cut: ``after`` sealing, as the kernel does, which the far
    gateway joins; or ``before``, which the receiving host joins."""


@dataclass(frozen=True, slots=True)
class PathInfo:
    """What was granted."""

    tun: str
    ifindex: int
    port: int
    offload: tuple[str, ...]
    gso_max_segments: int
    rcvbuf_bytes: int
    sndbuf_bytes: int
    queues: int
    ports: tuple[int, ...] = ()
    """Of each loop; the first is ``port``."""


@dataclass(frozen=True, slots=True)
class SaConfig:
    """One SA. Keys never appear in ``repr``."""

    spi: int
    direction: str
    """``out`` or ``in``."""
    suite: str
    local: str
    peer: str
    """Outer addresses."""
    peer_port: int
    local_port: int
    enc_key: bytes | bytearray = field(repr=False)
    auth_key: bytes | bytearray = field(repr=False)
    salt: bytes | bytearray = field(repr=False)
    implementation: str = "auto"
    mode: str = "tunnel"
    esn: bool = True
    icv_bytes: int = 0
    """0 = the suite's default."""
    replay_window: int = 4096
    """Packets."""
    lab: bool = False
    """Permits bench-only suites such as ``null``."""
    selector_src: str = ""
    selector_dst: str = ""
    """Inner prefixes; empty = any."""
    loop: int = 0
    """Which of the path's loops owns it (RFC 9611: an SA for each CPU)."""
    df: str = "copy"
    """out: the outer IPv4 header's DF, ``copy`` (the inner one's), ``set`` or ``clear``."""
    copy_dscp: bool = True
    """out: the outer DSCP is the inner one."""
    ecn: bool = True
    """RFC 6040, both directions."""
    roam: bool = True
    """in, UDP: the peer is followed to where its newest authentic packet came from (NAT rebinding)."""


@dataclass(frozen=True, slots=True)
class SaCounters:
    """Counters of one SA, as the loop wrote them."""

    spi: int
    direction: str
    packets: int
    bytes: int
    """Inner bytes."""
    wire_bytes: int
    """ESP bytes, SPI to ICV."""
    drops: dict[str, int]
    """By reason, zero ones left out."""
    seq: int
    state: str
    implementation: str


@dataclass(frozen=True, slots=True)
class LoopCounters:
    """Counters of one loop, which is one thread."""

    cpu_ns: int
    stage_cycles: dict[str, int]
    drops: dict[str, int]
    counters: dict[str, int]
    """gw_loop_counters by name."""


@dataclass(frozen=True, slots=True)
class NodeCounters:
    """All counters of a node at one moment."""

    sas: tuple[SaCounters, ...]
    loop: dict[str, int]
    """gw_loop_counters by name, sums over the loops; started_ns is the earliest, now_ns the latest."""
    drops: dict[str, int]
    """Drops without an SA, by reason."""
    stage_cycles: dict[str, int]
    cpu_ns: int
    """CPU time of the data-path threads (schedstat of the loop threads)."""
    interfaces: dict[str, dict[str, int]]
    """Per interface of the node's namespace: rx_packets, rx_bytes, rx_dropped, tx_packets, tx_bytes, tx_dropped."""
    loops: tuple[LoopCounters, ...] = ()
    """One by one: which thread is busy cannot be told from sums."""
    sas_there: int = 0
    """SAs that the path has; one answer carries a part of them."""


class Node(Protocol):
    """A gateway's data path. Errors are :class:`gateway.errors.GwbenchError` with one clear line."""

    name: str

    def hello(self) -> Hello: ...

    def open_path(self, config: PathConfig) -> PathInfo: ...

    def add_sa(self, config: SaConfig) -> str:
        """Installs an SA; returns the implementation that will run (``driver + driver``)."""
        ...

    def delete_sa(self, spi: int, direction: str) -> SaCounters:
        """Removes and wipes an SA; returns what it had counted, for the books: no later reading has it."""
        ...

    def set_policy(self, spi: int, src: str = "", dst: str = "") -> None:
        """Inner packets src -> dst (prefixes, empty = any) leave under the outbound SA ``spi``."""
        ...

    def counters(self, sas: bool = True) -> NodeCounters:
        """All counters now; without those of the SAs when ``sas`` is false: ten thousand of them are megabytes."""
        ...

    def health(self) -> None:
        """Raises when the data path has ended by itself."""
        ...

    def close(self) -> None:
        """Takes down the path, SAs wiped, process ended. Safe twice, never raises."""
        ...
