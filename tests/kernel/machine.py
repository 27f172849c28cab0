"""Boots a stock Debian kernel under virtme-ng, without KVM, and runs every case in one boot (the full product: in a
boot for every part of it).

The machine sees this system's files read-only and writes into one directory of the build. Whatever happens in it -
a panic, a hang, no boot at all - ends in a ``Boot`` with the console's last lines, and the tests fail with them.
"""

from __future__ import annotations

import contextlib
import json
import os
import pty
import shlex
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.kernel import cells, uml

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "kernel"
LONGEST_S = 2 * 3600
"""One boot. A quiet machine needs minutes."""
TAIL_LINES = 60
MOST_BOOTS = int(os.environ.get("BOOTS") or 3)
"""A machine that dies - a busy host does that to clocks - is booted again and goes on behind the last case that it
recorded. The table says how many boots it took."""
UML = os.environ.get("MACHINE", "") == "uml"
"""See uml.py."""
KIND = "uml" if UML else "qemu"
STALLED_S = 240 if UML else 900
"""Nothing on the console and no result for so long: the machine hangs. A boot takes 2 s, emulated 30 s, where nothing
else runs."""
APPEND = "cryptomgr.notests=1 no_timer_check nowatchdog rcupdate.rcu_cpu_stall_suppress=1"
"""For the kernel: no known answers of its own ciphers, which take a minute here, and no conclusion from a clock that
stands still because the host is busy."""


PANICS = (b"Kernel panic - not syncing", b"failed to wait for SIGTRAP")
SAME_PLACE = 2
"""So many boots that die where the one before died are no accident."""


@dataclass
class Boot:
    """What one boot left, or several."""

    records: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    """By kind and name, as vm_main wrote them."""
    problem: str = ""
    """Why there may be too few records."""
    console: str = ""
    seconds: float = 0.0
    boots: int = 0

    def add(self, other: Boot) -> None:
        """Takes another boot's records in. A later boot that finished makes an earlier one's end good."""
        self.records.update(other.records)
        self.seconds += other.seconds
        self.boots += other.boots
        self.problem, self.console = other.problem, other.console

    @property
    def finished(self) -> bool:
        """It came to its end by itself."""
        return not self.problem and ("end", "end") in self.records

    @property
    def tail(self) -> str:
        """The console's last lines."""
        return "\n".join(self.console.splitlines()[-TAIL_LINES:])

    def result(self, kind: str, name: str) -> dict[str, Any]:
        """Of one case; AssertionError when there is none (the summary shows the console's tail)."""
        record = self.records.get((kind, name))
        assert record is not None, self.problem or "the machine never came to this case"
        assert "error" not in record, record["error"]
        found: dict[str, Any] = record.get("result", {})
        return found


def kernel_image() -> Path:
    """The stock kernel, fetched when it is not there; RuntimeError with the script's line."""
    where = os.environ.get("GWBENCH_KERNEL_DIR") or str(BUILD / "root")
    done = subprocess.run([ROOT / "scripts" / "fetch_kernel.sh", where], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or "scripts/fetch_kernel.sh failed")
    return Path(done.stdout.strip())


def command(image: Path, results: Path, module: str, *arguments: str) -> list[str]:
    """The call of virtme-ng."""
    inside = ["env", f"PYTHONPATH={ROOT}", "PYTHONDONTWRITEBYTECODE=1"]
    inside += [f"{k}={v}" for k, v in os.environ.items() if k.startswith("GWBENCH_KERNEL_")]
    inside += [sys.executable, "-m", module, str(results), *arguments]
    vng = [str(Path(sys.executable).parent / "vng"), "--disable-kvm", "--verbose", "--run", str(image)]
    vng += ["--force-9p", "--rwdir", str(results.parent), "--user", "root", "--cpus", "2", "--memory", "2G"]
    return [*vng, "--append", APPEND, "--cwd", str(ROOT), "--exec", shlex.join(inside)]


def _read(master: int, log: Path) -> None:
    """Until the last writer of the terminal is gone."""
    with log.open("wb") as file, contextlib.suppress(OSError):
        while data := os.read(master, 65536):
            file.write(data)
            file.flush()


def _wait(process: subprocess.Popen[bytes], log: Path, results: Path, longest_s: float) -> str:
    """Until the machine ends; why it was ended, or nothing."""
    start = moved = time.monotonic()
    sizes: tuple[int, ...] = ()
    while process.poll() is None:
        time.sleep(0.5)
        now = time.monotonic()
        seen = tuple(path.stat().st_size if path.exists() else 0 for path in (log, results))
        if seen != sizes:
            sizes, moved = seen, now
            if log.exists() and any(words in log.read_bytes() for words in PANICS):
                return "the machine's kernel panicked"
        if now - moved > STALLED_S:
            return f"the virtual machine did nothing for {STALLED_S} s"
        if now - start > longest_s:
            return f"the virtual machine was not done after {longest_s:.0f} s"
    return f"virtme-ng ended with status {process.returncode}" if process.returncode else ""


def boot(full: bool, module: str = "tests.kernel.vm_main", where: Path = BUILD) -> Boot:
    """Runs the matrix, part by part, and everything else with its last part; results and consoles go into ``where``."""
    everything = Boot()
    count = len(cells.shards(full))
    for shard in range(count):
        name = f"{KIND}-full-{shard + 1}-of-{count}" if full else KIND
        part = boot_to_the_end(where / "out" / f"{name}.jsonl", module, str(int(full)), str(shard))
        problem = everything.problem or part.problem
        everything.add(part)
        everything.problem = problem
    return everything


def boot_to_the_end(results: Path, module: str, *arguments: str) -> Boot:
    """Every case of one part, in as many boots as it takes. With KEEP set, what earlier runs have recorded stands as it
    is, failures excepted."""
    kept = {key: one for key, one in read_records(results).items() if "error" not in one}
    if not os.environ.get("KEEP"):
        results.unlink(missing_ok=True)
    elif len(kept) < len(read_records(results)):
        kept.pop(("end", "end"), None)
        results.write_text("".join(json.dumps(one) + "\n" for one in kept.values()))
    part, stuck = Boot(read_records(results)), 0
    while not part.finished and part.boots < MOST_BOOTS and stuck < SAME_PLACE:
        known = len(part.records)
        part.add(boot_once(results, module, *arguments))
        stuck = stuck + 1 if len(part.records) <= known else 0
    return part


def boot_once(results: Path, module: str, *arguments: str) -> Boot:
    """One boot; what it did, whatever became of it."""
    results.parent.mkdir(parents=True, exist_ok=True)
    log = results.parents[1] / f"{results.stem}.console.log"
    log.unlink(missing_ok=True)
    start = time.monotonic()
    found = Boot(boots=1)
    try:
        if UML:
            words = uml.command(BUILD, results, module, *arguments)
        else:
            words = command(kernel_image(), results, module, *arguments)
        master, slave = pty.openpty()  # without a terminal virtme-ng shows no console
        path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
        # User Mode Linux traces its processes, and takes the SIGCONT after a suspension for a fault of theirs; blocked,
        # it still continues them.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCONT})
        process = subprocess.Popen(
            words, stdin=slave, stdout=slave, stderr=slave, start_new_session=True, env={**os.environ, "PATH": path}
        )
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    except (OSError, RuntimeError) as error:
        found.problem = f"no virtual machine: {error}"
        return found
    os.close(slave)
    reader = threading.Thread(target=_read, args=(master, log), daemon=True)
    reader.start()
    try:
        found.problem = _wait(process, log, results, LONGEST_S)
    finally:
        end_group(process)
        reader.join(5)
        os.close(master)
    found.console = log.read_text(errors="replace").replace("\r", "") if log.exists() else ""
    found.records = read_records(results)
    found.seconds = time.monotonic() - start
    if not found.problem and ("end", "end") not in found.records:
        found.problem = "the virtual machine ended before its last case"
    return found


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Ends virtme-ng and the qemu that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def read_records(results: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Complete lines only: a machine may have died in the middle of one."""
    records = []
    for line in results.read_text().split("\n") if results.exists() else []:
        with contextlib.suppress(ValueError):
            records.append(json.loads(line))
    return {(record["kind"], record["name"]): record for record in records}
