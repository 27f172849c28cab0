"""Instructions per byte of every implementation on every target: ``make icount``.

Runs ``gwnode icount`` under qemu-user with the counting plugin, prints one table a target and writes
``rows[]`` of {target, algorithm, implementation, op, key_bits, bytes, batch, insns_per_byte, loads_per_byte,
stores_per_byte, insns, estimated_cycles_per_byte}. Counts are exact; cycles are estimates (anchors.py).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from subprocess import run
from typing import Any

import anchors
import emulator

# target of the report -> machine it is counted on
TARGETS = {
    "armv7": "armv7-a7",
    "aarch64-neon": "aarch64-neon",
    "aarch64-ce": "aarch64-ce",
    "e500v2": "e500v2",
    "mips": "mips",
    "mipsel": "mipsel",
}
SIZES = (16, 64, 256, 1024, 1408, 8192)


@dataclass(frozen=True)
class Row:
    """One bracketed call: ``batch`` requests of ``bytes`` each; counts are of the whole call."""

    target: str
    algorithm: str
    implementation: str
    tag: str
    op: str
    key_bits: int
    bytes: int
    batch: int
    insns: int
    loads: int
    stores: int
    neon_q: int

    @property
    def total_bytes(self) -> int:
        return self.bytes * self.batch

    @property
    def insns_per_byte(self) -> float:
        return self.insns / self.total_bytes

    @property
    def key(self) -> str:
        """What a baseline calls this row, less its size."""
        return f"{self.algorithm} {self.implementation.replace(' ', '')} {self.op} {self.key_bits} x{self.batch}"


def count(target: str, *args: str) -> list[Row]:
    """Runs the counts of one target. Raises RuntimeError with gwnode's words when it fails."""
    machine = emulator.MACHINES[TARGETS[target]]
    missing = emulator.missing_tools([machine])
    if missing:
        raise RuntimeError(f"{target}: needs {', '.join(missing)}")
    with tempfile.NamedTemporaryFile(prefix="icount-") as shared:
        done = run(
            emulator.command(machine, "icount", *args, plugin=f"{emulator.build_plugin('icount')},shm={shared.name}"),
            env=emulator.environment(machine, ICOUNT_SHM=shared.name),
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        raise RuntimeError(f"{target}: {done.stderr.strip() or f'exit {done.returncode}'}")
    return [Row(target=target, **json.loads(line)) for line in done.stdout.splitlines()]


# ---- estimated cycles ------------------------------------------------------------------------------------------------


def cipher_class(target: str, tag: str, algorithm: str, op: str, batch: int) -> str | None:
    if tag == "generic" or target in ("e500v2", "mips", "mipsel"):
        return "table-aes" if tag in ("generic", "spe") else None
    if tag == "ce":
        return "ce-aes"
    if tag == "neonbs" or (tag == "neon" and target == "armv7"):
        return "bitsliced-neon"
    if tag == "neon":
        serial = algorithm == "cbc(aes)" and op in ("encrypt", "seal") and batch < 4
        return "tbl-serial" if serial else "tbl-parallel"
    return "table-aes" if tag == "arm" else None


def hash_class(target: str, driver: str, batch: int) -> str | None:
    if "-ce" in driver:
        return "ce-sha2"
    if "neon" in driver:  # on ARMv7 four messages abreast is an implementation of its own
        wide = batch >= 4 and (target != "armv7" or "neon4" in driver)
        return "sha2-neon-4way" if wide else "sha2-neon"
    return "sha2-scalar"


def cycles(row: Row, insns: float, cls: str | None) -> dict[str, float]:
    """Cycles of ``insns`` instructions of one class on each core of the target."""
    if cls is None:
        return {}
    costs = anchors.CLASS_COST[cls]
    result = {}
    for core in anchors.CORES[row.target]:
        if core in costs:
            n = insns
            if core == "cortex-a7" and cls in anchors.NEON_CLASSES:
                n += insns * row.neon_q / row.insns
            result[core] = n * costs[core]
    return result


class Estimator:
    """Splits a suite's count into its cipher (counted alone, same size and batch) and the rest, which is the hash."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.alone = {(r.target, r.implementation, r.op, r.key_bits, r.bytes, r.batch): r for r in rows}

    def _cipher_alone(self, row: Row, cipher_algorithm: str, driver: str) -> Row | None:
        op = "encrypt" if row.op in ("seal", "encrypt") or cipher_algorithm == "ctr(aes)" else "decrypt"
        return self.alone.get((row.target, driver, op, row.key_bits, row.bytes, row.batch))

    def estimate(self, row: Row) -> dict[str, float]:
        drivers = row.implementation.split(" + ")
        if row.algorithm.startswith(("sha", "hmac(")):
            total = cycles(row, row.insns, hash_class(row.target, row.implementation, row.batch))
        elif drivers[0].startswith(("gcm-aes", "authenc")) or len(drivers) == 2:
            total = self._composed(row, drivers)
        elif "aes" in row.algorithm:
            total = cycles(row, row.insns, cipher_class(row.target, row.tag, row.algorithm, row.op, row.batch))
        else:
            total = {}
        return {core: round(value / row.total_bytes, 3) for core, value in total.items()}

    def _composed(self, row: Row, drivers: Sequence[str]) -> dict[str, float]:
        if drivers[0] == "authenc-hmac-sha256-cbc-aes-spe/gwbench":
            return cycles(row, row.insns, "spe-cbc-sha256")
        gcm = drivers[0].startswith("gcm-aes")
        mode = "ctr" if gcm else "cbc"
        driver = drivers[0].replace("gcm-aes", "ctr-aes") if gcm else drivers[0]
        alone = self._cipher_alone(row, f"{mode}(aes)", driver)
        if alone is None:
            return {}
        share = min(alone.insns / row.insns, 1.0)
        cipher = cipher_class(row.target, alone.tag, f"{mode}(aes)", row.op, row.batch)
        if not gcm:
            rest: str | None = hash_class(row.target, drivers[-1], row.batch)
        elif alone.tag in ("neon", "neonbs"):
            rest = "ghash-p8"
        else:
            rest = cipher
        a, b = cycles(row, row.insns * share, cipher), cycles(row, row.insns * (1 - share), rest)
        return {core: a[core] + b[core] for core in a if core in b}


# ---- output ----------------------------------------------------------------------------------------------------------


def document(rows: Sequence[Row]) -> dict[str, Any]:
    estimator = Estimator(rows)
    return {
        "schema": "gwbench-icount/1",
        "rows": [
            {
                "target": r.target,
                "algorithm": r.algorithm,
                "implementation": r.implementation,
                "op": r.op,
                "key_bits": r.key_bits,
                "bytes": r.bytes,
                "batch": r.batch,
                "insns": r.insns,
                "insns_per_byte": round(r.insns_per_byte, 4),
                "loads_per_byte": round(r.loads / r.total_bytes, 4),
                "stores_per_byte": round(r.stores / r.total_bytes, 4),
                "estimated_cycles_per_byte": estimator.estimate(r),
            }
            for r in rows
        ],
    }


def table(rows: Sequence[Row]) -> str:
    """One line per implementation, operation, key and batch; a column per request size."""
    estimator = Estimator(rows)
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[(row.target, row.key)].append(row)
    lines, target = [], ""
    for (group_target, _), group in groups.items():
        if group_target != target:
            target = group_target
            sizes = "".join(f"{size:>8}" for size in SIZES)
            lines += ["", f"{target}: instructions per byte of requests of N bytes, x requests in a batch"]
            heads = f"{'algorithm, implementation':62}{'op':>8}{'key':>5}{'x':>4}{sizes}{'anchor':>8}{'ld':>6}{'st':>6}"
            lines.append(f"{heads}  est. cycles")
        first = group[0]
        at = {r.bytes: r for r in group}
        mark = at.get(anchors.anchor_bytes(first.algorithm), first)
        limit = anchors.anchor(target, first.algorithm, first.op, first.key_bits)
        name = f"{first.algorithm}  {first.implementation.replace('/gwbench', '')}"
        cells = "".join(f"{at[size].insns_per_byte:8.2f}" if size in at else f"{'-':>8}" for size in SIZES)
        estimate = ", ".join(f"{core} {value:.2f}" for core, value in estimator.estimate(mark).items())
        lines.append(
            f"{name:62}{first.op:>8}{first.key_bits or '':>5}{first.batch:>4}{cells}"
            f"{'' if limit is None else f'{limit:.2f}':>8}"
            f"{mark.loads / mark.total_bytes:6.2f}{mark.stores / mark.total_bytes:6.2f}  {estimate}"
        )
    lines += ["", "anchor, loads, stores, cycles: at 8192 bytes (suites: 1408). Cycles are estimates, never measured."]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", default=list(TARGETS), help="of " + ", ".join(TARGETS))
    parser.add_argument("--out", type=Path, help="where the JSON document goes")
    parser.add_argument("--impl", help="only this driver, no suites")
    args = parser.parse_args(argv)
    unknown = set(args.targets) - set(TARGETS)
    if unknown:
        parser.error(f"unknown target {', '.join(sorted(unknown))}: there are {', '.join(TARGETS)}")
    more = ("--impl", args.impl) if args.impl else ()
    try:
        emulator.build_plugin("icount")
        with ThreadPoolExecutor(max_workers=2) as pool:
            rows = [row for part in pool.map(lambda t: count(t, *more), args.targets) for row in part]
    except RuntimeError as error:
        print(f"icount: {error}", file=sys.stderr)
        return 1
    print(table(rows))
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(document(rows), indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
