"""Outbound policy: longest destination prefix, then order of entry, against a list that is searched in full."""

from __future__ import annotations

import ipaddress
import random
from typing import Any

import pytest
from esp_internals import load
from esp_support import ip, ipv4, ipv6, udp

ffi, lib = load()
REASON = ffi.new("int *")


def sa(number: int) -> Any:
    """The SPD only carries the pointer."""
    return ffi.cast("gw_sa *", 64 * (number + 1))


def selector(src: str = "", dst: str = "", proto: int = 0, dports: tuple[int, int] = (0, 65535)) -> Any:
    s = ffi.new("gw_selector *")
    for target, text in ((s.src, src), (s.dst, dst)):
        if text:
            network = ipaddress.ip_network(text)
            target.family, target.prefix = network.version, network.prefixlen
            ffi.memmove(target.bytes, network.network_address.packed, network.max_prefixlen // 8)
    s.proto, s.sport_hi = proto, 65535
    s.dport_lo, s.dport_hi = dports
    return s


@pytest.fixture
def spd() -> Any:
    policy = lib.gw_spd_new()
    yield policy
    lib.gw_spd_free(policy)


def lookup(spd: Any, packet: bytes) -> Any:
    found = lib.gw_spd_lookup(spd, packet, len(packet), REASON)
    return found if found != ffi.NULL else ffi.string(lib.gw_drop_name(REASON[0])).decode()


def test_longest_prefix_whatever_the_order(spd: Any) -> None:
    nets = ["10.0.0.0/8", "10.2.0.0/16", "10.2.3.0/24", "10.2.3.4/32", "0.0.0.0/0"]
    order = [2, 4, 0, 3, 1]
    for i in order:
        assert lib.gw_spd_set(spd, selector(dst=nets[i]), sa(i)) == 0
    cases = {"10.2.3.4": 3, "10.2.3.5": 2, "10.2.4.4": 1, "10.3.3.4": 0, "11.2.3.4": 4}
    for dst, expected in cases.items():
        assert lookup(spd, ipv4(b"", dst=dst)) == sa(expected), dst
    assert lookup(spd, ipv6(b"")) == "out_pol_block"


def test_order_of_entry_among_equals(spd: Any) -> None:
    lib.gw_spd_set(spd, selector(dst="10.2.0.0/16", proto=17, dports=(53, 53)), sa(1))
    lib.gw_spd_set(spd, selector(dst="10.2.0.0/16", proto=17), sa(2))
    lib.gw_spd_set(spd, selector(dst="10.2.0.0/16"), sa(3))
    assert lookup(spd, ipv4(udp(1, 53), proto=17)) == sa(1)
    assert lookup(spd, ipv4(udp(1, 54), proto=17)) == sa(2)
    assert lookup(spd, ipv4(udp(1, 53), proto=6)) == sa(3)


def test_falls_back_to_shorter_prefix_when_ports_differ(spd: Any) -> None:
    lib.gw_spd_set(spd, selector(dst="fd00:2::1/128", proto=17, dports=(53, 53)), sa(1))
    lib.gw_spd_set(spd, selector(dst="fd00:2::/32"), sa(2))
    lib.gw_spd_set(spd, selector(), sa(3))
    assert lookup(spd, ipv6(udp(1, 53), proto=17)) == sa(1)
    assert lookup(spd, ipv6(udp(1, 54), proto=17)) == sa(2)
    assert lookup(spd, ipv6(b"", dst="fd01::1")) == sa(3)
    assert lookup(spd, ipv4(b"")) == sa(3)


def test_source_is_looked_at(spd: Any) -> None:
    lib.gw_spd_set(spd, selector(src="10.1.0.0/24", dst="10.2.0.0/16"), sa(1))
    assert lookup(spd, ipv4(b"", src="10.1.0.9")) == sa(1)
    assert lookup(spd, ipv4(b"", src="10.1.1.9")) == "out_pol_block"


def test_make_before_break(spd: Any) -> None:
    """Setting an equal selector replaces its SA in place; host bits do not make a selector another."""
    lib.gw_spd_set(spd, selector(dst="10.2.0.0/16"), sa(1))
    same = selector(dst="10.2.0.0/16")
    same.dst.bytes[3] = 77
    assert lib.gw_spd_set(spd, same, sa(2)) == 0
    assert lookup(spd, ipv4(b"")) == sa(2)
    assert lib.gw_spd_del(spd, selector(dst="10.2.0.0/16")) == 0
    assert lookup(spd, ipv4(b"")) == "out_pol_block"
    assert lib.gw_spd_del(spd, selector(dst="10.2.0.0/16")) == -2


def test_forgotten_sa_leaves_its_policy(spd: Any) -> None:
    lib.gw_spd_set(spd, selector(dst="10.2.0.0/16"), sa(1))
    lib.gw_spd_set(spd, selector(dst="10.3.0.0/16"), sa(2))
    lib.gw_spd_forget(spd, sa(1))
    assert lookup(spd, ipv4(b"")) == "out_no_states"
    assert lookup(spd, ipv4(b"", dst="10.3.0.1")) == sa(2)


@pytest.mark.parametrize("packet", [b"", b"\x45", ipv4(b"")[:19], ipv6(b"")[:39], b"\x75" + bytes(40)])
def test_no_ip_packet(spd: Any, packet: bytes) -> None:
    lib.gw_spd_set(spd, selector(), sa(1))
    assert lookup(spd, packet) == "out_invalid"


def test_nonsense_selectors_are_refused(spd: Any) -> None:
    bad = selector(dst="10.0.0.0/8")
    bad.dst.prefix = 33
    assert lib.gw_spd_set(spd, bad, sa(1)) == -22
    assert lib.gw_spd_set(spd, selector(dports=(9, 8)), sa(1)) == -22


@pytest.mark.parametrize("version", [4, 6])
def test_ten_thousand_against_a_full_search(spd: Any, version: int) -> None:
    rng = random.Random(version)
    bits = 32 if version == 4 else 128
    base = int(ipaddress.ip_address("10.0.0.0" if version == 4 else "fd00::"))
    policies: dict[Any, Any] = {}
    for i in range(10_000):
        prefix = rng.choice([bits, bits, bits - 4, bits - 8, bits - 12, bits - 16])
        address = base + rng.randrange(1 << 18)
        network = ipaddress.ip_network((address >> (bits - prefix) << (bits - prefix), prefix))
        policies[network] = sa(i)
        assert lib.gw_spd_set(spd, selector(dst=str(network)), sa(i)) == 0
    for network in rng.sample(sorted(policies), len(policies) // 3):
        assert lib.gw_spd_del(spd, selector(dst=str(network))) == 0
        del policies[network]
    for _ in range(2000):
        dst = ipaddress.ip_address(base + rng.randrange(1 << 18))
        expected: Any = "out_pol_block"
        for prefix in range(bits, -1, -1):
            network = ipaddress.ip_network((int(dst) >> (bits - prefix) << (bits - prefix), prefix))
            if network in policies:
                expected = policies[network]
                break
        src = "10.0.0.1" if version == 4 else "fd00::1"
        assert lookup(spd, ip(version, b"", src=src, dst=str(dst))) == expected
