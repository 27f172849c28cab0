"""The kernel's data path as far as a kernel without ESP lets it be tested; the rest is in the kernel tier."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dataplane as dp
from gateway import rounds
from gateway.cli import main
from gateway.errors import UnusableError
from gateway.load.iperf3_parse import Flow, Iperf3Result
from gateway.measure import kernel_plan, kernel_verdict
from gateway.measure.machine import Busy
from gateway.measure.sample import Sample
from gateway.netlink import ipsec
from gateway.node import kernel_crypto, priorities, xfrm_stat
from gateway.node.base import NodeCounters
from gateway.noise import Noise
from gateway.rounds import Case, Taken


def entry(name: str, driver: str, priority: int = 100, refcnt: int = 1, more: str = "") -> str:
    return (
        f"name         : {name}\ndriver       : {driver}\nmodule       : kernel\npriority     : {priority}\n"
        f"refcnt       : {refcnt}\nselftest     : passed\ninternal     : no\ntype         : skcipher\n{more}"
    )


LISTING = kernel_crypto.parse(
    "\n".join(
        (
            entry("cbc(aes)", "cbc-aes-aesni", 400),
            entry("cbc(aes)", "cbc(aes-generic)", 100, 3),
            entry("sha256", "sha256-lib", 300),
            entry("gcm(aes)", "generic-gcm-aesni", 400),
        )
    )
)


# ---- /proc/crypto and what an SA runs on ----


@pytest.mark.parametrize(
    ("driver", "words"),
    [
        ("seqiv(rfc4106-gcm-aesni)", "rfc4106-gcm-aesni/kernel"),
        (
            "echainiv(authenc(hmac(sha256-ni),cbc-aes-aesni))",
            "cbc-aes-aesni/kernel + hmac(sha256-ni)/kernel",
        ),
        (
            "seqiv(authencesn(hmac(sha256-lib),rfc3686(ctr-aes-ce)))",
            "rfc3686(ctr-aes-ce)/kernel + hmac(sha256-lib)/kernel",
        ),
        (
            "authenc(digest_null-generic,ecb-cipher_null)",
            "ecb-cipher_null/kernel + digest_null-generic/kernel",
        ),
        (
            "seqiv(rfc4106(gcm_base(ctr(aes-generic),ghash-generic)))",
            "rfc4106(gcm_base(ctr(aes-generic),ghash-generic))/kernel",
        ),
        ("", ""),
    ],
)
def test_the_drivers_inside_a_transform(driver: str, words: str) -> None:
    assert kernel_crypto.words(driver) == words


def test_the_transform_whose_users_became_more_runs() -> None:
    name = "seqiv(rfc4106(gcm(aes)))"
    before = kernel_crypto.parse(entry(name, "seqiv(a)", 400, 2))
    after = kernel_crypto.parse("\n".join((entry(name, "seqiv(a)", 400, 2), entry(name, "seqiv(b)", 100, 2))))
    assert kernel_crypto.running(name, before, after) == "seqiv(b)"
    assert kernel_crypto.running(name, after, after) == "seqiv(a)"
    assert kernel_crypto.running("other", before, after) == ""


@pytest.mark.parametrize(
    ("suite", "esn", "name"),
    [
        ("aes128gcm16", True, "seqiv(rfc4106(gcm(aes)))"),
        ("chacha20poly1305", False, "seqiv(rfc7539esp(chacha20,poly1305))"),
        ("aes256-sha256", True, "echainiv(authencesn(hmac(sha256),cbc(aes)))"),
        ("aes256-sha256", False, "echainiv(authenc(hmac(sha256),cbc(aes)))"),
        ("aes128-ctr-sha256", True, "seqiv(authencesn(hmac(sha256),rfc3686(ctr(aes))))"),
        ("null-sha256", False, "authenc(hmac(sha256),ecb(cipher_null))"),
        ("null", False, "authenc(digest_null,ecb(cipher_null))"),
    ],
)
def test_what_the_kernel_calls_a_suites_transform(suite: str, esn: bool, name: str) -> None:
    assert ipsec.instance_name(dp.find_suite(suite), esn) == name


def test_lists_of_drivers_have_commas_inside() -> None:
    text = "gcm_base(ctr(aes-generic),ghash-generic), rfc4106-gcm-aesni,"
    assert kernel_crypto.split_list(text) == ["gcm_base(ctr(aes-generic),ghash-generic)", "rfc4106-gcm-aesni"]


# ---- drops ----


@pytest.mark.parametrize(
    ("kernel", "ours"),
    [
        ("XfrmInStateProtoError", "state_proto_error"),
        ("XfrmInStateSeqError", "state_seq_error"),
        ("XfrmInStateModeError", "state_mode_error"),
        ("XfrmInStateExpired", "state_expired"),
        ("XfrmInStateInvalid", "in_state_invalid"),
        ("XfrmInNoStates", "in_no_states"),
        ("XfrmInTmplMismatch", "in_tmpl_mismatch"),
        ("XfrmInHdrError", "in_hdr_error"),
        ("XfrmOutNoStates", "out_no_states"),
        ("XfrmOutPolBlock", "out_pol_block"),
        ("XfrmOutStateSeqError", "out_state_seq_error"),
        ("XfrmFwdHdrError", "fwd_hdr_error"),
    ],
)
def test_the_kernels_words_are_the_designs(kernel: str, ours: str) -> None:
    assert xfrm_stat.word(kernel) == ours


def test_xfrm_stat_is_read_and_compared(tmp_path: Path) -> None:
    file = tmp_path / "xfrm_stat"
    file.write_text("XfrmInError             \t0\nXfrmInNoStates          \t7\nnonsense\n")
    assert xfrm_stat.read(file) == {"in_error": 0, "in_no_states": 7}
    assert xfrm_stat.difference({"in_no_states": 5}, xfrm_stat.read(file)) == {"in_no_states": 2}
    assert xfrm_stat.read(tmp_path / "absent") == {}


# ---- drivers by priority ----


def test_drivers_must_be_of_one_algorithm_and_be_there() -> None:
    assert priorities.find(["cbc-aes-aesni", "cbc(aes-generic)"], LISTING) == "cbc(aes)"
    with pytest.raises(UnusableError, match=r"no crypto driver 'cbc-aes-ce'.*cbc-aes-aesni"):
        priorities.find(["cbc-aes-ce"], LISTING)
    with pytest.raises(UnusableError, match="different algorithms"):
        priorities.find(["cbc-aes-aesni", "sha256-lib"], LISTING)
    with pytest.raises(UnusableError, match="sha256: not selectable on this kernel"):
        priorities.find(["sha256-lib", "sha256-lib"], LISTING)


def test_whoever_uses_the_algorithm_is_named() -> None:
    assert priorities.users("cbc(aes)", LISTING)[0] == "cbc(aes-generic) has 2 users"
    assert priorities.users("sha256", LISTING) == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": "other"}'])
def test_a_journal_that_is_none_is_no_journal(tmp_path: Path, text: str) -> None:
    journal = tmp_path / "j.json"
    journal.write_text(text)
    assert priorities.restore_stale(journal) == []


def test_a_journal_of_another_boot_is_dropped(tmp_path: Path) -> None:
    journal = tmp_path / "j.json"
    document = {"schema": "gwbench-priorities/1", "boot": "another", "pid": 0, "before": {"cbc-aes-aesni": -5}}
    journal.write_text(json.dumps(document))
    assert priorities.restore_stale(journal) == [] and not journal.exists()


def test_cleanup_has_nothing_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cleanup"]) == 0
    assert "nothing was left" in capsys.readouterr().out


# ---- the plan and the command ----


def test_the_kernels_candidates_take_turns_with_ours() -> None:
    cases = rounds.plan(["aes128gcm16"], [], dataplanes=("user", "kernel"))
    assert [(c.role, c.dataplane) for c in cases] == [
        ("plain", "user"),
        ("null", "user"),
        ("null", "kernel"),
        ("generic", "user"),
        ("accelerated", "user"),
        ("kernel", "kernel"),
    ]
    cases = rounds.plan(["aes128gcm16"], [], dataplanes=("kernel",), drivers=("a", "b"))
    assert [(c.role, c.driver) for c in cases if c.role == "kernel"] == [("kernel", "a"), ("kernel", "b")]
    assert not any(c.role in ("generic", "accelerated") for c in cases)


def test_a_kernel_without_esp_is_named_before_anything(capsys: pytest.CaptureFixture[str]) -> None:
    lack = kernel_plan.kernel_lacks()
    if lack:
        assert "module" in lack
        for words in (
            ["iperf", "--dataplane", "kernel"],
            ["iperf", "--dataplane", "user,kernel", "--driver", "a,b"],
            ["iperf", "--existing", "127.0.0.1"],
            ["sa", "--from-kernel"],
        ):
            assert main(words) == 2
            err = capsys.readouterr().err
            assert lack in err and len(err.splitlines()) == 1
    else:
        assert kernel_plan.check(("kernel",), ())


@pytest.mark.parametrize("words", [["--dataplane", "xdp"], ["--dataplane", "kernel,xdp"], ["--driver", "a,b"]])
def test_a_data_path_that_there_is_not(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["iperf", *words]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


# ---- the verdict ----

QUIET = Noise(1.0, 0.0, 0.0, False, "")
COUNTERS = NodeCounters((), {}, {"in_no_states": 3}, {}, 0, {})


def taken(case: Case, rates: list[float], busy_s: float) -> list[Taken[Sample]]:
    found = []
    for number, rate in enumerate(rates):
        flow = Flow("forward", rate, 10**9, 10**9, 0, 1.0, 0, None, None, None)
        busy = Busy(2.0, 2.0 - busy_s, 0.0, busy_s, 0.0, 0.0, 1.0)
        sample = Sample(case, Iperf3Result("3", "TCP", "cubic", (flow,), ()), (), 1.0, busy, 0.1, QUIET)
        extra: dict[str, Any] = {"implementation": f"{case.driver or 'x'}/kernel"}
        if case.dataplane == "kernel":
            extra["gateways"] = {"gateway": COUNTERS}
        fields = {name: getattr(sample, name) for name in Sample.__dataclass_fields__}
        found.append(Taken(number, Sample(**{**fields, **extra}), "", 1))
    return found


def test_which_data_path_is_faster_and_why() -> None:
    ours, kernel = Case("accelerated", "aes128gcm16", "accelerated"), Case("kernel", "aes128gcm16", "auto", "kernel")
    measured = {ours: taken(ours, [100.0, 110, 105], 0.6), kernel: taken(kernel, [50.0, 56, 52], 1.1)}
    (line,) = kernel_verdict.lines(measured)
    assert "gwbench's data path is faster: the kernel makes 0.50 (0.50 to 0.51) of ours" in line
    assert "1.00 s in the kernel, 0.50 s ours" in line and "in_no_states 9" in line
    measured[kernel] = taken(kernel, [90.0, 120, 104], 1.1)
    assert "no difference between the data paths beyond noise" in kernel_verdict.lines(measured)[0]


def test_driver_against_driver() -> None:
    cases = [Case("kernel", "aes256-sha256", "auto", "kernel", driver) for driver in ("a", "b")]
    measured = {c: taken(c, rates, 1.0) for c, rates in zip(cases, ([100.0, 101, 99], [131.0, 130, 132]), strict=True)}
    (line,) = kernel_verdict.lines(measured)
    assert "b makes 1.31" in line and "of a, beyond noise" in line
    assert kernel_verdict.lines({}) == []
