"""Addresses and routes of the TUN, by netlink (pyroute2's synchronous IPRoute)."""

from __future__ import annotations

import contextlib
import ipaddress
import os

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

from gateway.errors import UnusableError
from gateway.node.base import PathConfig

IFA_F_NODAD = 0x02
"""Duplicate address detection would delay an IPv6 address by a second, and a TUN has no neighbours."""


def _quiet_ipv6(name: str, wanted: bool) -> None:
    """No link-local address and no router solicitations: the kernel's own packets would enter the tunnel.

    Best effort: /proc/sys may be read-only, and IPv6 absent.
    """
    base = f"/proc/sys/net/ipv6/conf/{name}"
    settings = {"addr_gen_mode": "1", "accept_ra": "0", "router_solicitations": "0"}
    if not wanted:
        settings["disable_ipv6"] = "1"
    for key, value in settings.items():
        with contextlib.suppress(OSError), open(f"{base}/{key}", "w", encoding="ascii") as file:
            file.write(value)


def configure_tun(ifindex: int, name: str, config: PathConfig) -> None:
    """Sets MTU, queue length and addresses, brings the TUN up, adds the routes. UnusableError names what failed."""
    try:
        addresses = [ipaddress.ip_interface(address) for address in config.addresses]
        routes = [ipaddress.ip_network(route, strict=False) for route in config.routes]
    except ValueError as error:
        raise UnusableError(f"not an address or prefix: {error}", code="bad-request") from None
    step = ""
    try:
        with IPRoute() as netlink:
            _quiet_ipv6(name, any(item.version == 6 for item in [*addresses, *routes]))
            step = f"MTU {config.mtu}"
            netlink.link("set", index=ifindex, mtu=config.mtu, txqlen=config.txqueuelen)
            for address in addresses:
                step = f"address {address}"
                flags = {"flags": IFA_F_NODAD} if address.version == 6 else {}
                netlink.addr(
                    "add", index=ifindex, address=str(address.ip), prefixlen=address.network.prefixlen, **flags
                )
            step = "up"
            netlink.link("set", index=ifindex, state="up")
            for route in routes:
                step = f"route {route}"
                netlink.route("add", dst=str(route), oif=ifindex)
    except NetlinkError as error:
        raise UnusableError(f"cannot set {step} on {name}: {os.strerror(error.code)}") from None


def move_tun(ifindex: int, netns_fd: int) -> None:
    """Moves the TUN into another network namespace; its descriptor stays good. UnusableError."""
    try:
        with IPRoute() as netlink:
            netlink.link("set", index=ifindex, net_ns_fd=netns_fd)
    except NetlinkError as error:
        raise UnusableError(f"cannot move the TUN into its namespace: {os.strerror(error.code)}") from None
