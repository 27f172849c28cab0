"""Our speed-ups beside published ones, row by row: measured here, or estimated from instruction counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import dataplane
from gateway.errors import UnusableError
from gateway.measure import published
from gateway.measure.crypto import OWN, Cell, Options, Row, batch_of, chosen, fits
from gateway.measure.icount import Cost, Counts, Key


@dataclass(frozen=True, slots=True)
class Pair:
    """One published row, and ours; None where ours has no such thing."""

    row: published.Row
    implementation: str
    mb_per_s: float | None
    base_mb_per_s: float | None
    cycles_per_byte: float | None
    """Estimated, or measured where a counter is readable."""
    insns_per_byte: float | None
    ratio: float | None

    def as_dict(self) -> dict[str, object]:
        r = self.row
        return {
            "algorithm": r.algorithm,
            "op": r.op,
            "key_bits": r.key_bits,
            "bytes": r.bytes,
            "label": r.label,
            "published_mb_per_s": r.mb_per_s,
            "published_base_mb_per_s": r.base_mb_per_s,
            "published_ratio": r.ratio,
            "implementation": self.implementation or None,
            "mb_per_s": self.mb_per_s,
            "base_mb_per_s": self.base_mb_per_s,
            "cycles_per_byte": self.cycles_per_byte,
            "insns_per_byte": self.insns_per_byte,
            "ratio": self.ratio,
        }


def our_op(algorithm: str, op: str) -> str:
    """An AEAD seals and opens."""
    return {"encrypt": "seal", "decrypt": "open"}[op] if algorithm.startswith(("gcm", "rfc7539")) else op


def wanted(table: published.Table, options: Options) -> list[published.Row]:
    """The table's rows of the algorithms and keys that were asked for."""
    rows = [
        r
        for r in table.rows
        if (not options.algorithms or r.algorithm in options.algorithms)
        and (not options.key_bits or r.key_bits in options.key_bits)
        and (not options.sizes or r.bytes in options.sizes)
    ]
    if not rows:
        have = ", ".join(dict.fromkeys(r.algorithm for r in table.rows))
        raise UnusableError(f"the published table {table.name} has no such rows", f"it has: {have}")
    return rows


def cells(rows: Sequence[published.Row], options: Options) -> list[Cell]:
    """What has to be measured here for these rows: generic, and all others that were asked for."""
    impls, _ = chosen(
        Options(
            algorithms=tuple(dict.fromkeys(r.algorithm for r in rows if _exists(r.algorithm))),
            implementations=(*options.implementations, "generic") if options.implementations else (),
        )
    )
    found: dict[Cell, None] = {}
    for row in rows:
        for impl in impls:
            if impl.alg == row.algorithm and fits(impl, row.bytes):
                op = our_op(row.algorithm, row.op)
                found[
                    Cell(impl.alg, impl.driver, impl.tag, op, row.key_bits, row.bytes, batch_of(options, row.bytes))
                ] = None
    return list(found)


def _exists(algorithm: str) -> bool:
    return any(i.alg == algorithm for i in dataplane.implementations())


def measured(rows: Sequence[published.Row], ours: Sequence[Row]) -> list[Pair]:
    """Beside each published row the fastest of ours that is not generic, or generic where the row is."""
    by_place: dict[tuple[str, str, int, int], list[Row]] = {}
    for mine in ours:
        c = mine.cell
        by_place.setdefault((c.algorithm, c.op, c.key_bits, c.bytes), []).append(mine)
    pairs = []
    for row in rows:
        here = by_place.get((row.algorithm, our_op(row.algorithm, row.op), row.key_bits, row.bytes), [])
        base = next((r for r in here if r.cell.tag == "generic"), None)
        others = [r for r in here if r.cell.tag != "generic" and r.cell.driver.endswith(OWN)]
        best = base if row.family == "generic" else max(others, key=lambda r: r.mb_per_s.median, default=None)
        if best is None:
            pairs.append(Pair(row, "", None, base.mb_per_s.median if base else None, None, None, None))
            continue
        cycles = best.cycles_per_byte.median if best.cycles_per_byte else None
        pairs.append(
            Pair(
                row,
                best.cell.driver,
                best.mb_per_s.median,
                base.mb_per_s.median if base else None,
                cycles,
                None,
                best.ratio,
            )
        )
    return pairs


def family(table: str, row: published.Row, drivers: Sequence[str]) -> list[str]:
    """The counted implementations that may stand beside a row: of the row's own kind where its label names one."""
    if row.family == "generic":
        return [d for d in drivers if "-generic" in d]
    others = [d for d in drivers if "-generic" not in d]
    for word, part in (("bit-sliced", "-neonbs"), ("Crypto Extensions", "-ce/")):
        if word in row.label:
            return [d for d in others if part in d]
    return others


def _weight(cost: Cost) -> float:
    return cost.insns if cost.cycles is None else cost.cycles


def estimated(table: published.Table, rows: Sequence[published.Row], counts: Counts) -> list[Pair]:
    """The same from instruction counts, one request at a time as tcrypt makes them. UnusableError where no counts stand
    for the machine."""
    if table.name not in published.TARGETS:
        raise UnusableError(
            f"no instruction counts stand for {table.name}", f"they do for: {', '.join(published.TARGETS)}"
        )
    target, core = published.TARGETS[table.name]
    counts = counts.core(core)
    pairs = []
    for row in rows:
        key = Key(target, row.algorithm, our_op(row.algorithm, row.op), row.key_bits, 1)
        drivers = counts.implementations(target, row.algorithm)
        costs = {d: cost for d in drivers if (cost := counts.cost(key, d, row.bytes))}
        base = next((costs[d] for d in costs if "-generic" in d), None)
        fitting = family(table.name, row, list(costs))
        if not fitting:
            pairs.append(Pair(row, "", None, None, None, None, None))
            continue
        best = min(fitting, key=lambda d: _weight(costs[d]))
        mine = costs[best]
        pairs.append(Pair(row, best, None, None, mine.cycles, mine.insns, _ratio(base, mine)))
    return pairs


def _ratio(base: Cost | None, mine: Cost) -> float | None:
    """In estimated cycles; in instructions where neither side has an estimate."""
    if base is None:
        return None
    if base.cycles is not None and mine.cycles is not None:
        return base.cycles / mine.cycles
    return base.insns / mine.insns if base.cycles is None and mine.cycles is None else None
