"""Fresh SAs between two nodes, make before break: at every moment both ends can open what the other seals.

Order: both inbound SAs, both outbound ones, then the policies, which are one exchange of a pointer in each loop. The
old pair stays for what was on its way, and is removed later. Keys are random for every SA, exist in this process only
while they are handed over, and are stored nowhere: a restart cannot use one again.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from dataplane import find_suite
from gateway.appliance.config import Child
from gateway.keys import FreshKeys, random_spi
from gateway.node.base import Node, SaConfig, SaCounters


@dataclass(frozen=True, slots=True)
class NodeEnd:
    """A node and where its data path listens."""

    node: Node
    outer: str
    port: int


@dataclass(frozen=True, slots=True)
class SaPair:
    """Both SAs of a child, seen from here."""

    spi_out: int
    spi_in: int
    implementation: str
    created_s: float
    """Unix time."""
    created_monotonic_s: float


def install(
    child: Child, here: NodeEnd, there: NodeEnd, taken: Container[int], now_s: float, monotonic_s: float
) -> SaPair:
    """Makes both SAs and turns the traffic to them. What was made is removed again when a step fails."""
    spi_out = random_spi(taken)
    spi_in = random_spi({spi_out})
    while spi_in in taken:
        spi_in = random_spi({spi_out})
    suite = find_suite(child.suite)
    made: list[tuple[Node, int, str]] = []
    implementation = ""
    try:
        with FreshKeys(suite) as outbound, FreshKeys(suite) as inbound:
            for end, other, spi, way, keys in (
                (there, here, spi_out, "in", outbound),
                (here, there, spi_in, "in", inbound),
                (here, there, spi_out, "out", outbound),
                (there, here, spi_in, "out", inbound),
            ):
                to_remote = spi == spi_out
                runs = end.node.add_sa(
                    SaConfig(
                        spi=spi,
                        direction=way,
                        suite=child.suite,
                        local=end.outer,
                        peer=other.outer,
                        local_port=end.port,
                        peer_port=other.port,
                        enc_key=keys.enc_key,
                        auth_key=keys.auth_key,
                        salt=keys.salt,
                        implementation=child.implementation,
                        replay_window=child.replay_window,
                        selector_src=child.local if to_remote else child.remote,
                        selector_dst=child.remote if to_remote else child.local,
                    )
                )
                made.append((end.node, spi, way))
                implementation = runs if end is here else implementation
        here.node.set_policy(spi_out, child.local, child.remote)
        there.node.set_policy(spi_in, child.remote, child.local)
    except BaseException:
        for node, spi, way in reversed(made):
            _quietly_delete(node, spi, way)
        raise
    return SaPair(spi_out, spi_in, implementation, now_s, monotonic_s)


def remove(pair: SaPair, here: NodeEnd, there: NodeEnd | None) -> dict[str, SaCounters]:
    """Removes and wipes a pair: senders first. Returns what our own two had counted, by direction."""
    last = {}
    for direction, spi in (("out", pair.spi_out), ("in", pair.spi_in)):
        counted = _quietly_delete(here.node, spi, direction)
        if counted is not None:
            last[direction] = counted
    if there is not None:
        for direction, spi in (("out", pair.spi_in), ("in", pair.spi_out)):
            _quietly_delete(there.node, spi, direction)
    return last


def _quietly_delete(node: Node, spi: int, direction: str) -> SaCounters | None:
    try:
        return node.delete_sa(spi, direction)
    except Exception:  # the node is gone, and the SA with it
        return None
