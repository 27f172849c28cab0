"""Runs inside the virtual machine: the kernel's own data path, its drivers, AF_ALG, IKE, through gwbench's commands.

python -m tests.kernel.xfrm.vm_xfrm RESULTS FULL
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Any

from gateway.lab.namespaces import NetworkNamespace
from gateway.node import kernel_crypto, priorities
from tests.kernel.vm_main import attempt, results
from tests.kernel.xfrm import ike_vm, netlink_live

MODULES = ("tun", "veth", "esp4", "esp6", "xfrm_user", "crypto_user", "af_alg", "algif_skcipher", "algif_aead")
MORE = ("algif_hash", "aes_ti", "cryptd", "aesni_intel", "sha256_ssse3", "ghash_clmulni_intel", "dummy")
ALGORITHM, SLOW = "cbc(aes)", "cbc(aes-generic)"
GWBENCH = [str(Path(sys.executable).parent / "gwbench")]


def gwbench(*words: str, timeout_s: float = 900, space: NetworkNamespace | None = None) -> dict[str, Any]:
    """One command (in a namespace): status, output, and its JSON where it wrote one."""
    with tempfile.TemporaryDirectory() as home:
        result = Path(home) / "result.json"
        environment = {**os.environ, "HOME": home, "XDG_STATE_HOME": home, "GWBENCH_SELECT": "static"}
        with space.entered() if space else contextlib.nullcontext():
            process = subprocess.Popen(
                [*GWBENCH, *words, *(["--json", str(result)] if "--json" not in words else [])],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                env=environment,
            )
        assert process.stdout is not None
        timer = threading.Timer(timeout_s, process.kill)
        timer.start()
        lines = []
        for line in process.stdout:  # onto the console: the host takes silence for a hang
            print(line, end="", flush=True)
            lines.append(line)
        status = process.wait()
        timer.cancel()
        document = json.loads(result.read_text()) if result.exists() else None
    return {"status": status, "output": "".join(lines), "document": document}


def iperf(*words: str) -> dict[str, Any]:
    return gwbench("iperf", "--lab", "-t", "1", "--repeats", "0", "--no-save", *words)


def both_data_paths() -> dict[str, Any]:
    return iperf("--dataplane", "user,kernel", "--rounds", "1", "--suite", "aes128gcm16", "--impl", "accelerated")


def priorities_now() -> dict[str, int]:
    return {one.driver: one.priority for one in kernel_crypto.read() if one.name == ALGORITHM and not one.internal}


def fast() -> str:
    """The other driver of cbc(aes) here: the processor's, or in a kernel without assembly the one without tables."""
    there = {one.driver for one in kernel_crypto.read()}
    return "cbc-aes-aesni" if "cbc-aes-aesni" in there else "cbc(aes-fixed-time)"


def drivers() -> dict[str, Any]:
    """A/B of two drivers of cbc(aes); what /proc/crypto says meanwhile is looked at from outside."""
    for driver in (SLOW, fast()):
        if "(" in driver:
            priorities.instantiate(driver)
    before, seen, done = priorities_now(), [], threading.Event()

    def look() -> None:
        while not done.wait(0.3):
            listing = kernel_crypto.read()
            used = [
                one.driver
                for one in listing
                if one.driver and one.name.startswith("echainiv(authenc") and one.refcnt > 1
            ]
            first = max(
                (one for one in listing if one.name == ALGORITHM and not one.internal), key=lambda o: o.priority
            )
            entry = [first.driver, sorted(used)]
            if not seen or seen[-1] != entry:
                seen.append(entry)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        result = iperf(
            "--dataplane", "kernel", "--driver", f"{fast()},{SLOW}", "--rounds", "2", "--suite", "aes256-sha256"
        )
    finally:
        done.set()
        thread.join()
    names = [fast(), SLOW]
    return {**result, "names": names, "before": before, "after": priorities_now(), "seen": seen}


def interrupted(number: int) -> dict[str, Any]:
    """A run that gets ``number`` while a priority is raised."""
    before = priorities_now()
    words = ["iperf", "--lab", "-t", "4", "--rounds", "3", "--no-save", "--suite", "aes256-sha256"]
    words += ["--dataplane", "kernel", "--driver", f"{SLOW},{fast()}"]
    process = subprocess.Popen([*GWBENCH, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    deadline = time.monotonic() + 300
    while priorities_now() == before and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.2)
    raised = priorities_now()
    process.send_signal(number)
    output, _ = process.communicate(timeout=300)
    left = priorities_now()
    journal = priorities.JOURNAL.exists()
    result = {"status": process.returncode, "output": output[-3000:], "before": before, "raised": raised, "left": left}
    if number == signal.SIGKILL:
        cleanup = gwbench("cleanup", "--json", "-")
        return {**result, "journal": journal, "cleanup": cleanup, "after": priorities_now()}
    return {**result, "journal": journal}


def af_alg_depths() -> dict[str, Any]:
    words = ["--algo", "cbc(aes),gcm(aes),sha256", "--bytes", "64,16384", "--depth", "1,4,16,64"]
    return gwbench("crypto", "--provider", "af_alg", *words)


def run_all(file: IO[str]) -> None:
    attempt(file, "xfrm", "messages", netlink_live.messages)
    attempt(file, "xfrm", "crypto", netlink_live.crypto_list)
    attempt(file, "xfrm", "depth", af_alg_depths)
    attempt(file, "xfrm", "existing", lambda: ike_vm.observed(GWBENCH, gwbench))
    attempt(file, "xfrm", "SIGINT", lambda: interrupted(signal.SIGINT))
    attempt(file, "xfrm", "SIGKILL", lambda: interrupted(signal.SIGKILL))
    attempt(file, "xfrm", "drivers", drivers)
    attempt(file, "xfrm", "both", both_data_paths)


def main() -> None:
    subprocess.run(["modprobe", "-a", *MODULES], check=True)
    for module in MORE:
        subprocess.run(["modprobe", module], check=False)
    with results(sys.argv[1]) as file:
        run_all(file)


if __name__ == "__main__":
    main()
