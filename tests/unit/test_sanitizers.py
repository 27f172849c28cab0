"""ESP in memory under AddressSanitizer and UndefinedBehaviorSanitizer, through every implementation of this machine.

The whole of csrc/{core,crypto,esp,bench} is compiled with gcc's sanitizers and driven by c/esp_driver.c, whose
packets lie in heap blocks of exactly their size.
"""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

import pytest
from esp_internals import compile_objects, link, sources
from esp_support import runnable_suites, wishes

import dataplane as dp

FLAGS = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
DRIVER = Path(__file__).parent / "c" / "esp_driver.c"
ENVIRONMENT = {"ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1", "UBSAN_OPTIONS": "print_stacktrace=1"}


@functools.cache
def driver() -> Path:
    objects = compile_objects(FLAGS, [*sources(), DRIVER])
    return link(objects, FLAGS, "esp-driver")


def run(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([driver(), *args], capture_output=True, text=True, timeout=120, env=ENVIRONMENT)


# One key length each (the last in the table): the others are the same code.
SUITES = {(s.enc_alg, s.auth_alg): s.name for s in dp.suites() if s.name in runnable_suites()}.values()
PAIRS = [(s, w) for s in SUITES for w in wishes(s)]


@pytest.mark.parametrize(("suite", "wish"), [*PAIRS, ("null", "auto")])
def test_no_report(suite: str, wish: str) -> None:
    done = run(suite, wish, "1")
    assert (done.returncode, done.stderr) == (0, "")
    assert " opened 1340 " in done.stdout  # both with and without ESN
    refused = int(done.stdout.split(" refused ")[1])
    assert refused == 480 if suite != "null" else refused < 480  # nothing protects null: flips in it are not seen


def test_every_family_is_covered() -> None:
    covered = {wish for _, wish in PAIRS}
    assert covered == {w for s in runnable_suites() for w in wishes(s)}


def test_driver_notices(tmp_path: Path) -> None:
    """The sanitizers are really in: reading one byte past a heap block ends the program."""
    program = tmp_path / "past.c"
    program.write_text(
        "#include <stdlib.h>\nint main(int n, char **v) { char *p = malloc(3); (void)v; return p[n + 2]; }\n"
    )
    binary = tmp_path / "past"
    subprocess.run(["gcc", *FLAGS, str(program), "-o", str(binary)], check=True)
    done = subprocess.run([binary], capture_output=True, text=True)
    assert done.returncode != 0
    assert "heap-buffer-overflow" in done.stderr or "insufficient space for an object" in done.stderr
