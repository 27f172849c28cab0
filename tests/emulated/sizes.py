"""What gwnode costs a router: ``make sizes``.

Flash: the stripped static binary beside its limit. Memory: what of it is resident with one tunnel up (a path, its TUN
and two SAs), counted in pages of the program itself. Under qemu-user these are the pages of the guest's addresses;
qemu's own are left out. Pages are the host's, 4096 bytes.
"""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import emulator

# Stripped, in bytes. The WDR4900's firmware partition has to hold a kernel and everything else besides.
LIMITS = {
    "x86_64": 400_000,
    "armv7": 300_000,
    "aarch64": 300_000,
    "e500v2": 250_000,
    "ppc": 250_000,
    "mips": 250_000,
    "mipsel": 250_000,
}
# The machine that each target's memory is measured on.
MACHINE = {
    "x86_64": "x86_64",
    "armv7": "armv7-a7",
    "aarch64": "aarch64-ce",
    "e500v2": "e500v2",
    "ppc": "e500mc",
    "mips": "mips",
    "mipsel": "mipsel",
}
SA = (
    '"suite":"aes128gcm16","local":"127.0.0.1","peer":"127.0.0.2","peer_port":4500,"local_port":4500,'
    '"enc_key":"00112233445566778899aabbccddeeff","auth_key":"","salt":"01020304"'
)
TUNNEL = (
    '{"id":1,"op":"hello","protocol":1}',
    '{"id":2,"op":"open_path","local":"127.0.0.1","port":4500}',
    '{"id":3,"op":"add_sa","spi":4097,"direction":"out",' + SA + "}",
    '{"id":4,"op":"add_sa","spi":4098,"direction":"in",' + SA + "}",
)


@dataclass(frozen=True)
class Size:
    """One target. ``resident_bytes`` is 0 where no tunnel can be made: no root, or no TUN."""

    target: str
    file_bytes: int
    limit_bytes: int
    resident_bytes: int

    @property
    def fits(self) -> bool:
        return self.file_bytes <= self.limit_bytes


def file_bytes(target: str) -> int:
    return emulator.MACHINES[MACHINE[target]].gwnode.stat().st_size


def first_address(program: Path) -> tuple[int, int]:
    """Where a static binary wants its first segment, and the bits of its addresses."""
    head = program.read_bytes()[:4096]
    order, wide = ("<", ">")[head[5] - 1], head[4] == 2
    at, size, count = (
        struct.unpack_from(order + "Q", head, 32)[0] if wide else struct.unpack_from(order + "I", head, 28)[0],
        *struct.unpack_from(order + "2H", head, 54 if wide else 42),
    )
    loads = []
    for i in range(count):
        kind = struct.unpack_from(order + "I", head, at + i * size)[0]
        address = struct.unpack_from(order + ("Q" if wide else "I"), head, at + i * size + (16 if wide else 8))[0]
        if kind == 1:
            loads.append(address)
    return min(loads), 64 if wide else 32


def resident_bytes(pid: int, program: Path, emulated: bool) -> int:
    """Resident pages at the program's own addresses."""
    maps = [
        (int(m[1], 16), m[2], int(m[3]) * 1024)
        for m in re.finditer(
            r"^([0-9a-f]+)-[0-9a-f]+ \S+ \S+ \S+ \S+ *(.*)\n(?:.*\n)*?Rss: +(\d+) kB",
            Path(f"/proc/{pid}/smaps").read_text(),
            re.MULTILINE,
        )
    ]
    if not emulated:
        return sum(rss for _, _, rss in maps)
    wanted, bits = first_address(program)
    base = min(start for start, name, _ in maps if name == str(program)) - wanted
    # qemu itself lies above 2^46; its guests of 64 bits begin at 0, those of 32 have 2^32 to themselves.
    window = range(base, base + (1 << (32 if bits == 32 else 40)))
    return sum(rss for start, _, rss in maps if start in window)


def with_a_tunnel(machine: emulator.Machine) -> int:
    """Resident bytes of gwnode with one tunnel. Needs root and a TUN, or a namespace of one's own that has both."""
    node = subprocess.Popen(
        emulator.command(emulator.Machine(machine.name, machine.build, machine.qemu), "--stdio"),
        env=emulator.environment(machine),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert node.stdin and node.stdout
    try:
        for line in TUNNEL:
            node.stdin.write(line + "\n")
            node.stdin.flush()
            answer = json.loads(node.stdout.readline())
            if not answer["ok"]:
                raise RuntimeError(f"{machine.name}: {answer['error']['message']}")
        return resident_bytes(node.pid, machine.gwnode, bool(machine.qemu))
    finally:
        node.stdin.close()
        node.wait(timeout=60)


def measure(target: str) -> Size:
    machine = emulator.MACHINES[MACHINE[target]]
    able = os.geteuid() == 0 and os.access("/dev/net/tun", os.W_OK)
    return Size(target, file_bytes(target), LIMITS[target], with_a_tunnel(machine) if able else 0)


def table(sizes: list[Size]) -> list[str]:
    lines = [f"{'target':8} {'stripped':>9} {'limit':>8} {'left':>8} {'resident, one tunnel':>21}"]
    for s in sizes:
        resident = f"{s.resident_bytes // 1024} KiB" if s.resident_bytes else "-"
        left = s.limit_bytes - s.file_bytes
        lines.append(f"{s.target:8} {s.file_bytes:9} {s.limit_bytes:8} {left:8} {resident:>21}")
    over = [s.target for s in sizes if not s.fits]
    most = max(s.resident_bytes for s in sizes) // 1024
    verdict = f"too large: {', '.join(over)}" if over else f"all {len(sizes)} fit"
    lines.append(f"{verdict}; at most {most} KiB resident" if most else verdict)
    return lines


def main() -> int:
    missing = emulator.missing_tools([emulator.MACHINES[name] for name in MACHINE.values()])
    if missing:
        print(f"sizes: needs {', '.join(missing)}", file=sys.stderr)
        return 2
    try:
        found = [measure(target) for target in LIMITS]
    except RuntimeError as error:
        print(f"sizes: {error}", file=sys.stderr)
        return 1
    print("\n".join(table(found)))
    return 0 if all(s.fits for s in found) else 1


if __name__ == "__main__":
    sys.exit(main())
