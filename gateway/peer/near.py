r"""This machine's side: namespaces for client and server, so that its own network is neither used nor changed.

``endpoint``: the router is the server::

    +------------------+   this machine's own network                  +-----------------------+
    | client           |                                               | router                |
    | .1 on lo         |    UDP socket o======== ESP in UDP ===========o gwb0  .2: iperf3 -s   |
    | gwbN (TUN) ------+--> of the worker                              |                       |
    +------------------+                                               +-----------------------+

``one-arm``: the router opens, and forwards in clear to a server that is another namespace here, on the same cable::

    +-----------+                                                      +-----------------------+
    | client .1 |         UDP socket o============ ESP in UDP =========o gwb0                  |
    | gwbN, mv -+--- .4 (plain) ---- o - - - - - - - - - - - - - - - - o LAN device            |
    +-----------+                    |   the same cable                |   .1 -> gwb0          |
    | server .3 +--- macvlan ------- o ------------- clear ------------o   .3, .4 on link      |
    +-----------+                                                      +-----------------------+

All of it lives as long as this process: nothing has to be undone.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.errors import UnusableError
from gateway.lab.namespaces import NetworkNamespace
from gateway.peer.identify import Ip, Network

_NODAD = 0x02
_ETHERNET = 1


@dataclass(frozen=True, slots=True)
class Line:
    """The way from here to the router."""

    local: str
    """Our address."""
    remote: str
    """The router's."""
    device: str
    mtu: int
    direct: bool
    """No router between."""
    ethernet: bool
    """Of a kind that a second address can be put on: a wire, not a radio."""


def line_to(remote: str) -> Line:
    """How packets go to ``remote``. UnusableError when there is no way."""
    from pyroute2 import IPRoute
    from pyroute2.netlink.exceptions import NetlinkError

    address = ipaddress.ip_address(remote)
    if address.is_link_local:
        raise UnusableError(f"{remote} is a link-local address", "name the router by another one", "link-local")
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((remote, 9))
            local = str(probe.getsockname()[0])
        with IPRoute() as ip:
            route = ip.route("get", dst=remote)[0]
            attributes = dict(route["attrs"])
            index = attributes["RTA_OIF"]
            link = dict(ip.get_links(index)[0]["attrs"])
    except (OSError, NetlinkError, KeyError, IndexError) as error:
        raise UnusableError(f"no way to {remote}: {error}", code="peer-unreachable") from None
    device = str(link["IFLA_IFNAME"])
    sys = Path("/sys/class/net", device)
    wireless = (sys / "wireless").exists() or (sys / "phy80211").exists()
    kind = (sys / "type").read_text().strip() if sys.exists() else str(_ETHERNET)
    return Line(
        local=local,
        remote=remote,
        device=device,
        mtu=int(link["IFLA_MTU"]),
        direct="RTA_GATEWAY" not in attributes and "RTA_VIA" not in attributes,
        ethernet=kind == str(_ETHERNET) and not wireless and device != "lo",
    )


def used() -> list[Network]:
    """What this machine has addresses in and routes to."""
    from pyroute2 import IPRoute

    found: list[Network] = []
    with IPRoute() as ip:
        for message in ip.get_addr():
            attributes = dict(message["attrs"])
            address = attributes.get("IFA_LOCAL") or attributes.get("IFA_ADDRESS")
            if address:
                found.append(ipaddress.ip_network(address))
        for message in ip.get_routes():
            attributes = dict(message["attrs"])
            if attributes.get("RTA_DST") and message["dst_len"]:
                found.append(ipaddress.ip_network(f"{attributes['RTA_DST']}/{message['dst_len']}", strict=False))
    return found


class Place:
    """One namespace with its inner addresses."""

    def __init__(self, name: str, addresses: tuple[str, ...] = ()) -> None:
        """addresses: that no cable carries, set on the loopback."""
        self.namespace = NetworkNamespace(name)
        self.cable = ""
        """Its macvlan."""
        try:
            self._quiet()
            with self._netlink() as ip:
                ip.link("set", index=1, state="up")
            self.add("lo", addresses)
        except BaseException:
            self.close()
            raise

    def _quiet(self) -> None:
        for scope in ("all", "default"):
            self.namespace.write_sysctl(f"net/ipv4/conf/{scope}/rp_filter", "0")
            # The router will say that client and server could talk to each other directly. They must not.
            self.namespace.write_sysctl(f"net/ipv4/conf/{scope}/accept_redirects", "0")
        if os.path.exists("/proc/sys/net/ipv6"):
            for name, value in {"accept_dad": "0", "router_solicitations": "0", "accept_ra": "0"}.items():
                self.namespace.write_sysctl(f"net/ipv6/conf/default/{name}", value)
            for scope in ("all", "default"):
                self.namespace.write_sysctl(f"net/ipv6/conf/{scope}/accept_redirects", "0")
                self.namespace.write_sysctl(f"net/ipv6/conf/{scope}/disable_ipv6", "0")

    @contextlib.contextmanager
    def _netlink(self) -> Iterator[Any]:
        from pyroute2 import IPRoute

        with self.namespace.entered(), IPRoute() as ip:
            yield ip

    def add(self, device: str, addresses: tuple[str, ...]) -> None:
        """Whole addresses, without a network around them."""
        with self._netlink() as ip:
            index = ip.link_lookup(ifname=device)[0]
            for address in addresses:
                six = ":" in address
                ip.addr(
                    "add",
                    index=index,
                    address=address,
                    prefixlen=128 if six else 32,
                    family=socket.AF_INET6 if six else socket.AF_INET,
                    **({"flags": _NODAD} if six else {}),
                )

    def plug(self, device: str, addresses: tuple[str, ...]) -> None:
        """A macvlan on this machine's ``device``: a second network card on the same cable. It cannot talk to its
        siblings ("private"), so everything goes by the router."""
        from pyroute2 import IPRoute
        from pyroute2.netlink.exceptions import NetlinkError

        name = "cable"
        try:
            with IPRoute() as ip:
                ip.link(
                    "add",
                    ifname=name,
                    kind="macvlan",
                    macvlan_mode="private",
                    link=ip.link_lookup(ifname=device)[0],
                    net_ns_fd=self.namespace.fd,
                )
        except NetlinkError as error:
            raise UnusableError(
                f"no second address can be put on {device}: {os.strerror(error.code)}",
                "modprobe macvlan, or --topology endpoint",
                "no-macvlan",
            ) from None
        with self._netlink() as ip:
            ip.link("set", index=ip.link_lookup(ifname=name)[0], state="up")
        self.cable = name
        self.add(name, addresses)  # not on the loopback: IPv6 answers its neighbours only for what is on the cable

    def neighbour(self, address: str) -> None:
        """``address`` is at the other end of the cable."""
        six = ":" in address
        if six and ipaddress.ip_address(address).is_link_local:
            return
        with self._netlink() as ip:
            index = ip.link_lookup(ifname=self.cable)[0]
            ip.route("replace", dst=f"{address}/{128 if six else 32}", oif=index, scope=0 if six else 253)

    def route(self, destination: str, via: str, source: str, mtu: int = 0) -> None:
        """Replaces; learnt path MTUs hang on the old route and go with it."""
        self.unroute(destination)
        with self._netlink() as ip:
            index = ip.link_lookup(ifname=self.cable)[0]
            more: dict[str, Any] = {"metrics": {"mtu": mtu}} if mtu else {}
            ip.route("add", dst=_whole(destination), gateway=via, oif=index, prefsrc=source, **more)

    def unroute(self, destination: str) -> None:
        """Takes the route by the cable away, if it is there."""
        if not self.cable:
            return
        with self._netlink() as ip, contextlib.suppress(Exception):
            ip.route("del", dst=_whole(destination), oif=ip.link_lookup(ifname=self.cable)[0])

    def set_mtu(self, destination: str, device: str, mtu: int) -> None:
        """Tells the path MTU of a route that leads into a TUN."""
        with self._netlink() as ip:
            index = ip.link_lookup(ifname=device)[0]
            ip.route("replace", dst=_whole(destination), oif=index, metrics={"mtu": mtu})

    def close(self) -> None:
        """Gone, with everything in it."""
        self.namespace.close()


def _whole(address: str) -> str:
    return f"{address}/{128 if ':' in address else 32}"


def addresses_of(*texts: str) -> list[Ip]:
    """Those that are addresses."""
    found: list[Ip] = []
    for text in texts:
        with contextlib.suppress(ValueError):
            found.append(ipaddress.ip_address(text.partition("%")[0]))
    return found
