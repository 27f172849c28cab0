"""gwbench selftest: files of every schema, counted; wrong answers found; what is malformed said in one line."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dataplane as dp
from gateway import cli
from gateway.errors import UnusableError
from gateway.vectors import authenc, captures, document
from gateway.vectors import kat as kat_module
from gateway.vectors.outcome import Outcome
from gateway.vectors.question import Question
from gateway.vectors.run import load, run

DATA = Path(__file__).resolve().parents[1] / "vectors" / "data"

AES_KEY = "000102030405060708090a0b0c0d0e0f"
FIPS_197 = {"pt": "00112233445566778899aabbccddeeff", "ct": "69c4e0d86a7b0430d8cdb78070b4c55a"}
ECB = {"id": "fips", "kind": "cipher", "alg": "aes-ecb", "key": AES_KEY, "result": "valid", **FIPS_197}


@pytest.fixture(autouse=True)
def without_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    """They would stay in this process's table for all tests that follow."""
    monkeypatch.setattr("gateway.measure.faults.load_providers", lambda: "")


def outcomes(tmp_path: Path, schema: str, cases: Any, name: str = "cases") -> list[Outcome]:
    path = tmp_path / "vectors.json"
    path.write_text(json.dumps({"schema": schema, name: cases}))
    return run(load(path))


def kat(tmp_path: Path, *cases: dict[str, Any]) -> dict[str, Outcome]:
    """Of what this CPU can run: which that is differs from machine to machine."""
    found = outcomes(tmp_path, "crypto-kat-v1", list(cases))
    return {o.implementation: o for o in found if not any("this CPU lacks" in why for why in o.not_applicable)}


def total(path: Path) -> tuple[int, int]:
    found = run(load(path))
    return sum(o.passed for o in found), sum(len(o.failed) for o in found)


def drivers(alg: str) -> set[str]:
    return {i.driver for i in dp.implementations() if i.alg == alg and i.runnable}


@pytest.mark.parametrize("name", ["esp/esp_rfc.json", "esp/esp_odp.json", "esp/esp_dpdk.json", "kat_rfc_kats.json"])
def test_published_files_pass(name: str) -> None:
    passed, failed = total(DATA / name)
    assert failed == 0 and passed >= len(json.loads((DATA / name).read_text())["cases"])


def test_monte_carlo_runs_every_round(tmp_path: Path) -> None:
    """A wrong block in the last of the hundred rounds is found, and so is a broken chain."""
    cases = json.loads((DATA / "kat_nist_acvp_mct.json").read_text())["cases"]
    case = next(c for c in cases if c["alg"] == "aes-cbc" and c["direction"] == "enc")
    assert all(o.result == "pass" for o in kat(tmp_path, case).values())
    last = case["results"][-1]
    broken = {**case, "results": [*case["results"][:-1], {**last, "ct": "00" * 16}]}
    found = kat(tmp_path, broken)
    assert set(found) == drivers("cbc(aes)")
    assert all(o.failed == [f"{case['id']}: round {len(case['results']) - 1}"] for o in found.values())
    rekeyed = {**case, "results": [*case["results"][:-1], {**last, "key": "00" * (len(last["key"]) // 2)}]}
    assert all("starts with another key" in o.failed[0] for o in kat(tmp_path, rekeyed).values())


def test_monte_carlo_with_answers_only(tmp_path: Path) -> None:
    cases = json.loads((DATA / "kat_nist_acvp_mct.json").read_text())["cases"]
    case = next(c for c in cases if c["alg"] == "aes-ecb")
    end = "pt" if case["direction"] == "dec" else "ct"
    sparse = {**case, "results": [case["results"][0], *({end: r[end]} for r in case["results"][1:5])]}
    assert all(o.passed == 1 for o in kat(tmp_path, sparse).values())


def test_hash_monte_carlo(tmp_path: Path) -> None:
    cases = json.loads((DATA / "kat_nist_cavp.json").read_text())["cases"]
    case = next(c for c in cases if c["kind"] == "hash-mct")
    assert {d: o.passed for d, o in kat(tmp_path, case).items()} == dict.fromkeys(drivers("sha256"), 1)
    case["checkpoints"][42] = "00" * 32
    assert all("round 42" in o.failed[0] for o in kat(tmp_path, case).values())


def test_wrong_answer_is_found_on_every_implementation(tmp_path: Path) -> None:
    assert {d for d, o in kat(tmp_path, ECB).items() if o.passed == 2} == drivers("ecb(aes)")
    wrong = kat(tmp_path, {**ECB, "ct": "00" * 16})
    assert {d for d, o in wrong.items() if o.failed} == drivers("ecb(aes)")


def test_optional_fields_may_be_missing(tmp_path: Path) -> None:
    bare = {
        "kind": "hash",
        "alg": "sha256",
        "digest": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    }
    assert all(o.passed == 1 for o in kat(tmp_path, bare).values())
    unknown_plaintext = {"kind": "aead", "alg": "aes-gcm", "direction": "dec", "result": "invalid", "key": AES_KEY}
    unknown_plaintext |= {"iv": "00" * 12, "ct": "00" * 5, "tag": "00" * 16}
    found = kat(tmp_path, unknown_plaintext)
    assert {d for d, o in found.items() if o.passed == 1} == drivers("gcm(aes)")


def test_encrypt_then_mac(tmp_path: Path) -> None:
    """Both halves, computed here by the generic implementations and judged on all."""
    enc_key, auth_key, iv, aad, pt = bytes(16), b"k" * 32, bytes(range(16)), b"aad", bytes(64)
    with dp.Key("cbc-aes-generic/gwbench", enc_key) as key, dp.Key("hmac-sha256-generic/gwbench", auth_key) as mac_key:
        ct = dp.run("cbc-aes-generic/gwbench", [dp.Op(data=pt, key=key, iv=iv)])[0].out
        tag = dp.run("hmac-sha256-generic/gwbench", [dp.Op(data=aad + ct, mac_key=mac_key, tag_bytes=16)])[0].tag
    case = {"kind": "authenc", "alg": "aes-128-cbc-hmac-sha256-128", "tag": tag.hex(), "tag_len": 16}
    case |= {n: v.hex() for n, v in (("enc_key", enc_key), ("auth_key", auth_key), ("iv", iv), ("aad", aad))}
    case |= {"pt": pt.hex(), "ct": ct.hex()}
    assert {d for d, o in kat(tmp_path, case).items() if o.passed} == drivers("cbc(aes)") | drivers("hmac(sha256)")
    forged = kat(tmp_path, {**case, "tag": "00" * 16})
    assert {d for d, o in forged.items() if o.failed} == drivers("hmac(sha256)")
    assert not any(o.failed for o in kat(tmp_path, {**case, "tag": "00" * 16, "result": "invalid"}).values())


@pytest.mark.parametrize(
    ("alg", "halves"),
    [
        ("authenc(hmac(sha256),cbc(aes))", ("cbc(aes)", "hmac(sha256)")),
        ("aes-256-ctr-hmac-sha2-512", ("ctr(aes)", "hmac(sha512)")),
        ("AES-CBC+HMAC-SHA-1-96", ("cbc(aes)", "hmac(sha1)")),
        ("null-hmac-sha256", ("null", "hmac(sha256)")),
        ("3des-cbc-hmac-sha384", ("", "")),
    ],
)
def test_names_of_halves(alg: str, halves: tuple[str, str]) -> None:
    assert authenc.halves(alg) == halves


def test_other_algorithms_are_not_applicable(tmp_path: Path) -> None:
    other = {"kind": "mac", "alg": "aes-cmac", "key": AES_KEY, "msg": "", "tag": "00" * 16}
    found = kat(tmp_path, other, {**ECB, "kind": "signature"}, {**other, "kind": "authenc", "alg": "3des-cbc-hmac-md5"})
    assert found["-"].result == "not applicable"
    assert set(found["-"].not_applicable) == {
        "no implementation of cmac(aes)",
        'nothing here is of kind "signature"',
        "no implementation of 3des-cbc-hmac-md5",
    }


def test_algorithms_out_of_scope_are_refused(tmp_path: Path) -> None:
    packet = {"name": "p", "in_scope": False, "enc_alg": "3des-cbc", "auth_alg": "hmac-md5-96", "esp": "00" * 40}
    legacy = {"name": "q", "in_scope": False, "enc_alg": "aes-cbc", "auth_alg": "hmac-sha1-96", "esp": "00" * 40}
    legacy |= {"enc_key": "00" * 16, "auth_key": "00" * 20}
    (row,) = outcomes(tmp_path, "esp-packet-v1", [packet, legacy])
    assert row.refused == {
        "no suite is 3des-cbc with hmac-md5-96": 1,
        "aes128-sha1 is a legacy suite: only with --legacy": 1,
    }


def test_changed_packet_fails(tmp_path: Path) -> None:
    cases = json.loads((DATA / "esp" / "esp_dpdk.json").read_text())["cases"]
    good = next(c for c in cases if c["auth_alg"] == "hmac-sha256-128" and c["enc_alg"] == "aes-cbc")
    bad = {**good, "esp": good["esp"][:-2] + f"{int(good['esp'][-2:], 16) ^ 1:02x}"}
    assert all(o.failed for o in outcomes(tmp_path, "esp-packet-v1", [bad]))
    assert all(o.passed for o in outcomes(tmp_path, "esp-packet-v1", [{**bad, "expect": "auth-fail"}]))
    wrong = {**good, "inner": "45" + "00" * 19}
    assert all("another inner packet" in o.failed[0] for o in outcomes(tmp_path, "esp-packet-v1", [wrong]))


def test_replay_sequence(tmp_path: Path) -> None:
    step = {"what": "once more", "seqs": [5, 5], "expect": ["accept", "drop"]}
    case = {"name": "r", "window": 64, "esn": True, "start_top": 0, "steps": [step]}
    found = outcomes(tmp_path, "replay-sequence-v1", [case])
    assert len(found) == 2 and all(o.passed == 1 for o in found)
    case["steps"] = [{**step, "expect": ["accept", "accept"]}]
    assert all(len(o.failed) == 1 for o in outcomes(tmp_path, "replay-sequence-v1", [case]))
    case["steps"] = [{**step, "reason_counts": {"integrity": 1}}]
    assert all("drop counters" in o.failed[0] for o in outcomes(tmp_path, "replay-sequence-v1", [case]))


def test_lists_of_names_are_nothing_to_run(tmp_path: Path) -> None:
    suites = {"vpp": {"cases": [{"case": "a"}, {"case": "b"}]}, "odp": {"cases": [{"case": "c"}]}}
    (row,) = outcomes(tmp_path, "coverage-v1", suites, "suites")
    assert row.result == "not applicable" and row.not_applicable.total() == 3


def pcap(*frames: bytes) -> bytes:
    head = bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000")
    return head + b"".join(bytes(8) + len(f).to_bytes(4, "little") * 2 + f for f in frames)


def ethernet(payload: bytes, protocol: int = 17) -> bytes:
    ip = bytes([0x45, 0, 0, 20 + len(payload), 0, 0, 0, 0, 64, protocol]) + bytes(10)
    return bytes(12) + b"\x08\x00" + ip + payload


def udp(port: int, body: bytes) -> bytes:
    return port.to_bytes(2, "big") * 2 + (8 + len(body)).to_bytes(2, "big") + bytes(2) + body


def test_captures_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.pcap").write_bytes(
        pcap(
            ethernet(bytes(40), 50),
            ethernet(udp(4500, b"\xff")),
            ethernet(udp(4500, b"\1\2\3\4" + bytes(20))),
            ethernet(udp(4500, bytes(4) + b"ike")),
            ethernet(udp(500, b"ike")),
            ethernet(udp(53, b"dns")),
        )
    )
    index = {"file": "a.pcap", "packets": 6, "esp": 2, "isakmp": 2, "nat_keepalive": 1, "non_esp_marker": 1}
    (row,) = outcomes(tmp_path, "pcap-index-v1", [index], "captures")
    assert row.passed == 1
    (row,) = outcomes(tmp_path, "pcap-index-v1", [{**index, "esp": 3}], "captures")
    assert row.failed == ["a.pcap: 2 ESP, not 3"]


def test_what_is_no_capture() -> None:
    for data in (b"", b"\xd4\xc3\xb2\xa1", b"hello world"):
        with pytest.raises(ValueError, match="neither pcap nor pcapng"):
            captures.frames(data)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a JSON object but an array"),
        ("{}", 'has no "schema"'),
        ('{"schema": 7, "cases": []}', '"schema" is not a string but a number'),
        ('{"schema": null, "cases": []}', '"schema" is not a string but null'),
        ('{"schema": "crypto-kat-v2", "cases": []}', 'unknown schema "crypto-kat-v2"'),
        ('{"schema": "crypto-kat-v1"}', 'without a list "cases"'),
        ('{"schema": "crypto-kat-v1", "cases": [1]}', 'without a list "cases"'),
        ('{"schema": "crypto-kat-v1", "count": 2, "cases": []}', '"count" says 2'),
        (
            '{"schema": "crypto-kat-v1", "cases": [{"kind": "mac", "alg": "hmac-sha256", "key": "xy", "tag": "00"}]}',
            '"key"',
        ),
        ('{"schema": "crypto-kat-v1", "cases": [{"kind": "hash", "alg": "sha256"}]}', "neither a tag nor a digest"),
        ('{"schema": "crypto-kat-v1", "cases": [{"kind": 7}]}', '"kind" is not a string'),
        ('{"schema": "esp-packet-v1", "cases": [{"esp": "00"}]}', "less than SPI"),
        ('{"schema": "replay-sequence-v1", "cases": [{"steps": [{"seqs": "1"}]}]}', '"seqs"'),
        ('{"schema": "pcap-index-v1", "captures": [{"file": "none.pcap"}]}', "none.pcap"),
    ],
)
def test_malformed_file_is_one_line_and_exit_2(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "vectors.json"
    path.write_text(text)
    assert cli.main(["selftest", "--vectors", str(path)]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1 and "vectors.json" in error


def test_empty_directory_and_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UnusableError, match=r"no \.json file"):
        document.find(tmp_path)
    with pytest.raises(UnusableError, match="no such file"):
        document.find(tmp_path / "x")


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "r.json"
    assert cli.main(["selftest", "--vectors", str(DATA / "kat_rfc_kats.json"), "--json", str(report)]) == 0
    out = capsys.readouterr().out
    assert out.isascii() and max(map(len, out.splitlines())) <= 80
    assert out.splitlines()[-1].startswith("pass: ")
    written = json.loads(report.read_text())
    assert written["schema"] == "gwbench-selftest/1" and written["result"] == "pass"
    assert {r["implementation"] for r in written["rows"] if r["file"] == "built in"} == {
        i.driver for i in dp.implementations()
    }


def gwbench(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: a fault stays until its end."""
    return subprocess.run(
        [sys.executable, "-m", "gateway.cli", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )


def test_injected_fault_takes_one_out() -> None:
    done = gwbench("selftest", GWBENCH_INJECT_FAULT="gcm-aes-generic/gwbench")
    assert done.returncode == 1
    assert "gcm-aes-generic/gwbench is out of selection: GWBENCH_INJECT_FAULT makes" in done.stdout
    assert gwbench("selftest", GWBENCH_INJECT_FAULT="nonsense").returncode == 2


def test_a_report_that_cannot_be_written_is_said_first(tmp_path: Path) -> None:
    """Before vectors are run, and without an empty file when something else is wrong."""
    assert gwbench("selftest", "--json", "/proc/r.json").stdout == ""
    for arguments in (("selftest", "--vectors", "/nowhere"), ("esp", "--suite", "rot13"), ("crypto", "--impl", "x")):
        done = gwbench(*arguments, "--json", str(tmp_path / "r.json"))
        assert done.returncode == 2 and not list(tmp_path.iterdir())


def test_short_icv_opens(tmp_path: Path) -> None:
    """RFC 4106 has ICVs of 8 and 12 bytes: the first bytes of the one of 16."""
    cases = json.loads((DATA / "esp" / "esp_dpdk.json").read_text())["cases"]
    good = next(c for c in cases if c["enc_alg"] == "aes-gcm-16")
    for icv in (8, 12):
        short = {**good, "enc_alg": f"aes-gcm-{icv}", "icv_len": icv, "esp": good["esp"][: -2 * (16 - icv)]}
        found = outcomes(tmp_path, "esp-packet-v1", [short])
        assert found and all(o.passed == 1 for o in found), [o.failed for o in found]


def test_other_spellings(tmp_path: Path) -> None:
    sha = {
        "kind": "hash",
        "alg": "SHA2-256",
        "digest": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    }
    assert {d for d, o in kat(tmp_path, sha).items() if o.passed} == drivers("sha256")
    assert {d for d, o in kat(tmp_path, {**ECB, "alg": "aes-128-ecb"}).items() if o.passed} == drivers("ecb(aes)")
    cut = {**sha, "kind": "hash", "tag_len": 16}
    assert all(o.passed == 1 for o in kat(tmp_path, cut).values())
    either = kat(tmp_path, {**ECB, "result": "acceptable"}, {**ECB, "result": "invalid"})
    assert either["-"].not_applicable.total() == 2


def test_replay_of_numbers_that_no_sender_makes(tmp_path: Path) -> None:
    steps = [
        {"seqs": [0, 7], "expect": ["drop", "accept"]},
        {"seqs": [9, 10], "bad_icv": [True, False], "expect": ["drop", "accept"]},
    ]
    case = {"name": "r", "window": 64, "esn": False, "start_top": 0, "steps": steps}
    assert all(o.passed == 1 for o in outcomes(tmp_path, "replay-sequence-v1", [case]))
    (row,) = outcomes(tmp_path, "replay-sequence-v1", [{**case, "start_bitmap": "ff"}])
    assert row.result == "not applicable"


def test_limits_of_others_are_named_and_ours_have_none() -> None:
    question = Question("q", "aead", False, bytes(16), bytes(257), b"", b"", b"", bytes(16), True, True)
    ours = dp.find_impl("gcm-aes-generic/gwbench")
    assert kat_module.beyond(ours, question) == ""
    theirs = dataclasses.replace(ours, driver="gcm-aes-openssl/openssl", tag="openssl")
    assert "at most 128 bytes" in kat_module.beyond(theirs, question)
    kernels = dataclasses.replace(ours, driver="gcm-aes/kernel", tag="af_alg")
    assert "nonces of 12 bytes" in kat_module.beyond(kernels, question)


def test_providers_pass_where_they_are() -> None:
    """In a process of its own: rows of providers stay. Whether one is here, the last lines say."""
    done = gwbench("selftest", "--vectors", str(DATA / "kat_wycheproof.json"), "--json")
    assert done.returncode == 0, done.stderr
    written = json.loads(done.stdout)
    tags = {
        name
        for name in ("openssl", "ipsec-mb")
        if any(r["implementation"].endswith(f"/{name}") for r in written["rows"])
    }
    assert all(name in tags or name in done.stderr for name in ("openssl", "ipsec-mb"))
