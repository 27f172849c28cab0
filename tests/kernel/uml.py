"""Debian's kernel as a process of this system (User Mode Linux): the same ESP as the stock kernel's, no emulation.

It boots in a second and runs at this processor's speed, but it is another build: no modules in assembly, one CPU. So it
is where the full product runs and where a fault is looked for; the stock kernel under qemu has the last word.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MEMORY_BYTES = 1 << 30
HIDDEN = "AVX512F,AVX512BW,AVX512VL,AVX512CD,AVX512DQ"
"""User Mode Linux does not keep AVX-512 registers when it changes from process to process: libc must not use them."""
HIDDEN_FROM_OPENSSL = ":~0xd0230000"
"""The same for libcrypto, which looks for itself: those bits of CPUID's leaf 7, EBX (OPENSSL_ia32cap(3))."""
# The root is this system's, read-only. The kernel's own modprobe looks in /lib/modules, which is not this kernel's.
INIT = """#!/bin/sh
export TMPDIR=/run PATH={bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs run /run
mount -t hostfs -o {out} none {out}
echo {bin}/modprobe >/proc/sys/kernel/modprobe
cd {root} && {command}
echo "ended with status $?"
busybox poweroff -f
"""
MODPROBE = """#!/bin/sh
export GLIBC_TUNABLES={tunables}
exec {modprobe} -d {tree} "$@"
"""


def fetch(build: Path) -> Path:
    """The package, unpacked, with its modules where modprobe looks; RuntimeError with the script's line."""
    unpacked = build / "uml"
    done = subprocess.run(
        [ROOT / "scripts" / "fetch_deb.sh", "user-mode-linux", unpacked], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or "scripts/fetch_deb.sh failed")
    lib = unpacked / "lib"
    if not lib.exists():
        lib.symlink_to("usr/lib/uml")
    return unpacked


def executable(name: str) -> str:
    """A tool of the administrator's, wherever it is."""
    for directory in (*os.environ.get("PATH", "").split(":"), "/usr/sbin", "/sbin"):
        if os.access(f"{directory}/{name}", os.X_OK):
            return f"{directory}/{name}"
    raise RuntimeError(f"no {name} here")


def command(build: Path, results: Path, module: str, *arguments: str) -> list[str]:
    """The call of the kernel, with everything that it needs written into the build directory."""
    tree = fetch(build)
    release = next((tree / "usr/lib/uml/modules").iterdir()).name
    subprocess.run([executable("depmod"), "-b", str(tree), release], check=True)
    tunables = f"glibc.cpu.hwcaps={','.join('-' + name for name in HIDDEN.split(','))}"
    disabled = ",".join(filter(None, ["avx512", os.environ.get("GWBENCH_CPU_DISABLE", "")]))
    inside = ["env", f"PYTHONPATH={ROOT}", "PYTHONDONTWRITEBYTECODE=1", f"GLIBC_TUNABLES={tunables}"]
    inside += [f"GWBENCH_CPU_DISABLE={disabled}", f"OPENSSL_ia32cap={HIDDEN_FROM_OPENSSL}"]
    inside += [f"{k}={v}" for k, v in os.environ.items() if k.startswith("GWBENCH_KERNEL_")]
    inside += [sys.executable, "-m", module, str(results), *arguments]
    bin_, init = build / "uml-bin", build / "uml-init"
    bin_.mkdir(parents=True, exist_ok=True)
    write(bin_ / "modprobe", MODPROBE.format(tunables=tunables, modprobe=executable("modprobe"), tree=tree))
    write(init, INIT.format(bin=bin_, out=results.parent, root=ROOT, command=shlex.join(inside)))
    words = ["unshare", "--pid", "--fork", "--kill-child"]  # with the kernel end its processes
    if shutil.disk_usage("/dev/shm").free < 2 * MEMORY_BYTES:  # where it keeps its memory; in a container often small
        words += ["env", f"TMPDIR={build}"]
    words += [
        str(tree / "usr/bin/linux.uml"),
        f"mem={MEMORY_BYTES}",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
        f"init={init}",
    ]
    return [*words, "con=null", "con0=fd:0,fd:1", "cryptomgr.notests=1", f"GLIBC_TUNABLES={tunables}"]


def write(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)
