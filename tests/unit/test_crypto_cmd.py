"""gwbench crypto: what is measured, how it is evaluated, and every format's form. No speed is asserted."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dataplane as dp
from gateway import cli
from gateway.errors import UnusableError
from gateway.measure import crypto, rivals, verify
from gateway.measure.crypto import Cell, Options
from gateway.output import comparison
from gateway.output import crypto as output
from gateway.output.plain import short
from gateway.words import words


@pytest.fixture(autouse=True)
def without_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    """They would stay in this process's table for all tests that follow."""
    monkeypatch.setattr("gateway.measure.faults.load_providers", lambda: "")
    monkeypatch.setenv("GWBENCH_SELECT", "static")


def sample(mb_per_s: float, size: int = 1000, cycles: float = 0.0) -> dp.BenchSample:
    return dp.BenchSample(ns=size / mb_per_s * 1e3, cycles=cycles, bytes=size, ops=1)


def cell(tag: str, size: int = 1024, op: str = "seal", bits: int = 128) -> Cell:
    return Cell("gcm(aes)", f"gcm-aes-{tag}/gwbench", tag, op, bits, size, 1)


def test_plan_has_every_implementation_and_direction() -> None:
    plan = crypto.plan(Options(algorithms=("gcm(aes)",), key_bits=(128,), budget_s=None))
    drivers = {i.driver for i in dp.implementations() if i.alg == "gcm(aes)" and i.runnable}
    assert {c.driver for c in plan.cells} == drivers
    assert {(c.op, c.bytes) for c in plan.cells} == {(op, s) for op in ("seal", "open") for s in crypto.SIZES}
    assert len(plan.cells) == len(drivers) * 2 * len(crypto.SIZES)
    # rivals for one place stand next to each other
    assert len({c.place for c in plan.cells[: len(drivers)]}) == 1


def test_default_plan_fits_and_names_what_it_skipped() -> None:
    options = Options()
    plan = crypto.plan(options)
    assert plan.seconds(options, plan.rounds(options)) <= crypto.DEFAULT_BUDGET_S
    assert "keys of 192 bits" in plan.skipped and "4096-byte requests" in plan.skipped
    assert {c.algorithm for c in plan.cells} == {i.alg for i in dp.implementations() if i.kind != "authenc"}
    full = crypto.plan(Options(budget_s=None))
    assert not full.skipped and {c.bytes for c in full.cells} == set(crypto.SIZES)
    tight = crypto.plan(Options(budget_s=0.001))
    assert {c.bytes for c in tight.cells} == {1408}


def test_tcrypt_sizes_are_rounded_up_to_blocks() -> None:
    plan = crypto.plan(Options(algorithms=("cbc(aes)", "gcm(aes)"), sizes=crypto.TCRYPT_SIZES, round_up=True))
    assert {c.bytes for c in plan.cells if c.algorithm == "cbc(aes)"} == {16, 64, 128, 256, 1024, 1424, 4096}
    assert {c.bytes for c in plan.cells if c.algorithm == "gcm(aes)"} == set(crypto.TCRYPT_SIZES)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (Options(algorithms=("gcm(des)",)), r"no algorithm is called 'gcm\(des\)' .*cbc\(aes\)"),
        (Options(implementations=("altivec",)), "no implementation is called 'altivec' .*generic"),
        (Options(algorithms=("cbc(aes)",), key_bits=(100,)), "keys of 100 bits .*128, 192, 256"),
        (Options(algorithms=("cbc(aes)",), sizes=(17,)), "requests of these sizes"),
    ],
)
def test_refused(options: Options, said: str) -> None:
    with pytest.raises(UnusableError, match=said):
        crypto.plan(options)


def test_ratios_are_taken_within_rounds() -> None:
    """The machine halves its speed in the second round: both sides meet it, the ratio does not."""
    samples = {
        cell("generic"): {0: sample(100), 1: sample(50), 2: sample(100)},
        cell("fast"): {0: sample(300), 1: sample(150), 2: sample(320)},
    }
    generic, fast = crypto.evaluate(samples)
    assert generic.ratio == 1.0 and fast.ratio == pytest.approx(3.0)
    assert fast.mb_per_s.median == pytest.approx(300)
    assert fast.spread == pytest.approx((310 - 225) / 300)
    assert generic.cycles_per_byte is None


def test_measuring_interleaves_and_stops_at_the_limit() -> None:
    cells = [cell("generic"), cell("fast")]
    order: list[str] = []
    now = [0.0]

    def run(one: Cell, _: int) -> dp.BenchSample:
        order.append(one.tag)
        now[0] += 1.0
        return sample(1)

    samples, trouble = crypto.measure(cells, Options(budget_s=3.0), 9, run=run, clock=lambda: now[0])
    assert order == ["generic", "fast"] * 2
    assert {len(taken) for taken in samples.values()} == {2}
    assert trouble == ["the time limit came in round 3 of 9"]


def test_what_cannot_be_measured_is_said() -> None:
    def run(one: Cell, _: int) -> dp.BenchSample:
        if one.tag == "fast":
            raise dp.DataplaneError("no such key length")
        return sample(1)

    samples, trouble = crypto.measure([cell("generic"), cell("fast")], Options(), 3, run=run)
    assert set(samples) == {cell("generic")} and trouble == ["gcm-aes-fast/gwbench: no such key length"]


def test_every_implementation_is_right_at_every_size() -> None:
    plan = crypto.plan(Options(sizes=(16, 1408, 8192), budget_s=None))
    assert {c.op for c in plan.cells} == {"encrypt", "decrypt", "seal", "open", "hash"}
    assert verify.wrong([c for c in plan.cells if c.driver.endswith(crypto.OWN)]) == {}


def test_wrong_answers_are_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = crypto.plan(Options(algorithms=("cbc(aes)",), sizes=(64,), key_bits=(128,)))
    real = dp.run

    def half_done(driver: str, ops: list[dp.Op], *, opening: bool = False) -> list[dp.OpResult]:
        results = real(driver, ops, opening=opening)
        if "generic" in driver:
            return results
        return [dp.OpResult(True, r.out[:-16] + bytes(16), r.tag, r.iv) for r in results]

    monkeypatch.setattr(dp, "run", half_done)
    found = verify.wrong(plan.cells)
    assert set(found) == {c for c in plan.cells if c.tag != "generic"}
    assert all("answers wrongly" in text for text in found.values())


def test_crossovers() -> None:
    speeds = {("a", 16): 100, ("b", 16): 50, ("a", 64): 100, ("b", 64): 103, ("a", 256): 100, ("b", 256): 200}
    samples = {cell(tag, size): {0: sample(v)} for (tag, size), v in speeds.items()}
    (found,) = crypto.crossovers(crypto.evaluate(samples))
    # at 64 bytes b leads by less than what is noise
    assert (found.first, found.upto_bytes, found.then, found.from_bytes) == (
        "gcm-aes-a/gwbench", 64, "gcm-aes-b/gwbench", 256,
    )  # fmt: skip
    assert "gcm-aes-a/gwbench up to 64, gcm-aes-b/gwbench from 256" in " ".join(
        output.crossover_lines([found])[1].split()
    )


def rows(size: int = 4096, cycles: float = 0.0) -> list[crypto.Row]:
    return crypto.evaluate({cell("generic", size, op): {0: sample(100, size, cycles)} for op in ("seal", "open")})


def test_tcrypt_lines() -> None:
    """The form that parsers of kernel logs know."""
    lines = output.tcrypt(rows(), None)
    assert lines[0].startswith("#") and lines[1] == ""
    assert lines[2] == "testing speed of async gcm(aes) (gcm-aes-generic/gwbench) encryption"
    match = re.fullmatch(
        r"tcrypt: test 0 \(128 bit key, 4096 byte blocks\): (\d+) operations in 1 seconds \((\d+) bytes\)", lines[3]
    )
    assert match and int(match[1]) == round(100e6 / 4096) and int(match[2]) == int(match[1]) * 4096


def test_tcrypt_cycles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crypto, "has_cycle_counter", lambda: True)
    line = output.tcrypt(rows(cycles=8192.0), 0)[2]
    assert line == "tcrypt: test 0 (128 bit key, 4096 byte blocks): 1 operation in 8192 cycles (4096 bytes)"


def test_cryptsetup_table() -> None:
    size = 1 << 20
    cells = {
        Cell("cbc(aes)", "cbc-aes-generic/gwbench", "generic", op, 128, size, 1): v
        for op, v in (("encrypt", 100), ("decrypt", 200))
    }
    lines = output.cryptsetup(crypto.evaluate({c: {0: sample(v, size)} for c, v in cells.items()}))
    assert lines[2] == "#     Algorithm |       Key |      Encryption |      Decryption"
    assert lines[3] == "        aes-cbc        128b        95.4 MiB/s       190.7 MiB/s"


def test_column_names() -> None:
    some = [
        Cell("cbc(aes)", d, t, "encrypt", 128, 64, 1)
        for d, t in (("cbc-aes-x/gwbench", "x"), ("cbc-a/kernel", "kernel"), ("cbc-b/kernel", "kernel"))
    ]
    called = output.names(crypto.evaluate({c: {0: sample(1)} for c in some}))
    assert called == {"cbc-aes-x/gwbench": "x", "cbc-a/kernel": "cbc-a/kernel*", "cbc-b/kernel": "cbc-b/kernel*"}


def test_rival_ratio_is_ours_over_theirs() -> None:
    contest = rivals.Contest("aes128gcm16", "seal", 1408, 0)
    sides = [rivals.Side(contest, "", "mine"), rivals.Side(contest, "openssl", "openssl")]
    speed = {"": 200.0, "openssl": 100.0}
    (row,) = rivals.measure(sides, 3, 0.001, run=lambda side, _: sample(speed[side.who]))
    assert row.ratio == pytest.approx(2.0)
    written = row.as_dict()
    assert (written["suite"], written["op"], written["bytes"], written["batch"]) == ("aes128gcm16", "seal", 1408, 32)
    assert (written["implementation"], written["rival"]) == ("mine", "openssl")
    assert any("openssl" in line and "2.00" in line for line in comparison.rivals([row], []))


def test_ours_is_only_ours() -> None:
    for suite in rivals.SUITES:
        assert all(part.endswith("/gwbench") for part in rivals.own(suite).split("+"))
    assert all(side.wish for side in rivals.sides())
    here = {i.tag for i in dp.implementations() if i.runnable}
    assert [line.split()[0] for line in rivals.absent()] == [r for r in rivals.RIVALS if r not in here]


def test_list_of_kernel_names() -> None:
    assert words("rfc7539(chacha20,poly1305), cbc(aes),cbc(aes)", "algorithm") == (
        "rfc7539(chacha20,poly1305)",
        "cbc(aes)",
    )


@pytest.mark.parametrize("form", ["table", "cryptsetup"])
def test_command_prints_ascii_of_80_columns(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "r.json"
    arguments = ["crypto", "--algo", "cbc(aes)", "--key-bits", "128", "--format", form, "--json", str(report)]
    assert cli.main(arguments) == 0
    out = capsys.readouterr().out
    assert out.isascii() and "\x1b" not in out and max(map(len, out.splitlines())) <= 80
    written = json.loads(report.read_text())
    assert written["schema"] == "gwbench-crypto/1"
    drivers = {i.driver for i in dp.implementations() if i.alg == "cbc(aes)" and i.runnable}
    assert {r["implementation"] for r in written["rows"]} == drivers
    assert all(r["mb_per_s"]["median"] > 0 and r["ratio_to_generic"] > 0 for r in written["rows"])


def test_command_beside_published_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["crypto", "--format", "tcrypt", "--algo", "xts(aes)", "--compare", "beaglebone"]) == 0
    out = capsys.readouterr().out
    assert "tcrypt: test 14 (512 bit key, 8192 byte blocks)" in out
    assert len([line for line in out.splitlines() if line.startswith("xts(aes)")]) == 15


@pytest.mark.parametrize("name", ["wdr4900", "beaglebone", "rpi3", "hikey960"])
def test_estimates_are_called_so(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["crypto", "--compare", name, "--from-icount"]) == 0
    out = capsys.readouterr().out
    assert "ESTIMATE" in out and max(map(len, out.splitlines())) <= 80
    if name == "wdr4900":
        assert out.count(" publ. ") == 15 and out.count(" est. ") == 15


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--from-icount"], "--compare wdr4900"),
        (["--compare-rivals", "--format", "tcrypt"], "table of its own"),
        (["--impl", "nonsense"], "no implementation is called"),
        (["--compare", "sm8650", "--from-icount"], "no instruction counts stand for"),
        (["--json", "/dev/null/x.json"], "cannot write"),
        (["--bytes", "16777217"], "16777217 bytes is more than"),
        (["--impl", ","], "no implementation is named (all,"),
        (["--algo", ","], "no algorithm is named ("),
    ],
)
def test_command_refuses(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["crypto", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_wrong_answer_takes_one_out() -> None:
    arguments = [sys.executable, "-m", "gateway.cli", "crypto", "--algo", "sha1,sha256", "--bytes", "64", "--json"]
    environment = {**os.environ, "GWBENCH_INJECT_FAULT": "sha256-generic/gwbench"}
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 1, done.stderr
    written = json.loads(done.stdout)
    assert "sha256-generic/gwbench" in written["out_of_selection"]
    assert "sha256-generic/gwbench" not in {r["implementation"] for r in written["rows"]}
    assert "sha256-generic/gwbench is out of selection: GWBENCH_INJECT_FAULT makes" in done.stderr


def test_rivals_in_one_table() -> None:
    """Every provider that is here is in it, in both directions of whole packets; who is not is named."""
    arguments = [sys.executable, "-m", "gateway.cli", "crypto", "--compare-rivals", "--json"]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=120)
    written = json.loads(done.stdout)
    here = {row["rival"] for row in written["rows"]}
    assert here | {line.split()[0] for line in written["missing"]} == set(rivals.RIVALS)
    for rival in here:
        rows = [r for r in written["rows"] if r["rival"] == rival]
        assert {(r["suite"], r["op"], r["bytes"]) for r in rows} >= {
            ("aes128gcm16", op, size) for op in ("seal", "open") for size in rivals.PACKET_BYTES
        }
        assert all(r["ratio"] > 0 and r["batch"] == 32 and "/" + rival not in r["implementation"] for r in rows)


def test_names_in_tables_are_never_the_kernels() -> None:
    both = "cbc-aes-neonbs/gwbench + hmac-sha256-neon/gwbench"
    assert short(both) == "cbc-aes-neonbs + hmac-sha256-neon/gwbench"
    assert short("xts-aes-neonbs/gwbench") == "xts-aes-neonbs/gwbench"
    assert short("xts-aes-neonbs/kernel") == "xts-aes-neonbs/kernel"
    assert short("gcm-aes-openssl/openssl") == "gcm-aes-openssl"
    assert short(both, 20) == "cbc-aes-neonbs + hm~"


def test_counts_of_other_targets_do_not_hide_those_shipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`make icount TARGET=mips` leaves a file that says nothing of the WDR4900."""
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "icount.json").write_text('{"schema": "gwbench-icount/1", "rows": []}')
    monkeypatch.chdir(tmp_path)
    assert cli.main(["crypto", "--compare", "wdr4900", "--from-icount"]) == 0
    assert "counts shipped with gwbench" in " ".join(capsys.readouterr().out.split())
