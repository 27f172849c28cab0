"""A slowed implementation is found by compare, and two runs of the same are not: hook, commands, arithmetic."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.compare.series import Row, Series, relative

SLOWED = "gcm-aes-ct/gwbench"
PAIRED = ("--relative-to", "generic", "--noise", "30")
"""With 400 % against 30 % no machine is so noisy that this test fails by chance."""


def gwbench(*arguments: str, slow: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "GWBENCH_SLOW_DOWN": slow}
    command = [sys.executable, "-m", "gateway.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two runs of the same thing, and one with the hook."""
    folder = tmp_path_factory.mktemp("slow")
    found = {}
    what = ("--algo", "gcm(aes)", "--impl", "ct,generic", "--key-bits", "128", "--bytes", "1024")
    for name, slow in (("before", ""), ("again", ""), ("slowed", f"{SLOWED}=400")):
        found[name] = folder / f"{name}.json"
        done = gwbench("crypto", *what, "--json", str(found[name]), slow=slow)
        assert done.returncode == 0, done.stderr
    return found


def test_compare_finds_what_was_slowed(results: dict[str, Path]) -> None:
    done = gwbench("compare", "--baseline", str(results["before"]), str(results["slowed"]), "--relative-to", "generic")
    assert done.returncode == 1, done.stdout + done.stderr
    slower = [line for line in done.stdout.splitlines() if line.endswith("SLOWER")]
    assert len(slower) == 2 and all(SLOWED in line for line in slower)  # seal, open
    assert f"{SLOWED}=400" in done.stdout  # among what the environments differ in


def test_compare_finds_nothing_in_two_runs_of_the_same(results: dict[str, Path]) -> None:
    done = gwbench("compare", "--baseline", str(results["before"]), str(results["again"]), *PAIRED)
    assert "SLOWER" not in done.stdout, done.stdout
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_hook_stands_in_the_result(results: dict[str, Path]) -> None:
    for name, says in (("before", ""), ("slowed", f"{SLOWED}=400")):
        machine = json.loads(results[name].read_text())["environment"]["machine"]
        assert machine["gwbench_slow_down"] == says


@pytest.mark.parametrize(
    "value", ["nonsense", f"{SLOWED}=x", f"{SLOWED}=0", f"{SLOWED}=10001", "nobody/gwbench=20", "=1"]
)
def test_what_is_no_driver_and_percent(value: str) -> None:
    done = gwbench("esp", slow=value)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("gwbench: GWBENCH_SLOW_DOWN: ") and len(done.stderr.splitlines()) == 1


def test_rows_over_those_of_the_same_round() -> None:
    rows = (
        Row(("gcm", "fast/gwbench", "seal"), "MB/s", (10.0, 20.0, 30.0)),
        Row(("gcm", "generic/gwbench", "seal"), "MB/s", (1.0, 2.0, 3.0)),
        Row(("gcm", "fast/gwbench", "open"), "MB/s", (10.0,)),
        Row(("cbc", "generic/gwbench", "open"), "MB/s", (1.0,)),  # differs in two words
        Row(("gcm", "short/gwbench", "seal"), "MB/s", (10.0, 20.0)),  # other rounds
    )
    (only,) = relative(Series("x", "gwbench-crypto/1", rows), "generic").rows
    assert only.key == rows[0].key and only.samples == (10.0, 10.0, 10.0) and only.unit == "x generic"


def test_a_word_that_no_row_has(results: dict[str, Path]) -> None:
    done = gwbench("compare", str(results["before"]), str(results["again"]), "--relative-to", "plain")
    assert done.returncode == 2 and "has no row that 'plain'" in done.stderr
