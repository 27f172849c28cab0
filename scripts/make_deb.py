#!/usr/bin/env python3
"""A Debian package of gwbench from a built checkout: `make deb`.

Everything lies under /opt/gwbench, where config/systemd's units look for it, with the Python packages that it needs in
the versions of constraints.txt: Debian's own are older. /usr/bin/gwbench is a link; units and the user ``gwbench`` come
along, and nothing is started. The compiled extension ties it to this Python's minor version and this processor.
Reproducible: times are SOURCE_DATE_EPOCH's or the last commit's.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOME = "opt/gwbench"
EXTRAS = ("serve", "ndr")
"""Of pyproject.toml: what they need comes along where it is installed here."""

# By the environment, so that the processes which gwbench starts find it, too.
LAUNCHER = """#!/bin/sh
PYTHONPATH=/opt/gwbench/lib${PYTHONPATH:+:$PYTHONPATH} exec /usr/bin/python3 -m gateway.cli "$@"
"""
POSTINST = """#!/bin/sh
set -e
if [ "$1" = configure ]; then
	/usr/bin/python3 -m compileall -q /opt/gwbench/lib || true
	getent passwd gwbench >/dev/null ||
		useradd --system --no-create-home --home-dir /var/lib/gwbench --shell /usr/sbin/nologin --user-group gwbench
	[ -d /var/lib/gwbench ] || install -d -o gwbench -g gwbench -m 755 /var/lib/gwbench
	[ ! -d /run/systemd/system ] || systemctl daemon-reload
fi
"""
PRERM = """#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
	systemctl disable --quiet --now gwbench gwbench-serve || true
fi
find /opt/gwbench -name __pycache__ -type d -prune -exec rm -rf {} +
"""
POSTRM = """#!/bin/sh
set -e
[ ! -d /run/systemd/system ] || systemctl daemon-reload
if [ "$1" = purge ]; then
	rm -rf /var/lib/gwbench
	! getent passwd gwbench >/dev/null || userdel gwbench
fi
"""


def requirements() -> set[str]:
    """Names of every distribution that gwbench needs, and those need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    todo = [(text, True) for text in project["dependencies"]]
    todo += [(text, False) for extra in EXTRAS for text in optional[extra]]
    found: set[str] = set()
    while todo:
        text, needed = todo.pop()
        name = re.sub(r"[-_.]+", "-", re.match(r"[A-Za-z0-9._-]+", text)[0]).lower()  # type: ignore[index]
        if name in found or "extra ==" in text:
            continue
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            if needed and ";" not in text:  # a marker may leave it out
                raise SystemExit(f"{name} is not installed here: make build first") from None
            continue
        found.add(name)
        todo += [(more, needed) for more in distribution.requires or []]
    return found


def copy_distribution(name: str, to: Path) -> None:
    """Its files but programs and bytecode."""
    for file in importlib.metadata.distribution(name).files or []:
        if ".." in file.parts or "__pycache__" in file.parts or file.parts[0] == "bin":
            continue
        target = to / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(str(file.locate()), target)


def stage(root: Path) -> None:
    """The package's files below ``root``."""
    lib = root / HOME / "lib"
    ignore = shutil.ignore_patterns("__pycache__", "_gwdp.c", "*.new")
    for package in ("gateway", "dataplane"):
        shutil.copytree(ROOT / package, lib / package, ignore=ignore)
    if not list((lib / "dataplane").glob("_gwdp*.so")):
        raise SystemExit("the dataplane is not built: make build first")
    for name in sorted(requirements()):
        copy_distribution(name, lib)
    for path, text in ((f"{HOME}/bin/gwbench", LAUNCHER), ("DEBIAN/postinst", POSTINST), ("DEBIAN/prerm", PRERM)):
        write(root / path, text, 0o755)
    write(root / "DEBIAN/postrm", POSTRM, 0o755)
    (root / "usr/bin").mkdir(parents=True)
    (root / "usr/bin/gwbench").symlink_to(f"/{HOME}/bin/gwbench")
    units = root / "lib/systemd/system"
    units.mkdir(parents=True)
    for unit in ("gwbench.service", "gwbench-serve.service"):
        shutil.copyfile(ROOT / "config/systemd" / unit, units / unit)
    documents = root / "usr/share/doc/gwbench"
    shutil.copytree(ROOT / "docs", documents, ignore=shutil.ignore_patterns("*.json"))
    for source, name in (("README.md", "README.md"), ("LICENSE", "copyright"), ("NOTICE", "NOTICE")):
        shutil.copyfile(ROOT / source, documents / name)
    shutil.copytree(ROOT / "config", documents / "examples", ignore=shutil.ignore_patterns("openwrt", "tests"))
    for path in root.rglob("*"):  # whatever this user's umask
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
    (lib / "dataplane/gwbench-xfrm-reader").chmod(0o755)


def write(path: Path, text: str, mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def control(root: Path, version: str, architecture: str) -> str:
    major, minor = sys.version_info[:2]
    size = sum(path.lstat().st_size for path in root.rglob("*") if path.is_file()) >> 10
    return (
        f"Package: gwbench\nVersion: {version}\nArchitecture: {architecture}\nSection: net\nPriority: optional\n"
        f"Maintainer: gwbench\nInstalled-Size: {size}\n"
        f"Depends: python3 (>= {major}.{minor}), python3 (<< {major}.{minor + 1}), libc6, passwd\n"
        "Recommends: iperf3, openssh-client\nSuggests: python3-matplotlib\n"
        "Description: IPsec throughput of routers and small gateways\n"
        " Measures how many Mbit/s of IPsec a router pushes, end to end and by suite and\n"
        " implementation, with an ESP dataplane of its own.\n"
    )


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout.strip()


def epoch() -> str:
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return given
    try:
        return run("git", "log", "-1", "--format=%ct")
    except (OSError, subprocess.CalledProcessError):
        return "0"


def main() -> int:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build"
    if shutil.which("dpkg-deb") is None:
        print("no dpkg-deb: this makes a package for Debian and its relatives, on one of them", file=sys.stderr)
        return 2
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    architecture = run("dpkg", "--print-architecture")
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"gwbench_{version}_{architecture}.deb"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        stage(root)
        write(root / "DEBIAN/control", control(root, version, architecture), 0o644)
        os.environ["SOURCE_DATE_EPOCH"] = epoch()
        run("dpkg-deb", "--root-owner-group", "--build", str(root), str(path))
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
