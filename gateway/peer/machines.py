"""The machines of a test with a router, as the measurement sees them (:class:`gateway.measure.machines.Machines`)."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from gateway.errors import GwbenchError, UnusableError
from gateway.lab import gate
from gateway.lab.namespaces import NetworkNamespace
from gateway.lab.tunnel import End, Tunnel, TunnelConfig, connect, inner_mtu_of
from gateway.load import iperf3
from gateway.load.iperf3_parse import FORWARD, Interval
from gateway.measure import machine
from gateway.node.base import OFFLOADS, PathConfig
from gateway.node.far import FarNode
from gateway.node.local import start_node
from gateway.peer.far import KERNEL, USER, Far
from gateway.peer.inner import Inner
from gateway.peer.near import Line, Place
from gateway.rounds import Case

HERE = "this PC"
TUN = "gwb0"
CLIENT, FAR, SERVER, PLAIN_CLIENT = 1, 2, 3, 4
"""Last octets of the inner addresses."""
_START_S = 8.0


@dataclass(frozen=True, slots=True)
class Setting:
    """What all topologies have in common."""

    line: Line
    inner: Inner
    port: int
    """The router's UDP port."""
    outer_mtu: int
    families: tuple[socket.AddressFamily, ...]
    """Inner ones that the router carries."""
    encap: str = "udp"
    offload: tuple[str, ...] = OFFLOADS
    udp_checksum: bool = True

    def addresses(self, number: int) -> tuple[str, ...]:
        """Inner ones, of the families that are carried."""
        v4, v6 = self.inner.address(number)
        return (v4, v6) if socket.AF_INET6 in self.families else (v4,)

    @property
    def outer(self) -> str:
        return "ipv6" if ":" in self.line.remote else "ipv4"

    def mtu(self, suite: str) -> int:
        """Inner, bytes."""
        return inner_mtu_of(suite, self.encap, self.outer, self.outer_mtu)


class _Lasting:
    """The router's gwnode in a tunnel: closing the tunnel closes its path, and the node stays for the next round."""

    def __init__(self, node: FarNode) -> None:
        self._node = node
        self.name = node.name
        self.hello = node.hello
        self.open_path = node.open_path
        self.add_sa = node.add_sa
        self.delete_sa = node.delete_sa
        self.set_policy = node.set_policy
        self.counters = node.counters
        self.health = node.health

    def close(self) -> None:
        with contextlib.suppress(GwbenchError):  # a lost node undoes everything by itself
            self._node.close_path()


class PeerMachines:
    """Client here, gateway there. What differs is where the server is."""

    wan = ""  # it carries other people's packets, too
    line_loses = True
    server_number = SERVER

    def __init__(self, setting: Setting, client: Place, far: Far) -> None:
        self._setting = setting
        self._client = client
        self._far = far
        self.names = (HERE, far.facts.name)
        self._near_tun = ""

    @property
    def _node(self) -> FarNode:
        return self._far.use(self._far.kind or USER)

    # ---- what the topologies differ in ----

    def route_plain(self) -> None:
        raise NotImplementedError

    def route_tunnel(self, inner_mtu: int = 0) -> None:
        raise NotImplementedError

    def gate(self, inner_mtu: int) -> gate.GateReport:
        raise NotImplementedError

    def _plain_load(self, load: iperf3.Load) -> iperf3.Load:
        raise NotImplementedError

    def _server(self, load: iperf3.Load, case: Case) -> iperf3.Server:
        raise NotImplementedError

    # ---- what they have in common ----

    def open(self, case: Case) -> Tunnel:
        s = self._setting
        config = TunnelConfig(
            case.suite,
            case.implementation,
            offload=s.offload,
            encap=s.encap,
            outer=s.outer,
            udp_checksum=s.udp_checksum,
        )
        mtu = s.mtu(case.suite)
        node = self._far.use(KERNEL if case.dataplane == "kernel" else USER)
        common = PathConfig(local="", encap=s.encap, udp_checksum=s.udp_checksum, mtu=mtu, offload=s.offload)
        near = replace(
            common,
            local=s.line.local,
            port=0,
            tun="gwb%d",
            routes=tuple(_whole(a) for a in s.addresses(self.server_number)),
        )
        far = replace(
            common,
            local=s.line.remote,
            port=s.port,
            tun=TUN,
            addresses=tuple(_whole(a) for a in s.addresses(FAR)),
            routes=tuple(_whole(a) for a in s.addresses(CLIENT)),
        )
        start = partial(start_node, HERE, tun_netns_fd=self._client.namespace.fd)
        # The router's implementation is what is asked for; here the fastest may run.
        left = End(HERE, s.line.local, near, "auto", start)
        right = End(node.name, s.line.remote, far, case.implementation, partial(_Lasting, node))
        tunnel = connect(left, right, config, mtu)
        self._near_tun = tunnel.paths[HERE].tun
        return tunnel

    def load(
        self,
        load: iperf3.Load,
        case: Case,
        on_interval: Callable[[Interval], None],
        watch: Callable[[], None] | None,
    ) -> iperf3.LoadReport:
        if not case.suite:
            load = self._plain_load(load)
        return iperf3.run(load, self._client.namespace, self._server(load, case), on_interval=on_interval, watch=watch)

    def cpu(self) -> list[list[int]]:
        return machine.parse(self._far.ssh.run("cat /proc/stat").out.decode(errors="replace"))


class OneArm(PeerMachines):
    """The server is here, too, on the same cable; the router opens and forwards."""

    def __init__(self, setting: Setting, client: Place, server: Place, far: Far, gateways: tuple[str, ...]) -> None:
        """gateways: the router's addresses on the cable, IPv4 and, where it has one, IPv6."""
        super().__init__(setting, client, far)
        self._there = server
        self._gateways = gateways
        for place in (client, server):
            for gateway in gateways:
                place.neighbour(gateway)
        self._tell_server(0)

    def _tell_server(self, inner_mtu: int) -> None:
        for number, mtu in ((CLIENT, inner_mtu), (PLAIN_CLIENT, 0)):
            for destination, via, source in self._ways(number, SERVER):
                self._there.route(destination, via, source, mtu)

    def _ways(self, to: int, source: int) -> list[tuple[str, str, str]]:
        s = self._setting
        return list(zip(s.addresses(to), self._gateways, s.addresses(source), strict=False))

    def route_plain(self) -> None:
        for destination, via, source in self._ways(SERVER, PLAIN_CLIENT):
            self._client.route(destination, via, source)

    def route_tunnel(self, inner_mtu: int = 0) -> None:
        for address in self._setting.addresses(SERVER):
            self._client.unroute(address)
            if inner_mtu:
                self._client.set_mtu(address, self._near_tun, inner_mtu)
        self._tell_server(inner_mtu)

    def gate(self, inner_mtu: int) -> gate.GateReport:
        client, server = (self._setting.inner.address(n) for n in (CLIENT, SERVER))
        pair = gate.Pair(
            gate.Host(self._client.namespace, *client),
            gate.Host(self._there.namespace, *server),
            self._setting.families,
        )
        return gate.run(pair, inner_mtu)

    def _plain_load(self, load: iperf3.Load) -> iperf3.Load:
        return replace(load, client=self._setting.addresses(PLAIN_CLIENT)[0])

    def _server(self, load: iperf3.Load, case: Case) -> iperf3.Server:
        return iperf3.NamespaceServer(self._there.namespace, self._there.cable, bind=load.server)


class Endpoint(PeerMachines):
    """iperf3 runs on the router and competes with its ESP."""

    server_number = FAR

    def __init__(self, setting: Setting, client: Place, outside: NetworkNamespace, far: Far) -> None:
        """outside: this machine's own network, for what goes in clear."""
        super().__init__(setting, client, far)
        self._outside = outside

    def route_plain(self) -> None:
        """Nothing to do: it goes from this machine's own network to the router's own address."""

    def route_tunnel(self, inner_mtu: int = 0) -> None:
        if inner_mtu:
            for address in self._setting.addresses(FAR):
                self._client.set_mtu(address, self._near_tun, inner_mtu)

    def gate(self, inner_mtu: int) -> gate.GateReport:
        families = self._setting.families
        addresses = dict(zip(families, self._setting.addresses(FAR), strict=True))
        ports = {}
        for family, address in addresses.items():
            for df in (False, True):
                ports[family, df] = (address, int(self._node.ask("echo", local=address, df=df, tcp=True)["port"]))
        try:
            host = gate.Host(self._client.namespace, *self._setting.inner.address(CLIENT))
            return gate.run(gate.Pair(host, gate.Echo(ports), families), inner_mtu)
        finally:
            for _, port in ports.values():
                with contextlib.suppress(GwbenchError):
                    self._node.ask("echo_close", port=port)

    def load(
        self,
        load: iperf3.Load,
        case: Case,
        on_interval: Callable[[Interval], None],
        watch: Callable[[], None] | None,
    ) -> iperf3.LoadReport:
        if case.suite:
            return super().load(load, case, on_interval, watch)
        server = self._server(load, case)
        plain = self._plain_load(load)
        return iperf3.run(plain, self._outside, server, on_interval=on_interval, watch=watch)

    def _plain_load(self, load: iperf3.Load) -> iperf3.Load:
        return replace(load, client=self._setting.line.local, server=self._setting.line.remote)

    def _server(self, load: iperf3.Load, case: Case) -> iperf3.Server:
        here = (self._client.namespace, self._near_tun) if case.suite else (self._outside, self._setting.line.device)
        return FarServer(self._node, load.server if case.suite else self._setting.line.remote, *here)


class FarServer:
    """iperf3's server as a child of gwnode: it cannot outlive it."""

    def __init__(self, node: FarNode, bind: str, near: NetworkNamespace, device: str) -> None:
        """device: where its traffic passes in ``near``, for live lines: asking the router would cost it time."""
        self._node = node
        self._bind = bind
        self._near = near
        self._device = device

    def start(self, load: iperf3.Load, binary: iperf3.Iperf3Binary) -> None:
        self._node.ask("iperf3", arguments=["-s", "-1", "-B", self._bind, "-p", str(load.port)])
        deadline = time.monotonic() + _START_S
        while True:
            state = self._node.ask("iperf3_output")
            if state.get("listening"):
                return
            words = " ".join(str(state.get("output", "")).split())
            if not state.get("running"):
                if "in use" in words:
                    raise UnusableError(
                        f"{self._node.name}: port {load.port} is taken there", "choose another with -p", "port-taken"
                    )
                raise UnusableError(f"{self._node.name}: iperf3's server did not start: {words[:200]}", code="iperf3")
            if time.monotonic() > deadline:
                raise UnusableError(f"{self._node.name}: iperf3's server does not listen", code="iperf3")
            time.sleep(0.1)

    def moved_bytes(self, direction: str) -> int | None:
        with self._near.entered():
            return iperf3.device_bytes(Path("/proc/thread-self/net/dev"), self._device, sent=direction == FORWARD)

    def finish(self) -> int | None:
        deadline = time.monotonic() + 2.0
        while time.monotonic() < deadline:
            state = self._node.ask("iperf3_output")
            if not state.get("running"):
                status = int(state.get("status", 0))
                return 128 - status if status > 128 else status  # a signal, as a shell reports it
            time.sleep(0.1)
        return None

    def kill(self) -> None:
        with contextlib.suppress(GwbenchError):
            self._node.ask("iperf3_stop")


def _whole(address: str) -> str:
    return f"{address}/{128 if ':' in address else 32}"
