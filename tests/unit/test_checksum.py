"""gw_checksum against RFC 1071 by the book, on every vector path this machine has."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataplane.packets import checksum
from tests.packet_support import ones_sum


def same(a: int, b: int) -> bool:
    """Zero has two forms in one's complement."""
    return a % 0xFFFF == b % 0xFFFF


@given(st.binary(max_size=3000), st.integers(0, 0xFFFFFFFF))
def test_matches_rfc_1071(data: bytes, start: int) -> None:
    assert same(checksum(data, start), ones_sum(data, start))


def test_every_length_and_extreme_bytes() -> None:
    for n in range(520):
        for fill in (b"\xff", b"\x00", b"\x80\x01\x7f"):
            data = (fill * (n // len(fill) + 1))[:n]
            assert same(checksum(data), ones_sum(data)), (n, fill)


def test_largest_packet_does_not_overflow() -> None:
    data = b"\xff" * 65535
    assert same(checksum(data, 0xFFFFFFFF), ones_sum(data, 0xFFFFFFFF))


def test_published_example() -> None:
    """RFC 1071, section 3: the words 0001 f203 f4f5 f6f7 sum to ddf2."""
    assert checksum(bytes.fromhex("0001f203f4f5f6f7")) == 0xDDF2


SCRIPT = """
import hashlib
from dataplane.packets import checksum
data = hashlib.shake_128(b"checksum").digest(4096)
for n in [*range(200), 1348, 1400, 4096]:
    for at in range(3):
        print(checksum(data[at:at + n]) % 0xFFFF)
"""


@pytest.mark.parametrize("disabled", ["", "avx2", "ssse3,sse4_1,avx,avx2"])
def test_other_paths_agree(disabled: str) -> None:
    env = {**os.environ, "GWBENCH_CPU_DISABLE": disabled}
    got = subprocess.run([sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True, check=True).stdout
    data = hashlib.shake_128(b"checksum").digest(4096)
    want = [ones_sum(data[at : at + n]) % 0xFFFF for n in [*range(200), 1348, 1400, 4096] for at in range(3)]
    assert [int(line) for line in got.split()] == want
