"""Which gwnode runs there, and where it lies here. /bin/sh's ELF header decides, and cpuinfo where it must."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import UnusableError
from gateway.peer.identify import Elf, Facts, elf_of

_X86_64, _ARM, _AARCH64, _MIPS, _PPC, _I386 = 62, 40, 183, 8, 20, 3
NEEDED = {"x86_64": (_X86_64, False), "armv7": (_ARM, False), "aarch64": (_AARCH64, False)} | {
    "mips": (_MIPS, True),
    "mipsel": (_MIPS, False),
    "e500v2": (_PPC, True),
    "ppc": (_PPC, True),
}
"""By target: e_machine and big endian, which its file must have."""


@dataclass(frozen=True, slots=True)
class Gwnode:
    """The binary for one machine."""

    target: str
    path: Path

    @property
    def size_bytes(self) -> int:
        return self.path.stat().st_size


def target_of(facts: Facts) -> str:
    """The name of ``make cross``'s target. UnusableError where there is none."""
    elf, info = facts.elf, facts.cpuinfo
    machine = elf.machine if elf else {"x86_64": _X86_64, "aarch64": _AARCH64, "armv7l": _ARM}.get(facts.machine, 0)
    if machine == _X86_64 or (machine == _I386 and facts.machine == "x86_64"):
        return "x86_64"
    if machine == _AARCH64:
        return "aarch64"
    if machine == _ARM:
        if re.match(r"armv[456]", facts.machine):
            raise _none(facts, "an ARM older than v7")
        return "armv7"
    if machine == _MIPS and elf is not None:
        return "mips" if elf.big_endian else "mipsel"
    if machine == _PPC:
        return "e500v2" if "e500v2" in info else "ppc"
    raise _none(facts, facts.machine or "an unknown processor")


def _none(facts: Facts, what: str) -> UnusableError:
    return UnusableError(f"{facts.name}: there is no gwnode for {what}", f"there are: {', '.join(NEEDED)}", "no-target")


def directories() -> tuple[Path, ...]:
    """Where binaries are looked for: a checkout's build, and beside the package."""
    package = Path(__file__).resolve().parents[1]
    return package.parent / "build" / "cross", package / "gwnode"


def find(facts: Facts, named: str = "") -> Gwnode:
    """The binary for this machine: ``named``, or the one of its target. UnusableError says how to make it."""
    target = target_of(facts)
    if named:
        path = Path(named)
        if not path.is_file():
            raise UnusableError(f"{named} is not there", f"make cross-{target}", "no-gwnode")
    else:
        path = next((p for d in directories() if (p := d / target / "gwnode").is_file()), Path())
        if not path.is_file():
            raise UnusableError(
                f"the gwnode for {facts.name} ({target}) is not built",
                f"make cross-{target}, or name it with --gwnode FILE",
                "no-gwnode",
            )
    with path.open("rb") as file:
        elf = elf_of(file.read(64))
    if not _fits(elf, target):
        raise UnusableError(f"{path} is no program for {facts.name} ({target})", f"make cross-{target}", "no-gwnode")
    return Gwnode(target, path)


def _fits(elf: Elf | None, target: str) -> bool:
    return elf is not None and (elf.machine, elf.big_endian) == NEEDED[target]
