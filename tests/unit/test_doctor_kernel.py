"""The kernel's part of `gwbench doctor`, on directories that stand for machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway import doctor_kernel as doctor
from gateway.findings import FAIL, INFO, OK, WARN, Finding
from gateway.lab import offload
from gateway.netlink.ipsec import KernelSa

CRYPTO = """\
name         : cbc(aes)
driver       : cbc-aes-aesni
module       : aesni_intel
priority     : 400
refcnt       : 1
selftest     : passed
internal     : no
type         : skcipher
async        : yes
min keysize  : 16
max keysize  : 32

name         : cbc(aes)
driver       : cbc(aes-generic)
module       : kernel
priority     : 100
refcnt       : 1
selftest     : passed
internal     : no
type         : skcipher

name         : hmac(sha256)
driver       : hmac(sha256-generic)
module       : kernel
priority     : 100
refcnt       : 1
selftest     : passed
internal     : no
type         : shash

name         : gcm(aes)
driver       : gcm-aes-eip93
module       : crypto_hw_eip93
priority     : 1500
refcnt       : 1
selftest     : unknown
internal     : no
type         : aead

name         : __cbc(aes)
driver       : __cbc-aes-aesni
module       : aesni_intel
priority     : 400
refcnt       : 1
selftest     : passed
internal     : yes
type         : skcipher
"""


def machine(root: Path, files: dict[str, str], cores: int = 2) -> Path:
    for i in range(cores):
        (root / f"sys/devices/system/cpu/cpu{i}").mkdir(parents=True)
    for name, content in {"proc/sys/kernel/osrelease": "6.6.1\n", **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


def only(found: list[Finding], text: str) -> Finding:
    (one,) = [f for f in found if text in f.what]
    return one


def test_drivers_with_priorities_and_what_is_wrong_with_the_first(tmp_path: Path) -> None:
    found = doctor.check_drivers(machine(tmp_path, {"proc/crypto": CRYPTO}), "x86_64")
    cbc = only(found, "cbc(aes)")
    assert cbc.level == INFO and "cbc-aes-aesni (400), cbc(aes-generic) (100)" in cbc.what
    assert not any("__" in f.what for f in found)
    slow = only(found, "hmac(sha256)")
    assert slow.level == WARN and "modprobe -a aesni_intel sha256_ssse3" in slow.command
    engine = only(found, "gcm(aes)")
    assert engine.level == WARN and "selftest unknown" in engine.what and engine.consequence and engine.command


def test_no_proc_crypto(tmp_path: Path) -> None:
    assert doctor.check_drivers(tmp_path)[0].level == INFO


def test_offload_modules(tmp_path: Path) -> None:
    root = machine(tmp_path, {"lib/modules/6.6.1/modules.dep": "kernel/net/ipv6/esp6_offload.ko.xz: x\n"})
    (root / "sys/module/esp4_offload").mkdir(parents=True)
    first, second = doctor.check_offload_modules(root)
    assert first.level == OK and second.command == "modprobe esp6_offload"
    bare = doctor.check_offload_modules(tmp_path / "nothing")
    assert [f.command for f in bare] == ["", ""] and "no esp4_offload" in bare[0].what


def sa(offload: str = "") -> KernelSa:
    return KernelSa(
        spi=1, src="192.0.2.1", dst="192.0.2.2", protocol=50, mode="tunnel", reqid=0, cipher="cbc(aes)",
        cipher_key_bits=128, integrity="", icv_bits=0, esn=False, replay_window=0, packets=0, bytes=0, seq=0,
        outside_window=0, replayed=0, integrity_failed=0, encap=None, offload=offload, offload_ifindex=0,
        direction="", if_id=0, mark=None, cpu=None, added_at=0, used_at=0,
    )  # fmt: skip


def test_hardware_offload_asked_and_actual() -> None:
    assert doctor.check_hardware_offload([]) == []
    assert doctor.check_hardware_offload([sa()])[0].level == INFO
    on, warned = doctor.check_hardware_offload([sa()], {"eth0": True})
    assert on.level == OK and on.what == "eth0: ESP offload is on"
    assert warned.level == WARN and "0 of 1 SAs" in warned.what and "hw_offload" in warned.command
    assert doctor.check_hardware_offload([sa("crypto")])[0].level == OK
    mixed = doctor.check_hardware_offload([sa("packet"), sa()])[0]
    assert mixed.level == WARN and "1 of 2 SAs run in hardware (packet offload)" in mixed.what


def test_each_card_says_whether_it_can_offload_esp() -> None:
    none, on = doctor.check_hardware_offload([], {"eth0": None, "eth2": None, "eth1": True})[::-1]
    assert none.what == "no ESP offload in eth0, eth2" and none.level == INFO
    assert on.what == "eth1: ESP offload is on"
    (off,) = doctor.check_hardware_offload([], {"eth0": False})
    assert off.level == WARN and off.command == "ethtool -K eth0 esp-hw-offload on"


def test_an_interface_tells_its_features() -> None:
    """By the kernel: of loopback some are on for ever, hardware's are not there."""
    found = offload.features("lo")
    assert found["tx-scatter-gather"] is True
    assert found["esp-hw-offload"] is None
    with pytest.raises(OSError):
        offload.features("nosuchcard0")


def test_steering(tmp_path: Path) -> None:
    root = machine(tmp_path, {"sys/class/net/eth0/queues/rx-0/rps_cpus": "0\n"}, cores=4)
    (root / "sys/class/net/eth0/device").mkdir()
    (found,) = doctor.check_steering(root)
    assert found.level == WARN and found.command == "echo f > /sys/class/net/eth0/queues/rx-0/rps_cpus"
    (root / "sys/class/net/eth0/queues/rx-0/rps_cpus").write_text("f\n")
    assert doctor.check_steering(root)[0].level == OK
    assert doctor.check_steering(machine(tmp_path / "one", {}, cores=1))[0].level == INFO


def test_throttling(tmp_path: Path) -> None:
    assert doctor.check_throttling(machine(tmp_path, {})) == []
    path = "sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count"
    cooling = "sys/class/thermal/cooling_device0"
    states = {f"{cooling}/cur_state": "3", f"{cooling}/max_state": "7", f"{cooling}/type": "cpufreq-cpu0"}
    root = machine(tmp_path / "hot", {path: "12\n", **states})
    assert [f.level for f in doctor.check_throttling(root)] == [WARN, WARN]


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("0000 00000000 00000000 0\n", []),
        ("0000 0000000a 00000000 0\n", ["sysctl net.core.netdev_max_backlog=5000"]),
        ("0000 00000000 0000000b 0\n", ["sysctl net.core.netdev_budget=600"]),
    ],
)
def test_softirq(tmp_path: Path, line: str, commands: list[str]) -> None:
    found = doctor.check_softirq(machine(tmp_path, {"proc/net/softnet_stat": line * 2}))
    assert [f.command for f in found if f.level == WARN] == commands
    assert commands or found[0].level == OK


OPENWRT = {
    "etc/openwrt_release": "DISTRIB_ID='OpenWrt'\n",
    "etc/config/sqm": "config queue 'eth1'\n\toption enabled '1'\n\toption interface 'pppoe-wan'\n",
    "etc/config/firewall": "config defaults\n\toption flow_offloading '1'\n\toption flow_offloading_hw '1'\n",
    "etc/config/network": "config globals 'globals'\n\toption ula_prefix 'fd00::/48'\n",
    "lib/modules/6.6.1/esp4.ko": "",
}


def test_openwrt_with_everything_in_the_way(tmp_path: Path) -> None:
    found = doctor.check_openwrt(machine(tmp_path, OPENWRT))
    assert only(found, "SQM shapes pppoe-wan").level == WARN
    flow = only(found, "flow offloading is on (in hardware)")
    assert flow.level == WARN and "flow_offloading=0" in flow.command
    assert "packet_steering=1" in only(found, "packet steering is off").command
    tun = only(found, "kmod-tun")
    assert tun.level == FAIL and tun.command == "opkg install kmod-tun"
    assert not any("(esp4)" in f.what for f in found)
    assert len({f.what for f in found}) == len(found)


def test_openwrt_in_order_and_with_apk(tmp_path: Path) -> None:
    modules = {f"lib/modules/6.6.1/{module}.ko": "" for module, *_ in doctor._PACKAGES if module != "gcm"}
    files = {
        "etc/openwrt_release": "",
        "etc/config/network": "config globals\n\toption packet_steering '1'\n",
        "etc/config/sqm": "config queue\n\toption enabled '0'\n",
        "lib/apk/db": "",
        **modules,
    }
    found = doctor.check_openwrt(machine(tmp_path, files))
    assert [f.level for f in found] == [OK, OK, INFO]
    assert found[-1].command == "apk add kmod-crypto-gcm"


def test_a_whole_machine_without_openwrt(tmp_path: Path) -> None:
    found = doctor.examine(machine(tmp_path, {"proc/crypto": CRYPTO}), "x86_64", [sa()])
    assert found and not any("flow offloading" in f.what for f in found)
    # Whoever is warned is told what it means and what helps.
    assert all(f.consequence for f in found if f.level in (WARN, FAIL) and "throttled" not in f.what)
