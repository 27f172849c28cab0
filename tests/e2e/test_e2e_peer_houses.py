"""Routers as people have them: behind each kind of firewall, with a login that is not root, with a password, kept for
the next time; and a NAT that nobody thought of."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .conftest import COMMAND, Run, environment
from .router import PC, ROUTER, Router
from .test_e2e_peer import Gwbench, gwbench, gwnode, refused  # noqa: F401 - fixtures

SHORT = ("--suite", "aes128gcm16", "--impl", "accelerated", "--repeats", "0", "--rounds", "1", "-t", "1")
FW4 = Path(__file__).parent / "fixtures" / "fw4_stock.nft"
# What fw3 of older releases comes to: nothing may be forwarded, and only ssh and ICMP come in.
FW3 = """
{tool} -P FORWARD DROP
{tool} -A INPUT -i lo -j ACCEPT
{tool} -A INPUT -p tcp --dport 22 -j ACCEPT
{tool} -A INPUT -p {icmp} -j ACCEPT
{tool} -A INPUT -j REJECT
"""


@pytest.fixture(scope="module")
def house() -> Iterator[Router]:
    router = Router("sshd")
    yield router
    router.close()


def _fw3(house: Router, program: str) -> None:
    house.inside("mount", "--bind", f"/usr/sbin/xtables-{program}-multi", "/usr/sbin/xtables-nft-multi")
    script = FW3.format(tool="iptables", icmp="icmp") + FW3.format(tool="ip6tables", icmp="icmpv6")
    house.inside("sh", "-e", "-c", script + "iptables -t nat -A POSTROUTING -o br-lan -j MASQUERADE\n")


def _no_fw3(house: Router) -> None:
    for tool in ("iptables", "ip6tables"):
        house.inside("sh", "-c", f"{tool} -P FORWARD ACCEPT; {tool} -F; {tool} -t nat -F")
    house.inside("umount", "/usr/sbin/xtables-nft-multi")


@pytest.mark.parametrize("kind", ["fw4", "iptables-legacy", "iptables-nft"])
def test_its_firewall_lets_the_test_through_and_is_as_before(
    gwbench: Gwbench,  # noqa: F811
    house: Router,
    tmp_path: Path,
    kind: str,
) -> None:
    if kind == "fw4":
        house.inside("sh", "-c", f"nft -f - <<'X'\n{FW4.read_text()}\nX")
        rules, words = "nft list ruleset | sed 's/packets [0-9]* bytes [0-9]*//'", "nftables (inet fw4): "
    else:
        _fw3(house, kind.partition("-")[2])
        rules, words = "iptables -S; iptables -t nat -S; ip6tables -S", "iptables: "
    try:
        before = house.inside("sh", "-c", rules)
        assert len(before.splitlines()) > 10
        run = gwbench(house, *SHORT, "--no-save", "--json", str(tmp_path / "r.json"))
        finished = run.wait(120)
        assert finished.status == 0, finished.stdout + finished.stderr
        said = next(line for line in finished.stdout.splitlines() if line.startswith("firewall"))
        assert words in said and int(said.partition(words)[2].split()[0]) >= 8
        document = json.loads((tmp_path / "r.json").read_text())
        # Both families of addresses, so both firewalls let everything pass.
        assert document["valid"] and document["results"][-1]["gate"]["packets"] > 5000
        assert house.inside("sh", "-c", rules) == before
    finally:
        if kind == "fw4":
            house.inside("nft", "delete", "table", "inet", "fw4")
        else:
            _no_fw3(house)


def test_kept_for_the_next_time(gwbench: Gwbench, house: Router) -> None:  # noqa: F811
    """The second time it is found there; only --keep leaves it, and nothing else of it."""
    before = house.listing()
    kept = house.router_tmp / "gwbench-keep" / "gwnode"
    changed = []
    for _ in range(2):
        finished = gwbench(house, *SHORT, "--no-save", "--keep").wait(120)
        assert finished.status == 0, finished.stdout + finished.stderr
        assert "(stays: --keep)" in finished.stdout
        status = kept.stat()
        changed.append((status.st_ino, status.st_mtime_ns))
    assert changed[0] == changed[1]
    house.inside("rm", "-r", "/tmp/gwbench-keep")
    assert house.listing() == before


def test_a_nat_in_between_is_named(gwbench: Gwbench, house: Router) -> None:  # noqa: F811
    """ssh passes as it is, so that only a look at the datagrams can tell."""
    ruleset = """table ip t {
        chain p {
            type nat hook postrouting priority 100
            udp dport 61000-65000 masquerade to :7
        }
    }"""
    with house.pc.entered():
        subprocess.run(["nft", ruleset], check=True)
        try:
            words = refused(gwbench(house, *SHORT), "a NAT is in between", PC)
        finally:
            subprocess.run(["nft", "delete", "table", "ip", "t"], check=True)
    assert "connected directly" in words and house.gwnodes() == []


# ---- logins ----

PASSWORD = "a word"
PASSWORD_HASH = (
    "$6$gwbench$v4ojeppoc5jiTCsneGZ/t7Um5YkjTvbe5sZge76U/ubO2/Y45zyQxtuKXrwgygW5Ojbtd/QHk2C2VTtLkQWqT1"  # its crypt(3)
)
ACCOUNTS = f"""
set -e
for f in passwd shadow; do cp -p /etc/$f /run/$f; done
echo 'admin:x:4321:65534::/run/admin:/bin/sh' >> /run/passwd
echo 'admin:{PASSWORD_HASH}:20000:0:99999:7:::' >> /run/shadow
printf 'root ALL=(ALL) ALL\\nadmin ALL=(ALL) NOPASSWD: ALL\\n' > /run/sudoers
chmod 440 /run/sudoers
echo 'hosts: files' > /run/nsswitch.conf  # sudo asks for this machine's name, and there is nobody to ask
mkdir -p /run/admin && chown 4321 /run/admin
chmod 1777 /tmp
for f in passwd shadow sudoers nsswitch.conf; do mount --bind /run/$f /etc/$f; done
"""


class Terminal:
    """A command at a terminal of its own, where ssh and gwbench may ask."""

    def __init__(self, command: tuple[str, ...]) -> None:
        self.fd, slave = pty.openpty()

        def child() -> None:
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment(TERM="dumb"),
            cwd="/",
            start_new_session=True,
            preexec_fn=child,
        )
        os.close(slave)
        self.text = ""

    def until(self, needle: str, within_s: float = 60) -> None:
        """Reads on; with an empty needle to the end."""
        begun, deadline = len(self.text), time.monotonic() + within_s
        while not needle or needle not in self.text[begun:]:
            assert time.monotonic() < deadline, f"no {needle!r}: {self.text}"
            if not select.select([self.fd], [], [], 0.2)[0]:
                continue
            try:
                chunk = os.read(self.fd, 4096)
            except OSError:
                chunk = b""
            if not chunk:
                assert not needle, f"ended before {needle!r}: {self.text}"
                return
            self.text += chunk.decode(errors="replace")

    def type(self, line: str) -> None:
        os.write(self.fd, line.encode() + b"\n")

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.fd)


def test_a_user_with_sudo_is_asked_for_one_password_and_once_whether_to_begin(
    gwnode: str,  # noqa: F811
    start: Callable[..., Run],
    tmp_path: Path,
) -> None:
    """No root login and no key; the router is somebody's way out."""
    router = Router("sshd", "PasswordAuthentication yes\n")
    terminal = None
    try:
        router.inside("sh", "-c", ACCOUNTS)
        router.inside("ip", "route", "add", "default", "via", PC)
        before = router.listing()
        path = tmp_path / "r.json"
        words = ("iperf", "--peer", f"admin@{ROUTER}", "--gwnode", gwnode, "--json", str(path), "--no-save", *SHORT)
        terminal = Terminal(router.on_pc(*COMMAND, *words))
        terminal.until("assword:")
        assert terminal.text.startswith("reach")
        terminal.type(PASSWORD)
        terminal.until("Begin? [y/N]")
        assert router.listing() == before
        terminal.type("y")
        terminal.until("", 120)
        assert terminal.process.wait(20) == 0, terminal.text
        assert terminal.text.count("assword") == 1, terminal.text
        document = json.loads(path.read_text())
        assert document["valid"] and document["results"][-1]["sa"]["packets"] > 100
        assert router.listing() == before and router.gwnodes() == []
        # Somebody without sudo is told so, and what to do.
        router.inside("sh", "-c", "echo 'root ALL=(ALL) ALL' > /run/sudoers")
        (router.folder / "ssh" / "askpass").write_text(f"#!/bin/sh\necho '{PASSWORD}'\n")
        run = start(
            *("iperf", "--peer", f"admin@{ROUTER}", "--gwnode", gwnode, *SHORT),
            prefix=(*router.on_pc("env"), "SSH_ASKPASS_REQUIRE=force", "SSH_ASKPASS=/root/.ssh/ask"),
            command=(
                "sh",
                "-c",
                'cp /root/.ssh/askpass /root/.ssh/ask; chmod 700 /root/.ssh/ask; exec "$@"',
                "sh",
                *COMMAND,
            ),
        )
        refused(run, "may not use sudo without a password", "root@")
    finally:
        if terminal is not None:
            terminal.close()
        router.close()
