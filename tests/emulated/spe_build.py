"""Builds what the e500v2 tests need beyond gwnode, with the compiler that built it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import emulator

MACHINE = emulator.MACHINES["e500v2"]
HERE = Path(__file__).resolve().parent
SOURCES = emulator.ROOT / "csrc" / "crypto" / "ppc"
ZIG = (sys.executable, "-m", "ziglang", "cc", "-target", "powerpc-linux-musleabi", "-mcpu=e500", "-O2")
GNU_PREFIX = "powerpc-linux-gnu-"


def check_tools() -> None:
    """Raises RuntimeError with what is missing."""
    missing = emulator.missing_tools([MACHINE])
    if shutil.which(GNU_PREFIX + "as") is None:
        missing.append("binutils-powerpc-linux-gnu (Debian)")
    if missing:
        raise RuntimeError("needs " + ", ".join(missing))


def tool(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def build_probe() -> Path:
    """spe_probe, linked with the objects of the e500v2 build (make cross-e500v2) less gwnode's own."""
    check_tools()
    built = MACHINE.gwnode.with_name("spe_probe")
    objects = sorted(MACHINE.gwnode.parent.rglob("*.o"))
    names = {o: o.relative_to(MACHINE.gwnode.parent).with_suffix("") for o in objects}
    objects = [o for o, n in names.items() if n.parts[0] != "node" and (emulator.ROOT / "csrc" / n).exists()]
    sources = [HERE / "spe_probe.c", HERE / "spe_registers.S"]
    newest = max(f.stat().st_mtime for f in [*objects, *sources])
    if not built.exists() or built.stat().st_mtime < newest:
        flags = ("-std=gnu11", "-fno-tree-vectorize", "-Wall", "-Wextra", "-Werror", "-static")
        tool(*ZIG, *flags, "-o", str(built), *map(str, sources), *map(str, objects))
    return built


def probe(*args: str, plugin: str | None = None, cpu: str = "e500v2") -> subprocess.CompletedProcess[str]:
    options = ["-plugin", plugin] if plugin else []
    command = ["qemu-ppc", "-cpu", cpu, *options, str(build_probe()), *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def profile(out: Path, driver: str, direction: int, key_bytes: int, size: int, batch: int, times: int) -> Path:
    """Block profile of ``times`` calls; the difference between two such runs is the calls alone."""
    plugin = f"{emulator.build_plugin('bbprof')},out={out}"
    done = probe("run", driver, *(str(n) for n in (direction, key_bytes, size, batch, times)), plugin=plugin)
    if done.returncode != 0:
        raise RuntimeError(f"spe_probe run {driver}: exit {done.returncode}: {done.stderr}")
    return out
