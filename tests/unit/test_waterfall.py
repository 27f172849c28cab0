"""The waterfall: its steps, what each adds, and which costs most."""

from __future__ import annotations

from typing import Any

import pytest

from gateway import waterfall
from gateway.rounds import Case


def row(role: str, *rates: float, suite: str | None = None, **more: Any) -> dict[str, Any]:
    samples = list(rates)
    speed = {"median": sorted(samples)[len(samples) // 2], "samples": samples}
    rounds = [{"seconds": 1.0} for _ in samples]
    empty = {"cpu_s_per_gb": None, "gateways": {}, "rounds": rounds}
    return {"role": role, "suite": suite, "mbit_per_s": speed, **empty, **more}


def added(rows: list[dict[str, Any]]) -> dict[str, float | None]:
    return {step["role"]: step["added_s_per_gb"] for step in waterfall.describe(rows)["steps"]}


CBC = [
    row("line", 8000, 8000, 4000),
    row("plain", 4000, 4000, 2000),
    row("null", 2000, 2000, 1000),
    row("integrity", 1000, 1000, 500, suite="null-sha256"),
    row("cipher", 1600, 1600, 800, suite="aes256-none"),
    row("accelerated", 800, 800, 400, suite="aes256-sha256"),
]


def test_the_steps_of_a_suite_with_separate_integrity() -> None:
    cases = waterfall.cases(["aes256-sha256"], (), line=True)
    assert [(case.role, case.suite) for case in cases] == [
        ("line", ""),
        ("plain", ""),
        ("null", "null"),
        ("integrity", "null-sha256"),
        ("cipher", "aes256-none"),
        ("accelerated", "aes256-sha256"),
    ]
    assert cases[-1] == Case("accelerated", "aes256-sha256", "accelerated")


@pytest.mark.parametrize(
    ("suite", "parts"),
    [
        ("aes128gcm16", [("cipher", "aes128-ctr-none")]),
        ("aes192-ctr-sha256", [("integrity", "null-sha256"), ("cipher", "aes192-ctr-none")]),
        ("chacha20poly1305", []),
    ],
)
def test_the_steps_of_others(suite: str, parts: list[tuple[str, str]]) -> None:
    cases = waterfall.cases([suite], (), line=False)
    assert [(case.role, case.suite) for case in cases[2:-1]] == parts


def test_what_a_step_adds_is_taken_within_rounds() -> None:
    """A machine that was half as fast in the last round moves no step."""
    steps = added(CBC)
    assert steps["line"] is None
    assert [steps[role] for role in ("plain", "null", "integrity", "cipher", "accelerated")] == [1, 2, 4, 1, 6]


def test_the_cipher_costs_what_it_adds_to_integrity() -> None:
    assert waterfall.describe(CBC)["costs_most"] == "integrity alone (ESP-NULL)"
    slow = [*CBC[:-1], row("accelerated", 400, 400, 200)]
    assert waterfall.describe(slow)["costs_most"] == "cipher alone"


def test_an_aead_is_one_step() -> None:
    rows = [CBC[1], CBC[2], row("cipher", 1900, 1900, 950), row("accelerated", 500, 500, 250)]
    assert waterfall.describe(rows)["costs_most"] == "cipher and integrity"
    assert waterfall.describe([CBC[2]])["costs_most"] is None


def test_stages_against_the_threads_cpu_time() -> None:
    """Two seconds of wall clock, half of it waiting: a second of stages, all of which the kernel charged."""
    gateway = {
        "stage_cycles": {"seal": 600, "send": 400, "wait": 1000},
        "core_share": {"samples": [0.5, 0.5]},
        "cpu_s_per_gb": {"median": 2.0},
    }
    found = waterfall.describe([row("accelerated", 2000, 2000, gateways={"gw1": gateway})])["stages"]["gw1"]
    assert found["s_per_gb"] == pytest.approx({"seal": 1.2, "send": 0.8})
    assert found["explained"] == pytest.approx(1.0)


def test_lines_for_people() -> None:
    lines = waterfall.render(waterfall.describe(CBC))
    assert lines[0].split() == ["step", "suite", "Mbit/s", "s/GB", "added", "CPU", "s/GB"]
    assert any(line.startswith("integrity alone (ESP-NULL)") and "+4.00" in line for line in lines)
    assert all(line.isascii() for line in lines)
