"""The suite table, and what may become an SA."""

from __future__ import annotations

from typing import Any

import pytest
from esp_support import sa_params, wishes

import dataplane as dp


def refusal(suite: str = "aes128gcm16", direction: str = "in", **changes: Any) -> str:
    with pytest.raises(dp.DataplaneError) as caught:
        dp.Sa(sa_params(suite, direction, **changes))
    return caught.value.message


def test_ike_names_and_sizes() -> None:
    table = {s.name: s for s in dp.suites()}
    for bits in (128, 192, 256):
        gcm, cbc = table[f"aes{bits}gcm16"], table[f"aes{bits}-sha256"]
        assert (gcm.enc_key_bytes, gcm.salt_bytes, gcm.iv_bytes, gcm.block_bytes, gcm.icv_bytes) == (
            bits // 8,
            4,
            8,
            4,
            16,
        )
        assert (cbc.enc_key_bytes, cbc.auth_key_bytes, cbc.iv_bytes, cbc.block_bytes, cbc.icv_bytes) == (
            bits // 8,
            32,
            16,
            16,
            16,
        )
        assert (gcm.auth_alg, cbc.auth_alg) == ("", "hmac(sha256)")
        assert table[f"aes{bits}-sha1"].legacy
    # Nothing without integrity is offered outside the laboratory.
    assert {s.name for s in dp.suites() if s.bench_only} == {
        s.name for s in dp.suites() if not s.auth_alg and s.enc_alg not in ("gcm(aes)", "rfc7539(chacha20,poly1305)")
    }
    assert len(table) == len(dp.suites())


@pytest.mark.parametrize("suite", ["aes128gcm16", "aes192gcm16", "aes256gcm16", "aes128-sha256", "aes256-sha256"])
def test_generic_runs_everywhere(suite: str) -> None:
    assert "generic" in wishes(suite)
    with dp.Sa(sa_params(suite, "out", implementation="generic")) as sa:
        assert all("generic" in driver for driver in sa.implementation.split(" + "))


def test_unknown_suite_lists_what_exists() -> None:
    with pytest.raises(dp.DataplaneError, match=r"no suite is called 'aes512'.*aes128gcm16.*aes256-sha256"):
        dp.resolve("aes512")


def test_unknown_implementation_lists_what_exists() -> None:
    with pytest.raises(dp.DataplaneError, match="generic"):
        dp.resolve("aes128gcm16", "abacus")


def test_null_only_in_the_laboratory() -> None:
    assert "laboratory" in refusal("null")
    with dp.Sa(sa_params("null", "in", lab=True)) as sa:
        assert sa.counters().state == "valid"


@pytest.mark.parametrize("spi", [0, 1, 100, 255])
def test_reserved_spis(spi: int) -> None:
    assert refusal(spi=spi) == f"SPI {spi} is reserved: use 256 or more"


def test_lowest_spi_and_the_laboratory() -> None:
    dp.Sa(sa_params("aes128gcm16", "in", spi=256)).close()
    dp.Sa(sa_params("aes128gcm16", "in", spi=1, lab=True)).close()
    assert "reserved" in refusal(spi=0, lab=True)


@pytest.mark.parametrize(
    ("suite", "icv"), [("aes128gcm16", 10), ("aes128gcm16", 4), ("aes256-sha256", 8), ("aes256-sha256", 32)]
)
def test_icv_that_the_suite_does_not_know(suite: str, icv: int) -> None:
    assert refusal(suite, icv_bytes=icv) == f"suite {suite} has no ICV of {icv} bytes"


@pytest.mark.parametrize("window", [1, 31, 65537, 1 << 31])
def test_window_out_of_range(window: int) -> None:
    assert refusal(replay_window=window) == f"replay window of {window} packets: between 32 and 65536 are possible"


def test_wrong_lengths_of_keys() -> None:
    assert "salt of 4 bytes" in refusal(salt=b"123")
    assert "encryption key of 16 bytes" in refusal(enc_key=bytes(32))
    assert "authentication key of 32 bytes" in refusal("aes256-sha256", auth_key=bytes(20))


def test_contradictions() -> None:
    assert "needs ESN" in refusal(seq=1 << 32)
    assert "tunnel mode" in refusal(direction="out", mode="transport", tfc_pad_to=1000)
    assert "65535" in refusal(direction="out", tfc_pad_to=70000)
    assert "not both" in refusal(copy_df=True, set_df=True)
    assert "IP versions" in refusal(local="192.0.2.1", peer="fd00::1")
    assert "IP versions" in refusal(selector=dp.Selector(src="10.0.0.0/8", dst="fd00::/16"))
    assert "port range" in refusal(selector=dp.Selector(proto=17, dst_ports=(10, 9)))


def test_refusals_name_no_key() -> None:
    key = bytes(range(0x41, 0x51))
    for change in ({"spi": 3}, {"icv_bytes": 7}, {"replay_window": 1}, {"implementation": "abacus"}):
        text = refusal(enc_key=key, **change)
        assert key.decode() not in text and key.hex() not in text and "\n" not in text
