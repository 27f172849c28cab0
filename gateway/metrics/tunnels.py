"""The series of tunnels, the same for the kernel's SAs and for our own."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from gateway.metrics.exposition import Families, labels
from gateway.metrics.ledger import Direction, Ledger, TunnelName
from gateway.metrics.names import DIRECTED, TUNNEL


@lru_cache(maxsize=8192)
def _tunnel_labels(name: TunnelName) -> str:
    return labels(TUNNEL, name)


@lru_cache(maxsize=16384)
def _directed(name: TunnelName, direction: str) -> str:
    return labels(DIRECTED, (*name, direction))


@lru_cache(maxsize=65536)
def _with_reason(name: TunnelName, direction: str, reason: str) -> str:
    return labels((*DIRECTED, "reason"), (*name, direction, reason))


def tell(
    families: Families,
    ledger: Ledger,
    dataplane: str,
    now_s: float,
    *,
    expected: Collection[TunnelName] = (),
    per_sa: bool = False,
) -> None:
    """Adds every tunnel of ``ledger``. ``expected``: tunnels that should be there, and are down when they are not."""
    tunnels = ledger.tunnels()
    for name in expected:
        tunnels.setdefault(name, {})
    for name, directions in tunnels.items():
        up = bool(directions) and all(direction.live for direction in directions.values())
        up = up and {"in", "out"} <= directions.keys()
        families.labelled("gwbench_tunnel_up", _tunnel_labels(name), int(up))
        newest = [sa for sa in (direction.newest for direction in directions.values()) if sa is not None]
        if newest:
            sa = max(newest, key=lambda sa: sa.created_s)
            families.add("gwbench_tunnel_info", (*name, dataplane, sa.suite, sa.implementation), 1)
        for word, direction in directions.items():
            _tell_direction(families, name, word, direction, now_s)
            if per_sa:
                _tell_sas(families, name, word, direction, now_s)


def _tell_direction(families: Families, name: TunnelName, word: str, direction: Direction, now_s: float) -> None:
    add, mine = families.labelled, _directed(name, word)
    add("gwbench_tunnel_packets_total", mine, direction.packets)
    add("gwbench_tunnel_bytes_total", mine, direction.bytes)
    if (wire_bytes := direction.wire_bytes) is not None:
        add("gwbench_tunnel_wire_bytes_total", mine, wire_bytes)
    for reason, count in direction.drops.items():
        add("gwbench_tunnel_drops_total", _with_reason(name, word, reason), count)
    add("gwbench_tunnel_sas", mine, len(direction.live))
    add("gwbench_tunnel_rekeys_total", mine, max(0, direction.seen - 1))
    newest = direction.newest
    if newest is None:
        return
    add("gwbench_tunnel_sa_age_seconds", mine, round(max(0.0, now_s - newest.created_s), 3))
    if newest.expires_s is not None:
        add("gwbench_tunnel_sa_lifetime_left_seconds", mine, round(newest.expires_s - now_s, 3))
    if newest.sequence_used is not None:
        add("gwbench_tunnel_sequence_used_ratio", mine, newest.sequence_used)


def _tell_sas(families: Families, name: TunnelName, word: str, direction: Direction, now_s: float) -> None:
    for sa in direction.live.values():
        values = (*name, word, f"{sa.spi:08x}")
        families.add("gwbench_sa_packets_total", values, sa.packets)
        families.add("gwbench_sa_bytes_total", values, sa.bytes)
        for reason, count in sa.drops.items():
            families.add("gwbench_sa_drops_total", (*values, reason), count)
        families.add("gwbench_sa_age_seconds", values, round(max(0.0, now_s - sa.created_s), 3))
        if sa.sequence_used is not None:
            families.add("gwbench_sa_sequence_used_ratio", values, sa.sequence_used)
