"""What the kernel's own IPsec has and lacks, and what makes a router's numbers differ from its hardware's.

Everything is read below ``root``, so that a directory of files can stand for another machine. Nothing is changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from gateway.findings import FAIL, INFO, OK, WARN, Finding
from gateway.netlink.ipsec import KernelSa
from gateway.node import kernel_crypto
from gateway.node.kernel_crypto import CryptoAlgorithm

ROOT = Path("/")
ALGORITHMS = (
    "rfc4106(gcm(aes))",
    "gcm(aes)",
    "cbc(aes)",
    "ctr(aes)",
    "hmac(sha256)",
    "sha256",
    "hmac(sha1)",
    "rfc7539esp(chacha20,poly1305)",
    "rfc7539(chacha20,poly1305)",
)
"""What ESP is made of, in the order of the report."""
_ACCELERATORS = {
    "x86_64": "aesni_intel sha256_ssse3",
    "aarch64": "aes_ce_blk ghash_ce sha256_arm64",
    "armv7l": "aes_arm_bs sha256_arm",
    "ppc": "aes_ppc_spe sha256_ppc_spe",
}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _lines(path: Path) -> list[str]:
    return _text(path).splitlines()


def _config(root: Path, name: str) -> str:
    """A Kconfig value: y, m, n; empty where the running kernel's configuration is nowhere to be read."""
    release = _text(root / "proc/sys/kernel/osrelease")
    match = re.search(rf"^CONFIG_{name}=(\w)", _text(root / f"boot/config-{release}"), re.MULTILINE)
    return match[1] if match else ""


def _has_module(root: Path, name: str) -> bool:
    """Loaded, built in, or there to be loaded."""
    if (root / "sys/module" / name).exists():
        return True
    release = _text(root / "proc/sys/kernel/osrelease")
    folder = root / "lib/modules" / release
    for index in ("modules.builtin", "modules.dep"):
        if re.search(rf"(?:^|/){name}\.ko", _text(folder / index), re.MULTILINE):
            return True
    return any(folder.glob(f"{name}.ko*"))  # OpenWrt has them flat


def check_offload_modules(root: Path = ROOT) -> list[Finding]:
    """esp4_offload, esp6_offload: GSO and GRO of ESP, also without hardware."""
    found = []
    for name in ("esp4_offload", "esp6_offload"):
        if (root / "sys/module" / name).exists():
            found.append(Finding(OK, f"{name} is loaded"))
        elif _has_module(root, name):
            words = "the kernel's ESP seals and opens every packet by itself, without GSO and GRO"
            found.append(Finding(INFO, f"{name} is not loaded", words, f"modprobe {name}"))
        else:
            words = "no hardware ESP offload, no GSO of ESP"
            found.append(Finding(INFO, f"this kernel has no {name}", words))
    return found


def check_drivers(
    root: Path = ROOT, machine: str = "", listing: Sequence[CryptoAlgorithm] | None = None
) -> list[Finding]:
    """Which driver of each algorithm comes first, with priorities, and those that come after."""
    if listing is None:
        listing = kernel_crypto.read(root / "proc/crypto")
    if not listing:
        return [Finding(INFO, "/proc/crypto is not there", "the kernel's crypto drivers are unknown")]
    found = []
    for name in ALGORITHMS:
        drivers = sorted((one for one in listing if one.name == name and not one.internal), key=lambda o: -o.priority)
        if drivers:
            found.append(_of_algorithm(name, drivers, machine))
    if not found:
        words = "loaded when the first SA needs them"
        found.append(
            Finding(INFO, "no driver of ESP's algorithms is loaded yet", words, "gwbench iperf --dataplane kernel")
        )
    return found


def _of_algorithm(name: str, drivers: Sequence[CryptoAlgorithm], machine: str) -> Finding:
    words = ", ".join(f"{one.driver} ({one.priority})" for one in drivers)
    first = drivers[0]
    line = f"{name}: {words}"
    if first.selftest != "passed":
        return Finding(
            WARN,
            f"{line}: the first has selftest {first.selftest}",
            "wrong results are possible, and nothing would say so",
            f"gwbench iperf --dataplane kernel --driver {','.join(one.driver for one in drivers)}"
            if len(drivers) > 1
            else "gwbench selftest",
        )
    if "generic" in first.driver and (modules := _ACCELERATORS.get(machine)):
        return Finding(WARN, line, "the slow C code runs", f"modprobe -a {modules}")
    return Finding(INFO, line, "the first one runs" if len(drivers) > 1 else "")


def check_hardware_offload(sas: Iterable[KernelSa], cards: Mapping[str, bool | None] | None = None) -> list[Finding]:
    """What SAs run in network cards, and what these could. cards: whether esp-hw-offload is on; None: it cannot."""
    there, cards = list(sas), cards or {}
    able = sorted(name for name, on in cards.items() if on)
    found = _of_cards(cards)
    if not there:
        return found
    offloaded = [sa for sa in there if sa.offload]
    words = f"{len(offloaded)} of {len(there)} SAs run in hardware"
    if offloaded:
        kinds = ", ".join(sorted({f"{sa.offload} offload" for sa in offloaded}))
        return [*found, Finding(OK if len(offloaded) == len(there) else WARN, f"{words} ({kinds})")]
    if able:
        command = "ip xfrm state add ... offload crypto dev DEV dir in|out; in swanctl.conf hw_offload = auto"
        could = Finding(
            WARN, f"{words}, though {', '.join(able)} could", "the processor does what the card can", command
        )
        return [*found, could]
    return [*found, Finding(INFO, words)]


def _of_cards(cards: Mapping[str, bool | None]) -> list[Finding]:
    found = []
    for name, on in sorted(cards.items()):
        if on:
            found.append(Finding(OK, f"{name}: ESP offload is on"))
        elif on is False:
            words = "the processor does what the card can"
            found.append(Finding(WARN, f"{name}: ESP offload is off", words, f"ethtool -K {name} esp-hw-offload on"))
    without = [name for name, on in sorted(cards.items()) if on is None]
    return [*found, Finding(INFO, f"no ESP offload in {', '.join(without)}")] if without else found


def cards(root: Path = ROOT) -> list[str]:
    """Interfaces that are hardware (or a hypervisor's)."""
    return sorted(device.parent.name for device in (root / "sys/class/net").glob("*/device"))


def check_steering(root: Path = ROOT) -> list[Finding]:
    """RPS, XPS and queues: whether more than one core takes packets."""
    cores = len(list((root / "sys/devices/system/cpu").glob("cpu[0-9]*")))
    if cores < 2:
        return [Finding(INFO, "one core: nothing to steer")] if cores else []
    found = []
    for name in cards(root):
        interface = root / "sys/class/net" / name
        receive = list((interface / "queues").glob("rx-*"))
        if len(receive) != 1:
            continue
        mask = (1 << cores) - 1
        rps = int(_text(receive[0] / "rps_cpus").replace(",", "") or "0", 16)
        if not rps:
            path = f"/sys/class/net/{interface.name}/queues/{receive[0].name}/rps_cpus"
            words = f"{interface.name} has one receive queue and no RPS"
            found.append(Finding(WARN, words, "one core takes all packets", f"echo {mask:x} > {path}"))
    return found or [Finding(OK, f"receiving is spread over {cores} cores, or no interface can")]


def check_throttling(root: Path = ROOT) -> list[Finding]:
    """Cores that were slowed down for heat, since boot; and where a cooling device acts now."""
    counts = [
        int(_text(path) or "0")
        for path in (root / "sys/devices/system/cpu").glob("cpu[0-9]*/thermal_throttle/core_throttle_count")
    ]
    found = []
    if any(counts):
        words = f"cores were throttled for heat {sum(counts)} times since boot"
        found.append(Finding(WARN, words, "long runs are slower than short ones", "better cooling, then measure again"))
    for device in (root / "sys/class/thermal").glob("cooling_device*"):
        state = _text(device / "cur_state")
        if state.isdigit() and int(state) and "cpufreq" in _text(device / "type").lower():
            words = f"the processor is being cooled by a lower clock (state {state} of {_text(device / 'max_state')})"
            found.append(Finding(WARN, words, "what is measured now is not what a cool one makes"))
    return found


def check_softirq(root: Path = ROOT) -> list[Finding]:
    """softnet_stat: packets dropped before any protocol saw them, and rounds that ended with work left."""
    rows = [[int(word, 16) for word in line.split()] for line in _lines(root / "proc/net/softnet_stat")]
    dropped, squeezed = (sum(row[i] for row in rows if len(row) > i) for i in (1, 2))
    budget, backlog = (_text(root / f"proc/sys/net/core/{n}") or "?" for n in ("netdev_budget", "netdev_max_backlog"))
    found = []
    if dropped:
        words = f"{dropped} packets found the backlog ({backlog}) full since boot"
        found.append(Finding(WARN, words, "lost before IPsec saw them", "sysctl net.core.netdev_max_backlog=5000"))
    if squeezed:
        words = f"softirq ended {squeezed} times with packets left (netdev_budget {budget})"
        found.append(Finding(WARN, words, "latency, then drops in the card", "sysctl net.core.netdev_budget=600"))
    return found or ([Finding(OK, f"softirq keeps up (netdev_budget {budget})")] if rows else [])


# ---- OpenWrt ----


def is_openwrt(root: Path = ROOT) -> bool:
    return (root / "etc/openwrt_release").exists()


def _uci(root: Path, package: str) -> list[tuple[str, dict[str, str]]]:
    """Sections of /etc/config/PACKAGE: (type, options)."""
    sections: list[tuple[str, dict[str, str]]] = []
    for line in _lines(root / "etc/config" / package):
        words = line.split(None, 2)
        if len(words) >= 2 and words[0] == "config":
            sections.append((words[1].strip("'\""), {}))
        elif len(words) == 3 and words[0] == "option" and sections:
            sections[-1][1][words[1].strip("'\"")] = words[2].strip().strip("'\"")
    return sections


def check_openwrt(root: Path = ROOT) -> list[Finding]:
    """SQM, flow offloading, packet steering, and the packages that IPsec needs."""
    install = "apk add" if (root / "lib/apk").exists() else "opkg install"
    found = []
    shaped = [o.get("interface", "?") for kind, o in _uci(root, "sqm") if kind == "queue" and o.get("enabled") == "1"]
    if shaped:
        command = "uci set sqm.@queue[0].enabled=0; uci commit sqm; /etc/init.d/sqm restart"
        found.append(Finding(WARN, f"SQM shapes {', '.join(shaped)}", "that rate is measured, not the router", command))
    defaults: dict[str, str] = {}
    for kind, options in _uci(root, "firewall"):
        if kind == "defaults":
            defaults |= options
    if defaults.get("flow_offloading") == "1":
        hardware = " (in hardware)" if defaults.get("flow_offloading_hw") == "1" else ""
        words = "forwarded flows bypass XFRM's policies on some kernels: traffic leaves in clear or is lost"
        command = "uci set firewall.@defaults[0].flow_offloading=0; uci commit firewall; service firewall restart"
        found.append(Finding(WARN, f"flow offloading is on{hardware}", words, command))
    else:
        found.append(Finding(OK, "flow offloading is off"))
    steering = [o.get("packet_steering", "0") for kind, o in _uci(root, "network") if kind == "globals"]
    if not any(value in ("1", "2") for value in steering):
        command = "uci set network.globals.packet_steering=1; uci commit network; service network restart"
        found.append(Finding(INFO, "packet steering is off", "one core takes the packets of an interface", command))
    else:
        found.append(Finding(OK, "packet steering is on"))
    found += _packages(root, install)
    return found


_PACKAGES = (
    ("tun", "kmod-tun", FAIL, "gwbench's data path cannot run"),
    ("esp4", "kmod-ipsec4", INFO, "the kernel's IPsec cannot be measured"),
    ("xfrm_user", "kmod-ipsec", INFO, "the kernel's IPsec cannot be measured"),
    ("authenc", "kmod-crypto-authenc", INFO, "no AES-CBC with HMAC in the kernel"),
    ("gcm", "kmod-crypto-gcm", INFO, "no AES-GCM in the kernel"),
    ("seqiv", "kmod-crypto-seqiv", INFO, "no AES-GCM in the kernel's IPsec"),
    ("echainiv", "kmod-crypto-echainiv", INFO, "no AES-CBC in the kernel's IPsec"),
    ("cbc", "kmod-crypto-cbc", INFO, "no AES-CBC in the kernel"),
    ("hmac", "kmod-crypto-hmac", INFO, "no HMAC in the kernel"),
    ("chacha20poly1305", "kmod-crypto-chacha20poly1305", INFO, "no ChaCha20-Poly1305 in the kernel's IPsec"),
    ("crypto_user", "kmod-crypto-user", INFO, "gwbench iperf --driver cannot change priorities"),
    (
        "algif_skcipher",
        "kmod-crypto-user",
        INFO,
        "gwbench crypto --provider af_alg cannot measure the kernel's drivers",
    ),
)


def _packages(root: Path, install: str) -> list[Finding]:
    missing: dict[str, Finding] = {}
    for module, package, level, consequence in _PACKAGES:
        if not _has_module(root, module):
            words = f"{package} is not installed ({module})"
            missing.setdefault(package, Finding(level, words, consequence, f"{install} {package}"))
    if not missing:
        return [Finding(OK, "every kmod that gwbench can use is installed")]
    return list(missing.values())


def examine(
    root: Path = ROOT,
    machine: str = "",
    sas: Iterable[KernelSa] = (),
    offload: Mapping[str, bool | None] | None = None,
) -> list[Finding]:
    """All of them. offload: of ``check_hardware_offload``."""
    return [
        *check_offload_modules(root),
        *check_drivers(root, machine),
        *check_hardware_offload(sas, offload),
        *check_steering(root),
        *check_throttling(root),
        *check_softirq(root),
        *(check_openwrt(root) if is_openwrt(root) else []),
    ]
