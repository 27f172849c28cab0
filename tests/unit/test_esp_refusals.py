"""A corrupted, replayed, cut or foreign packet is dropped for the right reason, and the SA goes on working."""

from __future__ import annotations

import hashlib
import hmac

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from esp_support import SPI, flip, ip, ipv4, ipv6, key_bytes, open_one, pair, payload, sa_params, seal_one, statuses
from esp_support import suite_and_wish as suites_and_wishes

import dataplane as dp

PACKET = ipv4(payload(90))


def goes_on(ours_out: dp.Sa, ours_in: dp.Sa) -> None:
    """The SA still works."""
    packet = ipv4(b"and on it goes")
    opened = open_one(ours_in, seal_one(ours_out, packet))
    assert (opened.status, opened.inner) == ("ok", packet)


@pytest.mark.parametrize(("suite", "wish"), suites_and_wishes())
def test_every_byte_is_protected(suite: str, wish: str) -> None:
    ours = pair(suite, implementation=wish)
    esp = seal_one(ours.out, PACKET)
    for at in range(len(esp)):
        status = open_one(ours.into, flip(esp, at, 1 << at % 8)).status
        if at < 4:
            assert status == "in_no_states"  # another SPI: not this SA's packet
        else:
            assert status == "state_proto_error", at
    drops = ours.into.counters().drops
    assert drops == {"in_no_states": 4, "state_proto_error": len(esp) - 4}
    assert open_one(ours.into, esp).status == "ok"  # none of this moved the window
    goes_on(ours.out, ours.into)


@pytest.mark.parametrize("suite", ["aes128gcm16", "aes256-sha256", "null-sha256"])
def test_every_truncation(suite: str) -> None:
    ours = pair(suite)
    esp = seal_one(ours.out, PACKET)
    s = dp.find_suite(suite)
    least = 8 + s.iv_bytes + s.block_bytes + s.icv_bytes
    for length in range(len(esp)):
        status = open_one(ours.into, esp[:length]).status
        aligned = (length - 8 - s.iv_bytes - s.icv_bytes) % s.block_bytes == 0
        assert status == ("state_proto_error" if length >= least and aligned else "in_hdr_error"), length
    for longer in range(1, 40):
        assert open_one(ours.into, esp + bytes(longer)).status in ("in_hdr_error", "state_proto_error")
    assert ours.into.counters().packets == 0
    assert open_one(ours.into, esp).status == "ok"
    goes_on(ours.out, ours.into)


def test_foreign_keys_and_foreign_spi() -> None:
    ours = pair("aes128gcm16")
    with dp.Sa(sa_params("aes128gcm16", "out", enc_key=bytes(16))) as foreign:
        assert open_one(ours.into, seal_one(foreign, PACKET)).status == "state_proto_error"
    with dp.Sa(sa_params("aes128gcm16", "out", spi=SPI + 1)) as other:
        assert open_one(ours.into, seal_one(other, PACKET)).status == "in_no_states"
    goes_on(ours.out, ours.into)


def test_wrong_high_half() -> None:
    """ESN bits that are not on the wire are in the ICV: a packet of another epoch is not authentic."""
    for suite in ("aes128gcm16", "aes256-sha256"):
        ours = pair(suite, out={"seq": 5 << 32}, into={"seq": 4 << 32}, esn=True)
        assert open_one(ours.into, seal_one(ours.out, PACKET)).status == "state_proto_error"


def test_wrong_direction() -> None:
    ours = pair("aes128gcm16")
    esp = seal_one(ours.out, PACKET)
    assert open_one(ours.out, esp).status == "in_state_invalid"
    assert statuses(ours.into.seal([PACKET])) == ["in_state_invalid"]


def test_bad_ones_among_good_ones() -> None:
    ours = pair("aes256-sha256")
    esps = [s.esp for s in ours.out.seal([ipv4(payload(n)) for n in range(20)])]
    mixed = [flip(esp, 30) if i % 3 == 1 else esp[:11] if i % 3 == 2 else esp for i, esp in enumerate(esps)]
    opened = ours.into.open(mixed)
    assert statuses(opened) == [("ok", "state_proto_error", "in_hdr_error")[i % 3] for i in range(20)]
    assert [o.inner for o in opened if o.status == "ok"] == [ipv4(payload(n)) for n in range(0, 20, 3)]
    assert ours.into.counters().drops == {"state_proto_error": 7, "in_hdr_error": 6}


# ---- packets with a right ICV and wrong contents: only a peer with the keys makes them ----


def gcm_by_hand(text: bytes, number: int = 1) -> bytes:
    p = sa_params("aes128gcm16", "in")
    head, iv = SPI.to_bytes(4, "big") + number.to_bytes(4, "big"), number.to_bytes(8, "big")
    return head + iv + AESGCM(bytes(p.enc_key)).encrypt(bytes(p.salt) + iv, text, head)


def cbc_by_hand(text: bytes, number: int = 1) -> bytes:
    head, iv = SPI.to_bytes(4, "big") + number.to_bytes(4, "big"), hashlib.md5(bytes([number])).digest()
    encryptor = Cipher(algorithms.AES(key_bytes("enc", 32)), modes.CBC(iv)).encryptor()
    body = head + iv + encryptor.update(text) + encryptor.finalize()
    return body + hmac.digest(key_bytes("auth", 32), body, "sha256")[:16]


BY_HAND = {"aes128gcm16": (gcm_by_hand, 4), "aes256-sha256": (cbc_by_hand, 16)}


def trailer(inner: bytes, block: int, next_header: int, extra: int = 0) -> bytes:
    """RFC 4303 2.4: 1, 2, 3, ..., pad length, next header; `extra` more blocks of padding."""
    pad = -(len(inner) + 2) % block + extra * block
    return inner + bytes(range(1, pad + 1)) + bytes([pad, next_header])


@pytest.mark.parametrize("suite", BY_HAND)
def test_padding(suite: str) -> None:
    make, block = BY_HAND[suite]
    inner = ipv4(payload(15))
    good = trailer(inner, block, 4, 2)
    pad = good[-2]
    cases = {
        "self-describing, longer than needed": (good, "ok"),
        "first pad byte wrong": (flip(good, -2 - pad), "state_proto_error"),
        "last pad byte wrong": (flip(good, -3), "state_proto_error"),
        "zeros": (good[: -2 - pad] + bytes(pad) + good[-2:], "state_proto_error"),
        "pad length past the beginning": (good[:-2] + bytes([255, 4]), "state_proto_error"),
        "pad length of all": (bytes(range(1, 2 * block - 1)) + bytes([2 * block - 2, 4]), "in_hdr_error"),
        "pad length one too many": (bytes(range(1, 2 * block - 1)) + bytes([2 * block - 1, 4]), "state_proto_error"),
    }
    with dp.Sa(sa_params(suite, "in")) as sa:
        for number, (what, (text, expected)) in enumerate(cases.items(), start=1):
            assert open_one(sa, make(text, number)).status == expected, what
        assert open_one(sa, make(trailer(inner, block, 4), 99)).inner == inner


def test_longest_padding() -> None:
    """255 bytes of padding are legal."""
    inner = ipv4(payload(19))
    text = inner + bytes(range(1, 256)) + bytes([255, 4])
    text = ipv4(payload(-len(text) % 4 + 19)) + text[len(inner) :]
    with dp.Sa(sa_params("aes128gcm16", "in")) as sa:
        assert open_one(sa, gcm_by_hand(text)).inner == text[:-257]


@pytest.mark.parametrize(
    ("next_header", "inner", "expected"),
    [
        (4, b"", "in_hdr_error"),
        (4, ipv4(b"")[:19], "in_hdr_error"),
        (4, ipv6(b""), "in_hdr_error"),  # says IPv4, is IPv6
        (41, ipv4(b"x" * 40), "in_hdr_error"),
        (4, b"\x44" + ipv4(b"")[1:], "in_hdr_error"),  # header length 16
        (4, b"\x4f" + ipv4(b"")[1:], "in_hdr_error"),  # header length 60 of 20
        (4, ipv4(b"1234")[:-4], "in_hdr_error"),  # total length past the end
        (4, ipv4(b"")[:2] + b"\0\x13" + ipv4(b"")[4:], "in_hdr_error"),  # total length 19
        (41, ipv6(b"1234")[:-1], "in_hdr_error"),
        (41, ipv6(b"")[:39], "in_hdr_error"),
        (6, payload(40), "state_mode_error"),  # TCP in a tunnel SA
        (0, ipv4(b""), "state_mode_error"),
        (50, ipv4(b""), "state_mode_error"),
        (59, payload(33), "in_dummy"),
        (59, b"", "in_dummy"),
        (4, ipv4(b"abc") + payload(500), "ok"),  # TFC padding behind the packet
        (41, ipv6(b"abc") + payload(500), "ok"),
    ],
)
@pytest.mark.parametrize("suite", BY_HAND)
def test_contents_of_a_tunnel(suite: str, next_header: int, inner: bytes, expected: str) -> None:
    make, block = BY_HAND[suite]
    with dp.Sa(sa_params(suite, "in")) as sa:
        opened = open_one(sa, make(trailer(inner, block, next_header)))
        assert opened.status == expected
        if expected == "ok":
            assert opened.inner == inner[:-500]
            assert sa.counters().bytes == len(inner) - 500
        else:
            assert sa.counters().drops == {expected: 1}
            assert sa.counters().packets == 0
        good = ip(4, b"next")
        assert open_one(sa, make(trailer(good, block, 4), 2)).inner == good


# ---- what may not be sealed ----


@pytest.mark.parametrize("packet", [b"\x45", ipv4(b"")[:19], ipv6(b"")[:39], b"\x55" + bytes(30), b"\x05" + bytes(60)])
def test_not_an_ip_packet(packet: bytes) -> None:
    with dp.Sa(sa_params("aes128gcm16", "out")) as sa:
        assert statuses(sa.seal([packet], next_header=4)) == ["out_invalid"]
        assert sa.counters().seq == 0  # no number was spent on it


def test_room_too_small() -> None:
    with dp.Sa(sa_params("aes256-sha256", "out")) as sa:
        need = sa.seal_len(len(PACKET))
        for room in (0, 1, 8, 24, need - 1):
            assert statuses(sa.seal([PACKET], room=room)) == ["out_invalid"]
        assert statuses(sa.seal([PACKET], room=need)) == ["ok"]
        assert sa.counters().seq == 1
