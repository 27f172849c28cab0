"""Runs inside the virtual machine: every cell by one process, one JSON line each into a file that the host reads.

python -m tests.kernel.vm_main RESULTS FULL SHARD

FULL: 0 for the covering set, 1 for the full product. SHARD: which part of the matrix, of those that cells.shards
makes; everything else than the matrix runs with the last.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import IO, Any

import dataplane as dp
from tests.kernel import cells, endpoint, netem, traffic
from tests.kernel.cells import Cell
from tests.kernel.tunnel_vm import Lab, laboratory

MODULES = (
    "tun",
    "veth",
    "esp4",
    "esp6",
    "xfrm_user",
    "sch_netem",
    "af_alg",
    "algif_skcipher",
    "algif_aead",
    "algif_hash",
)

PUBLISHED = "each_case_alone or one_batch or provider_suites"
"""Of the provider's tests: random comparisons and Monte Carlo chains would take an emulated machine minutes."""


AF_ALG_S = 1800
"""Then it hangs; the host would wait for ever, because it sees a console that moves."""


recorded: set[tuple[str, str]] = set()
"""Cases that an earlier boot has run."""


def write(file: IO[str], record: dict[str, Any]) -> None:
    """The host may read any complete line, also after a crash of this machine."""
    file.write(json.dumps(record) + "\n")
    file.flush()
    os.fsync(file.fileno())


def attempt(file: IO[str], kind: str, name: str, what: Callable[[], dict[str, Any]]) -> None:
    """One case: its result, or how it failed. The others go on. GWBENCH_KERNEL_ONLY leaves others out, for a person
    who looks for a fault in one."""
    if not re.search(os.environ.get("GWBENCH_KERNEL_ONLY", ""), f"{kind} {name}") or (kind, name) in recorded:
        return
    start = time.monotonic()
    record: dict[str, Any] = {"kind": kind, "name": name}
    try:
        record["result"] = what()
    except Exception:  # whatever it is: the host's test shows it
        record["error"] = traceback.format_exc()
    record["seconds"] = round(time.monotonic() - start, 2)
    write(file, record)
    print(f"{kind} {name}: {'FAILED' if 'error' in record else 'done'} in {record['seconds']} s", flush=True)


def af_alg() -> dict[str, Any]:
    """The kernel's own ciphers through AF_ALG pass what ours pass (tests/vectors/provider_run.py)."""
    words = [sys.executable, "-u", "tests/vectors/provider_run.py", "af_alg", "-vv", "-k", PUBLISHED]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    timer = threading.Timer(AF_ALG_S, process.kill)  # before the host takes its silence for a hang
    timer.start()
    lines = []
    for line in process.stdout:  # onto the console: the host takes silence for a hang
        print(line, end="", flush=True)
        lines.append(line)
    timer.cancel()
    return {"status": process.wait(), "output": "".join([*lines[:60], "...\n", *lines[-60:]])}


def run_cell(lab: Lab, cell: Cell) -> dict[str, Any]:
    run = traffic.run_cell if cell.mode == "tunnel" else endpoint.run_cell
    return {**run(lab, cell), **asdict(cell)}


def run_all(file: IO[str], lab: Lab, shards: list[list[Cell]], shard: int) -> None:
    for cell in shards[shard]:
        attempt(file, "cell", cell.name, lambda cell=cell: run_cell(lab, cell))
    if shard + 1 < len(shards):
        return
    for cell in cells.IPERF3:
        attempt(file, "iperf3", cell.name, lambda cell=cell: traffic.run_iperf3(lab, cell))
    for disturbance in netem.DISTURBANCES:
        attempt(file, "netem", disturbance, lambda name=disturbance: netem.run(lab, name))
    attempt(file, "af_alg", "af_alg", af_alg)


@contextlib.contextmanager
def results(path: str) -> Iterator[IO[str]]:
    """The file that the host reads, behind what an earlier boot has recorded there; its end is written at the end."""
    with open(path, "a+") as file:
        file.seek(0)
        for line in file:  # of a machine that died; its last line may be half a line
            with contextlib.suppress(ValueError):
                recorded.add((lambda record: (record["kind"], record["name"]))(json.loads(line)))
        file.write("\n")
        machine = {"release": platform.release(), "version": platform.version(), "cpu_features": dp.cpu_features()}
        write(file, {"kind": "machine", "name": "machine", "result": machine})
        yield file
        write(file, {"kind": "end", "name": "end"})


def main() -> None:
    full, shard = sys.argv[2] == "1", int(sys.argv[3])
    subprocess.run(["modprobe", "-a", *MODULES], check=True)
    with results(sys.argv[1]) as file, laboratory() as lab:
        run_all(file, lab, cells.shards(full), shard)


if __name__ == "__main__":
    main()
