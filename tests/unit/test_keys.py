"""Keys: as long as the suite says, different each time, wiped."""

from __future__ import annotations

import pytest

from dataplane import suites
from gateway.keys import SPI_RESERVED_BELOW, FreshKeys, random_spi


@pytest.mark.parametrize("suite", suites(), ids=lambda suite: suite.name)
def test_lengths_are_the_suites(suite: object) -> None:
    from dataplane import Suite

    assert isinstance(suite, Suite)
    with FreshKeys(suite) as keys:
        assert len(keys.enc_key) == suite.enc_key_bytes
        assert len(keys.auth_key) == suite.auth_key_bytes
        assert len(keys.salt) == suite.salt_bytes


def test_never_the_same_twice() -> None:
    suite = next(suite for suite in suites() if suite.name == "aes256-sha256")
    seen = {bytes(FreshKeys(suite).enc_key) for _ in range(100)} | {
        bytes(FreshKeys(suite).auth_key) for _ in range(100)
    }
    assert len(seen) == 200


def test_wiped_at_the_end_also_after_an_error() -> None:
    suite = next(suite for suite in suites() if suite.name == "aes256gcm16")
    with pytest.raises(RuntimeError), FreshKeys(suite) as keys:
        buffers = keys.enc_key, keys.salt
        assert any(keys.enc_key)
        raise RuntimeError
    assert buffers == (bytearray(32), bytearray(4))
    assert keys.enc_key is buffers[0], "wiped in place, not replaced"


def test_not_in_repr() -> None:
    keys = FreshKeys(next(suite for suite in suites() if suite.enc_key_bytes))
    assert keys.enc_key.hex() not in repr(keys) and repr(bytes(keys.enc_key)) not in repr(keys)


def test_spis_are_not_reserved_and_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(SPI_RESERVED_BELOW <= random_spi() < 1 << 32 for _ in range(1000))
    rolls = iter([0, 0, 1])
    monkeypatch.setattr("gateway.keys.secrets.randbelow", lambda n: next(rolls))
    assert random_spi({SPI_RESERVED_BELOW}) == SPI_RESERVED_BELOW + 1
