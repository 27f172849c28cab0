"""The package of gwnode and its service, on a root of BusyBox without Python (``openwrt_root.py``)."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gateway.lab.namespaces import NetworkNamespace
from tests.e2e.openwrt_root import OpenWrtRoot, busybox

ROOT = Path(__file__).resolve().parents[2]
METRICS = "wget -q -O - http://{}/metrics"

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for chroot and a network namespace"),
    pytest.mark.skipif(not busybox(), reason="needs a static busybox (busybox-static)"),
]


@pytest.fixture(scope="module")
def binary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Static, built the way a firmware's SDK does it: mk/node.mk with somebody else's compiler flags."""
    out = ROOT / "build" / "node-static"
    subprocess.run(
        [
            "make",
            "-s",
            "-j2",
            "-f",
            "mk/node.mk",
            f"O={out}",
            f"CC={os.environ.get('CC', 'gcc')}",
            "CFLAGS=-Os",
            "LDFLAGS=-static -s",
        ],
        cwd=ROOT,
        check=True,
        env={k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")},
    )
    return out / "gwnode"


def make_ipk(binary: Path, out: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts/make_ipk.py"), str(binary), "--target", "x86_64", "--out", str(out)]
    return subprocess.run([*command, *arguments], capture_output=True, text=True)


@pytest.fixture(scope="module")
def ipk(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    done = make_ipk(binary, tmp_path_factory.mktemp("ipk"))
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


@pytest.fixture
def router(tmp_path: Path) -> Iterator[OpenWrtRoot]:
    with NetworkNamespace("router") as space:
        with space.entered():
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        root = OpenWrtRoot(tmp_path / "root", space)
        yield root
        root.close()


def eventually(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.1)


def answers(router: OpenWrtRoot, address: str = "127.0.0.1:10795") -> bool:
    done = router.run(METRICS.format(address), check=False)
    return done.returncode == 0 and 'gwbench_build_info{version="' in done.stdout


def set_option(router: OpenWrtRoot, name: str, value: str) -> None:
    path = router.root / "etc/config/gwbench"
    text, n = re.subn(rf"(option {name}) '.*'", rf"\1 '{value}'", path.read_text())
    assert n == 1
    path.write_text(text)


def test_the_package_is_laid_out_by_opkgs_rules_and_reproducible(binary: Path, ipk: Path, tmp_path: Path) -> None:
    assert re.fullmatch(r"gwbench-node_\d+\.\d+\.\d+-r1_x86_64\.ipk", ipk.name)
    again = make_ipk(binary, tmp_path)
    assert hashlib.sha256(Path(again.stdout.strip()).read_bytes()).digest() == hashlib.sha256(ipk.read_bytes()).digest()
    raw = gzip.decompress(ipk.read_bytes())
    assert raw[257:265] == b"ustar  \0", "opkg reads GNU's and POSIX's tar, without extended headers"
    with tarfile.open(fileobj=io.BytesIO(raw)) as package:
        assert package.getnames() == ["./debian-binary", "./data.tar.gz", "./control.tar.gz"]
        parts = {m.name: package.extractfile(m).read() for m in package.getmembers()}  # type: ignore[union-attr]
    assert parts["./debian-binary"] == b"2.0\n"
    with tarfile.open(fileobj=io.BytesIO(parts["./data.tar.gz"])) as data:
        members = {m.name: m for m in data.getmembers()}
        files = {name: m.mode for name, m in members.items() if m.isfile()}
        installed = sum(m.size for m in members.values())
        assert data.extractfile("./usr/bin/gwnode").read() == binary.read_bytes()  # type: ignore[union-attr]
    assert files == {
        "./etc/config/gwbench": 0o600,
        "./etc/init.d/gwbench": 0o755,
        "./lib/upgrade/keep.d/gwbench": 0o644,
        "./usr/bin/gwnode": 0o755,
    }
    assert {(m.uid, m.gid, m.mtime) for m in members.values()} == {(0, 0, 0)}
    with tarfile.open(fileobj=io.BytesIO(parts["./control.tar.gz"])) as control:
        assert [m.name for m in control.getmembers() if m.isfile()] == [
            "./control",
            "./conffiles",
            "./postinst",
            "./prerm",
        ]
        text = control.extractfile("./control").read().decode()  # type: ignore[union-attr]
        assert control.extractfile("./conffiles").read() == b"/etc/config/gwbench\n"  # type: ignore[union-attr]
        assert all(control.getmember(f"./{name}").mode == 0o755 for name in ("postinst", "prerm"))
    fields = dict(line.split(": ", 1) for line in text.splitlines() if not line.startswith(" "))
    assert fields["Package"] == "gwbench-node" and fields["Architecture"] == "x86_64"
    assert fields["Depends"] == "kmod-tun" and fields["Installed-Size"] == str(installed)
    assert re.fullmatch(r"\d+\.\d+\.\d+-r\d+", fields["Version"])
    assert text.endswith("\n") and "\n\n" not in text
    assert all(line[0] == " " or re.match(r"[A-Z][A-Za-z-]*: \S", line) for line in text.splitlines())


def test_a_binary_of_another_processor_is_refused(binary: Path, tmp_path: Path) -> None:
    done = make_ipk(binary, tmp_path, "--target", "e500v2")
    assert done.returncode == 1 and "no program for e500v2" in done.stderr
    assert make_ipk(tmp_path / "nothing", tmp_path).stderr.count("\n") == 1


def test_the_service_as_its_owner_meets_it(router: OpenWrtRoot, ipk: Path) -> None:
    before = router.files()
    assert router.install(ipk) == ""
    # Installed, enabled, and yet nothing runs: the configuration says enabled '0'.
    assert (router.root / "etc/rc.d/S95gwbench").is_symlink()
    assert router.processes() == [] and not answers(router)
    assert router.run("gwnode --version").stdout.startswith("gwnode ")
    assert "python" not in " ".join(p.name for p in (router.root / "usr/bin").iterdir())
    set_option(router, "enabled", "1")
    assert (router.root / "var/run/gwbench.triggers").read_text().split() == ["gwbench", "network"]
    router.run("/etc/init.d/gwbench reload")
    eventually(lambda: answers(router))
    assert not answers(router, "127.0.0.2:10795"), "listens on the loopback alone"
    # It is started again.
    (pid,) = (int(p.read_text()) for p in (router.root / "var/run/procd/gwbench").glob("*.pid"))
    os.kill(pid, 9)
    eventually(lambda: answers(router))
    # Another port, another network: a reload suffices.
    set_option(router, "port", "9100")
    set_option(router, "listen", "lan")
    router.run("/etc/init.d/gwbench reload")
    eventually(lambda: answers(router, "127.0.0.2:9100"))
    assert not answers(router)
    # An upgrade keeps the configuration.
    router.install(ipk)
    eventually(lambda: answers(router, "127.0.0.2:9100"))
    router.remove("gwbench-node")
    eventually(lambda: router.processes() == [])
    left = router.files() - before
    assert left == {"var/log/messages", "var/run/gwbench.triggers"}, "the stand-ins' own files"


def test_metrics_go_where_prometheus_looks(router: OpenWrtRoot, ipk: Path) -> None:
    router.install(ipk)
    set_option(router, "enabled", "1")
    exporter = router.root / "usr/bin/prometheus-node-exporter-lua"
    exporter.write_text("#!/bin/sh\n")
    exporter.chmod(0o755)
    router.run("/etc/init.d/gwbench reload")
    file = router.root / "var/prometheus/gwbench.prom"
    eventually(file.exists)
    assert 'gwbench_build_info{version="' in file.read_text() and not answers(router)
    set_option(router, "metrics", "both")
    router.run("/etc/init.d/gwbench reload")
    eventually(lambda: answers(router) and file.exists())
    router.run("/etc/init.d/gwbench stop")
    assert not file.exists()
    eventually(lambda: router.processes() == [])  # the stand-in for procd takes a second


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("port", "70000", "port '70000' is no number from 1 to 65535"),
        ("port", "80; reboot", "is no number"),
        ("listen", "nonesuch", "listen 'nonesuch' is no network that is up"),
        ("listen", "$(reboot)", "is no network that is up"),
        ("metrics", "everywhere", "metrics is auto, port, textfile or both, not 'everywhere'"),
    ],
)
def test_a_wrong_option_is_named_and_nothing_starts(
    router: OpenWrtRoot, ipk: Path, option: str, value: str, words: str
) -> None:
    router.install(ipk)
    set_option(router, "enabled", "1")
    set_option(router, option, value)
    said = router.run("/etc/init.d/gwbench start", check=False).stdout
    assert f"gwbench: /etc/config/gwbench: {option}" in said and words in said and said.count("\n") == 1
    assert router.processes() == [] and not (router.root / "var/run/procd/gwbench").exists()


def test_shell_scripts_are_clean() -> None:
    if not shutil.which("shellcheck"):
        pytest.skip("needs shellcheck")
    scripts = [ROOT / "gateway/data/router/gwbench.init", *sorted((ROOT / "config").rglob("*.sh"))]
    assert len(scripts) >= 3
    done = subprocess.run(["shellcheck", "-s", "dash", *map(str, scripts)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
