"""Reduces build/icount.json (`make icount`) to what the package ships: gateway/data/icount.json.

usage: python scripts/ship_icount.py [build/icount.json]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

COLUMNS = (
    "target",
    "algorithm",
    "implementation",
    "op",
    "key_bits",
    "bytes",
    "batch",
    "insns_per_byte",
    "estimated_cycles_per_byte",
)
TARGETS = ("e500v2", "armv7", "aarch64-neon", "aarch64-ce")
ALGORITHMS = ("ecb(aes)", "cbc(aes)", "ctr(aes)", "xts(aes)", "gcm(aes)", "xts(speck64)", "xts(speck128)")


def wanted(row: dict[str, object]) -> bool:
    """Ciphers as published tables have them (one request at a time), and suites in batches."""
    suite = "(" not in str(row["algorithm"]) and not str(row["algorithm"]).startswith("sha")
    batch = 16 if suite else 1
    return row["target"] in TARGETS and row["batch"] == batch and (suite or row["algorithm"] in ALGORITHMS)


def main() -> None:
    source = Path(sys.argv[1] if len(sys.argv) > 1 else "build/icount.json")
    rows = [[row[c] for c in COLUMNS] for row in json.loads(source.read_text())["rows"] if wanted(row)]
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    head = json.dumps({"schema": "gwbench-icount/1", "columns": COLUMNS})[:-1]
    Path(__file__).resolve().parent.parent.joinpath("gateway/data/icount.json").write_text(
        f'{head}, "rows": [\n{lines}\n]}}\n'
    )


if __name__ == "__main__":
    main()
