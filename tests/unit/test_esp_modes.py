"""Transport mode, ICV lengths, spans, TFC padding, dummies, selectors, DSCP and ECN."""

from __future__ import annotations

import hashlib
import hmac

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from esp_support import (
    SPI,
    checksum,
    ip,
    ipv4,
    ipv6,
    key_bytes,
    open_one,
    pair,
    payload,
    seal_one,
    statuses,
    suite_and_wish,
    udp,
)

import dataplane as dp

TCP, UDP, ICMP, ICMPV6, SCTP = 6, 17, 1, 58, 132


@pytest.mark.parametrize("esn", [False, True], ids=["seq32", "esn"])
@pytest.mark.parametrize(("suite", "wish"), suite_and_wish())
def test_every_implementation_both_spans(suite: str, wish: str, esn: bool) -> None:
    """Lengths around every block, as one span and cut after 64 and 128 bytes; the generic one opens it all."""
    ours = pair(suite, out={"implementation": wish}, into={"implementation": "generic"}, esn=esn)
    theirs = pair(suite, out={"implementation": "generic"}, into={"implementation": wish}, esn=esn)
    packets = [ipv4(payload(n)) for n in [*range(300), *range(1380, 1420), 4000, 8980]]
    for couple in (ours, theirs):
        for cut in (0, 64, 128):
            sealed = couple.out.seal(packets, first_span=cut)
            opened = couple.into.open([s.esp for s in sealed])
            assert [o.inner for o in opened] == packets
            assert couple.out.counters().bytes == couple.into.counters().bytes
            assert couple.out.counters().wire_bytes == couple.into.counters().wire_bytes


def test_span_that_is_not_cut_at_64() -> None:
    """Out of contract, and still right: laid out first, then encrypted."""
    ours = pair("aes256-sha256")
    packet = ipv4(payload(200))
    for cut in (20, 63, 65, 100, 219):
        assert open_one(ours.into, seal_one(ours.out, packet, first_span=cut)).inner == packet


@pytest.mark.parametrize("suite", ["aes128gcm16", "aes256-sha256", "null-sha256"])
@pytest.mark.parametrize("proto", [TCP, UDP, ICMP, 4, 41, 50])
def test_transport(suite: str, proto: int) -> None:
    ours = pair(suite, mode="transport")
    for n in (0, 1, 8, 63, 64, 65, 1400):
        opened = open_one(ours.into, seal_one(ours.out, payload(n), next_header=proto))
        assert (opened.status, opened.inner, opened.next_header) == ("ok", payload(n), proto)


@pytest.mark.parametrize("icv", [8, 12, 16])
def test_gcm_icv_lengths(icv: int) -> None:
    """RFC 4106: the leftmost bytes of the same tag. pyca is the oracle; scapy has returned 16 for all."""
    packet = ipv4(payload(50))
    ours = pair("aes128gcm16", icv_bytes=icv)
    esp = seal_one(ours.out, packet)
    encryptor = Cipher(algorithms.AES(key_bytes("enc", 16)), modes.GCM(key_bytes("salt", 4) + esp[8:16])).encryptor()
    encryptor.authenticate_additional_data(esp[:8])
    pad = -(len(packet) + 2) % 4
    text = packet + bytes(range(1, pad + 1)) + bytes([pad, 4])
    assert esp[16:] == encryptor.update(text) + encryptor.finalize() + encryptor.tag[:icv]
    assert open_one(ours.into, esp).inner == packet


@pytest.mark.parametrize("icv", [12, 16])
@pytest.mark.parametrize("esn", [False, True], ids=["seq32", "esn"])
def test_hmac_icv_lengths(icv: int, esn: bool) -> None:
    """HMAC-SHA-256-128 and, for old kernels, -96; with ESN the high half is hashed last."""
    start = (3 << 32) + 9
    ours = pair("aes256-sha256", icv_bytes=icv, esn=esn, seq=start if esn else 9)
    esp = seal_one(ours.out, ipv4(b"abc"))
    covered = esp[:-icv] + ((3).to_bytes(4, "big") if esn else b"")
    assert esp[-icv:] == hmac.digest(key_bytes("auth", 32), covered, hashlib.sha256)[:icv]
    assert open_one(ours.into, esp).status == "ok"


def test_96_and_128_do_not_talk() -> None:
    """SA up, no traffic: the mismatch is at least a drop with a reason."""
    ours = pair("aes256-sha256", out={"icv_bytes": 12})
    assert open_one(ours.into, seal_one(ours.out, ipv4(b"abc"))).status in ("in_hdr_error", "state_proto_error")


def test_cbc_iv_is_unpredictable_and_unique() -> None:
    """The IV is an encrypted nonce: it neither counts nor repeats."""
    ours = pair("aes128-sha256")
    ivs = [s.esp[8:24] for s in ours.out.seal([ipv4(b"")] * 500)]
    assert len(set(ivs)) == 500
    assert len({iv[:8] for iv in ivs}) == 500 and len({iv[8:] for iv in ivs}) == 500


@pytest.mark.parametrize("version", [4, 6])
def test_tfc_padding(version: int) -> None:
    ours = pair("aes256-sha256", out={"tfc_pad_to": 1300})
    packets = [ip(version, payload(n)) for n in (0, 1, 30, 31, 64, 1000)]
    sealed = ours.out.seal(packets)
    assert len({len(s.esp) for s in sealed}) == 1
    opened = ours.into.open([s.esp for s in sealed])
    assert [o.inner for o in opened] == packets
    assert ours.into.counters().bytes == sum(map(len, packets))


def test_dummies_are_swallowed() -> None:
    ours = pair("aes128gcm16")
    sealed = ours.out.seal([b"", payload(77), payload(64)], next_header=59)
    assert statuses(sealed) == ["ok"] * 3
    assert statuses(ours.into.open([s.esp for s in sealed])) == ["in_dummy"] * 3
    counters = ours.into.counters()
    assert (counters.packets, counters.drops, counters.seq) == (0, {"in_dummy": 3}, 3)


def test_several_sas_in_one_batch() -> None:
    """Runs under different transforms, interleaved; each SA keeps its own order."""
    pairs = [
        pair(s, spi=0x2000 + i) for i, s in enumerate(["aes128gcm16", "aes256-sha256", "aes256gcm16", "null-sha256"])
    ]
    packets = [ipv4(payload(n, n)) for n in range(200)]
    picks = [pairs[(n * n + n // 3) % 4] for n in range(200)]
    sealed = dp.seal_batch([(p.out, packet) for p, packet in zip(picks, packets, strict=True)])
    opened = dp.open_batch([(p.into, s.esp) for p, s in zip(picks, sealed, strict=True)])
    assert [o.inner for o in opened] == packets
    for p in pairs:
        assert p.out.counters().packets == p.into.counters().packets == picks.count(p)
        assert p.out.counters().seq == picks.count(p)


# ---- selectors ----

NET4 = dp.Selector(src="10.1.0.0/16", dst="10.2.0.0/24")
NET6 = dp.Selector(src="fd00:1::/64", dst="fd00:2::1/128")
WEB = dp.Selector(proto=UDP, dst_ports=(8000, 8010))
MISMATCH = "in_tmpl_mismatch"


@pytest.mark.parametrize(
    ("selector", "packet", "status"),
    [
        (NET4, ipv4(b"x"), "ok"),
        (NET4, ipv4(b"x", src="10.1.255.255", dst="10.2.0.255"), "ok"),
        (NET4, ipv4(b"x", src="10.0.255.255"), MISMATCH),
        (NET4, ipv4(b"x", dst="10.2.1.0"), MISMATCH),
        (NET4, ipv6(b"x"), MISMATCH),
        (NET6, ipv6(b"x"), "ok"),
        (NET6, ipv6(b"x", src="fd00:1::ffff:1"), "ok"),
        (NET6, ipv6(b"x", src="fd00:1:0:1::1"), MISMATCH),
        (NET6, ipv6(b"x", dst="fd00:2::2"), MISMATCH),
        (NET6, ipv4(b"x"), MISMATCH),
        (dp.Selector(src="10.1.0.0/17"), ipv4(b"x", src="10.1.128.0"), MISMATCH),
        (WEB, ipv4(udp(1, 8000), proto=UDP), "ok"),
        (WEB, ipv4(udp(1, 8010), proto=UDP), "ok"),
        (WEB, ipv4(udp(1, 7999), proto=UDP), MISMATCH),
        (WEB, ipv4(udp(1, 8011), proto=UDP), MISMATCH),
        (WEB, ipv4(udp(1, 8000), proto=TCP), MISMATCH),
        (WEB, ipv6(udp(1, 8005), proto=UDP), "ok"),
        (WEB, ipv4(b"\0\1\x1f", proto=UDP), MISMATCH),  # cut before its ports
        (WEB, ipv4(udp(1, 8000), proto=UDP, flags=100), MISMATCH),  # a later fragment has no ports
        (dp.Selector(proto=UDP), ipv4(udp(1, 8000), proto=UDP, flags=100), "ok"),
        (dp.Selector(proto=SCTP, src_ports=(7, 7)), ipv4(udp(7, 9), proto=SCTP), "ok"),
        (dp.Selector(proto=ICMP, src_ports=(8, 8)), ipv4(b"\x08\0rest", proto=ICMP), "ok"),
        (dp.Selector(proto=ICMP, src_ports=(8, 8)), ipv4(b"\x03\0rest", proto=ICMP), MISMATCH),
        # IPv6 extension headers: hop-by-hop, destination options, first and later fragment
        (WEB, ipv6(bytes([UDP, 0]) + bytes(6) + udp(1, 8000), proto=0), "ok"),
        (WEB, ipv6(bytes([60, 1]) + bytes(14) + bytes([UDP, 0]) + bytes(6) + udp(1, 8001), proto=0), "ok"),
        (WEB, ipv6(bytes([UDP, 0, 0, 1]) + bytes(4) + udp(1, 8000), proto=44), "ok"),
        (WEB, ipv6(bytes([UDP, 0, 0, 8]) + bytes(4) + udp(1, 8000), proto=44), MISMATCH),
        (WEB, ipv6(bytes([UDP, 200]) + bytes(6) + udp(1, 8000), proto=0), MISMATCH),  # longer than the packet
    ],
)
def test_inbound_selector(selector: dp.Selector, packet: bytes, status: str) -> None:
    ours = pair("aes128gcm16", into={"selector": selector})
    assert open_one(ours.into, seal_one(ours.out, packet)).status == status
    assert ours.into.counters().drops == ({} if status == "ok" else {status: 1})


def test_inbound_selector_in_transport_mode() -> None:
    """Addresses are outside and the kernel's business; protocol and ports are looked at."""
    ours = pair(
        "aes128gcm16", mode="transport", into={"selector": dp.Selector(dst="10.0.0.1", proto=UDP, dst_ports=(53, 53))}
    )
    cases = [(udp(1, 53), UDP, "ok"), (udp(1, 54), UDP, MISMATCH), (udp(1, 53), TCP, MISMATCH), (b"", UDP, MISMATCH)]
    for data, proto, status in cases:
        assert open_one(ours.into, seal_one(ours.out, data, next_header=proto)).status == status


# ---- DSCP and ECN (RFC 6040) ----

NOT_ECT, ECT1, ECT0, CE = range(4)
# RFC 6040 figure 4: rows are the arriving inner field, columns the outer one.
DECAPSULATED = {
    NOT_ECT: {NOT_ECT: NOT_ECT, ECT0: NOT_ECT, ECT1: NOT_ECT, CE: None},
    ECT0: {NOT_ECT: ECT0, ECT0: ECT0, ECT1: ECT1, CE: CE},
    ECT1: {NOT_ECT: ECT1, ECT0: ECT1, ECT1: ECT1, CE: CE},
    CE: {NOT_ECT: CE, ECT0: CE, ECT1: CE, CE: CE},
}


def tos_of(packet: bytes) -> int:
    return packet[1] if packet[0] >> 4 == 4 else (packet[0] << 4 | packet[1] >> 4) & 0xFF


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("inner", range(4))
@pytest.mark.parametrize("outer", range(4))
def test_ecn_decapsulation(version: int, inner: int, outer: int) -> None:
    for dscp in (0, 0x2E << 2, 0xFC):
        packet = ip(version, b"ecn", tos=dscp | inner)
        ours = pair("aes128gcm16")
        opened = open_one(ours.into, seal_one(ours.out, packet), outer_tos=0x48 | outer)
        expected = DECAPSULATED[inner][outer]
        if expected is None:
            assert opened.status == "in_ecn_illegal"
            continue
        assert tos_of(opened.inner) == dscp | expected
        assert opened.inner == ip(version, b"ecn", tos=dscp | expected)  # the header checksum too
        if version == 4:
            assert checksum(opened.inner[:20]) == 0


@pytest.mark.parametrize("version", [4, 6])
def test_ecn_switched_off(version: int) -> None:
    ours = pair("aes128gcm16", ecn=False)
    packet = ip(version, b"x", tos=NOT_ECT)
    (sealed,) = ours.out.seal([ip(version, b"x", tos=CE)])
    assert sealed.tos == 0
    assert open_one(ours.into, seal_one(ours.out, packet), outer_tos=CE).inner == packet


@pytest.mark.parametrize("version", [4, 6])
def test_outer_tos(version: int) -> None:
    plain, copying = pair("aes128gcm16"), pair("aes128gcm16", copy_dscp=True)
    for tos in range(256):
        packet = ip(version, b"x", tos=tos)
        assert plain.out.seal([packet])[0].tos == tos & 3
        assert copying.out.seal([packet])[0].tos == tos


def test_spi_and_numbers_on_the_wire() -> None:
    ours = pair("aes128gcm16")
    for number, sealed in enumerate(ours.out.seal([ipv4(b"")] * 3), start=1):
        assert sealed.esp[:8] == SPI.to_bytes(4, "big") + number.to_bytes(4, "big")
