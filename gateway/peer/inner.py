"""Inner addresses: of 198.18.0.0/15, which RFC 2544 keeps for benchmarks, and of a random ULA /48, and nothing else.

Pure but for the random numbers. What any of the machines uses already is avoided; nothing may ever cover the address by
which a machine is managed.
"""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gateway.errors import UnusableError
from gateway.peer.identify import Ip, Network

BENCHMARK = ipaddress.IPv4Network("198.18.0.0/15")
ULA = ipaddress.IPv6Network("fd00::/8")


@dataclass(frozen=True, slots=True)
class Inner:
    """One test's addresses; each machine gets single ones, never the whole block."""

    v4: ipaddress.IPv4Network
    """A /24."""
    v6: ipaddress.IPv6Network
    """A /48."""

    def address(self, number: int) -> tuple[str, str]:
        """The ``number``-th of both: its last octet, and its own /64."""
        return str(self.v4[number]), str(self.v6.network_address + (number << 64) + number)

    @property
    def prefixes(self) -> tuple[str, str]:
        return str(self.v4), str(self.v6)


def choose(used: Iterable[Network], named: str = "") -> Inner:
    """A free block. named: an IPv4 prefix of the user's choice, a /24 or larger. UnusableError when none is free."""
    taken = [n for n in used if n.prefixlen]
    candidates: Sequence[ipaddress.IPv4Network]
    if named:
        block = _named(named)
        clash = next((n for n in taken if n.version == 4 and n.overlaps(block)), None)
        if clash is not None:
            raise UnusableError(f"--inner {named}: {clash} is in use there", "name another", "inner-taken")
        candidates = [next(block.subnets(new_prefix=24))]
    else:
        everything = list(BENCHMARK.subnets(new_prefix=24))
        start = secrets.randbelow(len(everything))
        candidates = everything[start:] + everything[:start]
    for candidate in candidates:
        if not any(n.version == 4 and n.overlaps(candidate) for n in taken):
            break
    else:
        raise UnusableError(
            f"no /24 of {BENCHMARK} is free: the machines have routes to all of it",
            "name a part that may be used: --inner 198.19.7.0/24",
            "inner-taken",
        )
    while True:
        bits = int(ULA.network_address) | secrets.randbits(40) << 80
        ula = ipaddress.IPv6Network((bits, 48))
        if not any(n.version == 6 and n.overlaps(ula) for n in taken):
            return Inner(candidate, ula)


def _named(text: str) -> ipaddress.IPv4Network:
    try:
        block = ipaddress.IPv4Network(text)
    except ValueError:
        raise UnusableError(f"--inner {text}: no IPv4 prefix", "for example 198.19.7.0/24") from None
    if not block.subnet_of(BENCHMARK):
        raise UnusableError(
            f"--inner {text}: only addresses of {BENCHMARK} are used on other machines",
            "RFC 2544 keeps these for benchmarks; for example 198.19.7.0/24",
            "inner-refused",
        )
    if block.prefixlen > 24:
        raise UnusableError(f"--inner {text} is too small", "a /24 or larger")
    return block


def refuse_covering(prefixes: Iterable[str], managed: Iterable[Ip]) -> None:
    """The last look before anything is routed: UnusableError when a prefix covers an address that must stay."""
    kept = list(managed)
    for prefix in prefixes:
        network = ipaddress.ip_network(prefix, strict=False)
        for address in kept:
            if address.version == network.version and address in network:
                raise UnusableError(
                    f"{prefix} would cover {address}, by which a machine is reached", "choose another", "covers-ssh"
                )
