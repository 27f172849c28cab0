"""A provider carries suites: what it seals, our generic code opens, and the other way round. See provider_run.py."""

from __future__ import annotations

import os
import random

import esp_support as support
import pytest

import dataplane

TAG = os.environ.get("GWBENCH_TEST_PROVIDER", "")
LENGTHS = (0, 1, 20, 100, 300, 552, 1000, 1380, 1400, 1401)


def carried() -> list[str]:
    found = []
    for suite in support.runnable_suites():
        try:
            dataplane.resolve(suite, TAG)
        except dataplane.DataplaneError:
            continue
        found.append(suite)
    return found


def test_it_carries_suites() -> None:
    assert {"aes128gcm16", "aes256gcm16", "aes256-sha256", "chacha20poly1305"} <= set(carried()) or TAG == "af_alg"
    assert carried()


@pytest.mark.parametrize("suite", carried())
def test_automatic_choice_never_takes_it(suite: str) -> None:
    drivers = {impl.driver for impl in dataplane.implementations() if impl.tag == TAG}
    for wish in ("auto", "accelerated", "generic"):
        try:
            chosen = dataplane.resolve(suite, wish)
        except dataplane.DataplaneError:
            continue  # nothing accelerated here
        assert not drivers & set(chosen.split(" + "))


@pytest.mark.parametrize("esn", [False, True], ids=["short numbers", "esn"])
@pytest.mark.parametrize("suite", carried())
def test_opens_what_generic_seals_and_the_other_way_round(suite: str, esn: bool) -> None:
    rng = random.Random(suite)
    for sender, receiver in ((TAG, "generic"), ("generic", TAG), (TAG, TAG)):
        pair = support.pair(suite, esn=esn, out={"implementation": sender}, into={"implementation": receiver})
        for count in (1, 3, 40):
            packets = [support.ipv4(rng.randbytes(rng.choice(LENGTHS))) for _ in range(count)]
            sealed = pair.out.seal(packets, first_span=rng.choice([0, 64, 512]))
            assert support.statuses(sealed) == ["ok"] * count
            wire = [one.esp for one in sealed]
            forged = rng.randrange(count)
            wire[forged] = flip(rng, wire[forged])
            opened = pair.into.open(wire)
            want = ["ok"] * count
            want[forged] = "state_proto_error"
            assert support.statuses(opened) == want
            assert [o.inner for o in opened if o.status == "ok"] == [*packets[:forged], *packets[forged + 1 :]]


def flip(rng: random.Random, packet: bytes) -> bytes:
    """One bit behind SPI and sequence number."""
    changed = bytearray(packet)
    changed[rng.randrange(8, len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def test_halves_of_two_origins_can_be_named() -> None:
    cipher = next(i.driver for i in dataplane.implementations() if (i.tag, i.alg) == (TAG, "cbc(aes)"))
    named = f"{cipher} + hmac-sha256-generic/gwbench"
    assert dataplane.resolve("aes256-sha256", named.replace(" ", "")) == named
