"""The I/O layer's pure functions and the binding under AddressSanitizer and UndefinedBehaviorSanitizer.

test_sanitizers.py does this for ESP with a driver in C. What segments and joins packets takes its input from the kernel
and from the wire: here the whole extension is built with sanitizers, and the property tests run once more on it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dataplane

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "sanitized"
FILES = ("test_segment.py", "test_coalesce.py", "test_checksum.py", "test_cffi.py")


def sanitized_environment() -> dict[str, str]:
    """The preloaded runtime, and the package of the sanitized build before the source tree's."""
    asan = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    return {
        **os.environ,
        "LD_PRELOAD": asan.stdout.strip(),
        # Leaks are the driver's business: Python itself never frees everything.
        "ASAN_OPTIONS": "detect_leaks=0:halt_on_error=1:abort_on_error=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": f"{BUILD}:{ROOT}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


@pytest.fixture(scope="module")
def extension() -> Path:
    """Built by the one setup.py, beside the ordinary objects."""
    command = ["setup.py", "-q", "build", "--build-base", "build/sanitized-objects", "--build-lib", str(BUILD)]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *command],
        cwd=ROOT,
        env={**os.environ, "GWBENCH_SANITIZE": "address,undefined", "GWBENCH_WERROR": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (built,) = (BUILD / "dataplane").glob("_gwdp*.so")
    return built


@pytest.mark.slow
def test_no_report(extension: Path) -> None:
    tests = [f"tests/unit/{name}" for name in FILES]
    command = ["-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "pythonpath=", *tests]
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=sanitized_environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


@pytest.mark.slow
def test_no_report_from_what_no_suite_carries(extension: Path) -> None:
    """Bare hashes, SHA-1's and SHA-512's HMACs, Speck: every implementation, all lengths, splits and offsets."""
    differential = str(ROOT / "tests" / "vectors" / "test_differential.py")
    command = ["-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "pythonpath=", differential]
    done = subprocess.run(
        [sys.executable, *command, "-k", "sha1 or sha256 or sha512 or speck"],
        cwd=ROOT,
        env=sanitized_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    rows = [i for i in dataplane.implementations() if re.search("sha1|sha512|speck", i.alg) and i.runnable]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None and int(passed.group(1)) >= len(rows) > 6


@pytest.mark.slow
def test_the_sanitized_extension_is_what_runs_and_notices(extension: Path) -> None:
    code = (
        "import dataplane._gwdp as g; print(g.__file__, flush=True)\n"
        "short = g.ffi.new('uint8_t[]', 10)\n"
        "g.lib.gw_checksum(short, 64, 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], env=sanitized_environment(), capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == str(extension)
    assert done.returncode != 0 and "heap-buffer-overflow" in done.stderr
