"""gwnode on somebody's router: it lives by heartbeats, and however it ends, SIGKILL too, the machine is as it was.

The router is a network namespace with a ruleset of fw4's shape (``tests/e2e/fixtures/fw4_stock.nft``)::

    br-lan 192.168.1.1/24 ---- veth ---- pc        firewall: zones lan and wan, the rest refused
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import test_gwnode
import test_worker as lab

from gateway.node.process import inside_netns

FW4 = Path(__file__).resolve().parents[1] / "e2e" / "fixtures" / "fw4_stock.nft"
gwnode = test_gwnode.gwnode  # the fixture
LISTINGS = (
    ("ip", "-d", "addr", "show", "dev", "br-lan"),
    ("ip", "route", "show", "table", "all"),
    ("ip", "-6", "route", "show", "table", "all"),
    ("ip", "xfrm", "policy"),
    ("ip", "xfrm", "state"),
    ("ip", "-o", "link"),
    ("nft", "-s", "list", "ruleset"),
    ("sysctl", "net.ipv4.ip_forward", "net.ipv4.conf.all.rp_filter", "net.ipv6.conf.all.forwarding"),
)

pytestmark = [
    pytest.mark.skipif(
        os.geteuid() != 0 or not os.access("/dev/net/tun", os.W_OK), reason="needs root and /dev/net/tun"
    ),
    pytest.mark.skipif(not shutil.which("nft") or not shutil.which("ip"), reason="needs nft and ip"),
]


class Router:
    """A namespace, and the gwnodes in it."""

    def __init__(self, binary: Path) -> None:
        self.binary = binary
        self.fd = lab.new_namespace()
        self.nodes: list[subprocess.Popen[bytes]] = []
        self.number = 0
        # Addresses that are usable at once: no listing of them changes by itself.
        self.run("sysctl", "-qw", "net.ipv6.conf.default.accept_dad=0", "net.ipv6.conf.default.router_solicitations=0")
        for line in ("link add br-lan type veth peer name pc", "addr add 192.168.1.1/24 dev br-lan"):
            self.run("ip", *line.split())
        for name in ("lo", "br-lan", "pc"):
            self.run("ip", "link", "set", name, "up")
        self.run("nft", "-f", str(FW4))

    def run(self, *command: str) -> str:
        with inside_netns(self.fd):
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (command, done.stderr)
        return done.stdout

    def listing(self) -> dict[str, str]:
        """Everything that a session may have changed, and files."""
        seen = {" ".join(command): re.sub(r"expires \d+sec", "", self.run(*command)) for command in LISTINGS}
        seen["files"] = repr(sorted(map(str, Path("/var/run").glob(f"gwnode-{self.inode}.*"))))
        return seen

    @property
    def inode(self) -> int:
        return os.fstat(self.fd).st_ino

    @property
    def journal(self) -> Path:
        return Path(f"/var/run/gwnode-{self.inode}.journal")

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        with inside_netns(self.fd):
            node = subprocess.Popen(
                [str(self.binary), "--stdio", *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, **environment},
                start_new_session=True,
            )
        self.nodes.append(node)
        return node

    def ask(self, node: subprocess.Popen[bytes], op: str, **arguments: object) -> dict[str, Any]:
        self.number += 1
        assert node.stdin and node.stdout
        node.stdin.write(json.dumps({"id": self.number, "op": op, **arguments}).encode() + b"\n")
        node.stdin.flush()
        answer: dict[str, Any] = json.loads(node.stdout.readline())
        assert answer["id"] == self.number
        return answer

    def ok(self, node: subprocess.Popen[bytes], op: str, **arguments: object) -> dict[str, Any]:
        answer = self.ask(node, op, **arguments)
        assert answer["ok"], answer
        result: dict[str, Any] = answer["result"]
        return result

    def refused(self, node: subprocess.Popen[bytes], op: str, **arguments: object) -> tuple[str, str]:
        answer = self.ask(node, op, **arguments)
        assert not answer["ok"], answer
        return answer["error"]["code"], answer["error"]["message"]

    def close(self) -> None:
        for node in self.nodes:
            if node.poll() is None:
                node.kill()
            node.wait()
            for pipe in (node.stdin, node.stdout, node.stderr):
                assert pipe
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        os.close(self.fd)


@pytest.fixture
def router(gwnode: Path) -> Iterator[Router]:
    router = Router(gwnode)
    yield router
    router.close()


def wait_until(true: Callable[[], bool], seconds: float = 20) -> None:
    """A condition that must come about; how fast proves nothing on a busy machine."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)


PATH = {
    "local": "192.168.1.1",
    "port": 0,
    "tun": "gwb0",
    "addresses": ["198.18.1.1/24", "fd12:3456:789a:1::1/64"],
    "routes": ["198.18.2.0/24"],
}
FIREWALL = {
    "interface": "gwb0",
    "prefixes": ["198.18.0.0/15", "fd12:3456:789a::/48"],
    "peer": "192.168.1.5",
    "port": 51820,
}


def change_everything(router: Router, node: subprocess.Popen[bytes]) -> None:
    assert router.ok(node, "firewall", **FIREWALL) == {"kind": "fw4", "rules": 9}
    router.ok(node, "add_address", interface="br-lan", address="198.18.3.1/30")
    router.ok(node, "add_address", interface="br-lan", address="fd12:3456:789a:3::1/64")
    router.ok(node, "add_route", prefix="198.18.4.0/24", interface="br-lan", via="198.18.3.2")
    router.ok(node, "add_route", prefix="fd12:3456:789a:4::/64", interface="br-lan")
    assert router.ok(node, "set_sysctl", name="net/ipv4/ip_forward", value="1") == {"before": "0"}
    router.ok(node, "open_path", **PATH)
    assert router.ok(node, "check_firewall") == {"rules": 9, "missing": 0}


@pytest.mark.parametrize("end", ["close", "end of file", "lease", signal.SIGTERM, signal.SIGKILL])
def test_however_it_ends_the_router_is_as_it_was(router: Router, end: str | signal.Signals) -> None:
    before = router.listing()
    node = router.start("--lease", "2" if end == "lease" else "60")
    change_everything(router, node)
    during = router.listing()
    assert all(during[name] != before[name] for name in before if "xfrm" not in name), "nothing to undo proves nothing"
    status = router.journal.stat()
    assert stat.S_IMODE(status.st_mode) == 0o600 and status.st_uid == 0
    assert node.stdin
    if isinstance(end, signal.Signals):
        os.kill(node.pid, end)
    elif end == "close":
        router.ok(node, "close")
    elif end == "end of file":
        node.stdin.close()
    # lease: nothing more is said, as when a cable is cut; no end of file comes.
    code = node.wait(30)
    assert code == {"lease": 3, signal.SIGKILL: -9}.get(end, 0)
    wait_until(lambda: not router.journal.exists())
    assert router.listing() == before
    if end == "lease":
        assert node.stderr and b"lease" in node.stderr.read()


def test_heartbeats_keep_it_and_are_not_answered(router: Router) -> None:
    node = router.start("--lease", "1")
    assert node.stdin
    router.refused(node, "health")
    for _ in range(12):
        node.stdin.write(b"\n")
        node.stdin.flush()
        time.sleep(0.25)
    assert node.poll() is None
    assert router.ok(node, "hello", protocol=1)["journal"] == str(router.journal)


def test_a_reader_that_takes_nothing_ends_the_lease_too(router: Router) -> None:
    """A cut cable: answers pile up in ssh and in the pipe, while old requests are still being read."""
    node = router.start("--lease", "2")
    assert node.stdin
    os.set_blocking(node.stdin.fileno(), False)
    request = b'{"id":1,"op":"hello","protocol":1}\n'
    end = time.monotonic() + 60
    while node.poll() is None and time.monotonic() < end:
        try:
            os.write(node.stdin.fileno(), request)
        except (BlockingIOError, BrokenPipeError):
            time.sleep(0.05)
    assert node.wait(1) in (0, 3)
    assert not router.journal.exists()


def test_both_killed_and_then_cleaned_up(router: Router) -> None:
    before = router.listing()
    node = router.start("--lease", "60")
    change_everything(router, node)
    watchdog = int(Path(f"/proc/{node.pid}/task/{node.pid}/children").read_text().split()[0])
    assert Path(f"/proc/{watchdog}/comm").read_text() == "gwnode-watchdog\n"
    assert int(Path(f"/proc/{watchdog}/oom_score_adj").read_text()) <= 0
    assert Path(f"/proc/{node.pid}/oom_score_adj").read_text() == "1000\n"
    busy = subprocess.run(
        ["nsenter", f"--net=/proc/{node.pid}/ns/net", str(router.binary), "cleanup"], capture_output=True
    )
    assert busy.returncode == 2 and str(node.pid).encode() in busy.stderr
    os.kill(watchdog, signal.SIGSTOP)  # so that it cannot act between the two
    os.kill(node.pid, signal.SIGKILL)
    os.kill(watchdog, signal.SIGKILL)
    node.wait(10)
    assert router.journal.exists() and router.listing() != before
    said = router.run(str(router.binary), "cleanup")
    assert "undone: fw4" in said and "undone: address br-lan 198.18.3.1/30" in said
    assert router.listing() == before
    assert router.run(str(router.binary), "cleanup") == "nothing was left\n"


def test_the_next_session_undoes_a_dead_ones_journal(router: Router) -> None:
    before = router.listing()
    node = router.start("--lease", "60")
    change_everything(router, node)
    watchdog = int(Path(f"/proc/{node.pid}/task/{node.pid}/children").read_text().split()[0])
    os.kill(watchdog, signal.SIGSTOP)
    os.kill(node.pid, signal.SIGKILL)
    os.kill(watchdog, signal.SIGKILL)
    node.wait(10)
    with router.journal.open("ab") as file:
        file.write(b"address br-lan 198.18.9.1/3")  # cut off: it was never acted on
    node = router.start("--lease", "60")
    assert router.ok(node, "hello", protocol=1)["undone"] == 6
    router.ok(node, "close")
    node.wait(10)
    assert router.listing() == before


def test_without_its_watchdog_it_does_not_go_on(router: Router) -> None:
    before = router.listing()
    node = router.start("--lease", "60")
    change_everything(router, node)
    watchdog = int(Path(f"/proc/{node.pid}/task/{node.pid}/children").read_text().split()[0])
    os.kill(watchdog, signal.SIGKILL)
    assert node.wait(20) == 3
    assert node.stderr and b"watchdog was killed" in node.stderr.read()
    assert router.listing() == before


def test_a_second_one_is_refused_politely(router: Router) -> None:
    first = router.start("--lease", "60")
    router.ok(first, "hello", protocol=1)
    second = router.start("--lease", "60")
    code, message = router.refused(second, "hello", protocol=1)
    assert code == "busy" and str(first.pid) in message
    assert second.wait(10) == 2
    router.refused(first, "health")
    router.ok(first, "close")


def test_a_foreign_file_is_not_taken_for_the_journal(router: Router, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("address lo 127.0.0.1/8\n")
    router.journal.symlink_to(other)
    fallback = Path(f"/tmp/gwnode-{router.inode}.journal")
    try:
        node = router.start("--lease", "60")
        assert router.ok(node, "hello", protocol=1)["journal"] == str(fallback)
        router.ok(node, "close")
        node.wait(10)
        assert other.read_text() == "address lo 127.0.0.1/8\n" and not fallback.exists()
    finally:
        router.journal.unlink()


def test_what_may_cut_off_the_owner_is_refused(router: Router) -> None:
    node = router.start("--lease", "60", SSH_CONNECTION="fd00:cafe::2 50000 198.19.7.1 22")
    for op, arguments in (
        ("add_address", {"interface": "br-lan", "address": "10.1.1.1/24"}),
        ("add_route", {"interface": "br-lan", "prefix": "0.0.0.0/0"}),
        ("add_route", {"interface": "br-lan", "prefix": "198.18.0.0/14"}),
        ("add_route", {"interface": "br-lan", "prefix": "2001:db8::/48"}),
        ("add_route", {"interface": "br-lan", "prefix": "198.19.7.0/24"}),
        ("add_route", {"interface": "br-lan", "prefix": "fd00:cafe::/48"}),
        ("open_path", {**PATH, "routes": ["::/0"]}),
        ("open_path", {**PATH, "addresses": ["198.19.7.9/24"]}),
        ("set_sysctl", {"name": "kernel/sysrq", "value": "1"}),
        ("set_sysctl", {"name": "net/ipv4/../../kernel/sysrq", "value": "1"}),
        ("firewall", {**FIREWALL, "prefixes": ["0.0.0.0/0"]}),
    ):
        assert router.refused(node, op, **arguments)[0] == "refused", (op, arguments)
    assert router.refused(node, "firewall", **{**FIREWALL, "interface": 'x" accept #'})[0] == "bad-request"
    assert router.refused(node, "firewall", **{**FIREWALL, "peer": "1.2.3.4; flush ruleset"})[0] == "bad-request"
    # What stands there already is somebody's: it is neither replaced nor, at the end, removed.
    router.run("ip", "addr", "add", "198.18.3.1/30", "dev", "br-lan")
    router.run("ip", "route", "add", "198.18.5.0/24", "dev", "br-lan")
    before = router.listing()
    assert "exists" in router.refused(node, "add_address", interface="br-lan", address="198.18.3.1/30")[1]
    assert "exists" in router.refused(node, "add_route", interface="br-lan", prefix="198.18.5.0/24")[1]
    router.ok(node, "close")
    node.wait(10)
    assert router.listing()["ip route show table all"] == before["ip route show table all"]
    assert router.listing()["ip -d addr show dev br-lan"] == before["ip -d addr show dev br-lan"]


def test_without_a_lease_nothing_of_the_machine_is_changed(router: Router) -> None:
    node = router.start()
    assert router.refused(node, "firewall", **FIREWALL)[0] == "not-supported"
    assert router.refused(node, "add_address", interface="br-lan", address="198.18.3.1/30")[0] == "not-supported"
    assert not router.journal.exists()


def test_a_reload_of_the_firewall_is_noticed_and_survived(router: Router) -> None:
    node = router.start("--lease", "60")
    change_everything(router, node)
    # As fw4 does it: the table is made anew, and its handles begin anew, so that ours are somebody else's now.
    router.run("nft", "delete", "table", "inet", "fw4")
    router.run("nft", "-f", str(FW4))
    reloaded = router.run("nft", "-s", "-a", "list", "ruleset")
    code, message = router.refused(node, "check_firewall")
    assert code == "rules-gone" and "9 of 9" in message
    router.ok(node, "close")
    node.wait(10)
    assert router.run("nft", "-s", "-a", "list", "ruleset") == reloaded


def test_the_rules_open_for_the_test_and_for_nothing_else(router: Router) -> None:
    """Packets and not text. A veth stands for the TUN, so that they can come out of it; they are counted behind fw4."""
    far = lab.new_namespace()
    router.run("ip", "link", "add", "gwb0", "type", "veth", "peer", "name", "tun")
    router.run("ip", "link", "set", "tun", "netns", f"/proc/{os.getpid()}/fd/{far}")
    router.run("ip", "link", "set", "gwb0", "up")
    for address in ("198.18.1.1/24", "198.18.3.1/30"):
        router.run("ip", "addr", "add", address, "dev", "gwb0" if "1.1" in address else "br-lan")
    for name in ("all", "gwb0"):
        router.run("sysctl", "-qw", f"net.ipv4.conf.{name}.rp_filter=0")
    mac = re.findall(r"link/ether (\S+)", router.run("ip", "link", "show", "gwb0"))[0]
    with inside_netns(far):
        for line in (
            "link set tun up",
            "addr add 198.18.1.2/24 dev tun",
            "addr add 10.9.9.9/24 dev tun",
            "route add default dev tun",
            *(f"neigh add {to} lladdr {mac} dev tun" for to in DESTINATIONS),
        ):
            subprocess.run(["ip", *line.split()], check=True)

    def accepted() -> dict[tuple[str, str], int]:
        rules = "".join(
            f"add rule inet probe {chain} ip saddr {source} ip daddr {to} counter;"
            for source in ("198.18.1.2", "10.9.9.9")
            for to, chain in DESTINATIONS.items()
        )
        chains = "".join(
            f"add chain inet probe {hook} {{ type filter hook {hook} priority 300; }};" for hook in ("input", "forward")
        )
        router.run("nft", "add table inet probe;" + chains + rules)
        with inside_netns(far):
            for source in ("198.18.1.2", "10.9.9.9"):
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
                    sock.bind((source, 0))
                    for to in DESTINATIONS:
                        for _ in range(5):
                            sock.sendto(b"x", (to, 9))
        text = router.run("nft", "list", "table", "inet", "probe")
        router.run("nft", "delete", "table", "inet", "probe")
        found = re.findall(r"ip saddr (\S+) ip daddr (\S+) counter packets (\d+)", text)
        assert len(found) == 2 * len(DESTINATIONS)
        return {(source, to): int(n) for source, to, n in found if int(n)}

    node = router.start("--lease", "60")
    router.ok(node, "set_sysctl", name="net/ipv4/ip_forward", value="1")
    assert accepted() == {}
    router.ok(node, "firewall", **FIREWALL)
    assert accepted() == {("198.18.1.2", "198.18.1.1"): 5, ("198.18.1.2", "198.18.3.2"): 5}
    router.ok(node, "close")
    node.wait(10)
    router.run("sysctl", "-qw", "net.ipv4.ip_forward=1")
    assert accepted() == {}
    os.close(far)


# Into the router and through it, to test addresses and to the owner's.
DESTINATIONS = {"198.18.1.1": "input", "192.168.1.1": "input", "198.18.3.2": "forward", "192.168.1.77": "forward"}


def test_the_kernels_data_path_says_what_this_kernel_lacks(router: Router) -> None:
    """Where the kernel has ESP the path opens, and its changes are undone by ``close_path`` alone."""
    node = router.start("--lease", "60", "--kernel")
    hello = router.ok(node, "hello", protocol=1)
    assert hello["kind"] == "kernel"
    before = router.listing()
    path = {**PATH, "addresses": ["198.18.1.1/24"]}
    if hello["suites"]:
        assert router.ok(node, "open_path", **path)["tun"] == "br-lan"
        assert router.listing() != before
        router.ok(node, "close_path")
    else:
        assert re.search(r"module \w+ is missing", hello["lacks"])
        assert router.refused(node, "open_path", **path) == ("kernel-lacks", hello["lacks"])
        assert router.refused(node, "add_sa", **SA)[0] == "no-path"
    assert router.listing() == before
    without = router.start("--kernel")
    assert without.wait(10) == 2 and without.stderr and b"--lease" in without.stderr.read()


SA = {
    "spi": 4097,
    "direction": "out",
    "suite": "aes128gcm16",
    "local": "192.168.1.1",
    "peer": "192.168.1.5",
    "peer_port": 4500,
    "local_port": 4500,
    "enc_key": "00" * 16,
    "auth_key": "",
    "salt": "00" * 4,
}


def test_policies_of_a_journal_are_removed_and_foreign_ones_are_not(router: Router) -> None:
    """The control plane of XFRM works without any ESP: what a killed session had written is replayed for real."""
    policies = (
        "dir out src 198.18.1.0/24 dst 198.18.2.0/24",
        "dir in src 198.18.2.0/24 dst 198.18.1.0/24",
        "dir fwd src fd12:3456:789a:2::/64 dst ::/0",
        "dir out src 10.1.0.0/16 dst 10.2.0.0/16",
    )
    for policy in policies:
        router.run("ip", "xfrm", "policy", "add", *policy.split(), "priority", "1000", "action", "block")
    router.journal.write_text(
        "gwnode 1\n"
        "policy 1 198.18.1.0/24 198.18.2.0/24\n"
        "policy 0 198.18.2.0/24 198.18.1.0/24\n"
        "policy 2 fd12:3456:789a:2::/64 ::/0\n"
        "policy 1 10.1.0.0/16 10.2.0.0/16\nforget\n"
        "sa 192.168.1.5 4097\n"
        "policy 1 198.18.7.0/24 198.18.8.0/24\n"  # written down, and killed before it was made
    )
    router.journal.chmod(0o600)
    said = router.run(str(router.binary), "cleanup")
    assert said.count("undone:") == 5 and "10.1.0.0" not in said
    left = router.run("ip", "xfrm", "policy")
    assert left.count("src ") == 1 and "src 10.1.0.0/16 dst 10.2.0.0/16" in left
    assert not router.journal.exists()
