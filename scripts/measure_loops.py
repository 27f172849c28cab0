"""Do two loops in one process reach what two processes do? ESP in memory on two cores, alternating, medians of ratios.

    python scripts/measure_loops.py [--loops 2] [--suite aes128gcm16] [--rounds 9] [--seconds 0.5]

A loop is a thread with SAs of its own, as in the dataplane; what they could still share is the allocator, cache lines
and the interpreter. Both sides run at the same time on all their cores, so that what is shared counts for both.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import threading
from collections.abc import Callable
from multiprocessing.synchronize import Barrier

from dataplane import bench_esp


def _packets_per_s(suite: str, seconds: float, wait: Callable[[], object]) -> float:
    """Of sealing and opening in turns."""
    rates = []
    for opening in (False, True):
        wait()
        sample = bench_esp(
            suite, "auto", opening=opening, inner_len=1408, batch=64, sas=16, min_ns=round(seconds / 2 * 1e9)
        )
        rates.append(sample.ops / sample.ns * 1e9)
    return statistics.mean(rates)


def _in_threads(n: int, suite: str, seconds: float) -> float:
    barrier, rates = threading.Barrier(n), [0.0] * n

    def loop(i: int) -> None:
        rates[i] = _packets_per_s(suite, seconds, barrier.wait)

    threads = [threading.Thread(target=loop, args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(rates)


def _process(suite: str, seconds: float, barrier: Barrier, rates: multiprocessing.queues.Queue[float]) -> None:
    rates.put(_packets_per_s(suite, seconds, barrier.wait))


def _in_processes(n: int, suite: str, seconds: float) -> float:
    spawn = multiprocessing.get_context("spawn")
    barrier, rates = spawn.Barrier(n), spawn.Queue()
    processes = [spawn.Process(target=_process, args=(suite, seconds, barrier, rates)) for _ in range(n)]
    for process in processes:
        process.start()
    total = sum(rates.get(timeout=60) for _ in processes)
    for process in processes:
        process.join()
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--loops", type=int, default=2)
    parser.add_argument("--suite", default="aes128gcm16")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.5)
    a = parser.parse_args()
    pairs = []
    for number in range(a.rounds):
        sides = [_in_threads, _in_processes][:: 1 if number % 2 else -1]
        got = {side: side(a.loops, a.suite, a.seconds) for side in sides}
        pairs.append((got[_in_threads], got[_in_processes]))
    ratios = sorted(loops / processes for loops, processes in pairs)
    middle = statistics.median(loops for loops, _ in pairs), statistics.median(other for _, other in pairs)
    print(f"{a.loops} loops: {middle[0]:.0f} packets/s; {a.loops} processes: {middle[1]:.0f} packets/s")
    print(f"ratio of the medians {middle[0] / middle[1]:.3f}; of single rounds {ratios[0]:.3f} to {ratios[-1]:.3f}")


if __name__ == "__main__":
    main()
