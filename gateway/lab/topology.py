r"""Who is connected to whom.

``client`` (the default): the client terminates ESP itself, as a laptop or a phone does::

    +--------------------+   outer 198.18.0.0/30   +---------------------+   10.77.2.0/24  +----------+
    | client             |   fd77:9::/64, MTU 1500 | gateway             |  fd77:2::/64    | server   |
    | 10.77.1.2 on lo    o--wan----- veth ------wan-o esp0 (ESP) 10.77.2.1 o-lan-- veth ----o 10.77.2.2|
    | esp0 (ESP)         | 198.18.0.1   198.18.0.2 |                     |                 |          |
    +--------------------+                         +---------------------+                 +----------+

``site-to-site``: both ends of ESP are routers, as between two offices::

    +-----------+ 10.77.1.0/24 +------------------+ outer 198.18.0.0/30 +------------------+ 10.77.2.0/24 +----------+
    | client    | fd77:1::/64  | gw1              |                     | gw2              | fd77:2::/64  | server   |
    | 10.77.1.2 o--lan--- lan--o 10.77.1.1   esp0 o--wan--- veth --wan--o esp0  10.77.2.1  o--lan--- lan--o 10.77.2.2|
    +-----------+              +------------------+                     +------------------+              +----------+

The inner networks are the same in both, so everything above (gate, iperf3, SAs) does not care which one it is. The
plain line is the same boxes and links with ordinary routes instead of the tunnel.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from gateway.errors import UnusableError
from gateway.lab import offload
from gateway.lab.namespaces import NetworkNamespace

KINDS = ("client", "site-to-site")

OUTER_MTU = 1500
"""Between the gateways, bytes."""
CLIENT_V4, SERVER_V4 = "10.77.1.2", "10.77.2.2"
CLIENT_V6, SERVER_V6 = "fd77:1::2", "fd77:2::2"
_LEFT_PREFIXES = ("10.77.1.0/24", "fd77:1::/64")
_RIGHT_PREFIXES = ("10.77.2.0/24", "fd77:2::/64")

_IFA_F_NODAD = 0x02
"""An address is usable at once: duplicate address detection would cost a second and prove nothing here."""


@dataclass(frozen=True, slots=True)
class Site:
    """One end of the tunnel."""

    name: str
    namespace: NetworkNamespace
    outer: str
    """Outer IPv4 address."""
    outer_v6: str
    prefixes: tuple[str, ...]
    """Inner networks behind this end."""


@dataclass(frozen=True, slots=True)
class Veth:
    """One cable: an interface in each of two namespaces."""

    left: NetworkNamespace
    right: NetworkNamespace
    name: str


class Laboratory:
    """Namespaces, cables, addresses and routes of one topology; everything goes with :meth:`close`."""

    def __init__(self, kind: str = "client", offload_mode: str = "default") -> None:
        if kind not in KINDS:
            raise UnusableError(f"unknown topology {kind!r}", f"one of {', '.join(KINDS)}")
        self.kind = kind
        self.offload_mode = offload_mode
        self.namespaces: dict[str, NetworkNamespace] = {}
        self.veths: list[Veth] = []
        try:
            names = ("client", "gw1", "gw2", "server") if kind == "site-to-site" else ("client", "gateway", "server")
            for name in names:
                self.namespaces[name] = NetworkNamespace(name)
            left, right = (self.namespaces[n] for n in (("gw1", "gw2") if "gw1" in names else ("client", "gateway")))
            self.client, self.server = self.namespaces["client"], self.namespaces["server"]
            self.left = Site(left.name, left, "198.18.0.1", "fd77:9::1", _LEFT_PREFIXES)
            self.right = Site(right.name, right, "198.18.0.2", "fd77:9::2", _RIGHT_PREFIXES)
            self._build()
        except BaseException:
            self.close()
            raise

    @property
    def sites(self) -> tuple[Site, Site]:
        return self.left, self.right

    def _build(self) -> None:
        for namespace in self.namespaces.values():
            # A gateway may inherit the host's rp_filter, which drops what comes out of the tunnel.
            for scope in ("all", "default"):
                namespace.write_sysctl(f"net/ipv4/conf/{scope}/rp_filter", "0")
            if os.path.exists("/proc/sys/net/ipv6"):
                namespace.write_sysctl("net/ipv6/conf/default/accept_dad", "0")
                namespace.write_sysctl("net/ipv6/conf/default/router_solicitations", "0")
                namespace.write_sysctl("net/ipv6/conf/all/disable_ipv6", "0")
            with _netlink(namespace) as ip:
                ip.link("set", index=_index(ip, "lo"), state="up")
        for namespace in (self.left.namespace, self.right.namespace):
            namespace.write_sysctl("net/ipv4/ip_forward", "1")
            namespace.write_sysctl("net/ipv6/conf/all/forwarding", "1")
        self._cable(
            self.left.namespace,
            self.right.namespace,
            "wan",
            (f"{self.left.outer}/30", f"{self.left.outer_v6}/64"),
            (f"{self.right.outer}/30", f"{self.right.outer_v6}/64"),
        )
        self._cable(
            self.right.namespace,
            self.server,
            "lan",
            ("10.77.2.1/24", "fd77:2::1/64"),
            (f"{SERVER_V4}/24", f"{SERVER_V6}/64"),
        )
        if self.kind == "site-to-site":
            self._cable(
                self.client,
                self.left.namespace,
                "lan",
                (f"{CLIENT_V4}/24", f"{CLIENT_V6}/64"),
                ("10.77.1.1/24", "fd77:1::1/64"),
            )
        else:
            _add_addresses(self.client, "lo", (f"{CLIENT_V4}/32", f"{CLIENT_V6}/128"))
        for veth in self.veths:
            for end in (veth.left, veth.right):
                offload.apply(end, veth.name, self.offload_mode)

    def _cable(
        self,
        left: NetworkNamespace,
        right: NetworkNamespace,
        name: str,
        left_addresses: tuple[str, ...],
        right_addresses: tuple[str, ...],
    ) -> None:
        with _netlink(left) as ip:
            try:
                peer = {"ifname": name, "net_ns_fd": right.fd, "mtu": OUTER_MTU}
                ip.link("add", ifname=name, kind="veth", mtu=OUTER_MTU, peer=peer)
            except Exception as error:
                raise UnusableError(f"cannot make a veth: {error}", "modprobe veth", "no-veth") from error
        self.veths.append(Veth(left, right, name))
        for namespace, addresses in ((left, left_addresses), (right, right_addresses)):
            _add_addresses(namespace, name, addresses)
            with _netlink(namespace) as ip:
                ip.link("set", index=_index(ip, name), state="up")

    # ---- routes: the plain line, or the tunnel ----

    def _inner_routes(self) -> list[tuple[NetworkNamespace, tuple[str, ...], str, tuple[str, ...], tuple[str, ...]]]:
        """(where, to which prefixes, by which interface, via, preferred source) of the plain line."""
        left, right = self.left, self.right
        source = (CLIENT_V4, CLIENT_V6) if self.kind == "client" else ()
        return [
            (left.namespace, right.prefixes, "wan", (right.outer, right.outer_v6), source),
            (right.namespace, left.prefixes, "wan", (left.outer, left.outer_v6), ()),
        ]

    def _edge_routes(self) -> list[tuple[NetworkNamespace, tuple[str, ...], str, tuple[str, ...], tuple[str, ...]]]:
        """Routes of the hosts behind the gateways: the same for plain and tunnel but for the MTU."""
        edges: list[tuple[NetworkNamespace, tuple[str, ...], str, tuple[str, ...], tuple[str, ...]]] = [
            (self.server, self.left.prefixes, "lan", ("10.77.2.1", "fd77:2::1"), ())
        ]
        if self.kind == "site-to-site":
            edges.append((self.client, self.right.prefixes, "lan", ("10.77.1.1", "fd77:1::1"), ()))
        return edges

    def route_plain(self) -> None:
        """Everything goes in clear between the gateways, by plain forwarding."""
        for namespace, prefixes, interface, via, source in [*self._inner_routes(), *self._edge_routes()]:
            _set_routes(namespace, prefixes, interface, via, source)

    def route_tunnel(self, inner_mtu: int = 0) -> None:
        """No plain route is left between the gateways: what does not enter the tunnel goes nowhere, so that nothing
        can pass in clear unnoticed. The routes into the TUNs are the nodes' own (PathConfig.routes).

        inner_mtu: path MTU told to the hosts at both ends, bytes, as an administrator or a DHCP option would; 0 =
        they find out by ICMP.
        """
        for namespace, prefixes, _, _, _ in self._inner_routes():
            with _netlink(namespace) as ip:
                for prefix in prefixes:
                    with contextlib.suppress(Exception):  # it may not be there
                        ip.route("del", dst=prefix, oif=_index(ip, "wan"), family=_family(prefix))
        for namespace, prefixes, interface, via, source in self._edge_routes():
            _set_routes(namespace, prefixes, interface, via, source, inner_mtu)

    def close(self) -> None:
        """Lets go of everything; processes inside must have been ended before."""
        for namespace in self.namespaces.values():
            namespace.close()

    def __enter__(self) -> Laboratory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _family(prefix: str) -> int:
    import socket

    return socket.AF_INET6 if ":" in prefix else socket.AF_INET


@contextlib.contextmanager
def _netlink(namespace: NetworkNamespace) -> Iterator[Any]:
    from pyroute2 import IPRoute

    with namespace.entered(), IPRoute() as ip:
        yield ip


def _index(ip: Any, interface: str) -> int:
    found = ip.link_lookup(ifname=interface)
    if not found:
        raise UnusableError(f"interface {interface} is gone", code="no-interface")
    return int(found[0])


def _add_addresses(namespace: NetworkNamespace, interface: str, addresses: tuple[str, ...]) -> None:
    with _netlink(namespace) as ip:
        index = _index(ip, interface)
        for address in addresses:
            host, prefix = address.split("/")
            more = {"flags": _IFA_F_NODAD} if ":" in host else {}
            ip.addr("add", index=index, address=host, prefixlen=int(prefix), family=_family(host), **more)


def _set_routes(
    namespace: NetworkNamespace,
    prefixes: tuple[str, ...],
    interface: str,
    via: tuple[str, ...],
    source: tuple[str, ...],
    mtu: int = 0,
) -> None:
    with _netlink(namespace) as ip:
        index = _index(ip, interface)
        for i, prefix in enumerate(prefixes):
            arguments: dict[str, Any] = {
                "dst": prefix,
                "gateway": via[i],
                "oif": index,
                "family": _family(prefix),
            }
            if source:
                arguments["prefsrc"] = source[i]
            if mtu:
                arguments["metrics"] = {"mtu": mtu}
            # Deleted first, not replaced: learnt path MTUs hang on the old route and must go with it.
            with contextlib.suppress(Exception):
                ip.route("del", dst=prefix, oif=index, family=_family(prefix))
            ip.route("add", **arguments)
