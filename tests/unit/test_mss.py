"""MSS clamping against hand-made SYNs, and against bytes that are no SYN at all."""

from __future__ import annotations

import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dataplane.packets import clamp_mss
from tests.packet_support import ACK, SYN, Tcp, checksums_right, ipv6

NOP, END, SACK_OK = b"\x01", b"\x00", b"\x04\x02"


def mss(value: int) -> bytes:
    return struct.pack(">BBH", 2, 4, value)


def padded(options: bytes) -> bytes:
    return options + NOP * (-len(options) % 4)


@given(
    v6=st.booleans(),
    before=st.lists(st.sampled_from([NOP, SACK_OK, b"\x03\x03\x07", b"\x08\x0a" + bytes(8)]), max_size=3),
    value=st.integers(0, 65535),
    mtu=st.integers(0, 70000),
    flags=st.sampled_from([SYN, SYN | ACK]),
    seq=st.integers(0, 2**32 - 1),
    payload=st.binary(max_size=40),
)
@example(v6=False, before=[NOP], value=1460, mtu=1400, flags=SYN, seq=1, payload=b"")
def test_the_option_is_lowered_and_the_checksum_kept_right(
    v6: bool, before: list[bytes], value: int, mtu: int, flags: int, seq: int, payload: bytes
) -> None:
    def syn(n: int) -> bytes:
        options = padded(b"".join(before) + mss(n))
        return Tcp(v6=v6, flags=flags, seq=seq, options=options, payload=payload).build()

    room = mtu - (60 if v6 else 40)
    expected = min(value, room) if room > 0 else value
    clamped = clamp_mss(syn(value), mtu)
    assert checksums_right(clamped)
    # The two checksums may be 0 and 0xffff, which are the same number.
    at = 40 if v6 else 20
    assert clamped[: at + 16] + clamped[at + 18 :] == syn(expected)[: at + 16] + syn(expected)[at + 18 :]


@pytest.mark.parametrize(
    "packet",
    [
        Tcp(flags=ACK, options=mss(1460)).build(),  # no SYN
        Tcp(flags=SYN).build(),  # no option
        Tcp(flags=SYN, options=END + NOP * 3 + mss(1460)).build(),  # behind the end
        Tcp(flags=SYN, options=b"\x02\x03\x05\x01").build(),  # of a wrong length
        Tcp(flags=SYN, options=b"\x08\x00" + NOP * 2 + mss(1460)).build(),  # an option without length
        Tcp(flags=SYN, options=b"\x08\x28" + NOP * 2).build(),  # an option beyond the header
    ],
)
def test_what_has_no_mss_to_lower_stays_as_it_is(packet: bytes) -> None:
    assert clamp_mss(packet, 576) == packet


def test_behind_an_extension_header() -> None:
    tcp = Tcp(v6=True, flags=SYN, options=mss(1440)).build()
    options = bytes((6, 0)) + b"\x01\x04" + bytes(4)
    packet = ipv6(60, options + tcp[40:], src="fd00::1")
    assert clamp_mss(packet, 1280)[48 + 22 : 48 + 24] == struct.pack(">H", 1220)


@given(st.binary(max_size=120), st.integers(0, 2000))
def test_any_bytes_are_survived(packet: bytes, mtu: int) -> None:
    assert len(clamp_mss(packet, mtu)) == len(packet)


@given(st.binary(min_size=20, max_size=60), st.sampled_from([4, 6]))
def test_any_tcp_header_is_survived(tail: bytes, version: int) -> None:
    whole = Tcp(v6=version == 6, flags=SYN).build()
    at = 40 if version == 6 else 20
    packet = whole[:at] + tail
    changed = clamp_mss(packet, 100)
    assert changed[:at] == packet[:at] and len(changed) == len(packet)
