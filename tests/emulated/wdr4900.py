r"""The WDR4900 test with an emulated gateway: ``make wdr4900``.

::

    client, native, ESP by our worker        gateway: gwnode for e500v2 under qemu-ppc         server, native
    +-------------+     UDP-encapsulated     +---------------------------------------+        +----------+
    | iperf3 esp0 o--wan------- ESP -----wan-o big-endian data path, its own TUN     o--lan---o iperf3   |
    +-------------+      little-endian       +---------------------------------------+        +----------+

Real packets, real sockets, the ordinary correctness gate and packet accounting. Emulation has no meaningful time, so no
Mbit/s are printed: what counts is the number of instructions that the *whole gateway process* executed while iperf3 ran
per inner byte it carried, and how much of that lies outside sealing and opening packets. A processor that executes
1.4 times fewer instructions is not 1.4 times faster by that alone; ``gwbench estimate`` makes the step to time.
"""

from __future__ import annotations

import argparse
import os
import struct
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import emulator
import icount_report

from gateway.errors import GwbenchError
from gateway.lab import userns
from gateway.lab.topology import CLIENT_V4, SERVER_V4, Laboratory
from gateway.lab.tunnel import Tunnel
from gateway.load.iperf3 import Load
from gateway.load.iperf3_parse import Interval
from gateway.measure.endtoend import EndToEnd, Options
from gateway.measure.laboratory import of_lab
from gateway.measure.sample import Sample
from gateway.rounds import Case

SUITE = "aes256-sha256"
GATEWAY = "gateway"
PACKET_BYTES = 1408
BATCH = 16


@dataclass(frozen=True)
class Row:
    """One implementation on the emulated gateway, while iperf3 ran."""

    role: str
    implementation: str
    valid: bool
    reasons: tuple[str, ...]
    insns: int
    """Executed by the gateway's process, all threads."""
    packets: int
    """Sealed and opened by it."""
    bytes: int
    """Inner bytes of these."""
    sealing: float
    """Instructions per byte for sealing and opening these packets in memory; 0 = not counted."""

    @property
    def insns_per_byte(self) -> float:
        return self.insns / self.bytes

    @property
    def share_outside(self) -> float:
        """Of the instructions: what is not sealing and opening, as checksums, joining, system calls, control."""
        return 1 - self.sealing / self.insns_per_byte


class Silent:
    """A :class:`gateway.measure.endtoend.Progress` that tells nobody."""

    def candidate(self, case: Case, number: int, of: int) -> None: ...
    def stage(self, text: str) -> None: ...
    def interval(self, interval: Interval) -> None: ...
    def measured(self, sample: Sample) -> None: ...
    def repeat(self, case: Case, number: int, why: str) -> None: ...


class Counted(EndToEnd):
    """The end-to-end measurement, with the plugin's counter read where the packet counters are read."""

    def __init__(self, counter: int, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._counter = counter
        self.insns = 0

    def _measured(self, case: Case, tunnel: Tunnel | None, report: Any) -> Sample:
        before = self._read()
        sample = super()._measured(case, tunnel, report)
        self.insns = self._read() - before
        return sample

    def _read(self) -> int:
        return int(struct.unpack("=Q", os.pread(self._counter, 8, 0))[0])


def measure(machine: emulator.Machine, roles: Sequence[str], seconds: int, sealing: dict[str, float]) -> list[Row]:
    """One row a role (``generic``, ``accelerated``). Raises GwbenchError when something cannot be measured."""
    rows = []
    with tempfile.NamedTemporaryFile(prefix="wdr4900-") as shared, Laboratory("client", "default") as lab:
        gwnode = emulator.command(machine, plugin=f"{emulator.build_plugin('icount')},shm={shared.name}")
        load = Load(SERVER_V4, CLIENT_V4, seconds=seconds)
        options = Options(suites=(SUITE,), rounds=1, load=load, gwnodes={GATEWAY: tuple(gwnode)})
        for role in roles:
            end_to_end = Counted(shared.fileno(), of_lab(lab, options), options, load, Silent())
            sample = end_to_end.measure(Case(role, SUITE, role), 1)
            assert sample.verdict is not None
            sas = sample.gateways[GATEWAY].sas
            rows.append(
                Row(
                    role,
                    sample.implementation,
                    sample.verdict.valid,
                    sample.verdict.reasons,
                    end_to_end.insns,
                    sum(sa.packets for sa in sas),
                    sum(sa.bytes for sa in sas),
                    sealing.get(role, 0.0),
                )
            )
    return rows


def count_sealing(target: str) -> dict[str, float]:
    """Instructions per byte to open packets of 1408 bytes, 16 at a time, in memory: what a gateway does that receives.

    By role: ``generic``, and the best of the others as ``accelerated``.
    """
    found: dict[str, float] = {}
    for row in icount_report.count(target):
        if (row.algorithm, row.op, row.bytes, row.batch) != (SUITE, "open", PACKET_BYTES, BATCH):
            continue
        role = "generic" if row.tag == "generic" else "accelerated"
        found[role] = min(row.insns_per_byte, found.get(role, row.insns_per_byte))
    return found


def table(target: str, rows: Sequence[Row]) -> list[str]:
    """For people."""
    first = rows[0]
    lines = [
        f"The WDR4900 test, {SUITE}, TCP through a gateway that is gwnode for {target} under qemu-user.",
        "Instructions of the whole gateway process per inner byte carried. Emulated: no time, no Mbit/s.",
        f"crypto: opening packets of {PACKET_BYTES} bytes in memory, {BATCH} at a time; outside: share of the rest.",
        "",
        f"{'implementation':53} {'packets':>8} {'insns/byte':>10} {'crypto':>7} {'outside':>7} {'fewer':>6}  valid",
    ]
    for row in rows:
        sealing = f"{row.sealing:7.1f} {row.share_outside:7.1%}" if row.sealing else f"{'-':>7} {'-':>7}"
        lines.append(
            f"{row.implementation:53} {row.packets:8} {row.insns_per_byte:10.1f} {sealing} "
            f"{first.insns_per_byte / row.insns_per_byte:5.2f}x  {'yes' if row.valid else 'NO: ' + row.reasons[0]}"
        )
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description="The WDR4900 test with an emulated gateway.")
    parser.add_argument("--target", default="e500v2", choices=["e500v2", "armv7"])
    parser.add_argument("-t", "--time", type=int, default=4, metavar="S", help="seconds of iperf3 a row (default: 4)")
    arguments = parser.parse_args()
    machine = emulator.MACHINES[icount_report.TARGETS[arguments.target]]
    if missing := emulator.missing_tools([machine]):
        print(f"wdr4900: needs {', '.join(missing)}", file=sys.stderr)
        return 2
    userns.enter_if_needed()
    try:
        rows = measure(machine, ("generic", "accelerated"), arguments.time, count_sealing(arguments.target))
    except (GwbenchError, RuntimeError) as error:
        print(f"wdr4900: {error}", file=sys.stderr)
        return 2
    print("\n".join(table(arguments.target, rows)))
    return 0 if all(row.valid for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
