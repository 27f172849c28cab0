"""The verdict names a bound only when the witnesses agree."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dataplane import suites
from gateway.bound import Evidence, Gateway, find, verdict
from gateway.load.rate import offered_mbit_per_s
from gateway.measure.laboratory import _busiest_thread
from gateway.node.base import LoopCounters, NodeCounters

CRYPTO = {"seal": 70, "send": 15, "tun_read": 10, "wait": 900, "coalesce": 5}
IO = {"seal": 10, "send": 45, "tun_read": 35, "wait": 0, "segment": 10}


def evidence(**more: object) -> Evidence:
    base = Evidence(
        suite="aes256-sha256",
        cipher="cbc(aes)",
        integrity="hmac(sha256)",
        mbit_per_s=2900,
        share_of_plain=0.3,
        gateways=(Gateway("gw1", 0.97, CRYPTO), Gateway("gw2", 0.7, CRYPTO)),
        idle=0.3,
        softirq=0.1,
        cores=2,
    )
    return replace(base, **more)  # type: ignore[arg-type]


def test_crypto_names_the_larger_part() -> None:
    bound = find(evidence(integrity_share=0.8))
    assert (bound.kind, bound.text) == ("crypto", "bound by SHA-256")
    assert bound.evidence == "56% of gw1's busy core"
    assert find(evidence(integrity_share=0.2)).text == "bound by AES-CBC"


def test_crypto_that_was_not_split_names_both() -> None:
    assert find(evidence()).text == "bound by AES-CBC with SHA-256"


def test_aead_is_one() -> None:
    assert find(evidence(cipher="gcm(aes)", integrity="")).text == "bound by AES-GCM"


def test_every_suite_is_named_in_words() -> None:
    for suite in suites():
        if not suite.bench_only:
            text = find(evidence(cipher=suite.enc_alg, integrity=suite.auth_alg)).text
            assert "(" not in text and suite.enc_alg not in text.split(), suite.name


def test_waiting_is_not_work() -> None:
    # 900 of 1000 cycles waited: the rest is what shares are of.
    assert "70%" in find(evidence()).evidence


def test_packet_io() -> None:
    assert find(evidence(gateways=(Gateway("gw1", 0.95, IO),))).kind == "packet I/O"


def test_the_line() -> None:
    assert find(evidence(share_of_plain=0.93)).kind == "line"


def test_a_paced_load_that_passes_says_nothing_of_the_line() -> None:
    assert find(evidence(share_of_plain=0.99, offered_mbit_per_s=3000)).kind == "load"
    assert find(evidence(share_of_plain=0.5, offered_mbit_per_s=5000)).kind == "crypto"


def test_a_load_that_was_not_carried_is_not_the_bound() -> None:
    """Plain forwarding did not carry it either: 168 of 300 Mbit/s is no verdict of the load, nor of the line."""
    slow = evidence(share_of_plain=0.91, mbit_per_s=168, offered_mbit_per_s=300)
    assert find(slow).kind == "crypto"
    assert find(replace(slow, others=1.7)).kind == "unknown"


@pytest.mark.parametrize(
    ("words", "mbit_per_s"),
    [
        ("", None),
        ("-b 0", None),
        ("-b 300M", 300),
        ("-b 1.5g -P 4", 6000),
        ("-b 10M/5 --bidir", 20),
        ("-u", 1),
        ("-u -P 3", 3),
        ("-u -b 250K", 0.25),
    ],
)
def test_the_rate_that_iperf3_was_told(words: str, mbit_per_s: float | None) -> None:
    assert offered_mbit_per_s(["iperf3", "-c", "192.0.2.1", *words.split()]) == mbit_per_s


def test_a_full_machine_with_threads_that_wait_for_it() -> None:
    mixed = {"seal": 30, "send": 30, "tun_read": 5, "segment": 35}
    bound = find(evidence(idle=0.02, gateways=(Gateway("gw1", 0.5, mixed), Gateway("gw2", 0.45, mixed))))
    assert bound.kind == "cpu"
    assert "2 cores" in bound.text


def test_cannot_tell_when_nobody_is_busy() -> None:
    bound = find(evidence(gateways=(Gateway("gw1", 0.5, CRYPTO, all_share=0.9),), idle=0.4))
    assert bound.kind == "unknown"
    assert "cannot tell" in bound.text


def test_cannot_tell_when_others_took_the_machine() -> None:
    bound = find(evidence(others=0.9))
    assert bound.kind == "unknown"
    assert "0.9 of 2 cores" in bound.evidence


def test_cannot_tell_without_cycles() -> None:
    assert find(evidence(gateways=(Gateway("gw1", 0.99, {}),))).kind == "unknown"
    assert find(evidence(gateways=())).kind == "unknown"


def test_verdict_has_two_lines_number_bound_and_next_step() -> None:
    lines = verdict(evidence(integrity_share=0.83, alternatives={"aes256-sha256": 2900, "aes128gcm16": 5000}))
    assert lines == [
        "Verdict: 2.9 Gbit/s on this PC, bound by SHA-256 (58% of gw1's busy core); aes128gcm16 avoids it.",
        "For your router: --peer root@ROUTER",
    ]


def test_no_alternative_is_named_that_is_not_better() -> None:
    assert "avoids" not in verdict(evidence(alternatives={"aes128gcm16": 2950}))[0]
    assert verdict(evidence(mbit_per_s=43.2))[0].startswith("Verdict: 43 Mbit/s")


def test_the_busiest_thread_of_several_is_what_a_core_can_bind() -> None:
    def reading(*cpu_s: float) -> NodeCounters:
        loops = tuple(LoopCounters(int(s * 1e9), {"seal": int(s * 100)}, {}, {}) for s in cpu_s)
        return NodeCounters((), {}, {}, {"seal": 7}, int(sum(cpu_s) * 1e9), {}, loops)

    several = _busiest_thread("gw1", [reading(0.5, 0.9), reading(0.6, 0.9)], 2.0)
    assert several == Gateway("gw1", 0.9, {"seal": 180}, pytest.approx(1.45), 2)
    assert _busiest_thread("gw1", [reading(0.5)], 1.0) == Gateway("gw1", 0.5, {"seal": 7}, 0.5)


def test_one_sa_on_one_core_is_named_where_another_core_has_nothing_to_do() -> None:
    four = {"cores": 4, "idle": 0.6, "integrity_share": 0.8}
    assert verdict(evidence(**four))[1].startswith("One SA on one core carries it all: --queues 4 -P 8 uses more.")
    spread = (Gateway("gw1", 0.97, CRYPTO, all_share=1.9, queues=2),)
    for more in ({"cores": 2, "idle": 0.4}, {"idle": 0.1}, {"gateways": spread}, {"share_of_plain": 0.95}):
        assert "One SA" not in verdict(evidence(**{**four, **more}))[1]
