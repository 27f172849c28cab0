"""The ARMv7 NEON code as such: one text for two assemblers, calling convention, page edges, batches, fallback."""

from __future__ import annotations

import re
from pathlib import Path

import armv7_build
import emulator
import pytest

ASSEMBLY = sorted(armv7_build.SOURCES.glob("*.S"))


def words(object_file: Path) -> list[str]:
    """The .text section, a word each; calls without their distance, which one assembler leaves to the linker."""
    out = object_file.with_suffix(".text")
    armv7_build.tool(armv7_build.GNU_PREFIX + "objcopy", "-O", "binary", "-j", ".text", str(object_file), str(out))
    code = out.read_bytes()
    found = [f"{int.from_bytes(code[i : i + 4], 'little'):08x}" for i in range(0, len(code), 4)]
    return [re.sub("^eb.{6}", "eb", w) for w in found]


@pytest.mark.parametrize("source", ASSEMBLY, ids=lambda p: p.stem)
def test_gnu_as_and_clang_make_the_same_code(source: Path, tmp_path: Path) -> None:
    armv7_build.check_tools()
    clang, gnu, text = tmp_path / "clang.o", tmp_path / "gnu.o", tmp_path / "source.s"
    armv7_build.tool(*armv7_build.ZIG, "-c", "-o", str(clang), str(source))
    text.write_text(armv7_build.tool(*armv7_build.ZIG, "-E", "-P", str(source)))
    armv7_build.tool(armv7_build.GNU_PREFIX + "as", "-o", str(gnu), str(text))
    made = words(clang)
    assert len(made) > 50
    assert words(gnu) == made


@pytest.mark.parametrize("cpu", ["cortex-a7", "cortex-a8", "max"])
@pytest.mark.parametrize("check", ["preserve", "edges", "company"])
def test_probe(check: str, cpu: str) -> None:
    done = armv7_build.probe(check, cpu=cpu)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert int(lines[-1].split()[0]) == len(lines) - 1 > 8, done.stdout
    assert all(line.endswith(" 0") for line in lines[:-1]), done.stdout


def test_without_neon_the_same_binary_falls_back() -> None:
    for machine, lacking in ((emulator.MACHINES["armv7-a7"], False), (emulator.MACHINES["armv7-no-neon"], True)):
        done = emulator.run(machine, "selftest")
        assert done.returncode == 0, done.stdout + done.stderr
        rows = [line for line in done.stdout.splitlines()[1:] if "neon" in line.split()[1]]
        assert len(rows) >= 9
        assert all(("cpu lacks it" in row) == lacking for row in rows), done.stdout
