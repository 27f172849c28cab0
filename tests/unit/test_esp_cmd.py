"""gwbench esp: cases, evaluation, the cost file. No speed is asserted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dataplane as dp
from gateway import cli, costmodel
from gateway.measure import esp
from gateway.output import esp as output


@pytest.fixture(autouse=True)
def without_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    """They would stay in this process's table for all tests that follow."""
    monkeypatch.setattr("gateway.measure.faults.load_providers", lambda: "")
    monkeypatch.setenv("GWBENCH_SELECT", "static")


def sample(ns_per_packet: float, packets: int = 64, ticks: float = 0.0) -> dp.BenchSample:
    return dp.BenchSample(ns=ns_per_packet * packets, cycles=ticks * packets, bytes=packets, ops=packets)


def test_cases_are_each_thing_once() -> None:
    found = esp.cases(["aes128gcm16"], ["generic", "generic"], [64, 1518], [1, 32])
    assert len(found) == 2 * 2 * 2
    assert {c.implementation for c in found} == {"gcm-aes-generic/gwbench"}
    assert {(c.op, c.frame, c.batch) for c in found} == {
        (op, f, b) for op in ("seal", "open") for f in (64, 1518) for b in (1, 32)
    }


def measured(counted: bool, monkeypatch: pytest.MonkeyPatch) -> list[esp.Row]:
    """500 ns a packet and 2 ns a byte, at two ticks a ns."""
    monkeypatch.setattr(esp, "has_cycle_counter", lambda: counted)
    cases = esp.cases(["aes128gcm16"], ["generic"], [64, 594, 1518], [8])

    def run(case: esp.Case, _: int) -> dp.BenchSample:
        ns = 500 + 2 * esp.inner_bytes(case.frame)
        return sample(ns, ticks=2 * ns)

    return esp.measure(cases, 3, run=run)


def test_model_in_cycles(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = measured(True, monkeypatch)
    file = esp.cost_file(rows, "a CPU")
    assert file.unit == "cycles" and file.clock_hz == pytest.approx(2e9)
    assert {(r.suite, r.op, r.batch) for r in file.rows} == {("aes128gcm16", "seal", 8), ("aes128gcm16", "open", 8)}
    for row in file.rows:
        assert (row.fit.per_packet, row.fit.per_byte) == (pytest.approx(1000), pytest.approx(4))
        assert [size for size, _ in row.points] == [46, 576, 1500]


def test_model_in_ns_where_no_cycles_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    file = esp.cost_file(measured(False, monkeypatch), "a CPU")
    assert (file.unit, file.clock_hz) == ("ns", 1e9)
    assert file.rows[0].fit.per_packet == pytest.approx(500)


def test_speeds(monkeypatch: pytest.MonkeyPatch) -> None:
    row = next(r for r in measured(True, monkeypatch) if r.case.frame == 1518)
    assert row.packets_per_s == pytest.approx(1e9 / 3500)
    assert row.gbit_per_s == pytest.approx(1500 * 8 / 3500)


def test_table_has_imix_where_its_frames_are(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = measured(True, monkeypatch)
    lines = output.render(rows, esp.cost_file(rows, "a CPU"))
    mean_ns = (7 * (500 + 92) + 4 * (500 + 1152) + (500 + 3000)) / 12
    assert any(line.split()[:2] == ["IMIX", f"{1e3 / mean_ns:.3f}"] for line in lines)
    some = [r for r in rows if r.case.frame != 594]
    assert not any("IMIX " in line and "(" in line for line in output.render(some, esp.cost_file(some, "x"))[:8])


def test_rounds_stop_at_the_limit() -> None:
    now = [0.0]

    def run(case: esp.Case, _: int) -> dp.BenchSample:
        now[0] += 1.0
        return sample(1.0, ticks=1.0)

    cases = esp.cases(["aes128gcm16"], ["generic"], [64], [1])
    rows = esp.measure(cases, 9, run=run, budget_s=4.0, clock=lambda: now[0])
    assert [len(r.ns.samples) for r in rows] == [3, 2]


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cost, report = tmp_path / "c.json", tmp_path / "r.json"
    arguments = [
        "esp",
        "--suite",
        "aes128gcm16,null-sha256",
        "--impl",
        "auto,generic",
        "--frames",
        "64,1518",
        "--batch",
        "1,16",
    ]
    assert cli.main([*arguments, "--cost", str(cost), "--json", str(report)]) == 0
    out = capsys.readouterr().out
    assert out.isascii() and max(map(len, out.splitlines())) <= 80
    for path in (cost, report):
        file = costmodel.parse(json.loads(path.read_text()))
        assert {row.suite for row in file.rows} == {"aes128gcm16", "null-sha256"}
        assert all(row.fit.cost(1500) > 0 for row in file.rows)
    written = json.loads(report.read_text())
    assert {(m["frame_bytes"], m["inner_bytes"]) for m in written["measured"]} == {(64, 46), (1518, 1500)}
    assert all(m["packets_per_s"] > 0 for m in written["measured"])
    assert cli.main(["estimate", "--mbit", "10", "--cost", str(cost)]) == 0


def test_many_sas(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every order was run with as many SAs as were asked for, and the table says its ratios."""
    asked = []

    def bench(suite: str, wish: str, **how: int) -> dp.BenchSample:
        asked.append((suite, how["sas"], how["run"]))
        return sample(300.0 if how["run"] == 1 and how["sas"] > 1 else 100.0 + how["run"])

    monkeypatch.setattr("dataplane.bench_esp", bench)
    report = tmp_path / "r.json"
    assert cli.main(["esp", "--sas", "40", "--suite", "aes128gcm16", "--json", str(report)]) == 0
    assert set(asked) == {("aes128gcm16", *order) for order in ((1, 1), (40, 1), (40, 8))}
    out = capsys.readouterr().out
    assert "300 (2.97)" in out and "108 (1.07)" in out
    rows = json.loads(report.read_text())["measured"]
    assert [(r["op"], r["sas"], round(r["random_ratio"], 2)) for r in rows] == [("seal", 40, 2.97), ("open", 40, 2.97)]


def test_a_few_sas_for_real() -> None:
    for run in (1, 8):
        taken = dp.bench_esp("null", "auto", opening=True, inner_len=100, batch=16, sas=50, run=run, min_ns=1000)
        assert taken.ops >= 64 and taken.ns > 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--suite", "aes128"], "no suite is called"),
        (["--impl", "altivec"], "there are: auto"),
        (["--frames", "37"], "numbers from 38"),
        (["--batch", "x"], "no list of numbers"),
        (["--cost", "/dev/null/c.json"], "cannot write"),
        (["--cost", "-", "--json"], "one document"),
        (["--sas", "1"], "numbers from 2"),
        (["--sas", "2,3"], "one number"),
        (["--sas", "9", "--frames", "64"], "neither --cost, --frames"),
        (["--suite", ","], "no suite is named (there are: aes128gcm16"),
        (["--impl", ","], "no implementation is named (there are: auto"),
        (["--suite", "aes128-sha1"], "'aes128-sha1' is legacy: SHA-1 is for old peers only (--legacy"),
    ],
)
def test_refused(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["esp", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_the_curve_over_the_number_of_sas(tmp_path: Path) -> None:
    report = tmp_path / "curve.json"
    assert cli.main(["esp", "--sa-curve", "1,30", "--suite", "aes128gcm16", "--json", str(report)]) == 0
    document = json.loads(report.read_text())
    assert [(row["suite"], row["sas"]) for row in document["curve"]] == [("aes128gcm16", 1), ("aes128gcm16", 30)]
    for row in document["curve"]:
        for what in ("seal_ns", "open_ns", "setup_per_s"):
            assert len(row[what]["samples"]) == 5 and min(row[what]["samples"]) > 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--sa-curve", "0"], "numbers from 1 to 100000"),
        (["--sa-curve", "x"], "no list of numbers"),
        (["--sa-curve", "--sas", "5"], "--sa-curve takes neither"),
    ],
)
def test_what_the_curve_refuses(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["esp", *arguments]) == 2
    assert says in capsys.readouterr().err
