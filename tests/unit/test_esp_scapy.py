"""scapy seals what ours opens and opens what ours seals: every length 0..1500, IPv4 and IPv6, with and without ESN.

scapy is the second oracle, not the first: it knows nothing of windows, and returns GCM ICVs of 16 bytes whatever was
asked for in some versions. So ICVs of 8 and 12 bytes are checked against pyca as well (test_esp_icv.py).
"""

from __future__ import annotations

import logging
from typing import Any

import pytest
from esp_support import SPI, ip, key_bytes, pair, payload

import dataplane as dp

logging.getLogger("scapy.runtime").setLevel(logging.ERROR)
ipsec = pytest.importorskip("scapy.layers.ipsec")
inet = pytest.importorskip("scapy.layers.inet")
inet6 = pytest.importorskip("scapy.layers.inet6")

LENGTHS = range(1501)
# Close below 2^32 with ESN: the low half wraps while the lengths run. scapy takes `seq or default` and `esn or
# default`, so a zero half cannot be asked of it: the packet whose low half is 0 is sealed by ours only.
START_ESN = (7 << 32) - 700
SCAPY_CIPHER = {"gcm(aes)": "AES-GCM", "cbc(aes)": "AES-CBC"}


def oracle(suite: str) -> Any:
    s = dp.find_suite(suite)
    auth = {"auth_algo": "SHA2-256-128", "auth_key": key_bytes("auth", s.auth_key_bytes)} if s.auth_alg else {}
    return ipsec.SecurityAssociation(
        ipsec.ESP,
        spi=SPI,
        crypt_algo=SCAPY_CIPHER[s.enc_alg],
        crypt_key=key_bytes("enc", s.enc_key_bytes) + key_bytes("salt", s.salt_bytes),
        tunnel_header=inet.IP(src="192.0.2.1", dst="192.0.2.2"),
        **auth,
    )


def seal_by_scapy(sa: Any, packet: bytes, number: int, esn: bool) -> bytes:
    """SPI..ICV. Built from scapy's parts: its own encrypt() dissects and rebuilds the packet at ten times the cost."""
    esp = ipsec._ESPPlain(spi=SPI, seq=number & 0xFFFFFFFF, iv=sa.crypt_algo.generate_iv())
    esp.data, esp.nh = packet, 4 if packet[0] >> 4 == 4 else 41
    high = {"esn_en": esn, "esn": number >> 32}
    sealed = sa.crypt_algo.encrypt(sa, sa.crypt_algo.pad(esp), sa.crypt_key, sa.crypt_icv_size, **high)
    return bytes(sa.auth_algo.sign(sealed, sa.auth_key, **high))


def open_by_scapy(sa: Any, esp: bytes, number: int, esn: bool) -> tuple[bytes, int]:
    packet = ipsec.ESP(esp)
    high = {"esn_en": esn, "esn": number >> 32}
    assert packet.seq == number & 0xFFFFFFFF
    sa.auth_algo.verify(packet, sa.auth_key, **high)
    icv = sa.crypt_icv_size or sa.crypt_algo.icv_size or sa.auth_algo.icv_size
    opened = sa.crypt_algo.decrypt(sa, packet, sa.crypt_key, icv, **high)
    return bytes(opened.data), opened.nh


@pytest.mark.parametrize("esn", [False, True], ids=["seq32", "esn"])
@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("suite", ["aes128gcm16", "aes256gcm16", "aes128-sha256", "aes256-sha256"])
def test_every_length_both_ways(suite: str, version: int, esn: bool) -> None:
    scapy_sa = oracle(suite)
    start = START_ESN if esn else 0
    ours = pair(suite, out={"seq": start}, into={"seq": start}, esn=esn)
    packets = [ip(version, payload(n)) for n in LENGTHS]
    numbers = [start + 1 + i for i in range(len(packets))]

    for packet, number, sealed in zip(packets, numbers, ours.out.seal(packets), strict=True):
        assert sealed.status == "ok"
        assert open_by_scapy(scapy_sa, sealed.esp, number, esn) == (packet, 4 if version == 4 else 41)

    by_scapy = [seal_by_scapy(scapy_sa, p, n, esn) for p, n in zip(packets, numbers, strict=True)]
    opened = ours.into.open(by_scapy)
    assert [o.status for o in opened] == ["ok"] * len(packets)
    assert [o.inner for o in opened] == packets
    assert ours.into.counters().seq == numbers[-1]


@pytest.mark.parametrize("version", [4, 6])
def test_whole_association_of_scapy(version: int) -> None:
    """scapy's own encrypt and decrypt, outer header and UDP encapsulation included, on a few lengths."""
    s = dp.find_suite("aes128gcm16")
    outer = inet.IP(src="192.0.2.1", dst="192.0.2.2") if version == 4 else inet6.IPv6(src="fd00::1", dst="fd00::2")
    sa = ipsec.SecurityAssociation(
        ipsec.ESP,
        spi=SPI,
        seq_num=1,
        crypt_algo="AES-GCM",
        crypt_key=key_bytes("enc", s.enc_key_bytes) + key_bytes("salt", 4),
        tunnel_header=outer,
        nat_t_header=inet.UDP(sport=4500, dport=4500) if version == 4 else None,
    )
    ours = pair("aes128gcm16")
    for n in (0, 1, 63, 64, 65, 1400):
        packet = ip(version, payload(n))
        inner = inet.IP(packet) if version == 4 else inet6.IPv6(packet)
        whole = bytes(sa.encrypt(inner))
        esp = whole[28:] if version == 4 else whole[40:]
        (opened,) = ours.into.open([esp])
        assert (opened.status, opened.inner) == ("ok", packet)
        encap = "udp" if version == 4 else "none"
        assert len(whole) == dp.wire_len("aes128gcm16", len(packet), encap=encap, outer_af=version)
