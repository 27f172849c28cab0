"""The matrix of interoperability with the kernel's ESP, and a pairwise covering set of it.

A cell is one pair of SAs: a suite with an ICV length, tunnel or transport mode, IPv4 or IPv6 inside, IPv4 or IPv6
outside (transport mode has one IP header: both are the same), UDP encapsulation or bare ESP, ESN or 32-bit sequence
numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

# Suite: lengths of the ICV in bytes, the usual one first (RFC 4106, 4868, 7634, 2404).
SUITES: dict[str, tuple[int, ...]] = {
    **{f"aes{bits}gcm16": (16, 8, 12) for bits in (128, 192, 256)},
    **{f"aes{bits}-sha256": (16, 12) for bits in (128, 192, 256)},
    "chacha20poly1305": (16,),
    "null-sha256": (16, 12),
    **{f"aes{bits}-ctr-sha256": (16, 12) for bits in (128, 192, 256)},
    **{f"aes{bits}-sha512": (32,) for bits in (128, 192, 256)},
    **{f"aes{bits}-sha1": (12,) for bits in (128, 192, 256)},
}
TRANSFORMS = tuple((suite, icv) for suite, icvs in SUITES.items() for icv in icvs)
MODES = ("tunnel", "transport")
FAMILIES = (4, 6)
ENCAPS = ("udp", "none")
"""UDP encapsulation (RFC 3948), or IP protocol 50."""
ESN = (True, False)
MOST_CELLS = 64
SHARD_CELLS = 60


@dataclass(frozen=True, order=True)
class Cell:
    """One point of the matrix."""

    suite: str
    icv_bytes: int
    mode: str
    inner: int
    outer: int
    encap: str
    esn: bool

    @property
    def name(self) -> str:
        """For tables and test ids."""
        esn = "esn" if self.esn else "seq32"
        return f"{self.suite}-icv{self.icv_bytes}-{self.mode}-v{self.inner}in{self.outer}-{self.encap}-{esn}"


def full_product() -> list[Cell]:
    """Every cell."""
    rows = itertools.product(TRANSFORMS, MODES, FAMILIES, FAMILIES, ENCAPS, ESN)
    cells = [Cell(suite, icv, *rest) for (suite, icv), *rest in rows]
    return [cell for cell in cells if cell.mode == "tunnel" or cell.inner == cell.outer]


def meetings(cell: Cell) -> set[tuple[Any, ...]]:
    """What a cell covers: any two of its values, and its headers as a whole.

    A suite with one of its ICV lengths counts as one value, so that every length of every suite meets both modes, both
    families inside and outside, both encapsulations and both kinds of sequence number. Headers (mode, inside, outside,
    encapsulation) are written by code that branches on all four: pairs would leave combinations out.
    """
    values = ((cell.suite, cell.icv_bytes), cell.mode, cell.inner, cell.outer, cell.encap, cell.esn)
    pairs = {(i, values[i], j, values[j]) for i, j in itertools.combinations(range(len(values)), 2)}
    return pairs | {("headers", *values[1:5])}


def covering_set() -> list[Cell]:
    """At most MOST_CELLS cells in which everything meets that meets in the full product. Greedy, and the same on
    every machine."""
    of = {cell: meetings(cell) for cell in full_product()}
    missing = set().union(*of.values())
    chosen = []
    while missing:
        best = max(of, key=lambda cell: len(of[cell] & missing))
        chosen.append(best)
        missing -= of[best]
    return chosen


def uncovered(cells: Iterable[Cell]) -> set[tuple[Any, ...]]:
    """Meetings of the full product that no cell has."""
    everything: set[tuple[Any, ...]] = set().union(*map(meetings, full_product()))
    return everything.difference(*map(meetings, cells))


def shards(full: bool) -> list[list[Cell]]:
    """What each boot runs: the covering set fits in one; of the full product a machine that dies loses one part."""
    if not full:
        return [covering_set()]
    everything = full_product()
    return [everything[at : at + SHARD_CELLS] for at in range(0, len(everything), SHARD_CELLS)]


IPERF3 = (
    Cell("aes128gcm16", 16, "tunnel", 4, 4, "udp", True),
    Cell("aes256-sha256", 16, "tunnel", 4, 4, "udp", True),
    Cell("aes128gcm16", 16, "tunnel", 6, 6, "none", True),
    Cell("chacha20poly1305", 16, "tunnel", 6, 4, "udp", False),
)
"""Cells in which a TCP stream runs."""
