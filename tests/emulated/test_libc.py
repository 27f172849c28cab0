"""What stands for the C library's functions in gwnode, on 64 bits and on 32 bits of the other byte order."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import emulator
import pytest

SOURCES = sorted((emulator.ROOT / "csrc" / "node").glob("libc_*.c"))


def flags(target: str) -> list[str]:
    made = re.search(rf"^ZIG_FLAGS_{target} *:= (.*)$", (emulator.ROOT / "mk" / "cross.mk").read_text(), re.MULTILINE)
    assert made
    return made[1].split()


@pytest.mark.parametrize(("target", "machine"), [("x86_64", "x86_64"), ("mips", "mips")])
def test_the_small_c_library(target: str, machine: str, tmp_path: Path) -> None:
    probe, text = tmp_path / "probe", tmp_path / "text"
    text.write_text("twenty bytes, then a\n" * 1000)
    subprocess.run(
        [
            sys.executable,
            "-m",
            "ziglang",
            "cc",
            *flags(target),
            "-std=gnu11",
            "-O2",
            "-fno-builtin",
            "-Wall",
            "-Wextra",
            "-Werror",
        ]
        + ["-static", "-o", str(probe), str(Path(__file__).with_name("libc_probe.c"))]
        + [str(s) for s in (*SOURCES, emulator.ROOT / "csrc/node/print.c")],
        check=True,
        timeout=300,
    )
    done = subprocess.run(
        [*emulator.MACHINES[machine].qemu, str(probe), str(text)], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")
