"""Counters of tunnels from counters of SAs, so that none falls: SAs come and go at every rekey, a tunnel's sums stay.

Pure: readings go in, sums come out. What an SA had counted when it was removed is given as ``gone``; an SA that
vanished without such a word keeps what was last seen of it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

FORGET_S = 86400.0
"""A tunnel without SAs is remembered this long: a road warrior's series must not stay for ever."""

MOST_VANISHED = 64


class TunnelName(NamedTuple):
    """The labels of a tunnel, which outlive its SAs."""

    tunnel: str
    child: str
    peer: str


@dataclass(frozen=True, slots=True)
class SaReading:
    """One SA's counters at one moment."""

    key: Hashable
    """What tells it from all others; never exported."""
    spi: int
    direction: str
    packets: int
    bytes: int
    """Inner bytes."""
    drops: Mapping[str, int]
    """By the kernel's words, zeros included where they are known to be zero."""
    created_s: float
    """Unix time."""
    wire_bytes: int | None = None
    """ESP bytes; None: not counted."""
    expires_s: float | None = None
    """Unix time of the hard limit; None: no limit."""
    sequence_used: float | None = None
    """Share of the sequence numbers, 0 to 1."""
    suite: str = ""
    implementation: str = ""


@dataclass(slots=True)
class Direction:
    """What one direction of a tunnel has counted."""

    first_seen_s: float
    seen: int = 0
    """SAs so far."""
    retired_packets: int = 0
    retired_bytes: int = 0
    retired_wire_bytes: int = 0
    retired_drops: dict[str, int] = field(default_factory=dict)
    live: dict[Hashable, SaReading] = field(default_factory=dict)
    vanished: dict[Hashable, SaReading] = field(default_factory=dict)
    """SAs that went without a word, as they were counted."""
    empty_since_s: float | None = None
    wire_known: bool = False

    @property
    def packets(self) -> int:
        return self.retired_packets + sum(sa.packets for sa in self.live.values())

    @property
    def bytes(self) -> int:
        return self.retired_bytes + sum(sa.bytes for sa in self.live.values())

    @property
    def wire_bytes(self) -> int | None:
        """None: never counted."""
        if not self.wire_known:
            return None
        return self.retired_wire_bytes + sum(sa.wire_bytes or 0 for sa in self.live.values())

    @property
    def drops(self) -> dict[str, int]:
        total = dict(self.retired_drops)
        for sa in self.live.values():
            for reason, count in sa.drops.items():
                total[reason] = total.get(reason, 0) + count
        return total

    @property
    def newest(self) -> SaReading | None:
        return max(self.live.values(), key=lambda sa: sa.created_s, default=None)

    def _read(self, sa: SaReading) -> None:
        if sa.key not in self.live:
            self.seen += 1
        self.wire_known = self.wire_known or sa.wire_bytes is not None
        self.live[sa.key] = sa
        self.empty_since_s = None

    def _retire(self, key: Hashable, last: SaReading | None, now_s: float) -> None:
        """``last``: what it had counted at its end, None: nobody said."""
        seen = self.live.pop(key, None)
        known = seen or self.vanished.pop(key, None)
        if known is None:
            self.seen += 1
        sa = last or seen
        if sa is None:
            return
        counted = known if seen is None and known is not None else None  # what is in the sums already
        self.retired_packets += max(0, sa.packets - (counted.packets if counted else 0))
        self.retired_bytes += max(0, sa.bytes - (counted.bytes if counted else 0))
        self.retired_wire_bytes += max(0, (sa.wire_bytes or 0) - ((counted.wire_bytes or 0) if counted else 0))
        self.wire_known = self.wire_known or sa.wire_bytes is not None
        for reason, count in sa.drops.items():
            more = max(0, count - (counted.drops.get(reason, 0) if counted else 0))
            self.retired_drops[reason] = self.retired_drops.get(reason, 0) + more
        if last is None:
            # Its last word may still come; most of the time it does not, and this must not grow.
            self.vanished[key] = sa
            while len(self.vanished) > MOST_VANISHED:
                self.vanished.pop(next(iter(self.vanished)))
        if not self.live:
            self.empty_since_s = now_s


class Ledger:
    """All tunnels of one data path."""

    def __init__(self) -> None:
        self.directions: dict[tuple[TunnelName, str], Direction] = {}
        self._names: dict[Hashable, TunnelName] = {}

    def name_of(self, key: Hashable) -> TunnelName | None:
        """The tunnel that a living SA was counted under: it keeps its name to its end."""
        return self._names.get(key)

    def update(
        self,
        live: Iterable[tuple[TunnelName, SaReading]],
        gone: Iterable[tuple[TunnelName, SaReading]],
        now_s: float,
    ) -> None:
        """``live``: every SA that there is; ``gone``: those removed since the last update, with their last counters."""
        removed = {sa.key: (name, sa) for name, sa in gone}
        there = set()
        for name, sa in live:
            if sa.key in removed:  # read while it was being removed: its last word counts
                continue
            there.add(sa.key)
            name = self._names.setdefault(sa.key, name)
            self._direction(name, sa.direction, now_s)._read(sa)
        for (_, _), direction in self.directions.items():
            for key in [key for key in direction.live if key not in there and key not in removed]:
                self._names.pop(key, None)
                direction._retire(key, None, now_s)
        for key, (name, sa) in removed.items():
            name = self._names.pop(key, name)
            self._direction(name, sa.direction, now_s)._retire(key, sa, now_s)
        for where, direction in list(self.directions.items()):
            if direction.empty_since_s is not None and now_s - direction.empty_since_s > FORGET_S:
                del self.directions[where]

    def _direction(self, name: TunnelName, direction: str, now_s: float) -> Direction:
        found = self.directions.get((name, direction))
        if found is None:
            found = self.directions[name, direction] = Direction(first_seen_s=now_s)
        return found

    def tunnels(self) -> dict[TunnelName, dict[str, Direction]]:
        """By name and direction."""
        found: dict[TunnelName, dict[str, Direction]] = {}
        for (name, direction), what in self.directions.items():
            found.setdefault(name, {})[direction] = what
        return found
