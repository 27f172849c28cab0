"""Lifetimes in packets, bytes and seconds; time is passed in, so nothing here waits."""

from __future__ import annotations

import pytest
from esp_support import ipv4, pair, sa_params, statuses

import dataplane as dp

SECOND = 1_000_000_000
PACKET = ipv4(b"x" * 80)  # 100 bytes


def test_packets() -> None:
    ours = pair("aes128gcm16", out={"soft_packets": 3, "hard_packets": 5})
    states = []
    for _ in range(7):
        ours.out.seal([PACKET])
        states.append(ours.out.counters().state)
    assert states == ["valid", "valid", "dying", "dying", "dying", "expired", "expired"]
    counters = ours.out.counters()
    assert (counters.packets, counters.drops, counters.seq) == (5, {"state_expired": 2}, 5)


def test_packets_within_one_batch() -> None:
    ours = pair("aes256-sha256", out={"hard_packets": 70})
    assert statuses(ours.out.seal([PACKET] * 80)) == ["ok"] * 70 + ["state_expired"] * 10


def test_bytes_never_exceed_the_limit() -> None:
    ours = pair("aes128gcm16", out={"soft_bytes": 200, "hard_bytes": 450})
    assert statuses(ours.out.seal([PACKET])) == ["ok"]
    assert ours.out.counters().state == "valid"
    assert statuses(ours.out.seal([PACKET])) == ["ok"]
    assert ours.out.counters().state == "dying"
    assert statuses(ours.out.seal([PACKET] * 4)) == ["ok", "ok", "state_expired", "state_expired"]
    assert ours.out.counters().bytes == 400
    # expired is for good, however short the packet
    assert statuses(ours.out.seal([ipv4(b"")])) == ["state_expired"]


@pytest.mark.parametrize("direction", ["out", "in"])
def test_seconds(direction: str) -> None:
    start = 1_000 * SECOND
    limits = {"soft_ns": 10 * SECOND, "hard_ns": 20 * SECOND}
    sender = dp.Sa(sa_params("aes128gcm16", "out", **(limits if direction == "out" else {})), start)
    receiver = dp.Sa(sa_params("aes128gcm16", "in", **(limits if direction == "in" else {})), start)
    limited = sender if direction == "out" else receiver

    def at(second: float) -> tuple[str, str]:
        now = start + int(second * SECOND)
        (sealed,) = sender.seal([PACKET], now)
        status = sealed.status if sealed.status != "ok" else receiver.open([sealed.esp], now)[0].status
        return status, limited.counters().state

    assert at(0) == ("ok", "valid")
    assert at(9.999) == ("ok", "valid")
    assert at(10) == ("ok", "dying")
    assert at(19.999) == ("ok", "dying")
    assert at(20) == ("state_expired", "expired")
    assert at(5) == ("state_expired", "expired")  # a clock that steps back revives nothing
    assert limited.counters().drops == {"state_expired": 2}


def test_clock_behind_creation_ages_nothing() -> None:
    with dp.Sa(sa_params("aes128gcm16", "out", hard_ns=SECOND), 50 * SECOND) as sa:
        assert statuses(sa.seal([PACKET], 10 * SECOND)) == ["ok"]


def test_receiver_counts_what_it_accepts() -> None:
    """Replays and forgeries use up nothing of the receiver's lifetime."""
    ours = pair("aes128gcm16", into={"hard_packets": 2, "soft_packets": 2})
    esps = [s.esp for s in ours.out.seal([PACKET] * 3)]
    opened = ours.into.open([esps[0], esps[0], esps[0][:-1] + b"\0", esps[1], esps[2]])
    assert statuses(opened)[0] == "ok" and statuses(opened)[3:] == ["ok", "state_expired"]
    assert ours.into.counters().packets == 2


def test_no_limits() -> None:
    with dp.Sa(sa_params("aes128gcm16", "out"), 0) as sa:
        assert statuses(sa.seal([PACKET] * 100, (1 << 63) - 1)) == ["ok"] * 100
        counters = sa.counters()
        assert (counters.state, counters.last_ns, counters.created_ns) == ("valid", (1 << 63) - 1, 0)
