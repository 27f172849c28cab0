"""The committed counts, and what has grown since: ``make icount-baseline`` renews icount_baseline.json."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import icount_report

FILE = Path(__file__).with_name("icount_baseline.json")
# A count may grow by this much before it is a regression.
TOLERANCE = 0.01

# target -> row (algorithm, implementation, op, key bits, batch) -> instructions of one call, by request size
Counts = dict[str, dict[str, dict[int, int]]]


def collect(rows: Iterable[icount_report.Row]) -> Counts:
    counts: Counts = {}
    for row in rows:
        counts.setdefault(row.target, {}).setdefault(row.key, {})[row.bytes] = row.insns
    return counts


def load(path: Path = FILE) -> Counts:
    """Reads a baseline; sizes are the keys of each row's list."""
    document = json.loads(path.read_text())
    sizes = document["sizes"]
    return {
        target: {key: dict(zip(sizes, insns, strict=True)) for key, insns in rows.items()}
        for target, rows in document["targets"].items()
    }


def save(counts: Counts, path: Path = FILE) -> None:
    """One row a line, so that a changed count is a changed line."""
    sizes = list(icount_report.SIZES)
    lines = ['{"sizes": ' + json.dumps(sizes) + ', "targets": {']
    for t, (target, rows) in enumerate(sorted(counts.items())):
        lines.append(f' "{target}": {{')
        body = [
            f"  {json.dumps(key)}: {json.dumps([by_size[s] for s in sizes])}" for key, by_size in sorted(rows.items())
        ]
        lines.append(",\n".join(body))
        lines.append(" }" + ("," if t + 1 < len(counts) else ""))
    path.write_text("\n".join([*lines, "}}"]) + "\n")


def regressions(baseline: dict[str, dict[int, int]], now: dict[str, dict[int, int]]) -> list[str]:
    """Rows of one target that grew by more than the tolerance or are gone, in words."""
    found = []
    for key, by_size in baseline.items():
        if key not in now:
            found.append(f"{key}: no longer counted")
            continue
        for size, insns in by_size.items():
            if now[key][size] > insns * (1 + TOLERANCE):
                found.append(f"{key}, {size} bytes: {insns} instructions before, {now[key][size]} now")
    return found


def main(argv: Sequence[str]) -> int:
    """Arguments: targets to renew (default all); the others are kept."""
    targets = list(argv) or list(icount_report.TARGETS)
    counts = load() if FILE.exists() else {}
    for target in targets:
        counts[target] = collect(icount_report.count(target))[target]
    save(counts)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
