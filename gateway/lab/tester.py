r"""A gateway between two testers: what RFC 2544 calls a device under test. The other two boxes send and count::

    +--------------------+   outer 198.18.0.0/30   +---------------------+   10.77.2.0/24  +----------------+
    | client             |                         | gateway             |                 | server         |
    | ESP sink     <-----o--wan------veth------wan-o  <- seals <- TUN <- o-lan---veth------o <- UDP generator
    | ESP generator ---> | 198.18.0.1   198.18.0.2 |  -> opens -> TUN -> |                 | -> UDP sink    |
    +--------------------+                         +---------------------+                 +----------------+

The tester is threads of this process on sockets inside those namespaces. It has its own half of both SAs, so that what
it sends is authentic and what it receives can be opened. Where there are cores enough, the gateway's loops have theirs
and the tester the others.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

from dataplane import Sa, SaParams, Sink, find_suite
from gateway.errors import UnusableError
from gateway.keys import FreshKeys, random_spi
from gateway.lab import makers
from gateway.lab.namespaces import NetworkNamespace
from gateway.lab.topology import CLIENT_V4, OUTER_MTU, SERVER_V4, Laboratory
from gateway.lab.tunnel import PORT, TUN, inner_mtu_of
from gateway.node.base import Node, NodeCounters, PathConfig, PathInfo, SaConfig
from gateway.node.process import interface_counters

INNER_PORT = 9
"""UDP discard: nothing answers there."""
_RCVBUF_BYTES = 64 << 20
_SO_RCVBUFFORCE = 33


@dataclass(frozen=True, slots=True)
class TesterConfig:
    """The gateway under test, and how it is reached."""

    suite: str
    implementation: str = "auto"
    """Of the gateway; the tester takes the fastest."""
    offload: str = "default"
    """Of the veths."""
    txqueuelen: int = 10000
    replay_window: int = 4096
    gwnodes: makers.Commands | None = None
    more_sas: int = 0
    """Further SAs by which the gateway opens; :attr:`Tester.more` are the tester's ends of them."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Counters of everything between generator and sink."""

    node: NodeCounters
    interfaces: dict[str, dict[str, dict[str, int]]]
    """Of the testers' namespaces."""
    backlog_drops: int
    """Of the kernel's per-core queues of received packets (softnet_stat)."""


class Tester:
    """Two testers and the gateway between them, ready. Close it."""

    def __init__(self, lab: Laboratory, config: TesterConfig) -> None:
        self.config = config
        self.inner_mtu = inner_mtu_of(config.suite)
        self.implementation = ""
        self.path: PathInfo | None = None
        self.cores: dict[str, list[int]] = {}
        """Who runs where; empty: wherever the kernel likes."""
        self.more: list[Sa] = []
        self._lab = lab
        self._node: Node | None = None
        self._stack = contextlib.ExitStack()
        try:
            self._build()
        except BaseException:
            self.close()
            raise

    def _build(self) -> None:
        lab, config = self._lab, self.config
        self._former_cores = os.sched_getaffinity(0)
        gateway_cores, tester_cores = split_cores(sorted(self._former_cores))
        if gateway_cores:
            # Before the node starts: its threads inherit.
            self.cores = {"gateway": gateway_cores, "tester": tester_cores}
            os.sched_setaffinity(0, gateway_cores)
            self._stack.callback(os.sched_setaffinity, 0, self._former_cores)
        if os.path.exists("/proc/sys/net/ipv6"):
            # The kernel would send reports of its own (MLD) into the TUN, and no book would close.
            lab.right.namespace.write_sysctl("net/ipv6/conf/default/disable_ipv6", "1")
        make = makers.maker(config.gwnodes or {})
        self._node = make(lab.right)
        self._stack.callback(self._node.close)
        if gateway_cores:
            os.sched_setaffinity(0, tester_cores)
        self._node.hello()
        self.path = self._node.open_path(
            PathConfig(
                local=lab.right.outer,
                port=PORT,
                tun=TUN,
                mtu=self.inner_mtu,
                routes=tuple(prefix for prefix in lab.left.prefixes if ":" not in prefix),
                txqueuelen=config.txqueuelen,
                max_sas=64 + config.more_sas,
            )
        )
        lab.route_tunnel(self.inner_mtu)
        self.outer = _socket(lab.client, (lab.left.outer, PORT), (lab.right.outer, PORT))
        self._stack.callback(self.outer.close)
        self.plain = _socket(lab.server, (SERVER_V4, INNER_PORT), (CLIENT_V4, INNER_PORT))
        self._stack.callback(self.plain.close)
        self.plain.setsockopt(socket.IPPROTO_IP, 10, 2)  # IP_MTU_DISCOVER: DF
        self.out_sa = self._add_sa("in")
        self.in_sa = self._add_sa("out")
        taken = {self.out_sa.params.spi, self.in_sa.params.spi}
        for _ in range(config.more_sas):
            self.more.append(self._add_sa("in", taken))
            taken.add(self.more[-1].params.spi)
        self.esp_sink = Sink(self.outer.fileno(), spi=self.in_sa.params.spi, sa=self.in_sa)
        self._stack.callback(self.esp_sink.close)
        self.plain_sink = Sink(self.plain.fileno())
        self._stack.callback(self.plain_sink.close)

    def _add_sa(self, direction: str, taken: Container[int] = ()) -> Sa:
        """An SA of the gateway in this direction, of an SPI that is not in ``taken``; returns the tester's end."""
        assert self._node is not None
        lab, config = self._lab, self.config
        if direction == "out":
            taken = (self.out_sa.params.spi,)
        with FreshKeys(find_suite(config.suite)) as keys:
            sa = SaConfig(
                spi=random_spi(taken),
                direction=direction,
                suite=config.suite,
                local=lab.right.outer,
                peer=lab.left.outer,
                peer_port=PORT,
                local_port=PORT,
                enc_key=keys.enc_key,
                auth_key=keys.auth_key,
                salt=keys.salt,
                implementation=config.implementation,
                replay_window=config.replay_window,
                roam=False,
                lab=True,
            )
            self.implementation = self._node.add_sa(sa)
            ours = Sa(
                SaParams(
                    spi=sa.spi,
                    suite=sa.suite,
                    direction="out" if direction == "in" else "in",
                    enc_key=keys.enc_key,
                    auth_key=keys.auth_key,
                    salt=keys.salt,
                    lab=True,
                    replay_window=65536,
                )
            )
        self._stack.callback(ours.close)
        if direction == "out":
            self._node.set_policy(sa.spi)
        return ours

    def read(self) -> Reading:
        """Counters now."""
        assert self._node is not None
        interfaces = {}
        for namespace in (self._lab.client, self._lab.server):
            with namespace.entered():
                interfaces[namespace.name] = interface_counters("thread-self")
        return Reading(self._node.counters(), interfaces, backlog_drops())

    def loop_cpu_ns(self) -> int:
        """CPU time of the gateway's loops so far; without what thousands of SAs counted."""
        assert self._node is not None
        return self._node.counters(sas=False).loop["cpu_ns"]

    def line(self, which: str) -> tuple[socket.socket, Sink]:
        """What sees how much a generator makes when nothing is measured: a socket for it and a sink in the gateway's
        namespace, at the end of its cable. which: ``seal`` or ``open``. Close both."""
        lab = self._lab
        near, far = (lab.server, SERVER_V4) if which == "seal" else (lab.client, lab.left.outer)
        address = "10.77.2.1" if which == "seal" else lab.right.outer
        end = _socket(lab.right.namespace, (address, INNER_PORT), (far, INNER_PORT + 1))
        sender = _socket(near, (far, INNER_PORT + 1), (address, INNER_PORT))
        spi = 0 if which == "seal" else self.out_sa.params.spi
        return sender, _OwningSink(end, spi)

    def health(self) -> None:
        """MeasurementError when the gateway ended by itself."""
        if self._node is not None:
            self._node.health()

    def close(self) -> None:
        """Safe twice."""
        self._stack.close()


class _OwningSink(Sink):
    """A sink with a socket of its own."""

    def __init__(self, sock: socket.socket, spi: int) -> None:
        super().__init__(sock.fileno(), spi=spi)
        self._socket = sock

    def close(self) -> None:
        super().close()
        self._socket.close()


def split_cores(cores: list[int]) -> tuple[list[int], list[int]]:
    """(the gateway's, the tester's): one core for the gateway's one loop, the others for the tester; none of either
    where there is only one."""
    return ([], []) if len(cores) < 2 else (cores[:1], cores[1:])


def backlog_drops(proc: Path = Path("/proc")) -> int:
    """Packets that a core's queue of received packets had no room for, so far, all cores."""
    try:
        lines = (proc / "net" / "softnet_stat").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1], 16) for line in lines)


def _socket(namespace: NetworkNamespace, local: tuple[str, int], peer: tuple[str, int]) -> socket.socket:
    with namespace.entered():
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
    try:
        try:
            sock.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _RCVBUF_BYTES)
        except OSError:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RCVBUF_BYTES)
        sock.bind(local)
        sock.connect(peer)
    except OSError as error:
        sock.close()
        raise UnusableError(f"no socket at {local[0]} port {local[1]}: {error.strerror}") from None
    return sock


__all__ = ["INNER_PORT", "OUTER_MTU", "Reading", "Tester", "TesterConfig", "backlog_drops", "split_cores"]
