"""Overhead arithmetic against packets that were really sealed, for every suite, ICV, mode, encapsulation, version."""

from __future__ import annotations

from typing import Any

import pytest
from esp_support import ipv4, ipv6, pair, payload, runnable_suites, sa_params
from hypothesis import given, settings
from hypothesis import strategies as st

import dataplane as dp

OUTER = {4: 20, 6: 40}


def icvs(suite: str) -> tuple[int, ...]:
    """Every ICV length that the suite may have."""
    s = dp.find_suite(suite)
    if s.enc_alg == "gcm(aes)":
        return (8, 12, 16)
    return (12, 16) if s.auth_alg == "hmac(sha256)" else (s.icv_bytes,)


suites = st.sampled_from(runnable_suites())
modes = st.sampled_from(["tunnel", "transport"])
encaps = st.sampled_from(["none", "udp"])
versions = st.sampled_from([4, 6])


@settings(max_examples=400, deadline=None)
@given(suite=suites, icv_choice=st.integers(0, 2), mode=modes, encap=encaps, af=versions, n=st.integers(0, 9000))
def test_wire_len_is_what_sealing_makes(suite: str, icv_choice: int, mode: str, encap: str, af: int, n: int) -> None:
    icv = icvs(suite)[icv_choice % len(icvs(suite))]
    inner_len = OUTER[af] + n
    with dp.Sa(sa_params(suite, "out", mode=mode, icv_bytes=icv)) as sa:
        if mode == "tunnel":
            packet = ipv4(payload(n)) if af == 4 else ipv6(payload(n))
            (sealed,) = sa.seal([packet])
        else:  # the IP header stays outside
            (sealed,) = sa.seal([payload(n)], next_header=17)
        assert sealed.status == "ok"
        outer = OUTER[af] + (8 if encap == "udp" else 0)
        assert dp.wire_len(suite, inner_len, mode=mode, encap=encap, outer_af=af, icv_bytes=icv) == outer + len(
            sealed.esp
        )
        assert sa.seal_len(inner_len if mode == "tunnel" else n) == len(sealed.esp)


@settings(max_examples=1000, deadline=None)
@given(
    suite=st.sampled_from([s.name for s in dp.suites()]),
    mode=modes,
    encap=encaps,
    af=versions,
    mtu=st.integers(0, 66000),
)
def test_inner_mtu_is_the_largest_that_fits(suite: str, mode: str, encap: str, af: int, mtu: int) -> None:
    how: dict[str, Any] = {"mode": mode, "encap": encap, "outer_af": af}
    inner = dp.inner_mtu(suite, mtu, **how)
    cap = min(mtu, 65535 if af == 4 else 65575)  # no outer packet is longer
    if inner:
        assert dp.wire_len(suite, inner, **how) <= cap < dp.wire_len(suite, inner + 1, **how)
    else:
        assert dp.wire_len(suite, 1 if mode == "tunnel" else OUTER[af] + 1, **how) > cap


@pytest.mark.parametrize(
    ("suite", "encap", "af", "mtu"),
    [
        # counted by hand from the RFCs: outer + UDP + SPI/seq + IV + ICV, then whole blocks less two
        ("aes128gcm16", "udp", 4, 1500 - 20 - 8 - 8 - 8 - 16 - 2),
        ("aes128gcm16", "none", 4, 1500 - 20 - 8 - 8 - 16 - 2),
        ("aes128gcm16", "none", 6, 1500 - 40 - 8 - 8 - 16 - 2),
        ("aes256-sha256", "udp", 4, 1422),
        ("aes256-sha256", "none", 4, 1438),
        ("aes256-sha256", "none", 6, 1406),
        ("null", "none", 4, 1500 - 20 - 8 - 2),
    ],
)
def test_known_mtus(suite: str, encap: str, af: int, mtu: int) -> None:
    assert dp.inner_mtu(suite, 1500, encap=encap, outer_af=af) == mtu


def test_nonsense_has_no_length() -> None:
    assert dp.wire_len("aes128gcm16", 100, outer_af=5) == 0
    assert dp.wire_len("aes128gcm16", 100, icv_bytes=9) == 0
    assert dp.inner_mtu("aes128gcm16", 1500, icv_bytes=15) == 0
    assert dp.inner_mtu("aes128gcm16", 60) == 0


def test_tfc_padding_is_in_seal_len() -> None:
    ours = pair("aes128gcm16", out={"tfc_pad_to": 1400})
    sealed = ours.out.seal([ipv4(payload(n)) for n in (0, 1, 700, 1380, 1381)])
    assert [len(s.esp) for s in sealed] == [8 + 8 + 1404 + 16] * 4 + [8 + 8 + 1404 + 16]
    assert [ours.out.seal_len(20 + n) for n in (0, 1, 700, 1380, 1381)] == [len(s.esp) for s in sealed]
