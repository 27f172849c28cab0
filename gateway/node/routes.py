"""Routes of inner prefixes to the interface that holds the outer address: where XFRM's policies take packets from."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from collections.abc import Callable
from typing import Any

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

from gateway.errors import UnusableError
from gateway.node.base import PathConfig

_FAMILY = {4: socket.AF_INET, 6: socket.AF_INET6}
TABLE = 220
"""A table of their own, looked at first, as IKE daemons do: whoever changes the main table's routes meanwhile (the
plain line's come and go) does not touch the tunnel's."""


def route_to_interface(config: PathConfig) -> tuple[tuple[str, int], Callable[[], None]]:
    """Adds ``config.routes`` and ``config.addresses``; returns the interface (name, index) and what undoes it.

    The source of the host's own packets is its first inner address: of ``config.addresses``, else of ``lo``.
    """
    routes = [ipaddress.ip_network(route, strict=False) for route in config.routes]
    done: list[dict[str, Any]] = []
    rules: list[dict[str, Any]] = []

    def undo() -> None:
        with IPRoute() as ip:
            for what in reversed(done):
                with contextlib.suppress(NetlinkError, OSError):
                    ip.route("del", **what)
            for rule in rules:
                with contextlib.suppress(NetlinkError, OSError):
                    ip.rule("del", **rule)

    with IPRoute() as ip:
        interface = _holder(ip, config.local)
        sources = _inner_addresses(ip, config)
        for family in dict.fromkeys(_FAMILY[route.version] for route in routes):
            rule = {"table": TABLE, "priority": TABLE, "family": family}
            try:
                ip.rule("add", **rule)
            except NetlinkError as error:
                undo()
                raise OSError(error.code, f"rule for table {TABLE}: {error}") from None
            rules.append(rule)
        for route in routes:
            what: dict[str, Any] = {"dst": str(route), "oif": interface[1], "family": _FAMILY[route.version]}
            what["table"] = TABLE
            source = sources.get(route.version)
            try:
                ip.route("add", **what, **({"prefsrc": source} if source else {}), metrics={"mtu": config.mtu})
            except NetlinkError as error:
                undo()
                raise OSError(error.code, f"{route}: {error}") from None
            done.append(what)
    return interface, undo


def _holder(ip: Any, address: str) -> tuple[str, int]:
    """The interface that has this address."""
    for one in ip.get_addr():
        if address in (one.get_attr("IFA_LOCAL"), one.get_attr("IFA_ADDRESS")):
            index = int(one["index"])
            return str(ip.get_links(index)[0].get_attr("IFLA_IFNAME")), index
    raise UnusableError(f"no interface has the outer address {address}", code="no-interface")


def _inner_addresses(ip: Any, config: PathConfig) -> dict[int, str]:
    found: dict[int, str] = {}
    for text in config.addresses:
        address = ipaddress.ip_interface(text).ip
        found.setdefault(address.version, str(address))
    (loopback,) = ip.link_lookup(ifname="lo")
    for one in ip.get_addr(index=loopback):
        address = ipaddress.ip_address(one.get_attr("IFA_LOCAL") or one.get_attr("IFA_ADDRESS"))
        if not address.is_loopback:
            found.setdefault(address.version, str(address))
    return found
