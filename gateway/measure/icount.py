"""Instruction counts of other processors (``make icount``) as estimated costs.

A cost is in cycles per byte of the core named, estimated from exact instruction counts; where no estimate exists it
is in instructions per byte. Sizes between two counted ones are interpolated over the request's total, keys of 192 bits
over AES's rounds (12 is the middle of 10 and 14).
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.errors import UnusableError

SHIPPED = Path(__file__).resolve().parent.parent / "data" / "icount.json"
BUILT = Path("build/icount.json")
CIPHER_ALONE = {192: (128, 256), 384: (256, 512)}
"""Key bits between two counted ones; XTS counts both halves."""


@dataclass(frozen=True, slots=True)
class Key:
    """What is counted."""

    target: str
    algorithm: str
    op: str
    key_bits: int
    batch: int


@dataclass(frozen=True, slots=True)
class Cost:
    """Per byte."""

    cycles: float | None
    """Estimated; None where nobody knows this class of code on this core."""
    insns: float


class Counts:
    """All rows of one file."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], source: str) -> None:
        self.source = source
        self._rows: dict[tuple[Key, str], dict[int, Cost]] = {}
        self._core = ""
        self._raw = rows

    def core(self, name: str) -> Counts:
        """Estimates for this core; a target may stand for several."""
        self._core = name
        self._rows = {}
        for row in self._raw:
            key = Key(row["target"], row["algorithm"], row["op"], int(row["key_bits"]), int(row["batch"]))
            cost = Cost((row.get("estimated_cycles_per_byte") or {}).get(name), float(row["insns_per_byte"]))
            self._rows.setdefault((key, row["implementation"]), {})[int(row["bytes"])] = cost
        return self

    def implementations(self, target: str, algorithm: str) -> list[str]:
        """Drivers that were counted."""
        return list(dict.fromkeys(i for key, i in self._rows if key.target == target and key.algorithm == algorithm))

    def cost(self, key: Key, implementation: str, size: int) -> Cost | None:
        """None where it was not counted."""
        if (key, implementation) not in self._rows and key.key_bits in CIPHER_ALONE:
            ends = [
                self.cost(Key(key.target, key.algorithm, key.op, bits, key.batch), implementation, size)
                for bits in CIPHER_ALONE[key.key_bits]
            ]
            return _between(ends[0], ends[1], 0.5) if ends[0] and ends[1] else None
        sizes = self._rows.get((key, implementation), {})
        if size in sizes or not sizes:
            return sizes.get(size)
        known = sorted(sizes)
        at = bisect_left(known, size)
        if at in (0, len(known)):
            return None
        low, high = known[at - 1], known[at]
        share = (size - low) / (high - low)
        total = _between(_scaled(sizes[low], low), _scaled(sizes[high], high), share)
        return _scaled(total, 1 / size)


def _between(a: Cost, b: Cost, share: float) -> Cost:
    cycles = None if a.cycles is None or b.cycles is None else a.cycles + (b.cycles - a.cycles) * share
    return Cost(cycles, a.insns + (b.insns - a.insns) * share)


def _scaled(cost: Cost, factor: float) -> Cost:
    return Cost(None if cost.cycles is None else cost.cycles * factor, cost.insns * factor)


def load(path: str | None = None) -> Counts:
    """``path``; empty: what was built here, or what the package ships; None: what it ships. UnusableError for what is
    no file of counts."""
    built = BUILT if path == "" and BUILT.is_file() else SHIPPED
    where = Path(path) if path else built
    try:
        content = json.loads(where.read_text(encoding="utf-8"))
        if content["schema"] != "gwbench-icount/1":
            raise ValueError("another schema")
        rows = content["rows"]
        if "columns" in content:
            rows = [dict(zip(content["columns"], row, strict=True)) for row in rows]
        return Counts(rows, "counts shipped with gwbench" if where == SHIPPED else str(where)).core("")
    except OSError as error:
        raise UnusableError(f"cannot read {where}: {error.strerror}", "make icount writes build/icount.json") from None
    except (KeyError, TypeError, ValueError) as error:
        raise UnusableError(f"{where} is no file of counts ({error})", "make icount writes build/icount.json") from None
