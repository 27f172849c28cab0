"""``gwbench up`` as a service user with CAP_NET_ADMIN alone, its peer a router behind a real ssh server."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.gwnode_build import build

from .conftest import View, environment
from .router import PC, ROUTER, Router

USER, UID = "gwbench-test", 64987
INNER_PC, INNER_ROUTER = "10.9.1.1", "10.9.2.1"
CONFIG = f"""
[gateway]
local = "{PC}"
addresses = ["{INNER_PC}/32"]
[rekey]
seconds = 3600
grace_seconds = 1
[metrics]
listen = ["127.0.0.1:10795"]
[peer.router]
ssh = "root@{ROUTER}"
command = "/tmp/gwnode --stdio"
local = "{ROUTER}"
addresses = ["{INNER_ROUTER}/32"]
[tunnel.lan]
peer = "router"
local = "{INNER_PC}/32"
remote = "{INNER_ROUTER}/32"
"""
AS_SERVICE = f"""
set -e
mount -t tmpfs none /dev/net && mknod -m 666 /dev/net/tun c 10 200 && chmod 755 /dev/net
mount --bind $FOLDER/passwd /etc/passwd
exec setpriv --reuid={UID} --regid={UID} --clear-groups --inh-caps=-all,+net_admin --ambient-caps=-all,+net_admin \\
  --bounding-set=-all,+net_admin -- "$@"
"""


@dataclass
class Service:
    """A gateway on the PC."""

    router: Router
    folder: Path
    process: subprocess.Popen[bytes]
    notify: socket.socket

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()

    def gwbench(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "gateway.cli", *words, "--socket", str(self.folder / "gw.sock")],
            capture_output=True,
            text=True,
            check=False,
            env=environment(),
            cwd="/",
            timeout=60,
        )

    def ping(self) -> bool:
        with self.router.pc.entered():
            command = ["busybox", "ping", "-c", "3", "-W", "2", "-I", INNER_PC, INNER_ROUTER]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
        return " 0% packet loss" in done.stdout

    def wait(self, what: str, ready: Callable[[], bool], within_s: float = 60) -> None:
        deadline = time.monotonic() + within_s
        while not ready():
            assert self.process.poll() is None, self.log
            assert time.monotonic() < deadline, f"no {what}: {self.log}"
            time.sleep(0.1)

    def state(self) -> str:
        done = self.gwbench("status", "--json")
        return json.loads(done.stdout)["tunnels"][0]["state"] if done.stdout else ""


@pytest.fixture(scope="module")
def service(view: View) -> Iterator[Service]:
    for program in ("busybox", "ssh", "ssh-keygen"):
        if shutil.which(program) is None:
            pytest.skip(f"no {program}")
    router = Router()
    folder = router.folder / "service"
    process = None
    try:
        shutil.copy(build(), router.router_tmp / "gwnode")
        home = folder / "home"
        shutil.copytree(router.folder / "ssh", home / ".ssh")
        for path in (router.folder, folder):
            path.chmod(0o755)
        for path in (home, home / ".ssh", *(home / ".ssh").iterdir()):
            os.chown(path, UID, UID)
            path.chmod(0o700 if path.is_dir() else 0o600)
        accounts = Path("/etc/passwd").read_text() + f"{USER}:x:{UID}:{UID}::{home}:/bin/sh\n"
        (folder / "passwd").write_text(accounts)
        (folder / "gateway.toml").write_text(CONFIG)
        run = folder / "run"
        run.mkdir()
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notify.bind(str(run / "notify"))
        for path in (run, run / "notify"):
            os.chown(path, UID, UID)
        with (folder / "log").open("w") as log, router.pc.entered():
            process = subprocess.Popen(
                [
                    *(*view.prefix, "sh", "-c", AS_SERVICE, "sh"),
                    *(view.python, "-m", "gateway.cli", "up"),
                    *(str(folder / "gateway.toml"), "--socket", str(run / "gw.sock")),
                ],
                env=environment(FOLDER=str(folder), HOME=str(home), NOTIFY_SOCKET=str(run / "notify")),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,
            )
        one = Service(router, folder, process, notify)
        (folder / "gw.sock").symlink_to(run / "gw.sock")
        one.wait("control socket", (run / "gw.sock").exists)
        one.wait("tunnel", lambda: one.state() == "up")
        yield one
    finally:
        if process is not None and process.poll() is None:
            process.terminate()
            process.wait(30)
        router.close()


def test_the_tunnel_carries_packets(service: Service) -> None:
    assert service.ping(), service.log
    service.notify.settimeout(5)
    assert b"READY=1" in service.notify.recv(4096)


def test_it_is_a_service_user_with_one_capability(service: Service) -> None:
    children = subprocess.run(
        ["pgrep", "-s", str(service.process.pid)], capture_output=True, text=True, check=False
    ).stdout.split()
    workers = [
        entry.name
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and _uid(entry) == UID and b"gateway.node.worker" in (entry / "cmdline").read_bytes()
    ]
    assert str(service.process.pid) in children and len(workers) == 1
    for pid in (str(service.process.pid), *workers):
        text = Path(f"/proc/{pid}/status").read_text()
        fields = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
        assert fields["Uid"].split() == [str(UID)] * 4
        assert {int(fields[name], 16) for name in ("CapEff", "CapPrm", "CapAmb", "CapBnd")} == {1 << 12}
        assert fields["NoNewPrivs"] == "1"
        core = next(line for line in Path(f"/proc/{pid}/limits").read_text().splitlines() if "core file" in line)
        assert core.split()[4:6] == ["0", "0"]
        # Not even another process of the same user may look into it.
        look = ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "cat", f"/proc/{pid}/environ"]
        assert subprocess.run(look, capture_output=True, check=False).returncode != 0


def _uid(entry: Path) -> int:
    try:
        return entry.stat().st_uid if (entry / "cmdline").read_bytes() else -1
    except OSError:
        return -1


def test_no_key_in_arguments_logs_status_or_metrics(service: Service) -> None:
    with service.router.pc.entered():
        metrics = subprocess.run(
            ["busybox", "wget", "-q", "-O", "-", "http://127.0.0.1:10795/metrics"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    assert "gwbench_tunnel_up" in metrics
    seen = [metrics, service.log, service.gwbench("status", "--json").stdout, service.gwbench("sa", "list").stdout]
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_text()
            except (OSError, UnicodeDecodeError):
                continue
            if "gwnode" in line or "gateway." in line:
                seen.append(line)
    for text in seen:
        assert not [word for word in re.findall(r"(?<![\w/-])[0-9a-f]{32,}", text) if not word.isdigit()]


def test_sas_by_hand(service: Service) -> None:
    def spis() -> set[str]:
        return {
            sa["spi"] for sa in json.loads(service.gwbench("sa", "list", "--json").stdout)["sas"] if not sa["going"]
        }

    before = spis()
    assert len(before) == 2
    done = service.gwbench("sa", "rekey", "lan")
    assert (done.returncode, done.stdout) == (0, "1 pair rekeyed\n")
    assert len(spis()) == 2 and not spis() & before
    assert service.ping()
    assert service.gwbench("sa", "del", "lan").returncode == 0
    assert spis() == set() and service.state() == "stopped" and not service.ping()
    assert service.gwbench("sa", "rekey", "all").returncode == 0
    assert service.state() == "up" and service.ping()
    done = service.gwbench("sa", "rekey", "lam")
    assert done.returncode == 2 and "no tunnel is called 'lam' (there are: lan)" in done.stderr


def test_reload_by_signal_and_by_command(service: Service) -> None:
    path = service.folder / "gateway.toml"
    path.write_text(CONFIG.replace("seconds = 3600", "seconds = 1800", 1))
    os.kill(service.process.pid, signal.SIGHUP)
    service.wait("reload", lambda: "reload: rekey limits: changed" in service.log)
    done = service.gwbench("up", str(path), "--reload")
    assert (done.returncode, done.stdout) == (0, "nothing changed\n")
    path.write_text("[gateway]\n")
    done = service.gwbench("up", str(path), "--reload")
    assert done.returncode == 2 and "lacks local" in done.stderr
    path.write_text(CONFIG)
    assert service.state() == "up" and service.ping()


def test_a_peer_that_dies_comes_back(service: Service) -> None:
    (gwnode,) = service.router.gwnodes()
    os.kill(gwnode, signal.SIGKILL)
    service.wait(
        "loss", lambda: service.state() == "down" or "peer router:" in service.log.split("all tunnels are up")[-1]
    )
    service.wait("return", lambda: service.state() == "up" and service.router.gwnodes() != [gwnode])
    assert service.ping()


def test_a_second_gateway_of_that_name_is_refused(service: Service) -> None:
    done = service.gwbench("up", str(service.folder / "gateway.toml"))
    assert done.returncode == 2 and "runs already" in done.stderr


def test_down_leaves_nothing(service: Service) -> None:
    done = service.gwbench("down")
    assert done.returncode == 0, done.stderr
    assert service.process.wait(10) == 0
    assert service.router.gwnodes() == []
    with service.router.pc.entered():
        assert _tuns() == []
    assert "esp0" not in service.router.inside("ip", "-o", "link")
    done = service.gwbench("status")
    assert done.returncode == 2 and "no gateway runs here" in done.stderr


def _tuns() -> list[str]:
    lines = Path("/proc/thread-self/net/dev").read_text().splitlines()
    return [line.split(":")[0].strip() for line in lines if line.strip().startswith(("esp", "tun"))]
