"""Packaging: an sdist holds what a build needs, and plain pip makes a working extension of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("csrc", "dataplane", "gateway", "setup.py", "pyproject.toml", "MANIFEST.in", "constraints.txt", "LICENSE")


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made from a copy without anything that was built."""
    copy = tmp_path_factory.mktemp("source")
    for name in (*PARTS, "README.md", "CONTRIBUTING.md"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(
                source, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.so", "_gwdp.c", "*.egg-info")
            )
        elif source.exists():
            shutil.copy(source, copy)
    subprocess.run(
        [sys.executable, "-W", "ignore", "setup.py", "-q", "sdist"], cwd=copy, check=True, capture_output=True
    )
    (archive,) = (copy / "dist").glob("gwbench-*.tar.gz")
    return archive


def test_the_sdist_holds_every_source_and_header(sdist: Path) -> None:
    with tarfile.open(sdist) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
    wanted = {
        str(path.relative_to(ROOT)) for path in (ROOT / "csrc").rglob("*") if path.suffix in (".c", ".h", ".S", ".inc")
    }
    assert wanted and wanted <= names
    assert {"setup.py", "dataplane/_build.py", "dataplane/_gwdp.pyi", "dataplane/py.typed"} <= names
    assert not [name for name in names if name.endswith((".so", ".o", ".pyc"))]


@pytest.mark.slow
def test_pip_installs_it_into_a_fresh_environment(sdist: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    env = {name: value for name, value in os.environ.items() if not name.startswith(("GWBENCH_", "PYTHON"))}
    env["PIP_CONSTRAINT"] = str(ROOT / "constraints.txt")
    install = [python, "-m", "pip", "install", "-q", "--no-input", "--disable-pip-version-check", sdist]
    done = subprocess.run(install, env=env, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    code = "import dataplane, sys; print(dataplane.init(), len(dataplane.suites()) > 5, dataplane.__file__)"
    done = subprocess.run([python, "-c", code], env=env, capture_output=True, text=True, check=True, cwd=tmp_path)
    failed, suites, where = done.stdout.split()
    assert (failed, suites) == ("0", "True")
    assert where.startswith(str(tmp_path)), "it must not find the source tree"
    assert (tmp_path / "venv" / "bin" / "gwbench").exists()
    assert os.access(Path(where).with_name("gwbench-xfrm-reader"), os.X_OK)


def test_only_what_changed_is_compiled_again(tmp_path: Path) -> None:
    copy = tmp_path / "tree"
    copy.mkdir()
    for name in ("dataplane", "setup.py", "pyproject.toml"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.so", "_gwdp.c"))
        else:
            shutil.copy(source, copy)
    # A small dataplane in C and in assembly; enough for the machinery.
    core = copy / "csrc" / "core"
    core.mkdir(parents=True)
    (copy / "csrc" / "gwdp.h").write_text("/* >>> cffi */\nint gw_one(void);\nint gw_two(void);\n/* <<< cffi */\n")
    (core / "one.c").write_text('#include "../gwdp.h"\nint gw_two_asm(void);\nint gw_one(void) { return 1; }\n')
    (core / "two.c").write_text('#include "../gwdp.h"\nint gw_two(void) { return 2; }\n')
    (core / "other.c").write_text("int gw_internal(void);\nint gw_internal(void) { return 0; }\n")
    (core / "three.S").write_text('#define NOTE .section .note.GNU-stack,"",%progbits\nNOTE\n')

    def build() -> dict[str, int]:
        command = [sys.executable, "-W", "ignore", "setup.py", "-q", "build_ext", "--inplace", "--build-temp", "build"]
        subprocess.run(command, cwd=copy, check=True, capture_output=True)
        code = "from dataplane._gwdp import lib; print(lib.gw_one(), lib.gw_two())"
        (copy / "dataplane" / "__init__.py").write_text("")
        done = subprocess.run([sys.executable, "-c", code], cwd=copy, check=True, capture_output=True, text=True)
        built = {path.name: path.stat().st_mtime_ns for path in (copy / "build").rglob("*.o")}
        return {**built, "result": int("".join(done.stdout.split()))}

    first = build()
    assert first["result"] == 12
    assert {"one.o", "two.o", "three.o"} <= set(first)
    (core / "two.c").write_text('#include "../gwdp.h"\nint gw_two(void) { return 7; }\n')
    second = build()
    assert second["result"] == 17
    assert second["one.o"] == first["one.o"] and second["two.o"] > first["two.o"]
    header = copy / "csrc" / "gwdp.h"
    header.write_text(header.read_text() + "\n")
    third = build()
    assert third["one.o"] > second["one.o"] and third["two.o"] > second["two.o"]
    assert third["other.o"] == first["other.o"], "it does not include the header"
