"""The matrix of interoperability with the kernel's ESP, and a pairwise covering set of it.

A cell is one tunnel: a suite with an ICV length, IPv4 or IPv6 inside, IPv4 or IPv6 outside, UDP encapsulation or bare
ESP, ESN or 32-bit sequence numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
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
FAMILIES = (4, 6)
ENCAPS = ("udp",)
ESN = (True, False)
MOST_CELLS = 64


@dataclass(frozen=True, order=True)
class Cell:
    """One point of the matrix."""

    suite: str
    icv_bytes: int
    inner: int
    outer: int
    encap: str
    esn: bool

    @property
    def name(self) -> str:
        """For tables and test ids."""
        esn = "esn" if self.esn else "seq32"
        return f"{self.suite}-icv{self.icv_bytes}-v{self.inner}in{self.outer}-{self.encap}-{esn}"


def full_product() -> list[Cell]:
    """Every cell."""
    return [
        Cell(suite, icv, *rest)
        for (suite, icv), *rest in itertools.product(TRANSFORMS, FAMILIES, FAMILIES, ENCAPS, ESN)
    ]


def pairs_of(values: Sequence[Any]) -> set[tuple[int, Any, int, Any]]:
    """What a row covers: any two of its dimensions' values."""
    return {(i, values[i], j, values[j]) for i, j in itertools.combinations(range(len(values)), 2)}


def pairwise(dimensions: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """Rows in which every two values of two dimensions meet. Greedy, and the same on every machine."""
    rows = list(itertools.product(*dimensions))
    missing: set[tuple[int, Any, int, Any]] = set().union(*map(pairs_of, rows))
    chosen = []
    while missing:
        best = max(rows, key=lambda row: len(pairs_of(row) & missing))
        chosen.append(best)
        missing -= pairs_of(best)
    return chosen


def covering_set() -> list[Cell]:
    """At most MOST_CELLS cells. A suite with one of its ICV lengths counts as one value, so that every length of
    every suite meets both families, both encapsulations and both kinds of sequence number."""
    rows = pairwise((TRANSFORMS, FAMILIES, FAMILIES, ENCAPS, ESN))
    return [Cell(suite, icv, *rest) for (suite, icv), *rest in rows]


def uncovered(cells: Iterable[Cell]) -> set[tuple[int, Any, int, Any]]:
    """Pairs of the full product that no cell has."""

    def values(cell: Cell) -> tuple[Any, ...]:
        return ((cell.suite, cell.icv_bytes), cell.inner, cell.outer, cell.encap, cell.esn)

    everything: set[tuple[int, Any, int, Any]] = set().union(*(pairs_of(values(cell)) for cell in full_product()))
    return everything.difference(*(pairs_of(values(cell)) for cell in cells))


IPERF3 = (
    Cell("aes128gcm16", 16, 4, 4, "udp", True),
    Cell("aes256-sha256", 16, 4, 4, "udp", True),
    Cell("aes128gcm16", 16, 6, 6, "udp", True),
    Cell("chacha20poly1305", 16, 6, 4, "udp", False),
)
"""Cells in which a TCP stream runs."""
