"""Fresh keys for every session (RFC 4106 and 7634 forbid a key to meet an IV twice), and SPIs."""

from __future__ import annotations

import secrets
from collections.abc import Container
from types import TracebackType

from dataplane import Suite

SPI_RESERVED_BELOW = 256
"""RFC 4303 2.1: 0 is local use, 1 to 255 are reserved by IANA."""


class FreshKeys:
    """Random keys for one SA, wiped at the end of the ``with``. They never appear in ``repr``."""

    __slots__ = ("auth_key", "enc_key", "salt")

    def __init__(self, suite: Suite) -> None:
        self.enc_key = _random(suite.enc_key_bytes)
        self.auth_key = _random(suite.auth_key_bytes)
        self.salt = _random(suite.salt_bytes)

    def wipe(self) -> None:
        """Overwrites in place and keeps the lengths; safe twice."""
        for key in (self.enc_key, self.auth_key, self.salt):
            key[:] = bytes(len(key))

    def __enter__(self) -> FreshKeys:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.wipe()

    def __repr__(self) -> str:
        return "FreshKeys(...)"


def _random(n: int) -> bytearray:
    """The kernel's random bytes straight into what will be wiped: ``secrets`` would leave an immutable copy."""
    key = bytearray(n)
    with open("/dev/urandom", "rb", buffering=0) as source:
        got = source.readinto(key)
    if got != n:
        raise OSError(f"/dev/urandom gave {got} of {n} bytes")
    return key


def random_spi(taken: Container[int] = ()) -> int:
    """An SPI that is neither reserved nor in ``taken``."""
    while True:
        spi = secrets.randbelow((1 << 32) - SPI_RESERVED_BELOW) + SPI_RESERVED_BELOW
        if spi not in taken:
            return spi
