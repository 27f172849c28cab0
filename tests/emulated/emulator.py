"""Machines that are emulated, and how gwnode runs on one.

A machine is a cross build (``build/cross/<build>/gwnode``, and ``gwnode-test`` with the commands that only tests need)
plus a qemu-user command line. The plugins beside this file (``qemu/``) are compiled by the host's gcc on first use.
Needs: qemu-user, gcc, and ``make cross``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLUGIN_SOURCES = Path(__file__).resolve().parent / "qemu"
PLUGIN_BUILD = ROOT / "build" / "qemu"
CROSS_BUILD = ROOT / "build" / "cross"

# What a CPU without the Crypto Extensions (and newer hash instructions) lacks, by gwnode's names.
NO_CRYPTO_EXTENSIONS = "aes,pmull,sha1,sha2,sha512,sha3"

TEST_COMMANDS = ("vectors", "differential", "icount", "selftest")


@dataclass(frozen=True)
class Machine:
    """One emulated CPU. ``forbid_ce``: abort when a crypto extension instruction is so much as translated."""

    name: str
    build: str
    qemu: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    forbid_ce: bool = False
    # CPU features that must be in force: without this a broken detection would leave everything untested.
    features: tuple[str, ...] = ()

    @property
    def gwnode(self) -> Path:
        return CROSS_BUILD / self.build / "gwnode"

    def program(self, command: str) -> Path:
        """The binary that has this command."""
        return self.gwnode.with_name("gwnode-test") if command in TEST_COMMANDS else self.gwnode


MACHINES = {
    m.name: m
    for m in (
        Machine("x86_64", "x86_64"),
        Machine("armv7-a7", "armv7", ("qemu-arm", "-cpu", "cortex-a7"), forbid_ce=True, features=("neon",)),
        Machine("armv7-a8", "armv7", ("qemu-arm", "-cpu", "cortex-a8"), forbid_ce=True, features=("neon",)),
        Machine("armv7-no-neon", "armv7", ("qemu-arm", "-cpu", "cortex-a7,neon=off"), forbid_ce=True),
        Machine("armv8-32bit", "armv7", ("qemu-arm", "-cpu", "max"), features=("neon", "aes", "pmull", "sha2")),
        Machine(
            "aarch64-neon",
            "aarch64",
            ("qemu-aarch64", "-cpu", "cortex-a53"),
            env={"GWBENCH_CPU_DISABLE": NO_CRYPTO_EXTENSIONS},
            forbid_ce=True,
            features=("neon",),
        ),
        Machine(
            "aarch64-ce", "aarch64", ("qemu-aarch64", "-cpu", "cortex-a53"), features=("neon", "aes", "pmull", "sha2")
        ),
        Machine("e500v2", "e500v2", ("qemu-ppc", "-cpu", "e500v2"), features=("spe",)),
        Machine("e500mc", "ppc", ("qemu-ppc", "-cpu", "e500mc")),
        Machine("mips", "mips", ("qemu-mips", "-cpu", "24Kc")),
        Machine("mipsel", "mipsel", ("qemu-mipsel", "-cpu", "24Kc")),
    )
}


def missing_tools(machines: Sequence[Machine]) -> list[str]:
    """What must be installed or built before these machines can run, in words."""
    tools = {m.qemu[0] for m in machines if m.qemu} | {"gcc"}
    missing = [f"{tool} (Debian: qemu-user, gcc)" for tool in sorted(tools) if shutil.which(tool) is None]
    programs = [p for m in machines for p in (m.gwnode, m.program("vectors"))]
    missing += [f"{program} (make cross)" for program in programs if not program.is_file()]
    return missing


def build_plugin(name: str) -> Path:
    """Compiles qemu/<name>.c into a shared object unless a newer one exists."""
    source, built = PLUGIN_SOURCES / f"{name}.c", PLUGIN_BUILD / f"{name}.so"
    newest = max(source.stat().st_mtime, (PLUGIN_SOURCES / "qplug.h").stat().st_mtime)
    if not built.exists() or built.stat().st_mtime < newest:
        PLUGIN_BUILD.mkdir(parents=True, exist_ok=True)
        scratch = built.with_suffix(f".{os.getpid()}")
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-o", str(scratch), str(source)],
            check=True,
        )
        scratch.replace(built)
    return built


def command(machine: Machine, *args: str, plugin: str | None = None) -> list[str]:
    """The command line for gwnode on this machine; ``plugin`` replaces the crypto extension guard."""
    if plugin is None and machine.forbid_ce:
        plugin = f"{build_plugin('bbprof')},ce=forbid"
    options = ["-plugin", plugin] if plugin and machine.qemu else []
    return [*machine.qemu, *options, str(machine.program(args[0] if args else "")), *args]


def environment(machine: Machine, **more: str) -> dict[str, str]:
    return {**os.environ, **machine.env, **more}


def run(
    machine: Machine, *args: str, stdin: str | None = None, timeout_s: float = 600
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(machine, *args),
        env=environment(machine),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
