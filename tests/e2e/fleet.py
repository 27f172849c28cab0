r"""A fleet for tests: two gateways with sshd, and the machine that Ansible and Prometheus run on.

::

    control 192.168.78.1 --- br0 --+-- one 192.168.78.11   sshd, /etc, /root/.ssh and /tmp of its own
                                   +-- two 192.168.78.12   likewise
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pyroute2 import IPRoute

from gateway.lab.namespaces import NetworkNamespace

from .conftest import ROOT

CONTROL, PREFIX = "192.168.78.1", 24
ADDRESSES = {"one": "192.168.78.11", "two": "192.168.78.12"}
ANSIBLE = ROOT / "config" / "ansible"
SSHD = (
    "UsePAM no\nPidFile none\nPermitRootLogin prohibit-password\nPasswordAuthentication no\nMaxStartups 50\n"
    "Subsystem sftp internal-sftp\n"
)
# The folder lies below the real /tmp, which is covered last.
SERVE = """
set -e
cp -a /etc $FOLDER/etc
# What this machine's root has in its shell's files is not the gateway's.
sed -i 's#^\\(root:.*:\\)[^:]*$#\\1/bin/sh#' $FOLDER/etc/passwd
mount --bind $FOLDER/etc /etc
mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd
mkdir -p /root/.ssh && mount -t tmpfs -o mode=700 tmpfs /root/.ssh
cp $FOLDER/../ssh/* /root/.ssh/ && chmod 600 /root/.ssh/*
cp $FOLDER/../host $FOLDER/../sshd_config /run/ && chmod 600 /run/host
exec /usr/sbin/sshd -D -e -f /run/sshd_config -h /run/host
"""


@dataclass
class Host:
    """A gateway."""

    name: str
    address: str
    namespace: NetworkNamespace
    folder: Path
    """etc: its /etc; prefix, state: where the role puts things."""
    server: subprocess.Popen[Any]

    def inside(self, *command: str, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
        """A command there, by root."""
        return subprocess.run(self.entering(*command), capture_output=True, text=True, check=False, timeout=timeout_s)

    def entering(self, *command: str) -> list[str]:
        """Its command line. It shares the root directory, too, or it would leave a chroot."""
        return ["nsenter", "-t", str(self.server.pid), "-n", "-m", "-r", "-w", "--", *command]


class Fleet:
    """Close it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gwbench-fleet-"))
        self.folder.chmod(0o755)
        self.processes: list[subprocess.Popen[Any]] = []
        self.namespaces: list[NetworkNamespace] = []
        self.hosts: dict[str, Host] = {}
        try:
            self._keys()
            self.control = self._namespace("control")
            with self.control.entered(), IPRoute() as ip:
                ip.link("add", ifname="br0", kind="bridge")
                self._up(ip, "br0", CONTROL)
            for name, address in ADDRESSES.items():
                self.hosts[name] = self._host(name, address)
            for host in self.hosts.values():
                self._wait(lambda host=host: self._listens(host), f"{host.name}'s sshd does not listen")  # type: ignore[misc]
        except BaseException:
            self.close()
            raise

    def _namespace(self, name: str) -> NetworkNamespace:
        self.namespaces.append(NetworkNamespace(name))
        return self.namespaces[-1]

    @staticmethod
    def _up(ip: IPRoute, name: str, address: str) -> None:
        index = ip.link_lookup(ifname=name)[0]
        ip.link("set", index=1, state="up")
        if address:
            ip.addr("add", index=index, address=address, prefixlen=PREFIX)
        ip.link("set", index=index, state="up")

    def _keys(self) -> None:
        for name in ("host", "user"):
            command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / name)]
            subprocess.run(command, check=True, timeout=20)
        ssh = self.folder / "ssh"
        ssh.mkdir(mode=0o700)
        shutil.copy(self.folder / "user", ssh / "id_ed25519")
        shutil.copy(self.folder / "user.pub", ssh / "authorized_keys")
        key = (self.folder / "host.pub").read_text()
        (ssh / "known_hosts").write_text("".join(f"{address} {key}" for address in ADDRESSES.values()))
        (self.folder / "sshd_config").write_text(SSHD)

    def _host(self, name: str, address: str) -> Host:
        namespace, folder = self._namespace(name), self.folder / name
        folder.mkdir()
        with self.control.entered(), IPRoute() as ip:
            peer = {"ifname": "eth0", "net_ns_fd": namespace.fd}
            ip.link("add", ifname=f"to-{name}", kind="veth", peer=peer)
            bridge = ip.link_lookup(ifname="br0")[0]
            ip.link("set", index=ip.link_lookup(ifname=f"to-{name}")[0], master=bridge, state="up")
        with namespace.entered(), IPRoute() as ip:
            self._up(ip, "eth0", address)
        with (folder / "sshd.log").open("w") as log, namespace.entered():
            server = subprocess.Popen(
                ["unshare", "-m", "sh", "-c", SERVE],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "FOLDER": str(folder)},
                cwd="/",
                start_new_session=True,
            )
        self.processes.append(server)
        return Host(name, address, namespace, folder, server)

    def _listens(self, host: Host) -> bool:
        assert host.server.poll() is None, (host.folder / "sshd.log").read_text()
        with host.namespace.entered():
            lines = Path("/proc/thread-self/net/tcp").read_text().splitlines()[1:]
        return any(line.split()[1].endswith(":0016") and line.split()[3] == "0A" for line in lines)

    @staticmethod
    def _wait(until: Callable[[], bool], words: str, within_s: float = 30.0) -> None:
        deadline = time.monotonic() + within_s
        while not until():
            assert time.monotonic() < deadline, words
            time.sleep(0.05)

    # ---- what tests do ----

    def inventory(self, **more: dict[str, Any]) -> Path:
        """Of both gateways, and Prometheus at the control machine; ``more``: variables by host."""
        ssh = self.folder / "ssh"
        hosts = {
            name: {
                "ansible_host": host.address,
                "ansible_remote_tmp": f"{host.folder}/ansible",
                "gwbench_prefix": f"{host.folder}/prefix",
                "gwbench_state": f"{host.folder}/state",
                **more.get(name, {}),
            }
            for name, host in self.hosts.items()
        }
        common = {
            "ansible_user": "root",
            "ansible_python_interpreter": sys.executable,
            "ansible_ssh_private_key_file": str(ssh / "id_ed25519"),
            "ansible_ssh_common_args": f"-F none -o UserKnownHostsFile={ssh / 'known_hosts'}",
            "gwbench_listen": "0.0.0.0:10795",
        }
        here = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
        path = self.folder / "hosts.yml"
        content = {"gateways": {"hosts": hosts, "vars": common}, "prometheus": {"hosts": {"localhost": here}}}
        path.write_text(yaml.safe_dump(content))
        return path

    def play(self, name: str, *words: str) -> subprocess.CompletedProcess[str]:
        """A playbook from the control machine."""
        program = shutil.which("ansible-playbook", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        assert program is not None, "no ansible-playbook: make dev"
        env = {
            **os.environ,
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_LOCALHOST_WARNING": "0",
            "ANSIBLE_LOCAL_TEMP": str(self.folder / "ansible-local"),
            "ANSIBLE_SSH_CONTROL_PATH_DIR": str(self.folder / "cp"),
            "LC_ALL": "C.UTF-8",
        }
        return self.run([program, name, "-i", str(self.folder / "hosts.yml"), *words], cwd=ANSIBLE, env=env)

    def run(self, command: Sequence[str], **more: Any) -> subprocess.CompletedProcess[str]:
        """A command of the control machine."""
        with self.control.entered():
            return subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                timeout=900,
                **more,
            )

    def close(self) -> None:
        """Every process in the namespaces ends."""
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
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
