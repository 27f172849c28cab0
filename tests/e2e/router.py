r"""A router for tests: a machine of its own as far as ssh, addresses, routes and /tmp can tell, on one cable with a PC.

::

    +----------------------+  192.168.77.0/24, fd77:77::/64   +-------------------------+
    | pc                   |                                  | router                  |
    | eth0 192.168.77.2    o---------- veth, MTU 1500 --------o br-lan  192.168.77.1    |
    | known_hosts, key     |                                  | sshd or dropbear        |
    +----------------------+                                  +-------------------------+

Both have mounts of their own: /tmp, /run, the router's /root, the PC's /root/.ssh and /sys are not this machine's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyroute2 import IPRoute

from gateway.lab.namespaces import NetworkNamespace

PC, ROUTER, PREFIX = "192.168.77.2", "192.168.77.1", 24
PC6, ROUTER6 = "fd77:77::2", "fd77:77::1"
SERVERS = ("sshd", "dropbear")
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_NODAD = 2


def _script(*lines: str) -> str:
    return "\n".join(("set -e", "mount -t sysfs sysfs /sys 2>/dev/null || true", *lines))


def _wait(until: Callable[[], bool], words: str, within_s: float = 20.0) -> None:
    deadline = time.monotonic() + within_s
    while not until():
        assert time.monotonic() < deadline, words
        time.sleep(0.05)


def _settled(namespace: NetworkNamespace, name: str) -> bool:
    with namespace.entered():
        text = Path("/proc/thread-self/net/if_inet6").read_text()
        routes = Path("/proc/thread-self/net/ipv6_route").read_text()
    return any(row.startswith("fe80") and row.endswith(name) for row in text.splitlines()) and name in routes


class Router:
    """Two namespaces and an ssh server. Close it."""

    root = ""
    """Its root directory as commands that run inside see it."""
    enter: tuple[str, ...] = ("-n", "-m", "-r", "-w")
    """What of the server's a command inside shares: its root directory, too, or it would leave a chroot."""

    def __init__(self, server: str = "sshd", sshd_config: str = "") -> None:
        """server: of SERVERS. sshd_config: lines that come first, and so decide."""
        self._sshd_config = sshd_config
        self.folder = Path(tempfile.mkdtemp(prefix="gwbench-router-"))
        self.router_tmp = self.folder / "tmp"
        self.router_tmp.mkdir(mode=0o777)
        self.namespaces: list[NetworkNamespace] = []
        self.processes: list[subprocess.Popen[Any]] = []
        try:
            self.pc, self.router = NetworkNamespace("pc"), self._namespace()
            self.namespaces = [self.pc, self.router]
            self._cable()
            self._keys()
            self._serve(server)
        except BaseException:
            self.close()
            raise

    def _namespace(self) -> NetworkNamespace:
        return NetworkNamespace("router")

    def _cable(self) -> None:
        with self.pc.entered(), IPRoute() as ip:
            peer = {"ifname": "br-lan", "net_ns_fd": self.router.fd}
            ip.link("add", ifname="eth0", kind="veth", peer=peer)
        for namespace, name, addresses in (
            (self.pc, "eth0", (PC, PC6)),
            (self.router, "br-lan", (ROUTER, ROUTER6)),
        ):
            namespace.write_sysctl("net/ipv6/conf/default/accept_dad", "0")
            namespace.write_sysctl(f"net/ipv6/conf/{name}/accept_dad", "0")
            with namespace.entered(), IPRoute() as ip:
                index = ip.link_lookup(ifname=name)[0]
                ip.link("set", index=1, state="up")
                ip.addr("add", index=index, address=addresses[0], prefixlen=PREFIX)
                ip.addr("add", index=index, address=addresses[1], prefixlen=64, flags=_NODAD)
                ip.link("set", index=index, state="up")
        # Carriers come up, and with them routes and link-local addresses, some time later.
        for namespace, name in ((self.pc, "eth0"), (self.router, "br-lan")):
            _wait(lambda ns=namespace, n=name: _settled(ns, n), f"{name} does not come up")
        self.router.write_sysctl("net/ipv4/ip_forward", "1")
        self.router.write_sysctl("net/ipv6/conf/all/forwarding", "1")

    def _keys(self) -> None:
        for name in ("host", "user"):
            subprocess.run(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / name)], check=True, timeout=20
            )
        ssh = self.folder / "ssh"
        ssh.mkdir(mode=0o700)
        shutil.copy(self.folder / "user", ssh / "id_ed25519")
        self.trust(self.folder / "host.pub")
        (self.folder / "authorized_keys").write_bytes((self.folder / "user.pub").read_bytes())

    def trust(self, key: Path | None, port: int = 22) -> None:
        """What the PC knows of the router: this key, or nothing."""
        hosts = ",".join(f"[{a}]:{port}" if port != 22 else a for a in (ROUTER, ROUTER6))
        text = f"{hosts} {key.read_text()}" if key else ""
        (self.folder / "ssh" / "known_hosts").write_text(text)

    def _serve(self, server: str) -> None:
        f = self.folder
        lines = [
            f"mount --bind {self.router_tmp} /tmp",
            "mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd",
            # A home without this machine's .bashrc, which may do anything, and slowly.
            "mount -t tmpfs -o mode=700 tmpfs /root && mkdir -m 700 /root/.ssh",
            f"cat {f}/authorized_keys > /root/.ssh/authorized_keys",
        ]
        # The folder lies below the real /tmp: descriptors of what is needed are opened before it is covered.
        if server == "sshd":
            config = (
                "UsePAM no\nPidFile none\nPermitRootLogin prohibit-password\nPasswordAuthentication no\n"
                "MaxStartups 50\n"
            )
            (f / "sshd_config").write_text(self._sshd_config + config)
            start = "exec /usr/sbin/sshd -D -e -f /run/sshd_config -h /run/host"
            lines.insert(2, f"cat {f}/host > /run/host; chmod 600 /run/host; cat {f}/sshd_config > /run/sshd_config")
        else:
            subprocess.run(
                ["dropbearconvert", "openssh", "dropbear", str(f / "host"), str(f / "host.dropbear")],
                check=True,
                capture_output=True,
                timeout=20,
            )
            start = "exec /usr/sbin/dropbear -F -E -s -p 22 -r /run/host -P /run/dropbear.pid"
            lines.insert(2, f"cat {f}/host.dropbear > /run/host; chmod 600 /run/host")
        # /tmp is covered last.
        lines.append(lines.pop(0))
        self.log = (f / "server.log").open("w+")
        with self.router.entered():
            self.server = subprocess.Popen(
                ["unshare", "-m", "sh", "-c", _script(*lines, start)],
                stdin=subprocess.DEVNULL,
                stdout=self.log,
                stderr=self.log,
                env={"PATH": _PATH},
                cwd="/",
                start_new_session=True,
            )
        self.processes.append(self.server)
        self._await_server()

    def _await_server(self) -> None:
        _wait(lambda: self._listens() or self.server.poll() is not None, "the ssh server does not listen")
        assert self.server.poll() is None, (self.folder / "server.log").read_text()

    def _listens(self) -> bool:
        with self.router.entered():
            text = Path("/proc/thread-self/net/tcp").read_text()
        return any(line.split()[1].endswith(":0016") and line.split()[3] == "0A" for line in text.splitlines()[1:])

    # ---- what tests do ----

    def on_pc(self, *command: str) -> tuple[str, ...]:
        """A command line that runs there, for tests' own ``Run``: it enters by this process's descriptors."""
        script = _script(
            "mkdir -p /root/.ssh && mount -t tmpfs -o mode=700 tmpfs /root/.ssh",
            f"cp {self.folder}/ssh/* /root/.ssh/ && chmod 600 /root/.ssh/*",
            'exec "$@"',
        )
        net = f"--net=/proc/{os.getpid()}/fd/{self.pc.fd}"
        return ("nsenter", net, "unshare", "-m", "sh", "-c", script, "sh", *command)

    def inside(self, *command: str, check: bool = True) -> str:
        """Runs a command in the router, beside its ssh server; its output."""
        done = subprocess.run(
            ["nsenter", "-t", str(self.server.pid), *self.enter, "--", *command],
            capture_output=True,
            text=True,
            env={"PATH": _PATH},
            timeout=150,
            check=False,
        )
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def listing(self) -> str:
        """What must be the same before and after."""
        return self.inside(
            "sh",
            "-c",
            "ip -o addr | sed 's/ valid_lft.*//'; ip -o link | sed 's/ mtu.*//'; ip -4 route show table all; "
            "ip -6 route show table all | sed 's/ expires.*//'; ip rule; ip -6 rule; ip xfrm state; ip xfrm policy; "
            f"nft list ruleset; ls -A {self.root}/tmp {self.root}/run {self.root}/var/run/; "
            "for f in net/ipv4/ip_forward net/ipv6/conf/all/forwarding net/ipv4/conf/all/rp_filter "
            "net/ipv4/conf/br-lan/forwarding net/ipv4/conf/br-lan/rp_filter net/ipv4/conf/br-lan/send_redirects; do "
            "echo $f $(cat /proc/sys/$f); done",
        )

    def gwnodes(self) -> list[int]:
        """Processes of gwnode in the router."""
        found = []
        mine = os.stat(f"/proc/{self.server.pid}/ns/net").st_ino
        for entry in Path("/proc").iterdir():
            try:
                inside = entry.name.isdigit() and os.stat(entry / "ns/net").st_ino == mine
                if inside and b"gwnode" in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    def close(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        # Sessions of the server are not its children any more.
        if self.namespaces:
            mine = {os.fstat(n.fd).st_ino for n in self.namespaces}
            for entry in Path("/proc").iterdir():
                try:
                    if entry.name.isdigit() and os.stat(entry / "ns/net").st_ino in mine:
                        os.kill(int(entry.name), 9)
                except OSError:
                    continue
        for namespace in self.namespaces:
            namespace.close()
        shutil.rmtree(self.folder, ignore_errors=True)
