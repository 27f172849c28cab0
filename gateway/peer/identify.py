"""What the other machine is, from one shell script that only looks: BusyBox's ash and its few tools are enough.

Nothing is brought there and nothing is changed, so the plan can be shown before either.
"""

from __future__ import annotations

import ipaddress
import re
import struct
from dataclasses import dataclass

from gateway.environment import cpu_model
from gateway.errors import UnusableError

Ip = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_MARK = "=-= "

SCRIPT = r"""
LC_ALL=C; PATH=$PATH:/usr/sbin:/sbin:/usr/bin:/bin; export LC_ALL PATH
m() { echo "=-= $1"; }
c() { cat "$@" 2>/dev/null; }
have() { command -v "$1" >/dev/null 2>&1; }
root=; [ "$(id -u)" = 0 ] || { have sudo && sudo -n true 2>/dev/null && root="sudo -n"; }
m ssh; echo "$SSH_CONNECTION"
m id; id -u
m sudo; echo "$root"
m uname; uname -s; uname -r; uname -m
m model; c /proc/device-tree/model | tr '\000' '\n'; c /tmp/sysinfo/model
m os; c /etc/openwrt_release /etc/os-release
m cpuinfo; c /proc/cpuinfo
m meminfo; c /proc/meminfo
m mounts; c /proc/mounts
m df; df -k "${GWBENCH_DIR:-/tmp}" 2>/dev/null
m dir; [ -d "${GWBENCH_DIR:-/tmp}" ] && echo there; [ -w "${GWBENCH_DIR:-/tmp}" ] && echo writable
m tun; [ -c /dev/net/tun ] && echo node && (exec 3<>/dev/net/tun) 2>/dev/null && echo opens
[ -n "$root" ] && [ -c /dev/net/tun ] && $root sh -c 'exec 3<>/dev/net/tun' 2>/dev/null && echo opens
m iperf3; have iperf3 && iperf3 --version 2>&1
m programs; for p in opkg apk apt-get dnf nft iptables wg gwnode sha256sum ip systemctl; do have $p && echo $p; done
m route4; c /proc/net/route
m route6; c /proc/net/ipv6_route
m if6; c /proc/net/if_inet6
m if4; have ip && ip -o -4 addr 2>/dev/null
m fib; c /proc/net/fib_trie
m udp; c /proc/net/udp /proc/net/udp6
m xfrm; have ip && $root ip xfrm state 2>/dev/null | grep -c '^src'
m policies; have ip && $root ip xfrm policy 2>/dev/null | grep '^src'
m links; for i in /sys/class/net/*; do echo "${i##*/} $(c $i/mtu) $(c $i/type)"; done
m forward; c /proc/sys/net/ipv4/ip_forward; c /proc/sys/net/ipv6/conf/all/forwarding
m congestion; c /proc/sys/net/ipv4/tcp_available_congestion_control
m esp; k=/lib/modules/$(uname -r); [ -r /proc/kallsyms ] && [ -d $k ] && echo known
{ c /proc/kallsyms | grep -q ' esp_init_state' || ls -R $k 2>/dev/null | grep -q '^esp4[.]ko'; } && echo there
m clock; date +%s
m elf; head -c 64 /bin/sh
"""


@dataclass(frozen=True, slots=True)
class Elf:
    """What its programs are, from /bin/sh's header: a 32-bit system may run on a 64-bit kernel."""

    machine: int
    """e_machine."""
    big_endian: bool
    bits: int


@dataclass(frozen=True, slots=True)
class Route:
    """One of its routes."""

    destination: Network
    device: str
    on_link: bool


@dataclass(frozen=True, slots=True)
class Facts:
    """One machine as it was found."""

    name: str
    ssh_client: str
    """Our address as it sees it; empty: its ssh server does not say."""
    ssh_server: str
    root: bool
    sudo: bool
    system: str
    kernel: str
    machine: str
    model: str
    os: str
    openwrt: bool
    cpus: int
    cpu_model: str
    cpuinfo: str
    memory_available_bytes: int
    directory_free_bytes: int
    """-1: not known."""
    directory_mount: tuple[str, ...]
    """Options of the file system that holds the directory for gwnode."""
    directory_writable: bool
    tun: str
    """``opens``, ``node`` (is there and does not open) or empty."""
    iperf3: str
    """Version, or empty."""
    programs: tuple[str, ...]
    addresses: tuple[Ip, ...]
    device_v4: dict[str, tuple[str, ...]]
    """Addresses by device; empty where it has no ``ip`` to ask."""
    device_v6: dict[str, tuple[str, ...]]
    routes: tuple[Route, ...]
    udp_ports: frozenset[int]
    """In use."""
    sas: int | None
    """SAs in its kernel; None: not known."""
    policies: tuple[Network, ...]
    """Selectors of its kernel's IPsec policies, both ends'."""
    mtu: dict[str, int]
    """By device, bytes."""
    forwards: tuple[bool, bool]
    """IPv4, IPv6."""
    congestion: tuple[str, ...]
    esp: bool | None
    """Whether its kernel has ESP, or a module of it; None: it does not say."""
    clock_s: float
    elf: Elf | None

    @property
    def default_route(self) -> bool:
        """A machine with one may be somebody's way to the Internet."""
        return any(r.destination.prefixlen == 0 for r in self.routes)

    @property
    def package_manager(self) -> str:
        return next((p for p in ("apk", "opkg", "apt-get", "dnf") if p in self.programs), "")

    def install(self, package: str) -> str:
        """The command that installs a package there; on OpenWrt TUN is a package, elsewhere a module."""
        words = {
            "apk": "apk add",
            "opkg": "opkg update && opkg install",
            "apt-get": "apt-get install",
            "dnf": "dnf install",
        }
        return f"{words.get(self.package_manager, 'install')} {package}"

    def device_to(self, address: Ip) -> str:
        """The device behind which ``address`` is a direct neighbour; empty: it is not."""
        best: Route | None = None
        for route in self.routes:
            if address in route.destination and (
                best is None or route.destination.prefixlen > best.destination.prefixlen
            ):
                best = route
        return best.device if best is not None and best.on_link else ""

    def used(self) -> list[Network]:
        """Everything that it has an address in, a route to (the default ones apart) or a policy for."""
        found: list[Network] = [ipaddress.ip_network(a) for a in self.addresses]
        found += [r.destination for r in self.routes if r.destination.prefixlen]
        return found + [p for p in self.policies if p.prefixlen]


def split(answer: bytes) -> dict[str, bytes]:
    """The script's sections by name."""
    sections: dict[str, bytes] = {}
    for part in (
        answer.split(f"\n{_MARK}".encode())
        if answer.startswith(b"\n")
        else (b"\n" + answer).split(f"\n{_MARK}".encode())
    ):
        name, newline, body = part.partition(b"\n")
        if newline and re.fullmatch(rb"[a-z0-9]+", name):
            sections[name.decode()] = body
    return sections


def parse(name: str, answer: bytes) -> Facts:
    """The script's answer. UnusableError when there is none: the login shell did something else."""
    raw = split(answer)
    elf = raw.get("elf")
    if "uname" not in raw or elf is None:
        raise UnusableError(
            f"{name} runs no ordinary shell for this login", f"`ssh {name} uname` must work", "no-shell"
        )
    text = {key: value.decode(errors="replace") for key, value in raw.items() if key != "elf"}
    uname = [*text["uname"].split("\n"), "", "", ""]
    release = dict(re.findall(r"""^(\w+)=["']?([^"'\n]*)""", text.get("os", ""), re.MULTILINE))
    ssh = text.get("ssh", "").split()
    meminfo = dict(re.findall(r"^(\w+):\s+(\d+)", text.get("meminfo", ""), re.MULTILINE))
    memory = str(meminfo.get("MemAvailable") or meminfo.get("MemFree") or "0")
    v6 = _if6(text.get("if6", ""))
    local6 = [ipaddress.ip_address(a) for addresses in v6.values() for a in addresses]
    free, mount_point = _df(text.get("df", ""))
    links = [line.split() for line in text.get("links", "").splitlines()]
    forward = [*text.get("forward", "").split(), "0", "0"]
    xfrm = text.get("xfrm", "").strip()
    iperf3 = re.search(r"iperf (3\.\S+)", text.get("iperf3", ""))
    tun = text.get("tun", "").split()
    return Facts(
        name=name,
        ssh_client=ssh[0] if len(ssh) == 4 else "",
        ssh_server=ssh[2] if len(ssh) == 4 else "",
        root=text.get("id", "").strip() == "0",
        sudo="sudo" in text.get("sudo", ""),
        system=uname[0],
        kernel=uname[1],
        machine=uname[2],
        model=next((line for line in text.get("model", "").splitlines() if line.strip()), ""),
        os=release.get("DISTRIB_DESCRIPTION") or release.get("PRETTY_NAME", ""),
        openwrt="DISTRIB_ID" in release or "openwrt" in release.get("ID", "").lower(),
        cpus=max(1, len(re.findall(r"^processor\s*:", text.get("cpuinfo", ""), re.MULTILINE))),
        cpu_model=cpu_model(text.get("cpuinfo", "")),
        cpuinfo=text.get("cpuinfo", ""),
        memory_available_bytes=int(memory) * 1024,
        directory_free_bytes=free,
        directory_mount=_mount_options(text.get("mounts", ""), mount_point),
        directory_writable="writable" in text.get("dir", ""),
        tun="opens" if "opens" in tun else "node" if "node" in tun else "",
        iperf3=iperf3[1] if iperf3 else "",
        programs=tuple(text.get("programs", "").split()),
        addresses=(*_fib(text.get("fib", "")), *local6),
        device_v4=_if4(text.get("if4", "")),
        device_v6=v6,
        routes=(*_routes4(text.get("route4", "")), *_routes6(text.get("route6", ""))),
        udp_ports=frozenset(
            int(p, 16) for p in re.findall(r"^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) ", text.get("udp", ""), re.M)
        ),
        sas=int(xfrm) if xfrm.isdigit() else None,
        policies=tuple(_policies(text.get("policies", ""))),
        mtu={link[0]: int(link[1]) for link in links if len(link) > 1 and link[1].isdigit()},
        forwards=(forward[0] == "1", forward[1] == "1"),
        congestion=tuple(text.get("congestion", "").split()),
        esp="there" in text.get("esp", "") or (False if "known" in text.get("esp", "") else None),
        clock_s=float(text.get("clock", "0").strip() or 0),
        elf=_elf(elf),
    )


def _elf(header: bytes) -> Elf | None:
    if len(header) < 20 or header[:4] != b"\x7fELF":
        return None
    big = header[5] == 2
    return Elf(struct.unpack(">H" if big else "<H", header[18:20])[0], big, 64 if header[4] == 2 else 32)


def elf_of(header: bytes) -> Elf | None:
    """The same of a file of ours."""
    return _elf(header)


def _routes4(text: str) -> list[Route]:
    """/proc/net/route: hexadecimal in the machine's own byte order, which the masks give away."""
    rows = [line.split() for line in text.splitlines()[1:]]
    rows = [row for row in rows if len(row) >= 8 and int(row[3], 16) & 1]
    # A mask is contiguous from the top: 00FFFFFF (little-endian) or FFFFFF00.
    masks = {row[7] for row in rows} - {"00000000", "FFFFFFFF"}
    little = any(not _contiguous(int(mask, 16)) for mask in masks) or not masks
    found = []
    for row in rows:
        values = [struct.pack("<I" if little else ">I", int(row[i], 16)) for i in (1, 7)]
        with_prefix = f"{ipaddress.IPv4Address(values[0])}/{ipaddress.IPv4Address(values[1])}"
        found.append(Route(ipaddress.ip_network(with_prefix, strict=False), row[0], row[2] == "00000000"))
    return found


def _contiguous(mask: int) -> bool:
    return (~mask & 0xFFFFFFFF) & ((~mask & 0xFFFFFFFF) + 1) == 0


def _routes6(text: str) -> list[Route]:
    found = []
    for row in (line.split() for line in text.splitlines()):
        # RTF_UP; rejecting routes and the kernel's own (lo) are no use of a prefix, but a default that rejects is none.
        if len(row) < 10 or not int(row[8], 16) & 1 or int(row[8], 16) & 0x200 or row[9] == "lo":
            continue
        network = ipaddress.IPv6Network((bytes.fromhex(row[0]), int(row[1], 16)), strict=False)
        if network.prefixlen and not network.is_multicast and not network.is_link_local:
            found.append(Route(network, row[9], set(row[4]) == {"0"}))
    return found


def _if4(text: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for device, address in re.findall(r"^\d+: (\S+)\s+inet (\d+\.\d+\.\d+\.\d+)/", text, re.MULTILINE):
        found[device] = (*found.get(device, ()), address)
    return found


def _if6(text: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for row in (line.split() for line in text.splitlines()):
        if len(row) == 6:
            found[row[5]] = (*found.get(row[5], ()), str(ipaddress.IPv6Address(bytes.fromhex(row[0]))))
    return found


def _fib(text: str) -> list[Ip]:
    """Local IPv4 addresses: the address stands on the line before "/32 host LOCAL"."""
    return [
        ipaddress.ip_address(a)
        for a in dict.fromkeys(re.findall(r"\|-- (\d+\.\d+\.\d+\.\d+)\n\s+/32 host LOCAL", text))
    ]


def _policies(text: str) -> list[Network]:
    found = []
    for match in re.finditer(r"^src (\S+) dst (\S+)", text, re.MULTILINE):
        found += [ipaddress.ip_network(m, strict=False) for m in match.groups()]
    return found


def _df(text: str) -> tuple[int, str]:
    """(free bytes, mount point); a long device name moves the numbers to a line of their own."""
    words = " ".join(text.splitlines()[1:]).split()
    numbers = [i for i, word in enumerate(words) if word.isdigit()]
    if len(numbers) < 3:
        return -1, ""
    return int(words[numbers[2]]) * 1024, words[-1]


def _mount_options(text: str, mount_point: str) -> tuple[str, ...]:
    options: tuple[str, ...] = ()
    for row in (line.split() for line in text.splitlines()):
        if len(row) >= 4 and row[1] == mount_point:
            options = tuple(row[3].split(","))  # the last one mounted is on top
    return options
