"""What is decided about another machine before anything is changed there: who it is, what runs there, what is free."""

from __future__ import annotations

import ipaddress
import socket
import struct
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.errors import UnusableError
from gateway.node.ssh import Caller, explain
from gateway.peer import address, dataplanes, identify, inner, place, targets
from gateway.peer.identify import Elf, Facts
from gateway.peer.session import _largest

ELF_ARM = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack("<HH", 2, 40) + bytes(44)
ELF_PPC = b"\x7fELF\x01\x02\x01" + bytes(9) + struct.pack(">HH", 2, 20) + bytes(44)

ROUTER = b"""banner of the router
=-= ssh
192.168.1.20 51000 192.168.1.1 22
=-= id
0
=-= sudo

=-= uname
Linux
6.6.86
armv7l
=-= model
Linksys WRT1900ACS
=-= os
DISTRIB_ID='OpenWrt'
DISTRIB_DESCRIPTION='OpenWrt 24.10.1'
=-= cpuinfo
processor\t: 0
model name\t: ARMv7 Processor rev 1 (v7l)
processor\t: 1
=-= meminfo
MemTotal:         512000 kB
MemFree:          400000 kB
MemAvailable:     420000 kB
=-= mounts
tmpfs /tmp tmpfs rw,nosuid,nodev,noatime 0 0
=-= df
Filesystem           1K-blocks      Used Available Use% Mounted on
tmpfs                   256000       240    255760   0% /tmp
=-= dir
there
writable
=-= tun
node
opens
=-= iperf3
=-= programs
opkg
nft
ip
=-= route4
Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
wan\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0
br-lan\t0001A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
tun9\t000012C6\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
=-= route6
fd120000000000000000000000000000 30 ZERO 00 ZERO 00000400 1 0 00000001 br-lan
ZERO 00 ZERO 00 ZERO ffffffff 1 0 00200200 lo
=-= if6
fe80000000000000c2562dfffe000001 07 40 20 80 br-lan
=-= if4
7: br-lan    inet 192.168.1.1/24 brd 192.168.1.255 scope global br-lan
=-= fib
Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 192.168.1.1
        /32 host LOCAL
     |-- 192.168.1.255
        /32 link BROADCAST
=-= udp
  sl  local_address rem_address   st
   1: 00000000:1194 00000000:0000 07
=-= xfrm
2
=-= policies
src 10.5.0.0/16 dst 10.6.0.0/16
=-= links
br-lan 1500 1
wan 1492 1
=-= forward
1
1
=-= congestion
cubic reno
=-= clock
1700000000
=-= elf
""".replace(b"ZERO", b"0" * 32)


@pytest.fixture
def router() -> Facts:
    return identify.parse("192.168.1.1", ROUTER + ELF_ARM)


def test_a_router_is_read(router: Facts) -> None:
    assert (router.ssh_client, router.ssh_server) == ("192.168.1.20", "192.168.1.1")
    assert router.root and router.openwrt and router.default_route
    assert (router.model, router.os, router.cpus) == ("Linksys WRT1900ACS", "OpenWrt 24.10.1", 2)
    assert router.memory_available_bytes == 420000 * 1024
    assert (router.directory_free_bytes, router.directory_writable) == (255760 * 1024, True)
    assert "noatime" in router.directory_mount
    assert (router.tun, router.iperf3, router.sas) == ("opens", "", 2)
    assert router.device_to(ipaddress.ip_address("192.168.1.20")) == "br-lan"
    assert router.device_to(ipaddress.ip_address("8.8.8.8")) == ""
    assert 0x1194 in router.udp_ports
    used = {str(network) for network in router.used()}
    assert {"192.168.1.1/32", "192.168.1.0/24", "198.18.0.0/16", "fd12::/48", "10.5.0.0/16", "10.6.0.0/16"} <= used
    assert router.install("iperf3") == "opkg update && opkg install iperf3"
    assert router.elf == Elf(40, False, 32)


def test_a_big_endian_routers_addresses() -> None:
    big = (
        ROUTER.replace(b"0001A8C0", b"C0A80100").replace(b"00FFFFFF", b"FFFFFF00").replace(b"0000FFFF", b"FFFF0000")
    ).replace(b"000012C6", b"C6120000")
    facts = identify.parse("r", big + ELF_PPC)
    assert {"192.168.1.0/24", "198.18.0.0/16"} <= {str(network) for network in facts.used()}
    assert facts.elf == Elf(20, True, 32)


def test_what_is_no_shell() -> None:
    with pytest.raises(UnusableError, match="no ordinary shell"):
        identify.parse("r", b"Welcome to the switch\n> unknown command\n")


@pytest.mark.parametrize(
    ("elf", "machine", "cpuinfo", "target"),
    [
        (Elf(62, False, 64), "x86_64", "", "x86_64"),
        (Elf(183, False, 64), "aarch64", "", "aarch64"),
        (Elf(40, False, 32), "aarch64", "", "armv7"),  # a 32-bit system on a 64-bit kernel
        (Elf(8, True, 32), "mips", "", "mips"),
        (Elf(8, False, 32), "mips", "", "mipsel"),  # uname says the same of both
        (Elf(20, True, 32), "ppc", "cpu\t\t: e500v2", "e500v2"),
        (Elf(20, True, 32), "ppc", "cpu\t\t: 7447A", "ppc"),
    ],
)
def test_the_binary_for_a_processor(router: Facts, elf: Elf, machine: str, cpuinfo: str, target: str) -> None:
    assert targets.target_of(replace(router, elf=elf, machine=machine, cpuinfo=cpuinfo)) == target


def test_processors_without_a_binary(router: Facts) -> None:
    for elf, machine in ((Elf(40, False, 32), "armv5tel"), (Elf(243, False, 64), "riscv64")):
        with pytest.raises(UnusableError, match="there is no gwnode"):
            targets.target_of(replace(router, elf=elf, machine=machine))


def test_addresses_are_free_and_never_cover_ours(router: Facts) -> None:
    for _ in range(20):
        block = inner.choose(router.used())
        assert block.v4.subnet_of(ipaddress.IPv4Network("198.19.0.0/16"))  # the other half is routed there
        assert block.v6.subnet_of(ipaddress.IPv6Network("fd00::/8")) and block.v6.prefixlen == 48
        assert block.address(3)[0].endswith(".3")
    with pytest.raises(UnusableError, match="in use"):
        inner.choose(router.used(), "198.18.3.0/24")
    with pytest.raises(UnusableError, match=r"198\.18\.0\.0/15"):
        inner.choose([], "192.168.1.0/24")
    with pytest.raises(UnusableError, match="too small"):
        inner.choose([], "198.18.0.0/30")
    with pytest.raises(UnusableError, match="is free"):
        inner.choose([ipaddress.ip_network("198.0.0.0/8")])
    with pytest.raises(UnusableError, match=r"would cover 198\.18\.0\.9"):
        inner.refuse_covering(["198.18.0.0/24"], [ipaddress.ip_address("198.18.0.9")])


def test_where_gwnode_cannot_go(router: Facts) -> None:
    gwnode = targets.Gwnode("armv7", Path(__file__))
    place.check(router, gwnode)
    for change, code in (
        ({"directory_mount": ("rw", "noexec")}, "noexec"),
        ({"directory_writable": False, "directory_mount": ("ro",)}, "no-directory"),
        ({"directory_free_bytes": 9000}, "full"),
    ):
        with pytest.raises(UnusableError) as caught:
            place.check(replace(router, **change), gwnode)  # type: ignore[arg-type]
        assert caught.value.code == code and "--remote-dir" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "user", "host", "port"),
    [
        ("router", "", "router", 0),
        ("root@192.168.1.1:2222", "root", "192.168.1.1", 2222),
        ("root@[fd00::1]:22", "root", "fd00::1", 22),
        ("fd00::1", "", "fd00::1", 0),
    ],
)
def test_names_of_machines(text: str, user: str, host: str, port: int) -> None:
    parsed = address.parse(text)
    assert (parsed.user, parsed.host, parsed.port) == (user, host, port)
    assert address.parse(str(parsed)) == parsed


@pytest.mark.parametrize(
    "text", ["", "-oProxyCommand=x", "a b", "root@", "host:", "host:99999", "[::1]:", "$(id)", "x;y"]
)
def test_names_that_are_none(text: str) -> None:
    with pytest.raises(UnusableError):
        address.parse(text)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.", "host-key-changed"),
        ("No ED25519 host key is known for r and you have requested strict checking.", "host-key-unknown"),
        ("root@r: Permission denied (publickey).", "ssh-auth"),
        ("ssh: connect to host r port 22: Connection refused", "peer-unreachable"),
        ("ssh: connect to host r port 22: Connection timed out", "peer-unreachable"),
        ("ssh: Could not resolve hostname r: Name or service not known", "peer-unreachable"),
        ("something else", "ssh"),
    ],
)
def test_what_ssh_complains_of(words: str, code: str) -> None:
    error = explain(words, address.parse("root@r:2222"))
    assert error.code == code and error.hint and "\n" not in str(error)


def test_ssh_runs_as_the_user_who_called_sudo() -> None:
    assert Caller.find({"SUDO_UID": "1000"}, 1000).uid is None
    assert Caller.find({}, 0).uid is None
    caller = Caller.find({"SUDO_UID": "65534", "HOME": "/root"}, 0)
    assert caller.uid == 65534 and caller.environment["HOME"] != "/root"


def test_the_largest_that_passes_a_black_hole() -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as far,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe,
    ):
        far.bind(("127.0.0.1", 0))
        probe.settimeout(0.1)
        probe.connect(far.getsockname())

        def echo() -> None:
            while (got := far.recvfrom(2048))[0] != b"end":
                if len(got[0]) <= 1416:
                    far.sendto(*got)

        thread = threading.Thread(target=echo)
        thread.start()
        assert _largest(probe, 1200, 1472) == 1416
        probe.send(b"end")
        thread.join()


@pytest.mark.parametrize(
    ("answer", "has", "paths"),
    [("known\n", False, "user"), ("known\nthere\n", True, "user,kernel"), ("", None, "user,kernel")],
)
def test_every_data_path_that_the_router_may_have_is_measured(answer: str, has: bool | None, paths: str) -> None:
    text = ROUTER.replace(b"=-= congestion", b"=-= esp\n" + answer.encode() + b"=-= congestion")
    found = identify.parse("192.168.1.1", text)
    assert found.esp is has
    names, notes = dataplanes.wanted((), found, own_only=False)
    assert ",".join(names) == paths
    assert [("no ESP" in note, "kmod-ipsec4" in note) for note in notes] == ([(True, True)] if has is False else [])
    assert dataplanes.wanted(("kernel",), found, own_only=False) == (("kernel",), [])
    assert dataplanes.wanted((), found, own_only=True) == (("user",), [])
    with pytest.raises(UnusableError, match="no data path is called 'xfrm'"):
        dataplanes.wanted(("xfrm",), found, own_only=False)
