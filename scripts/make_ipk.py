#!/usr/bin/env python3
"""An installable .ipk of gwnode from its static binary, without OpenWrt's SDK.

    scripts/make_ipk.py build/cross/e500v2/gwnode --target e500v2 [--arch powerpc_8548] [--out DIR]

An .ipk is a gzipped tar of ``debian-binary``, ``data.tar.gz`` and ``control.tar.gz`` (opkg; OpenWrt up to 24.10; 25.12
has apk: use the feed in config/openwrt). Reproducible: no times, no users, sorted names.
"""

from __future__ import annotations

import argparse
import gzip
import io
import re
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = ROOT / "gateway" / "data" / "router"
NAME = "gwbench-node"
RELEASE = 1
ARCHITECTURES = {
    "x86_64": "x86_64",
    "armv7": "arm_cortex-a7_neon-vfpv4",
    "aarch64": "aarch64_cortex-a53",
    "e500v2": "powerpc_8548",
    "ppc": "powerpc_464fp",
    "mips": "mips_24kc",
    "mipsel": "mipsel_24kc",
}
"""OpenWrt's names of the commonest boards; `opkg print-architecture` on the router says which it takes."""
E_MACHINE = {"x86_64": 62, "armv7": 40, "aarch64": 183, "e500v2": 20, "ppc": 20, "mips": 8, "mipsel": 8}

DESCRIPTION = (
    "IPsec (ESP) throughput: data path, benches, metrics",
    "gwnode measures how fast this router seals and opens ESP packets, carries the",
    "router's end of a test that gwbench drives over ssh, and tells Prometheus.",
)

# What OpenWrt's own packages do: enable and start the service, unless an image is being built.
POSTINST = """#!/bin/sh
[ "${IPKG_NO_SCRIPT}" = "1" ] && exit 0
[ -s ${IPKG_INSTROOT}/lib/functions.sh ] || exit 0
. ${IPKG_INSTROOT}/lib/functions.sh
default_postinst $0 $@
"""
PRERM = """#!/bin/sh
[ -s ${IPKG_INSTROOT}/lib/functions.sh ] || exit 0
. ${IPKG_INSTROOT}/lib/functions.sh
default_prerm $0 $@
"""


def version() -> str:
    match = re.search(r'^version = "([^"]+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    if not match:
        raise SystemExit("pyproject.toml has no version")
    return match[1]


def archive(members: dict[str, tuple[bytes, int]], folders: bool = True) -> bytes:
    """A .tar.gz of name -> (content, mode), the same bytes every time. ``folders``: with their directories."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.GNU_FORMAT) as tar:
        made: set[str] = set()
        for name, (content, mode) in members.items():
            parts = name.split("/")[:-1]
            for depth in range(1, len(parts) + 1) if folders else ():
                folder = "/".join(parts[:depth])
                if folder not in made:
                    made.add(folder)
                    info = tarfile.TarInfo(folder)
                    info.type, info.mode = tarfile.DIRTYPE, 0o755
                    tar.addfile(info)
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), mode
            tar.addfile(info, io.BytesIO(content))
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0, filename="") as file:
        file.write(raw.getvalue())
    return packed.getvalue()


def data_files(binary: bytes) -> dict[str, tuple[bytes, int]]:
    """What is installed, by path below ``./``."""
    return {
        "./etc/config/gwbench": ((FILES / "gwbench.config").read_bytes(), 0o600),
        "./etc/init.d/gwbench": ((FILES / "gwbench.init").read_bytes(), 0o755),
        "./lib/upgrade/keep.d/gwbench": ((FILES / "gwbench.keep").read_bytes(), 0o644),
        "./usr/bin/gwnode": (binary, 0o755),
    }


def control(arch: str, installed_bytes: int) -> str:
    """The control file: opkg reads fields up to the first empty line, continuation lines begin with a space."""
    fields = {
        "Package": NAME,
        "Version": f"{version()}-r{RELEASE}",
        "Depends": "kmod-tun",
        "License": "MIT",
        "Section": "net",
        "Architecture": arch,
        "Installed-Size": str(installed_bytes),
        "Description": "\n ".join(DESCRIPTION),
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items())


def check_elf(binary: bytes, target: str) -> None:
    """A binary of another processor would be installed and not run."""
    order = "big" if binary[5:6] == b"\2" else "little"
    if binary[:4] != b"\x7fELF" or int.from_bytes(binary[18:20], order) != E_MACHINE[target]:
        raise SystemExit(f"the binary is no program for {target}; make cross-{target} builds one")


def make(binary: bytes, arch: str) -> bytes:
    """The package."""
    files = data_files(binary)
    members = {
        "./debian-binary": (b"2.0\n", 0o644),
        "./data.tar.gz": (archive(files), 0o644),
        "./control.tar.gz": (
            archive(
                {
                    "./control": (control(arch, sum(len(c) for c, _ in files.values())).encode(), 0o644),
                    "./conffiles": (b"/etc/config/gwbench\n", 0o644),
                    "./postinst": (POSTINST.encode(), 0o755),
                    "./prerm": (PRERM.encode(), 0o755),
                }
            ),
            0o644,
        ),
    }
    return archive(members, folders=False)


def main() -> int:
    parser = argparse.ArgumentParser(description="An .ipk of gwnode from its static binary, without the SDK.")
    parser.add_argument("binary", type=Path)
    parser.add_argument("--target", required=True, choices=sorted(ARCHITECTURES))
    parser.add_argument("--arch", help="OpenWrt's architecture; default: the commonest of the target")
    parser.add_argument("--out", type=Path, default=ROOT / "build")
    args = parser.parse_args()
    arch = args.arch or ARCHITECTURES[args.target]
    if not re.fullmatch(r"[a-z0-9_+.-]+", arch):
        raise SystemExit(f"'{arch}' is no architecture of OpenWrt")
    try:
        binary = args.binary.read_bytes()
    except OSError as error:
        raise SystemExit(f"{args.binary}: {error.strerror}; make cross-{args.target} builds it") from None
    check_elf(binary, args.target)
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / f"{NAME}_{version()}-r{RELEASE}_{arch}.ipk"
    path.write_bytes(make(binary, arch))
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
