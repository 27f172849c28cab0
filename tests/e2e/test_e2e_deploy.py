"""``gwbench deploy``: a lasting service on a router that has BusyBox, dropbear, procd's and UCI's shape, and no Python.

The cable and the PC are ``router.py``'s; behind the ssh server stands ``openwrt_root.py``'s root.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import test_e2e_openwrt
from tests.e2e.openwrt_root import OpenWrtRoot, busybox
from tests.e2e.router import ROUTER, Router

binary = test_e2e_openwrt.binary  # the fixture
REPOSITORY = Path(__file__).resolve().parents[2]

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for chroot and network namespaces"),
    pytest.mark.skipif(not busybox(), reason="needs a static busybox (busybox-static)"),
    pytest.mark.skipif(
        not shutil.which("dropbear") and not Path("/usr/sbin/dropbear").exists(), reason="needs dropbear"
    ),
]


class OpenWrt(Router):
    """The router's root is a directory of its own, and dropbear runs in it."""

    root: OpenWrtRoot

    def _serve(self, server: str) -> None:
        assert server == "dropbear"
        self.root = OpenWrtRoot(self.folder / "root", self.router)
        root = self.root.root
        program = shutil.which("dropbear") or "/usr/sbin/dropbear"
        for file in [program, *re.findall(r"(/\S+) \(0x", subprocess.check_output(["ldd", program], text=True))]:
            to = root / file.lstrip("/")
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, to)
        for folder in ("root/.ssh", "run"):
            (root / folder).mkdir(parents=True, mode=0o700)
        (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
        (root / "etc/group").write_text("root:x:0:\n")
        (root / "etc/openwrt_release").write_text("DISTRIB_ID='OpenWrt'\nDISTRIB_DESCRIPTION='OpenWrt 24.10-test'\n")
        shutil.copy(self.folder / "authorized_keys", root / "root/.ssh/authorized_keys")
        (root / "root/.ssh/authorized_keys").chmod(0o600)
        for name, minor in (("urandom", "9"), ("random", "8"), ("zero", "5")):
            subprocess.run(["mknod", "-m", "666", root / "dev" / name, "c", "1", minor], check=True)
        keys = ["dropbearconvert", "openssh", "dropbear", str(self.folder / "host"), str(root / "etc/host")]
        subprocess.run(keys, check=True, capture_output=True, timeout=20)
        self.log = (self.folder / "server.log").open("w+")
        script = (
            f"mount -t proc proc {root}/proc && exec chroot {root} {program} -F -E -s -p 22 -r /etc/host -P /run/d.pid"
        )
        with self.router.entered():
            self.server = subprocess.Popen(
                ["unshare", "-m", "sh", "-c", script],
                stdin=subprocess.DEVNULL,
                stdout=self.log,
                stderr=self.log,
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
                cwd="/",
                start_new_session=True,
            )
        self.processes.append(self.server)
        end = time.monotonic() + 20
        while not self._listens():
            assert self.server.poll() is None, (self.folder / "server.log").read_text()
            assert time.monotonic() < end, "dropbear does not listen"
            time.sleep(0.05)

    def deploy(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "gateway.cli", "deploy", f"root@{ROUTER}", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        return subprocess.run(
            self.on_pc(*command), capture_output=True, text=True, timeout=300, env=environment, cwd=REPOSITORY
        )


@pytest.fixture
def router() -> Iterator[OpenWrt]:
    router = OpenWrt("dropbear")
    yield router
    router.close()


def answers(router: OpenWrt, address: str = "127.0.0.1:10795") -> bool:
    return "gwbench_build_info{" in router.root.run(f"wget -q -O - http://{address}/metrics", check=False).stdout


def ok(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


STAND_INS = {"var/log/messages", "var/run/gwbench.triggers"}


def test_deployed_upgraded_in_place_and_removed_without_a_trace(router: OpenWrt, binary: Path, tmp_path: Path) -> None:
    before = router.root.files()
    said = ok(router.deploy("--dry-run", "--gwnode", str(binary)))
    assert "would write /usr/bin/gwnode" in said and router.root.files() == before
    said = ok(router.deploy("--gwnode", str(binary), "--json", str(tmp_path / "d.json")))
    assert "OpenWrt 24.10-test" in said and "metrics at http://127.0.0.1:10795/metrics" in said
    document: dict[str, Any] = json.loads((tmp_path / "d.json").read_text())
    assert document["schema"] == "gwbench-deploy/1" and document["service"] == "procd"
    made = {f"/{path}" for path in router.root.files() - before - STAND_INS if not path.startswith("var/run/procd")}
    assert made == {*document["files"], "/etc/rc.d/S95gwbench"}
    assert answers(router)
    # Again: the binary is replaced while it runs, the owner's configuration stays.
    config = router.root.root / "etc/config/gwbench"
    config.write_text(config.read_text().replace("10795", "9100") + "# the owner's word\n")
    newer = tmp_path / "gwnode"
    newer.write_bytes(binary.read_bytes() + b"\0" * 16)
    said = ok(router.deploy("--gwnode", str(newer)))
    assert "/etc/config/gwbench: kept as it is" in said and "127.0.0.1:9100" in said
    assert (router.root.root / "usr/bin/gwnode").read_bytes() == newer.read_bytes()
    assert answers(router, "127.0.0.1:9100") and not answers(router)
    said = ok(router.deploy("--remove"))
    assert "/usr/bin/gwnode: removed" in said
    assert {path for path in router.root.files() - before if not path.startswith("var/run/procd")} == STAND_INS
    assert not answers(router, "127.0.0.1:9100")
    assert "nothing was installed" in ok(router.deploy("--remove"))


def test_what_stands_in_the_way_is_said_and_nothing_is_changed(router: OpenWrt, binary: Path, tmp_path: Path) -> None:
    listing = router.root.root / "usr/lib/opkg/info/gwbench-node.list"
    listing.write_text("")
    before = router.root.files()
    done = router.deploy("--gwnode", str(binary))
    assert done.returncode == 2 and "has the package gwbench-node" in done.stderr and done.stderr.count("\n") == 1
    done = router.deploy("--gwnode", str(tmp_path / "nothing"))
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    done = router.deploy("--listen", "lan; reboot")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert router.root.files() == before
