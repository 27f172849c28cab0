"""Inner MTU and MSS by suite and line. Pure: the arithmetic is the data path's (csrc/esp/overhead.c)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dataplane import inner_mtu, wire_len

HEAD = ("suite", "outside", "line", "inner MTU", "MSS IPv4", "MSS IPv6", "overhead")
_ENCAPS = {"udp": "udp", "esp": "none"}
_IPV6_LEAST = 1280
"""RFC 8200, section 5: no IPv6 inside a device with less."""


@dataclass(frozen=True, slots=True)
class Row:
    """One suite on one line; bytes, 0 where nothing fits."""

    suite: str
    encap: str
    outer: str
    mode: str
    outer_mtu_bytes: int
    inner_mtu_bytes: int
    """Transport mode: of the packet between the two hosts, its IP header included."""
    mss_ipv4_bytes: int
    mss_ipv6_bytes: int
    overhead_bytes: int
    """What the largest inner packet gains on the wire."""

    def cells(self) -> list[str]:
        """By HEAD."""
        outside = f"{'UDP' if self.encap == 'udp' else 'ESP'} over {'IPv6' if self.outer == 'ipv6' else 'IPv4'}"
        sizes = (self.inner_mtu_bytes, self.mss_ipv4_bytes, self.mss_ipv6_bytes, self.overhead_bytes)
        return [self.suite, outside, str(self.outer_mtu_bytes), *(str(size) if size else "-" for size in sizes)]

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        return asdict(self)


def rows(
    suites: Sequence[str],
    outer_mtus: Sequence[int],
    encaps: Sequence[str] = ("udp", "esp"),
    outers: Sequence[str] = ("ipv4", "ipv6"),
    mode: str = "tunnel",
) -> list[Row]:
    """Each suite with each outer header on each line. ``suites`` must exist (DataplaneError)."""
    return [
        _row(suite, encap, outer, mode, line)
        for suite in suites
        for encap in encaps
        for outer in outers
        for line in outer_mtus
    ]


def _row(suite: str, encap: str, outer: str, mode: str, line: int) -> Row:
    family = 6 if outer == "ipv6" else 4
    inner = inner_mtu(suite, line, mode=mode, encap=_ENCAPS[encap], outer_af=family)
    wire = wire_len(suite, inner, mode=mode, encap=_ENCAPS[encap], outer_af=family) if inner else 0
    carries = {4: mode == "tunnel" or family == 4, 6: inner >= _IPV6_LEAST and (mode == "tunnel" or family == 6)}
    mss = {af: max(0, inner - ip - 20) if inner and carries[af] else 0 for af, ip in ((4, 20), (6, 40))}
    return Row(suite, encap, outer, mode, line, inner, mss[4], mss[6], wire - inner if inner else 0)
