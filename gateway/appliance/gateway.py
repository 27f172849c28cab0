"""The gateway that runs for months: one data path here, one at each peer, tunnels between them, kept keyed.

:meth:`Appliance.tick` does what is due and returns when the next thing is; nothing here waits or knows the time by
itself, so that tests drive months in milliseconds. A peer that fails takes its own tunnels down and is tried again;
when our own data path fails the process ends, and whoever supervises it starts it again - with fresh keys.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dataplane import inner_mtu
from gateway.appliance.config import Child, Config, Peer, Rekey
from gateway.appliance.keying import NodeEnd, SaPair, install, remove
from gateway.errors import GwbenchError, UnusableError
from gateway.metrics.ledger import TunnelName
from gateway.node.base import Node, PathConfig, SaCounters

HEALTH_S = 5.0
TICK_S = 1.0
MOST_BACKOFF_S = 60.0

Key = tuple[int, str]
"""SPI and direction."""


@dataclass(frozen=True, slots=True)
class SaRecord:
    """What the control plane knows of an SA, and its counters do not."""

    name: TunnelName
    suite: str
    implementation: str
    created_s: float
    expires_s: float


@dataclass(slots=True)
class PeerState:
    """A far end."""

    config: Peer
    node: Node | None = None
    port: int = 0
    problem: str = "not connected yet"
    next_try_s: float = 0.0
    backoff_s: float = 1.0
    next_health_s: float = 0.0


@dataclass(slots=True)
class ChildState:
    """A tunnel's pair of SAs, and those that go."""

    config: Child
    pair: SaPair | None = None
    old: list[tuple[SaPair, float]] = field(default_factory=list)
    """With the monotonic time of their removal."""
    rekeys: int = 0
    rekey_now: bool = False
    stopped: bool = False
    """Removed by hand: comes back by hand."""
    problem: str = ""


class Appliance:
    """See above. Not for several threads, but ``records`` and ``gone`` may be read by another."""

    def __init__(
        self,
        config: Config,
        local: Node,
        make_peer: Callable[[Peer], Node],
        read_sas: Callable[[], Mapping[Key, SaCounters]],
        add_route: Callable[[str], None] = lambda prefix: None,
        report: Callable[[str], None] = lambda line: None,
    ) -> None:
        """``local``: our data path's node, path not yet open; ``make_peer``: a started node at a peer;
        ``read_sas``: counters of our SAs now; ``add_route``: a prefix into our TUN, after the path is open."""
        self.config = config
        self.local = local
        self._make_peer, self._read_sas, self._add_route, self._report = make_peer, read_sas, add_route, report
        self._port = 0
        self._routes: set[str] = set()
        self.peers = {name: PeerState(peer) for name, peer in config.peers.items()}
        self.children = {_child_key(child): ChildState(child) for child in config.children}
        self.records: Mapping[Key, SaRecord] = {}
        self.gone: deque[tuple[Key, SaRecord, SaCounters]] = deque()
        """SAs that were removed, with their last counters, until the collector of metrics takes them."""
        self._next_health_s = 0.0

    def start(self) -> None:
        """Opens our own path. Peers follow by :meth:`tick`."""
        gateway = self.config.gateway
        info = self.local.open_path(
            self._path(gateway.local, gateway.port, gateway.tun, gateway.addresses, self._remote_prefixes())
        )
        self._port = info.port
        self._routes = set(self._remote_prefixes())

    def _remote_prefixes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(child.remote for child in self.config.children))

    def _path(self, local: str, port: int, tun: str, addresses: tuple[str, ...], routes: tuple[str, ...]) -> PathConfig:
        bare = self.config.gateway.encap == "esp"
        return PathConfig(
            local=local,
            port=0 if bare else port,
            tun=tun,
            mtu=mtu(self.config),
            addresses=addresses,
            routes=routes,
            encap="none" if bare else "udp",
            max_sas=self.config.gateway.max_sas,
        )

    # ---- what is due ----

    def tick(self, now_s: float, monotonic_s: float) -> float:
        """Does what is due; returns the monotonic time of the next call. GwbenchError: our own data path ended."""
        if monotonic_s >= self._next_health_s:
            self.local.health()
            self._next_health_s = monotonic_s + HEALTH_S
        for state in self.peers.values():
            self._keep_peer(state, monotonic_s)
        counters = self._read_sas()
        for child in self.children.values():
            self._keep_child(child, counters, now_s, monotonic_s)
        due = monotonic_s + TICK_S
        for child in self.children.values():
            due = min([due, *(when for _, when in child.old)])
        return max(due, monotonic_s + 0.01)

    def _keep_peer(self, state: PeerState, monotonic_s: float) -> None:
        if state.node is None:
            if monotonic_s >= state.next_try_s:
                self._connect(state, monotonic_s)
        elif monotonic_s >= state.next_health_s:
            state.next_health_s = monotonic_s + HEALTH_S
            try:
                state.node.health()
            except GwbenchError as error:
                self._lose(state, str(error), monotonic_s)

    def _connect(self, state: PeerState, monotonic_s: float) -> None:
        peer = state.config
        node: Node | None = None
        try:
            node = self._make_peer(peer)
            node.hello()
            routes = tuple(dict.fromkeys(c.local for c in self.config.children if c.peer == peer.name))
            info = node.open_path(self._path(peer.local, peer.port, peer.tun, peer.addresses, routes))
        except GwbenchError as error:
            if node is not None:
                node.close()
            self._lose(state, str(error), monotonic_s)
            return
        state.node, state.port, state.problem, state.backoff_s = node, info.port, "", 1.0
        state.next_health_s = monotonic_s + HEALTH_S
        self._report(f"peer {peer.name}: connected")

    def _lose(self, state: PeerState, why: str, monotonic_s: float) -> None:
        """The far SAs died with their node; ours would send into the void."""
        if state.node is not None or state.problem != why:
            self._report(f"peer {state.config.name}: {why}")
        self._disconnect(state)
        state.problem = why
        state.next_try_s = monotonic_s + state.backoff_s
        state.backoff_s = min(MOST_BACKOFF_S, state.backoff_s * 2)

    def _disconnect(self, state: PeerState) -> None:
        node, state.node = state.node, None
        if node is not None:
            node.close()
        for child in self.children.values():
            if child.config.peer == state.config.name:
                self._take_down(child, None)

    def _keep_child(
        self, child: ChildState, counters: Mapping[Key, SaCounters], now_s: float, monotonic_s: float
    ) -> None:
        peer = self.peers[child.config.peer]
        there = self._end(peer)
        for pair, when in [old for old in child.old if old[1] <= monotonic_s]:
            child.old.remove((pair, when))
            self._remove(pair, there)
        if there is None or child.stopped:
            return
        if child.pair is not None and not child.rekey_now and not self._due(child.pair, counters, monotonic_s, 1.0):
            return
        try:
            self._rekey(child, there, now_s, monotonic_s)
        except GwbenchError as error:
            if child.problem != str(error):
                self._report(f"tunnel {child.config.name}: {error}")
            child.problem = str(error)
            if peer.node is not None and error.code in ("dead", "timeout", "path-ended", "peer-lost"):
                self._lose(peer, str(error), monotonic_s)
            elif child.pair and self._due(child.pair, counters, monotonic_s, self.config.rekey.margin):
                self._take_down(child, there)

    def _end(self, peer: PeerState) -> NodeEnd | None:
        return None if peer.node is None else NodeEnd(peer.node, peer.config.local, peer.port)

    @property
    def _here(self) -> NodeEnd:
        return NodeEnd(self.local, self.config.gateway.local, self._port)

    def _due(self, pair: SaPair, counters: Mapping[Key, SaCounters], monotonic_s: float, margin: float) -> bool:
        limits: Rekey = self.config.rekey
        if monotonic_s - pair.created_monotonic_s >= limits.seconds * margin:
            return True
        for key in ((pair.spi_out, "out"), (pair.spi_in, "in")):
            sa = counters.get(key)
            if sa is not None and (
                sa.bytes >= limits.bytes * margin
                or max(sa.packets, sa.seq) >= limits.packets * margin
                or sa.state != "valid"
            ):
                return True
        return False

    def _rekey(self, child: ChildState, there: NodeEnd, now_s: float, monotonic_s: float) -> None:
        self._ensure_route(child.config.remote)
        taken = {spi for spi, _ in self.records}
        pair = install(child.config, self._here, there, taken, now_s, monotonic_s)
        self._record(child.config, pair, now_s)
        if child.pair is not None:
            child.old.append((child.pair, monotonic_s + self.config.rekey.grace_seconds))
            child.rekeys += 1
        elif child.problem or child.rekeys == 0:
            self._report(f"tunnel {child.config.name}: up, {child.config.suite} on {pair.implementation}")
        child.pair, child.rekey_now, child.problem = pair, False, ""

    def _ensure_route(self, prefix: str) -> None:
        if prefix not in self._routes:
            self._add_route(prefix)
            self._routes.add(prefix)

    def _record(self, child: Child, pair: SaPair, now_s: float) -> None:
        peer = self.peers[child.peer].config
        record = SaRecord(
            name=TunnelName(child.tunnel, child.name, peer.local),
            suite=child.suite,
            implementation=pair.implementation,
            created_s=now_s,
            expires_s=now_s + self.config.rekey.seconds * self.config.rekey.margin,
        )
        self.records = {**self.records, (pair.spi_out, "out"): record, (pair.spi_in, "in"): record}

    def _remove(self, pair: SaPair, there: NodeEnd | None) -> None:
        last = remove(pair, self._here, there)
        records = dict(self.records)
        for key in ((pair.spi_out, "out"), (pair.spi_in, "in")):
            record = records.pop(key, None)
            if record is not None and key[1] in last:
                self.gone.append((key, record, last[key[1]]))
        self.records = records

    def _take_down(self, child: ChildState, there: NodeEnd | None) -> None:
        for pair, _ in child.old:
            self._remove(pair, there)
        child.old.clear()
        if child.pair is not None:
            self._remove(child.pair, there)
            child.pair = None

    # ---- by hand ----

    def named(self, name: str) -> list[ChildState]:
        """Of a tunnel or a child; ``all``. UnusableError."""
        found = [c for c in self.children.values() if name in ("all", c.config.tunnel, c.config.name)]
        if not found:
            names = ", ".join(dict.fromkeys(c.config.tunnel for c in self.children.values()))
            raise UnusableError(f"no tunnel is called '{name}'", f"there are: {names}")
        return found

    def rekey(self, name: str) -> int:
        """At the next tick; returns how many pairs."""
        found = self.named(name)
        for child in found:
            child.rekey_now, child.stopped = True, False
        return len(found)

    def delete(self, name: str) -> int:
        """Takes the SAs out now; they come back by :meth:`rekey`."""
        found = self.named(name)
        for child in found:
            child.stopped = True
            self._take_down(child, self._end(self.peers[child.config.peer]))
        return len(found)

    def reload(self, config: Config) -> list[str]:
        """Changes what is different and nothing else; says what. UnusableError: needs a restart."""
        if config.gateway != self.config.gateway or config.metrics != self.config.metrics:
            raise UnusableError("[gateway] and [metrics] change by a restart only", "gwbench down; gwbench up")
        if mtu(config) != mtu(self.config):
            raise UnusableError("the tunnels' suites need another inner MTU, which changes by a restart only")
        before, changes = self.config, []
        wanted = {_child_key(child): child for child in config.children}
        for key in [key for key in self.children if key not in wanted]:
            child = self.children.pop(key)
            self._take_down(child, self._end(self.peers[child.config.peer]))
            changes.append(f"tunnel {child.config.name}: removed")
        for name in [name for name, state in self.peers.items() if _far(config, name) != _far(before, name)]:
            self._disconnect(self.peers.pop(name))
            changes.append(f"peer {name}: {'connects again' if name in config.peers else 'removed'}")
        for name, peer in config.peers.items():
            if name not in self.peers:
                self.peers[name] = PeerState(peer)
                if name not in before.peers:
                    changes.append(f"peer {name}: added")
        self.config = config
        for key, wish in wanted.items():
            state = self.children.get(key)
            if state is None:
                self.children[key] = ChildState(wish)
                changes.append(f"tunnel {wish.name}: added")
            elif state.config != wish:
                state.config, state.rekey_now = wish, state.pair is not None
                changes.append(f"tunnel {wish.name}: changed")
        if config.rekey != before.rekey:
            changes.append("rekey limits: changed")
        return changes

    def close(self) -> None:
        """Everything wiped, every node ended; safe twice."""
        for state in self.peers.values():
            node, state.node = state.node, None
            if node is not None:
                with contextlib.suppress(Exception):
                    node.close()
        self.local.close()


def _child_key(child: Child) -> tuple[str, str, str, str]:
    return child.tunnel, child.peer, child.local, child.remote


def _far(config: Config, name: str) -> tuple[Peer, frozenset[str]] | None:
    """What a peer's path was opened with."""
    if name not in config.peers:
        return None
    return config.peers[name], frozenset(c.local for c in config.children if c.peer == name)


def mtu(config: Config) -> int:
    """Inner MTU of all tunnels, bytes: they share one TUN."""
    if config.gateway.mtu:
        return config.gateway.mtu
    family = 6 if ":" in config.gateway.local else 4
    encap = "none" if config.gateway.encap == "esp" else "udp"
    return min(
        inner_mtu(suite, config.gateway.outer_mtu, encap=encap, outer_af=family)
        for suite in {child.suite for child in config.children}
    )
