"""Prints what SPE gains on an e500v2, operation by operation: instructions and estimated cycles a byte.

``python tests/emulated/spe_estimate.py`` after ``make cross-e500v2``. Instructions are exact. Cycles are an estimate:
e500v2_model.py simulates each profiled block by the limits in the core's manual. ``bounds`` are the least cycles a byte
that dispatch (two a cycle), the one vector unit and the one load/store unit would allow.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import e500v2_model as model
import spe_build


@dataclass(frozen=True)
class Operation:
    """One row: drivers are added up (cipher + MAC); ``size`` bytes a request, ``batch`` requests a call."""

    name: str
    generic: tuple[str, ...]
    spe: tuple[str, ...]
    direction: int
    key_bytes: int
    size: int
    batch: int


def pair(mode: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (f"{mode}-generic/gwbench",), (f"{mode}-spe/gwbench",)


FUSED = ("authenc-hmac-sha256-cbc-aes-spe/gwbench",)
PARTS = ("cbc-aes-generic/gwbench", "hmac-sha256-generic/gwbench")

OPERATIONS = [
    Operation("AES-128 ECB, 8192", *pair("ecb-aes"), 1, 16, 8192, 1),
    Operation("AES-128 CBC encrypt, 8192", *pair("cbc-aes"), 1, 16, 8192, 1),
    Operation("AES-128 CBC decrypt, 8192", *pair("cbc-aes"), 0, 16, 8192, 1),
    Operation("AES-128 CTR, 8192", *pair("ctr-aes"), 1, 16, 8192, 1),
    Operation("AES-128 XTS, 8192", *pair("xts-aes"), 1, 32, 8192, 1),
    Operation("AES-256 CBC encrypt, 8192", *pair("cbc-aes"), 1, 32, 8192, 1),
    Operation("AES-256 CTR, 8192", *pair("ctr-aes"), 1, 32, 8192, 1),
    Operation("AES-256 XTS, 8192", *pair("xts-aes"), 1, 64, 8192, 1),
    Operation("SHA-256, 8192", *pair("sha256"), 1, 0, 8192, 1),
    Operation("HMAC-SHA-256, 1432 x 16", *pair("hmac-sha256"), 1, 32, 1432, 16),
    Operation("AES-128-GCM seal, 1408 x 16", *pair("gcm-aes"), 1, 16, 1408, 16),
    Operation("AES-128-GCM open, 1408 x 16", *pair("gcm-aes"), 0, 16, 1408, 16),
    Operation("aes128-sha256 seal, 1408 x 16", PARTS, FUSED, 1, 16, 1408, 16),
    Operation("aes128-sha256 open, 1408 x 16", PARTS, FUSED, 0, 16, 1408, 16),
    Operation("aes256-sha256 seal, 1408 x 16", PARTS, FUSED, 1, 32, 1408, 16),
    Operation("aes256-sha256 open, 1408 x 16", PARTS, FUSED, 0, 32, 1408, 16),
]
MAC_HEADER_BYTES = 24  # SPI, sequence number and IV are hashed besides the packet


def measure(scratch: Path, driver: str, op: Operation) -> model.Estimate:
    """Two of the calls, isolated as the difference between three and one."""
    mac = driver.startswith("hmac") and len(op.generic) == 2
    size = op.size + MAC_HEADER_BYTES if mac else op.size
    direction, key_bytes = (1, 32) if mac else (op.direction, op.key_bytes)
    one, three = (
        model.read_profile(spe_build.profile(scratch / f"{n}", driver, direction, key_bytes, size, op.batch, n))
        for n in (1, 3)
    )
    return model.estimate(model.difference(three, one))


def per_byte(scratch: Path, drivers: tuple[str, ...], op: Operation) -> tuple[float, float, tuple[float, float, float]]:
    """Instructions, cycles, and the bounds (dispatch, vector unit, load/store unit)."""
    found = [measure(scratch, d, op) for d in drivers]
    total = 2 * op.size * op.batch
    bounds = tuple(sum(getattr(e, b) for e in found) / total for b in ("dispatch_bound", "su1_bound", "lsu_bound"))
    return sum(e.insns for e in found) / total, sum(e.cycles for e in found) / total, (bounds[0], bounds[1], bounds[2])


def main() -> int:
    print(f"{'per byte':32}{'generic':>17}{'SPE':>17}{'gain':>15}   SPE bounds: dispatch, vector, load/store")
    print(f"{'':32}{'insns  est.cyc':>17}{'insns  est.cyc':>17}{'insns  est.cyc':>15}")
    with tempfile.TemporaryDirectory() as directory:
        for op in OPERATIONS:
            generic = per_byte(Path(directory), op.generic, op)
            spe = per_byte(Path(directory), op.spe, op)
            gains = f"{generic[0] / spe[0]:8.2f}{generic[1] / spe[1]:7.2f}"
            bounds = "  ".join(f"{b:5.1f}" for b in spe[2])
            print(f"{op.name:32}{generic[0]:9.2f}{generic[1]:8.2f}{spe[0]:9.2f}{spe[1]:8.2f}{gains}   {bounds}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
