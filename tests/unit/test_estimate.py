"""The cost model, its file, and gwbench estimate: what a rate takes of a core, and the WDR4900's factor."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gateway import cli, costmodel
from gateway.errors import UnusableError
from gateway.measure import estimate, icount


def test_fit_finds_the_line() -> None:
    found = costmodel.fit([(size, 500 + 3.0 * size) for size in (46, 110, 1390, 1500)])
    assert (found.per_packet, found.per_byte) == (pytest.approx(500), pytest.approx(3.0))
    assert found.residual == pytest.approx(0, abs=1e-9) and found.worst == pytest.approx(0, abs=1e-9)
    assert found.cost(100) == pytest.approx(800)


def test_fit_weighs_errors_by_their_share() -> None:
    """A tenth too much at a small packet counts as much as a tenth at a large one."""
    exact = {46: 600.0, 500: 2000.0, 1500: 5000.0}
    small = costmodel.fit([(46, 660.0), (500, 2000.0), (1500, 5000.0)])
    assert 0 < small.residual < 0.1 and small.worst < 0.1
    assert abs(small.cost(46) / exact[46] - 1) < 0.1


@pytest.mark.parametrize("points", [[], [(46, 5.0)], [(46, 5.0), (46, 6.0)], [(46, 0.0), (100, 1.0)]])
def test_no_line(points: list[tuple[float, float]]) -> None:
    with pytest.raises(ValueError):
        costmodel.fit(points)


def row(per_packet: float = 1000.0, per_byte: float = 2.0, op: str = "seal") -> costmodel.CostRow:
    points = tuple((size, per_packet + per_byte * size) for size in (46, 1500))
    return costmodel.CostRow("aes128gcm16", op, "gcm-aes-generic/gwbench", 32, costmodel.fit(points), points)


def test_file_survives_writing_and_reading() -> None:
    file = costmodel.CostFile("a CPU", 8e8, "cycles", (row(), row(op="open")))
    again = costmodel.parse(json.loads(json.dumps(file.as_dict())))
    assert again == file
    assert again.best("aes128gcm16", "open") == file.rows[1] and again.best("null", "seal") is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": "gwbench/1"}, "no document of schema"),
        ({"unit": "minutes"}, "the unit"),
        ({"machine": {"cpu_model": "x", "clock_hz": 0}}, "clock is not positive"),
        ({"machine": {}}, "missing"),
        ({"rows": [{"op": "hash"}]}, "neither seal nor open"),
        ({"rows": [{"op": "seal"}]}, "missing"),
        ({"rows": 7}, "wrong type"),
    ],
)
def test_what_is_no_cost_file(change: dict[str, object], said: str) -> None:
    document = costmodel.CostFile("x", 1e9, "ns", (row(),)).as_dict() | change
    with pytest.raises(ValueError, match=said):
        costmodel.parse(document)


def test_need() -> None:
    """1000 packets of 1250 bytes a second are 10 Mbit/s; each takes 3500 cycles of 35 million."""
    n = costmodel.need(row(), 35e6, 10.0, 1250)
    assert n.packets_per_s == pytest.approx(1000)
    assert n.crypto_share == pytest.approx(0.1) and n.io_share == 0
    assert n.limit_mbit_per_s == pytest.approx(100)
    with_io = costmodel.need(row(), 35e6, 10.0, 1250, io_s_per_gb=320.0)
    assert with_io.io_share == pytest.approx(0.4) and with_io.limit_mbit_per_s == pytest.approx(20)


def test_imix_is_weighed_by_packets() -> None:
    cost, frame = costmodel.imix({64: 12.0, 594: 24.0, 1518: 36.0})
    assert cost == pytest.approx((7 * 12 + 4 * 24 + 36) / 12)
    assert frame == pytest.approx((7 * 64 + 4 * 594 + 1518) / 12)


def test_prediction_is_amdahls_law() -> None:
    """100 cycles a byte, 60 of them crypto that becomes 30: 100 / 70."""
    p = costmodel.predict(800e6, 64.0, 60.0, 30.0)
    assert p.total_per_byte == pytest.approx(100) and p.outside_share == pytest.approx(0.4)
    assert p.factor == pytest.approx(100 / 70) and p.crypto_only == pytest.approx(2)
    assert costmodel.crypto_share_for(p.factor, p.crypto_only) == pytest.approx(0.6)
    with pytest.raises(ValueError, match="slower than the rate"):
        costmodel.predict(800e6, 64.0, 101.0, 30.0)


def test_flow_of_the_published_test() -> None:
    f = estimate.flow("aes256-sha256")
    # outer IPv4 20, SPI and sequence 8, IV 16, ICV 16: 1440 bytes of whole blocks, two of them trailer
    assert (f.inner_bytes, f.encrypted_bytes, f.goodput_bytes) == (1438, 1440, 1438 - 52)
    assert f.ack_encrypted_bytes == 64


def test_wdr4900_from_shipped_counts() -> None:
    result = estimate.wdr4900(icount.load(), "aes256-sha256")
    p = result.prediction
    assert "generic" in result.base.implementation and "spe" in result.best.implementation
    assert p.total_per_byte == pytest.approx(800e6 * 8 / 43.0e6)
    assert 1.0 < p.factor < p.crypto_only
    assert result.published_factor == pytest.approx(1.328, abs=0.001)
    assert result.predicted_mbit_per_s == pytest.approx(43.0 * p.factor)


def test_suites_without_estimate_are_refused() -> None:
    with pytest.raises(UnusableError, match="no estimated cycles"):
        estimate.wdr4900(icount.load(), "chacha20poly1305")


def test_target_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "r.json"
    assert cli.main(["estimate", "--target", "wdr4900", "--suite", "aes256-sha256", "--json", str(report)]) == 0
    out = capsys.readouterr().out
    assert "ESTIMATE" in out and "1.33" in out and "does not explain" in out
    assert out.isascii() and max(map(len, out.splitlines())) <= 80
    written = json.loads(report.read_text())
    assert written["estimate"] is True
    assert written["predicted_factor"] + written["unexplained"] == pytest.approx(written["published_factor"])


def test_enough(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cost = tmp_path / "c.json"
    cost.write_text(json.dumps(costmodel.CostFile("a CPU", 35e6, "cycles", (row(),)).as_dict()))
    base = ["estimate", "--cost", str(cost), "--frame", "1268"]
    for mbit, io, verdict in (("10", "", "crypto fits"), ("10", "1", "enough"), ("101", "1", "too slow")):
        arguments = [*base, "--mbit", mbit, *(["--io-s-per-gb", io] if io else [])]
        assert cli.main(arguments) == 0
        out = capsys.readouterr().out
        assert verdict in out and ("Packet I/O is not in it" in out) is (io == "")
    assert cli.main([*base, "--mbit", "10", "--suite", "null-sha256"]) == 2
    assert "it has: aes128gcm16" in capsys.readouterr().err


def test_other_target_needs_a_clock(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["estimate", "--mbit", "100", "--target", "beaglebone"]) == 2
    assert "--mhz" in capsys.readouterr().err
    assert cli.main(["estimate", "--mbit", "100", "--target", "beaglebone", "--mhz", "720"]) == 0
    assert "ESTIMATE" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "nothing is asked"),
        (["--target", "hikey960"], "--target hikey960 needs the rate that is wanted (--mbit 100"),
        (["--mbit", "1", "--suite", "aes128-sha1"], "is legacy"),
        (["--mbit", "1", "--cost", "/nonexistent"], "cannot read"),
        (["--mbit", "1", "--cost", "/dev/null"], "Expecting value"),
        (["--mbit", "1", "--cost", "x", "--target", "rpi3"], "two sources"),
        (["--mbit", "nan", "--cost", "x"], ""),
    ],
)
def test_refused(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["estimate", *arguments]) == 2
    assert said in capsys.readouterr().err
