"""A root like OpenWrt's: BusyBox's ash, no Python, UCI and procd in small (fixtures/functions.sh, rc.common), in
a network namespace of its own. Packages are installed the way opkg does it: unpack, list, control scripts."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import tarfile
from pathlib import Path

from gateway.lab.namespaces import NetworkNamespace

FIXTURES = Path(__file__).parent / "fixtures"


def busybox() -> str:
    """The static one; empty when there is none."""
    found = shutil.which("busybox") or ""
    if found:
        said = subprocess.run(["file", "-L", found], capture_output=True, text=True).stdout
        found = found if "statically linked" in said else ""
    return found


class OpenWrtRoot:
    """The directory, its namespace, and commands in it."""

    def __init__(self, root: Path, space: NetworkNamespace) -> None:
        self.root, self._space = root, space
        for folder in ("bin", "etc/config", "etc/init.d", "etc/rc.d", "lib/functions", "proc", "dev", "tmp", "usr/bin"):
            (root / folder).mkdir(parents=True)
        for folder in ("var/run", "var/log", "usr/sbin", "sbin", "usr/lib/opkg/info"):
            (root / folder).mkdir(parents=True)
        shutil.copy(os.path.realpath(busybox()), root / "bin/busybox")
        for applet in subprocess.run([busybox(), "--list"], capture_output=True, text=True).stdout.split():
            if applet != "busybox":
                (root / "bin" / applet).symlink_to("busybox")
        shutil.copy(FIXTURES / "rc.common", root / "etc/rc.common")
        (root / "etc/rc.common").chmod(0o755)
        shutil.copy(FIXTURES / "functions.sh", root / "lib/functions.sh")
        (root / "lib/functions/network.sh").write_text(
            'network_get_ipaddr() { [ "$2" = lan ] && eval "$1=127.0.0.2"; }\n'
        )
        subprocess.run(["mknod", "-m", "666", root / "dev/null", "c", "1", "3"], check=True)

    def run(self, script: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """A line for ash, in the root; /proc is there."""
        command = ["unshare", "-m", "sh", "-c", 'mount -t proc proc "$1/proc" && exec chroot "$1" /bin/sh -c "$2"']
        with self._space.entered():
            done = subprocess.run(
                [*command, "sh", str(self.root), script],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=120,
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
            )
        assert not check or done.returncode == 0, done.stdout
        return done

    def install(self, ipk: Path) -> str:
        """As opkg: data, then the list, then the control scripts; conffiles that are there stay."""
        with tarfile.open(ipk, "r:gz") as package:
            parts = {m.name: package.extractfile(m).read() for m in package.getmembers()}  # type: ignore[union-attr]
        info = self.root / "usr/lib/opkg/info"
        with tarfile.open(fileobj=io.BytesIO(parts["./control.tar.gz"])) as control:
            fields = dict(
                line.split(": ", 1)
                for line in control.extractfile("./control").read().decode().splitlines()  # type: ignore[union-attr]
                if not line.startswith(" ")
            )
            name = fields["Package"]
            for member in control.getmembers():
                if member.isfile():
                    path = info / f"{name}.{member.name.removeprefix('./')}"
                    path.write_bytes(control.extractfile(member).read())  # type: ignore[union-attr]
                    path.chmod(member.mode)
        with tarfile.open(fileobj=io.BytesIO(parts["./data.tar.gz"])) as data:
            kept = [
                line for line in (info / f"{name}.conffiles").read_text().split() if (self.root / line[1:]).exists()
            ]
            members = [m for m in data.getmembers() if m.name.removeprefix(".") not in kept]
            for member in members:
                if member.isfile():  # opkg unpacks beside and renames: a running program is replaced, not overwritten
                    (self.root / member.name.removeprefix("./")).unlink(missing_ok=True)
            data.extractall(self.root, members)
            (info / f"{name}.list").write_text("".join(f"{m.name}\n" for m in data.getmembers() if m.isfile()))
        return self.run(f"/usr/lib/opkg/info/{name}.postinst configure").stdout

    def remove(self, name: str) -> None:
        """As opkg: prerm, then every file of the list."""
        self.run(f"/usr/lib/opkg/info/{name}.prerm remove")
        info = self.root / "usr/lib/opkg/info"
        for line in (info / f"{name}.list").read_text().split():
            (self.root / line.removeprefix("./")).unlink()
        for path in info.glob(f"{name}.*"):
            path.unlink()

    def files(self) -> set[str]:
        """Everything but BusyBox's and what runs."""
        return {
            str(p.relative_to(self.root))
            for p in self.root.rglob("*")
            if not p.is_dir() and p.relative_to(self.root).parts[0] not in ("proc", "bin", "dev")
        }

    def processes(self) -> list[int]:
        """Whose root this is."""
        found = []
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    if os.path.realpath(f"/proc/{entry}/root") == str(self.root.resolve()):
                        found.append(int(entry))
                except OSError:
                    continue
        return found

    def close(self) -> None:
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)
