"""Published tables and our own counts, as the package ships them: complete, and in one form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gateway.errors import UnusableError
from gateway.measure import crypto_compare, icount, published
from gateway.measure.crypto import Options


def test_every_name_has_a_table_with_its_origin() -> None:
    for name in published.NAMES:
        table = published.load(name)
        assert table.name == name and table.rows and table.source and table.cpu and table.year >= 2015
    notice = (published.DATA / "NOTICE").read_text()
    assert all(path.name in notice for path in published.DATA.glob("*.json"))
    with pytest.raises(UnusableError, match="there are: wdr4900"):
        published.load("wdr")


def test_wdr4900_is_15_rows_of_8() -> None:
    rows = published.load("wdr4900").rows
    assert len(rows) == 15 * 8
    assert {(r.key_bits, r.bytes) for r in rows if r.label == "cbc_enc"} == {
        (k, b) for k in (128, 192, 256) for b in (16, 64, 256, 1024, 8192)
    }
    cbc = next(r for r in rows if r.label == "cbc_enc" and (r.key_bits, r.bytes) == (256, 8192))
    assert (cbc.algorithm, cbc.op, cbc.ratio) == ("cbc(aes)", "encrypt", 1.63)
    assert {r.key_bits for r in rows if r.algorithm == "xts(aes)"} == {256, 384, 512}
    assert published.iperf()["generic"]["total"]["mbit_per_s"] == 43.0


def test_beaglebone_ratios_are_those_of_its_summary() -> None:
    rows = {(r.algorithm, r.key_bits, r.bytes): r for r in published.load("beaglebone").rows}
    assert len(rows) == 15 + 24
    assert rows["xts(aes)", 512, 8192].ratio == pytest.approx(1.36, abs=0.01)
    assert rows["gcm(aes)", 256, 8192].ratio == pytest.approx(2.36, abs=0.01)


def test_speck_tables() -> None:
    rpi3 = published.load("rpi3").rows
    fastest = max(rpi3, key=lambda r: r.mb_per_s or 0)
    assert (fastest.algorithm, fastest.mb_per_s) == ("xts(speck64)", 92.2)
    neon = next(r for r in rpi3 if r.label == "Speck128/256-XTS (NEON)" and r.op == "encrypt")
    assert neon.ratio == pytest.approx(75.0 / 47.4)
    ce = max(published.load("hikey960").rows, key=lambda r: r.mb_per_s or 0)
    assert ce.label == "AES-256-XTS (Crypto Extensions)"


def test_sm8650_leaves_out_what_was_not_measured() -> None:
    rows = published.load("sm8650").rows
    assert {r.algorithm for r in rows} == {"cbc(aes)", "xts(aes)"} and len(rows) == 8
    assert next(r for r in rows if r.key_bits == 128 and r.op == "encrypt").mb_per_s == pytest.approx(98.67, abs=0.01)


def counts(path: Path, rows: list[dict[str, object]]) -> icount.Counts:
    path.write_text(json.dumps({"schema": "gwbench-icount/1", "rows": rows}))
    return icount.load(str(path)).core("e500v2")


def row(size: int, bits: int, insns: float, implementation: str = "cbc-aes-generic/gwbench") -> dict[str, object]:
    return {
        "target": "e500v2", "algorithm": "cbc(aes)", "implementation": implementation, "op": "encrypt",
        "key_bits": bits, "bytes": size, "batch": 1, "insns_per_byte": insns,
        "estimated_cycles_per_byte": {"e500v2": insns / 2},
    }  # fmt: skip


KEY = icount.Key("e500v2", "cbc(aes)", "encrypt", 128, 1)


def test_counts_between_sizes_and_keys(tmp_path: Path) -> None:
    known = counts(
        tmp_path / "c.json", [row(64, 128, 40.0), row(256, 128, 20.0), row(64, 256, 60.0), row(256, 256, 30.0)]
    )
    name = "cbc-aes-generic/gwbench"
    assert known.cost(KEY, name, 64) == icount.Cost(20.0, 40.0)
    # linear in the whole request: 64 * 40 and 256 * 20 instructions, in the middle at 160 bytes
    between = known.cost(KEY, name, 160)
    assert between is not None and between.insns == pytest.approx((64 * 40 + 256 * 20) / 2 / 160)
    assert known.cost(KEY, name, 8192) is None
    assert known.cost(icount.Key("e500v2", "cbc(aes)", "encrypt", 192, 1), name, 64) == icount.Cost(25.0, 50.0)


def test_estimated_ratio_is_generic_over_the_best(tmp_path: Path) -> None:
    known = counts(
        tmp_path / "c.json",
        [row(1024, 128, 50.0), row(1024, 128, 30.0, "cbc-aes-spe/gwbench"), row(1024, 128, 40.0, "cbc-aes-x/gwbench")],
    )
    table = published.load("wdr4900")
    (one,) = [r for r in table.rows if r.label == "cbc_enc" and (r.key_bits, r.bytes) == (128, 1024)]
    (pair,) = crypto_compare.estimated(table, [one], known)
    assert pair.implementation == "cbc-aes-spe/gwbench" and pair.ratio == pytest.approx(50 / 30)


@pytest.mark.parametrize("name", published.TARGETS)
def test_shipped_counts_answer_every_comparison(name: str) -> None:
    table = published.load(name)
    pairs = crypto_compare.estimated(table, table.rows, icount.load(str(icount.SHIPPED)))
    found = [p for p in pairs if p.implementation]
    assert found and all(p.insns_per_byte and p.insns_per_byte > 0 for p in found)
    if name in ("wdr4900", "beaglebone"):
        assert all(p.ratio is not None for p in pairs)


def test_comparison_without_counts() -> None:
    table = published.load("sm8650")
    with pytest.raises(UnusableError, match="no instruction counts stand for sm8650"):
        crypto_compare.estimated(table, table.rows, icount.load())


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": "x", "rows": []}', '{"schema": "gwbench-icount/1"}'])
def test_bad_counts(text: str, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(text)
    with pytest.raises(UnusableError, match="no file of counts"):
        icount.load(str(path))
    with pytest.raises(UnusableError, match="cannot read"):
        icount.load(str(tmp_path / "none"))


def test_filtering_a_table() -> None:
    table = published.load("beaglebone")
    some = crypto_compare.wanted(table, Options(algorithms=("gcm(aes)",), key_bits=(128,)))
    assert len(some) == 8
    with pytest.raises(UnusableError, match=r"it has: xts\(aes\), gcm\(aes\)"):
        crypto_compare.wanted(table, Options(algorithms=("sha256",)))
