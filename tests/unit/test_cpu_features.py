"""Whatever GWBENCH_CPU_DISABLE takes away, the rest starts, passes its known answers and needs nothing that is gone."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import dataplane

PRESENT = dataplane.cpu_features()
COMBINATIONS = [
    ["avx2", "avx512"],
    ["aesni", "avx512"],
    ["aesni", "pclmul", "vaes", "vpclmul"],
    ["sha_ni", "avx512"],
    ["avx", "avx2", "avx512", "avx512ifma", "vaes", "vpclmul"],
    ["ssse3", "sse41", "avx", "avx2", "avx512"],
    ["neon", "aes", "pmull"],
    ["aes", "pmull", "sha1", "sha2", "sha512", "sha3"],
]
MASKS = [[name] for name in PRESENT] + [[n for n in c if n in PRESENT] for c in COMBINATIONS] + [list(PRESENT)]
MASKS = [mask for i, mask in enumerate(MASKS) if mask and mask not in MASKS[:i]]

PROBE = """
import json, dataplane
rows = [(i.driver, i.alg, i.runnable, i.checked) for i in dataplane.implementations()]
print(json.dumps({"features": list(dataplane.cpu_features()), "rows": rows}))
"""


def test_this_machine_has_features_to_take_away() -> None:
    assert len(MASKS) > 1


@pytest.mark.parametrize("mask", MASKS, ids="+".join)
def test_any_mask_starts_and_everything_left_passes(mask: list[str]) -> None:
    environment = {**os.environ, "GWBENCH_CPU_DISABLE": ",".join(mask)}
    done = subprocess.run(
        [sys.executable, "-c", PROBE], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert not set(mask) & set(seen["features"])
    runnable = [(driver, checked) for driver, _, runs, checked in seen["rows"] if runs]
    assert all(checked == "passed" for _, checked in runnable), runnable
    assert not [driver for driver, _, runs, checked in seen["rows"] if not runs and checked != "not run"]
    # Every algorithm still has somebody who does it.
    algorithms = {i.alg for i in dataplane.implementations() if i.kind != "authenc"}
    assert algorithms <= {alg for _, alg, runs, _ in seen["rows"] if runs}


@pytest.mark.skipif(not PRESENT, reason="this CPU has no feature that we use")
def test_without_any_feature_only_portable_code_runs() -> None:
    environment = {**os.environ, "GWBENCH_CPU_DISABLE": ",".join(PRESENT)}
    done = subprocess.run(
        [sys.executable, "-c", PROBE], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    rows = json.loads(done.stdout)["rows"]
    portable = {i.driver for i in dataplane.implementations() if i.tag in ("generic", "ct")}
    assert {driver for driver, _, runs, _ in rows if runs} == portable
