"""The SPE assembly as such: one text for two assemblers, calling convention, alignment, signals, threads, fallback."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import emulator
import pytest
import spe_build

ASSEMBLY = sorted(spe_build.SOURCES.glob("*.S"))


def section(object_file: Path, name: str) -> bytes:
    out = object_file.with_suffix(name)
    spe_build.tool(spe_build.GNU_PREFIX + "objcopy", "-O", "binary", "-j", name, str(object_file), str(out))
    return out.read_bytes()


@pytest.mark.parametrize("source", ASSEMBLY, ids=lambda p: p.stem)
def test_gnu_as_and_clang_make_the_same_bytes(source: Path, tmp_path: Path) -> None:
    spe_build.check_tools()
    clang, gnu, text = tmp_path / "clang.o", tmp_path / "gnu.o", tmp_path / "source.s"
    spe_build.tool(*spe_build.ZIG, "-c", "-o", str(clang), str(source))
    text.write_text(spe_build.tool(*spe_build.ZIG, "-E", "-P", str(source)))
    spe_build.tool(spe_build.GNU_PREFIX + "as", "-mspe", "-me500", "-o", str(gnu), str(text))
    sections = {name: section(clang, name) for name in (".text", ".text.xts", ".rodata")}
    assert any(len(code) > 300 for code in sections.values())
    for name, code in sections.items():
        assert section(gnu, name) == code, name


@pytest.mark.parametrize("source", ASSEMBLY, ids=lambda p: p.stem)
def test_reserved_registers_are_left_alone(source: Path, tmp_path: Path) -> None:
    """r2 (thread pointer) and r13 never appear; r1 changes only by entering and leaving a frame."""
    spe_build.check_tools()
    made = tmp_path / "clang.o"
    spe_build.tool(*spe_build.ZIG, "-c", "-o", str(made), str(source))
    listing = spe_build.tool(spe_build.GNU_PREFIX + "objdump", "-d", "-M", "e500", str(made))
    for line in listing.splitlines():
        assert not re.search(r"\br(2|13)\b", line), line
        if re.search(r"\t\w+\s+r1,", line):
            assert re.search(r"\b(stwu\s+r1,-\d+\(r1\)|addi\s+r1,r1,\d+)", line), line


def spe_instructions(*files: Path) -> int:
    listing = spe_build.tool(spe_build.GNU_PREFIX + "objdump", "-d", "-M", "e500", *map(str, files))
    return len(re.findall(r"^\s+[0-9a-f]+:\t[0-9a-f ]+\t(?:ev|ef|brinc)", listing, re.MULTILINE))


def test_compiled_code_leaves_the_upper_halves_alone() -> None:
    """The assembly keeps only the low halves of r14-r31 for its caller. That is enough as long as no other code in the
    binary, libc's included, has an SPE instruction: clang would use them for doubles without soft float."""
    spe_build.check_tools()
    ours = [spe_build.MACHINE.gwnode.parent / "crypto" / "ppc" / f"{p.name}.o" for p in ASSEMBLY]
    assert spe_instructions(*ours) > 4000
    assert spe_instructions(spe_build.MACHINE.program("vectors")) == spe_instructions(*ours)


def test_the_interleaved_code_is_what_its_generator_writes() -> None:
    path = spe_build.SOURCES / "cbc_sha256_spe.py"
    spec = importlib.util.spec_from_file_location("cbc_sha256_spe", path)
    assert spec is not None and spec.loader is not None
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    written = generator.files()
    assert len(written) == 4
    for name, text in written.items():
        assert (spe_build.SOURCES / name).read_text() == text, f"{name}: run {path.name}"


@pytest.mark.parametrize("check", ["signals", "threads", "preserve", "alignment"])
def test_probe(check: str) -> None:
    done = spe_build.probe(check)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout


def test_without_spe_the_generic_build_falls_back() -> None:
    """A build for any PowerPC takes SPE where AT_HWCAP has it, and leaves it alone on an e500mc."""
    with_spe = emulator.Machine("ppc-on-e500v2", "ppc", ("qemu-ppc", "-cpu", "e500v2"))
    for machine, lacking in ((with_spe, False), (emulator.MACHINES["e500mc"], True)):
        done = emulator.run(machine, "selftest")
        assert done.returncode == 0, done.stdout + done.stderr
        rows = [line for line in done.stdout.splitlines() if "-spe/gwbench" in line]
        assert len(rows) >= 8
        assert all(("cpu lacks it" in row) == lacking for row in rows), done.stdout
