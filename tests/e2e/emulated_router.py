"""A router of another processor: an armhf system of BusyBox and dropbear, every program of it under qemu-user.

It is a user namespace of its own, because that has a binfmt_misc of its own: ``execve`` of an ARM program runs the
emulator there, and nowhere else on this machine. (Linux 6.7 and later.)
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from gateway.lab.namespaces import NetworkNamespace

from .router import Router

ROOT = Path(__file__).resolve().parents[2]
ARMHF = ROOT / "build" / "armhf-root"
EMULATOR = "/usr/bin/qemu-arm"
_IDS = f"0 0 {(1 << 32) - 1}"
_BINFMT = (
    r":gwbench-arm:M::\x7f\x45\x4c\x46\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x28\x00"
    r":\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"
    f":{EMULATOR}:PF"
)
_CPUINFO = """processor\t: 0
model name\t: ARMv7 Processor rev 5 (v7l)
Features\t: half thumb fastmult vfp edsp neon vfpv3 tls vfpv4 idiva idivt vfpd32 lpae
CPU implementer\t: 0x41
CPU architecture: 7
CPU variant\t: 0x0
CPU part\t: 0xc07
"""


class EmulatedRouter(Router):
    """Close it. Needs user namespaces, which a chroot has none of."""

    enter = ("-n", "-m")
    """This machine's programs look at it: its own would be emulated."""

    def __init__(self) -> None:
        self.holder: subprocess.Popen[bytes] | None = None
        super().__init__("dropbear")

    def _namespace(self) -> NetworkNamespace:
        """The user, network and mount namespaces, held by a shell that waits to become the ssh server."""
        self.root = str(self.folder / "root")
        shutil.copytree(ARMHF, self.root, symlinks=True)
        (self.folder / "cpuinfo").write_text(_CPUINFO)
        self.log = (self.folder / "server.log").open("w+")
        r = self.root
        script = "\n".join(
            (
                "set -e",
                "mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc",
                f"printf '%s' '{_BINFMT}' > /proc/sys/fs/binfmt_misc/register",
                f"mount --rbind /dev {r}/dev; mount --rbind /proc {r}/proc; mount -t sysfs sysfs {r}/sys",
                f"mount --bind {self.folder}/cpuinfo {r}/proc/cpuinfo",
                # The emulator is a program of this machine, with this machine's libraries.
                f"for d in /lib64 /lib/x86_64-linux-gnu /usr/lib/x86_64-linux-gnu; do [ -d $d ] || continue; "
                f"mkdir -p {r}$d; mount --bind $d {r}$d; done",
                f"mount -t tmpfs tmpfs {r}/tmp; chmod 1777 {r}/tmp; mount -t tmpfs tmpfs {r}/run",
                f"mount -t tmpfs tmpfs {r}/var/run",
                # dropbear would start itself again by the path in argv[0], which the emulator cannot: it gets none.
                f"touch {r}{EMULATOR}; mount --bind {EMULATOR} {r}{EMULATOR}",
                f"exec chroot {r} {EMULATOR} -0 dropbear /usr/sbin/dropbear -F -E -s -p 22 "
                "-r /etc/dropbear/host -P /run/dropbear.pid",
            )
        )
        (self.folder / "start.sh").write_text(script + "\n")
        # The first shell has lost its capabilities (its user was not mapped yet); the second has them all.
        wait = f"read line; exec sh {self.folder}/start.sh"
        self.holder = subprocess.Popen(
            ["unshare", "--user", "--net", "--mount", "--propagation", "private", "sh", "-c", wait],
            stdin=subprocess.PIPE,
            stdout=self.log,
            stderr=self.log,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
            cwd="/",
            start_new_session=True,
        )
        self.processes.append(self.holder)
        pid = self.holder.pid
        while os.readlink(f"/proc/{pid}/exe").endswith("unshare"):
            assert self.holder.poll() is None, (self.folder / "server.log").read_text()
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/{pid}/{name}").write_text(_IDS)
        namespace = NetworkNamespace.current("router")
        os.close(namespace.fd)
        namespace._fd = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        return namespace

    def _serve(self, server: str) -> None:
        keys = Path(self.root, "root", ".ssh")
        keys.mkdir(mode=0o700)
        shutil.copy(self.folder / "authorized_keys", keys / "authorized_keys")
        subprocess.run(
            ["dropbearconvert", "openssh", "dropbear", str(self.folder / "host"), f"{self.root}/etc/dropbear/host"],
            check=True,
            capture_output=True,
            timeout=20,
        )
        assert self.holder is not None and self.holder.stdin is not None
        self.server = self.holder
        self.holder.stdin.write(b"go\n")
        self.holder.stdin.close()
        self._await_server()
