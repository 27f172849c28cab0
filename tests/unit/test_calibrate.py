"""The estimate's own check: arithmetic of residuals, the table, and what excludes it."""

from __future__ import annotations

import pytest

from gateway.cli import main
from gateway.measure.calibrate import LIMIT, LIMITS, Row, render


def row(measured_ns: float, frame: int = 512) -> Row:
    return Row("aes128gcm16", "gcm-aes-x/gwbench", frame, "seal", 2000.0, 500.0, measured_ns)


def test_a_prediction_is_null_and_what_crypto_adds() -> None:
    one = row(2500.0)
    assert one.predicted_ns == 2500.0 and one.residual == 0.0
    # Measured slower than predicted: the rate was promised too high.
    assert row(2750.0).residual == pytest.approx(0.10)
    assert row(2250.0).residual == pytest.approx(-0.10)
    # 512 bytes in 2500 ns
    assert one.mbit_per_s(one.predicted_ns) == pytest.approx(512 * 8 / 2.5)


def test_small_frames_have_a_limit_of_their_own() -> None:
    assert (row(1.0, 64).limit, row(1.0, 1408).limit) == (LIMITS[64], LIMIT) == (0.15, 0.10)
    assert row(2800.0, 64).as_dict()["within"] is True
    assert row(2800.0, 512).as_dict()["within"] is False


def test_the_table_marks_what_is_beyond() -> None:
    lines = render([row(2500.0), row(4000.0)])
    assert sum(line.endswith(" !") for line in lines) == 1
    assert lines[-1].startswith("1 of 2 within 10% (15% at 64 bytes)")


@pytest.mark.parametrize("other", [("--mbit", "100"), ("--target", "rpi3"), ("--cost", "x.json")])
def test_what_excludes_it(other: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", "--check", "seal", *other]) == 2
    assert f"--check measures this machine, without {other[0]}" in capsys.readouterr().err


def test_an_unknown_suite_is_said_before_anything_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", "--check", "seal", "--suite", "rot13"]) == 2
    assert "no suite is called 'rot13'" in capsys.readouterr().err
