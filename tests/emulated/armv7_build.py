"""Builds what the ARMv7 tests need beyond gwnode, with the compiler that built it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import emulator

MACHINE = emulator.MACHINES["armv7-a7"]
HERE = Path(__file__).resolve().parent
SOURCES = emulator.ROOT / "csrc" / "crypto" / "arm"
ZIG = (sys.executable, "-m", "ziglang", "cc", "-target", "arm-linux-musleabihf", "-mcpu=cortex_a8-neon", "-O2")
GNU_PREFIX = "arm-linux-gnueabihf-"


def check_tools() -> None:
    """Raises RuntimeError with what is missing."""
    missing = emulator.missing_tools([MACHINE])
    if shutil.which(GNU_PREFIX + "as") is None:
        missing.append("binutils-arm-linux-gnueabihf (Debian)")
    if missing:
        raise RuntimeError("needs " + ", ".join(missing))


def tool(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def build_probe() -> Path:
    """armv7_probe, linked with the objects of the armv7 build (make cross-armv7) less gwnode's commands."""
    check_tools()
    built = MACHINE.gwnode.with_name("armv7_probe")
    objects = sorted(MACHINE.gwnode.parent.rglob("*.o"))
    names = {o: o.relative_to(MACHINE.gwnode.parent).with_suffix("") for o in objects}
    objects = [
        o
        for o, n in names.items()
        if (n.parts[0] != "node" or n.name == "common.c") and (emulator.ROOT / "csrc" / n).exists()
    ]
    sources = [HERE / "armv7_probe.c", HERE / "armv7_registers.S"]
    newest = max(f.stat().st_mtime for f in [*objects, *sources])
    if not built.exists() or built.stat().st_mtime < newest:
        flags = ("-std=gnu11", "-fno-tree-vectorize", "-Wall", "-Wextra", "-Werror", "-static")
        tool(*ZIG, *flags, "-o", str(built), *map(str, sources), *map(str, objects))
    return built


def probe(*args: str, cpu: str) -> subprocess.CompletedProcess[str]:
    command = ["qemu-arm", "-cpu", cpu, str(build_probe()), *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
