"""The tunnel between the laboratory's two gateways: a node process at each end, fresh keys each time it is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from dataplane import DataplaneError, find_suite, inner_mtu
from gateway.errors import UnusableError
from gateway.keys import FreshKeys, random_spi
from gateway.lab.topology import OUTER_MTU, Laboratory, Site
from gateway.node.base import OFFLOADS, Hello, Node, NodeCounters, PathConfig, PathInfo, SaConfig
from gateway.node.local import start_node

TUN = "esp0"
PORT = 4500
"""UDP encapsulation, RFC 3948. In a namespace of its own nobody else has it."""

NodeMaker = Callable[[Site], Node]


def worker(site: Site) -> Node:
    """Our own dataplane in the site's namespace."""
    return start_node(site.name, netns_fd=site.namespace.fd)


@dataclass(frozen=True, slots=True)
class TunnelConfig:
    """What is agreed on by both ends."""

    suite: str
    implementation: str
    """A wish: ``generic``, ``accelerated``, ``auto``, a tag or driver names."""
    offload: tuple[str, ...] = OFFLOADS
    """Of the data path, not of the veths."""
    esn: bool = True
    replay_window: int = 4096
    txqueuelen: int = 10000
    encap: str = "udp"
    """``udp``, or ``none`` for bare ESP."""
    outer: str = "ipv4"
    """``ipv4`` or ``ipv6``."""
    udp_checksum: bool = True
    queues: int = 1
    """Loops a gateway, each with a pair of SAs (RFC 9611)."""

    @property
    def outer_bytes(self) -> int:
        """Ethernet, IP and UDP headers before an ESP packet, as interfaces count."""
        return 14 + (40 if self.outer == "ipv6" else 20) + (8 if self.encap == "udp" else 0)

    def address(self, site: Site) -> str:
        """The site's outer address."""
        return site.outer_v6 if self.outer == "ipv6" else site.outer


@dataclass(slots=True)
class Tunnel:
    """Both nodes, up and with SAs installed. Close it: a tunnel is good for one round."""

    config: TunnelConfig
    left: Node
    right: Node
    inner_mtu: int
    """Bytes."""
    implementation: str = ""
    """What runs, by driver names; at the right end, which is the one that is measured."""
    paths: dict[str, PathInfo] = field(default_factory=dict)
    hellos: dict[str, Hello] = field(default_factory=dict)
    spis: dict[str, int] = field(default_factory=dict)
    """``forward`` (left seals) and ``reverse``; those of further loops with their numbers, ``forward.1``."""

    def counters(self, sas: bool = True) -> tuple[NodeCounters, NodeCounters]:
        """Both ends' counters now: left, right."""
        return self.left.counters(sas), self.right.counters(sas)

    def health(self) -> None:
        """MeasurementError when an end has ended by itself."""
        self.left.health()
        self.right.health()

    def close(self) -> None:
        """Ends both nodes. Safe twice, never raises."""
        self.left.close()
        self.right.close()


def inner_mtu_of(suite: str, encap: str = "udp", outer: str = "ipv4", outer_mtu: int = OUTER_MTU) -> int:
    """Largest inner packet whose outer packet fits the line between the gateways, bytes."""
    try:
        mtu = inner_mtu(suite, outer_mtu, encap=encap, outer_af=6 if outer == "ipv6" else 4)
    except DataplaneError as error:
        raise UnusableError(error.message, code="unknown-suite") from error
    if mtu == 0:
        raise UnusableError(f"{suite} leaves no room for a packet on a line of {outer_mtu} bytes")
    return mtu


@dataclass(frozen=True, slots=True)
class End:
    """One end of a tunnel that is to be opened."""

    name: str
    outer: str
    """Its own outer address."""
    path: PathConfig
    implementation: str
    """A wish."""
    start: Callable[[], Node]
    """Started, or what runs already: :func:`connect` closes it when it fails."""
    seen_as: str = ""
    """Its outer address as the other end must write it, where a NAT stands between; empty = ``outer``."""


def open_tunnel(lab: Laboratory, config: TunnelConfig, make: NodeMaker = worker) -> Tunnel:
    """Starts both nodes, opens their paths, installs two SAs with keys that were never used before."""
    mtu = inner_mtu_of(config.suite, config.encap, config.outer)
    left, right = (
        End(
            site.name,
            config.address(site),
            PathConfig(
                local=config.address(site),
                port=PORT if config.encap == "udp" else 0,
                encap=config.encap,
                udp_checksum=config.udp_checksum,
                tun=TUN,
                mtu=mtu,
                routes=other.prefixes,
                offload=config.offload,
                txqueuelen=config.txqueuelen,
                queues=config.queues,
                max_sas=max(64, 4 * config.queues),
            ),
            config.implementation,
            partial(make, site),
        )
        for site, other in zip(lab.sites, reversed(lab.sites), strict=True)
    )
    return connect(left, right, config, mtu, lab=True)


def connect(left: End, right: End, config: TunnelConfig, mtu: int, *, lab: bool = False) -> Tunnel:
    """Both ends up, and two SAs with keys that were never used before. lab: permits suites that do not encrypt."""
    started: list[Node] = []
    try:
        for end in (left, right):
            started.append(end.start())
        tunnel = Tunnel(config, started[0], started[1], mtu)
        for node, end in zip(started, (left, right), strict=True):
            tunnel.hellos[end.name] = node.hello()
            tunnel.paths[end.name] = node.open_path(end.path)
        _install(tunnel, left, right, lab)
    except BaseException:
        for node in started:
            node.close()
        raise
    return tunnel


def _port(path: PathInfo, loop: int) -> int:
    return path.ports[loop] if path.ports else path.port


def _install(tunnel: Tunnel, left: End, right: End, lab: bool) -> None:
    """An SA each way and loop: first where it is received, then where it is sent, so that nothing arrives too early."""
    ends = ((tunnel.left, left), (tunnel.right, right))
    for loop, direction, (sender, receiver) in [
        (loop, direction, pair)
        for loop in range(tunnel.config.queues)
        for direction, pair in (("forward", ends), ("reverse", ends[::-1]))
    ]:
        spi = random_spi(tunnel.spis.values())
        tunnel.spis[f"{direction}.{loop}" if loop else direction] = spi
        with FreshKeys(find_suite(tunnel.config.suite)) as keys:
            for (node, end), other, way in ((receiver, sender[1], "in"), (sender, receiver[1], "out")):
                runs = node.add_sa(
                    SaConfig(
                        spi=spi,
                        direction=way,
                        suite=tunnel.config.suite,
                        local=end.outer,
                        peer=other.seen_as or other.outer,
                        peer_port=_port(tunnel.paths[other.name], loop),
                        local_port=_port(tunnel.paths[end.name], loop),
                        loop=loop,
                        # Mutable, so that they can be wiped; they are read before the block ends.
                        enc_key=keys.enc_key,
                        auth_key=keys.auth_key,
                        salt=keys.salt,
                        implementation=end.implementation,
                        esn=tunnel.config.esn,
                        replay_window=tunnel.config.replay_window,
                        lab=lab,
                    )
                )
                if end is right:
                    tunnel.implementation = runs
        sender[0].set_policy(spi)
