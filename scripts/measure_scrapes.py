"""What does one scrape a second of a hundred tunnels cost iperf3? Paired half seconds, medians of ratios.

    python scripts/measure_scrapes.py [--tunnels 100] [--seconds 90] [--seed 1]

Each second has two halves, and chance says in which of them the scrape falls: what drifts, drifts for both. A scrape
ends well within its half, so that a loss of x shows as a ratio of 1 - 2x. Beside it stand pairs that differ in nothing:
the halves of the same seconds by their place instead of the scrape.
"""

from __future__ import annotations

import argparse
import http.client
import random
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gateway.cleanup import CleanupStack
from gateway.lab import userns

HALF_S = 0.5
RESAMPLES = 4000


def received_bytes(lab: object) -> int:
    """By the server, on its cable."""
    with lab.lab.server.entered():  # type: ignore[attr-defined]
        lines = Path("/proc/thread-self/net/dev").read_text().splitlines()[2:]
    return sum(int(line.partition(":")[2].split()[0]) for line in lines if not line.strip().startswith("lo:"))


def cpu_s(pid: int) -> float:
    """Of a process so far, by the scheduler's clock."""
    return sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def interval(ratios: list[float], rng: random.Random) -> tuple[float, float, float]:
    """Median, and the middle 95 % of medians of resampled ratios."""
    medians = sorted(statistics.median(rng.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    return statistics.median(ratios), medians[RESAMPLES // 40], medians[-RESAMPLES // 40]


class Scraper:
    """One connection, as Prometheus keeps it."""

    def __init__(self, lab: object) -> None:
        from gateway.lab.monitoring import EXPORTER_PORT

        site = lab.gateways[0].site  # type: ignore[attr-defined]
        self._connection = http.client.HTTPConnection(site.outer, EXPORTER_PORT, timeout=20)
        with site.namespace.entered():
            self._connection.connect()
        self.took_s: list[float] = []
        self.series = 0

    def scrape(self) -> None:
        """One; its time is kept."""
        begin = time.monotonic()
        self._connection.request("GET", "/metrics")
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise SystemExit(f"a scrape was answered by {answer.status}")
        self.took_s.append(time.monotonic() - begin)
        self.series = sum(not line.startswith(b"#") for line in text.splitlines())


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tunnels", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=90)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    userns.enter_if_needed()
    from gateway.lab.monitoring import MonitoringLab, Wish

    rng = random.Random(arguments.seed)
    pairs: list[tuple[bool, float, float]] = []
    with CleanupStack(), tempfile.TemporaryDirectory(prefix="gwbench-scrapes-") as directory:
        with MonitoringLab(Path(directory), Wish(tunnels=arguments.tunnels)) as lab:
            lab.serve_iperf3()
            load = lab.load(arguments.seconds + 10)
            scraper = Scraper(lab)
            scraper.scrape()
            time.sleep(2)
            exporter = lab.gateways[0].process.pid
            cpu_begin, begin = cpu_s(exporter), time.monotonic()
            scraper.took_s.clear()
            for second in range(arguments.seconds):
                in_first = rng.random() < 0.5
                rates = []
                for half in (0, 1):
                    thread = None
                    at, bytes_before = time.monotonic(), received_bytes(lab)
                    if (half == 0) == in_first:
                        thread = threading.Thread(target=scraper.scrape)
                        thread.start()
                    time.sleep(max(0.0, begin + second + (half + 1) * HALF_S - time.monotonic()))
                    rates.append((received_bytes(lab) - bytes_before) / (time.monotonic() - at))
                    if thread is not None:
                        thread.join()
                pairs.append((in_first, *rates))  # type: ignore[arg-type]
            cpu = (cpu_s(exporter) - cpu_begin) / len(scraper.took_s)
            load.terminate()
            load.communicate()
    with_over_without = [a / b if first else b / a for first, a, b in pairs]
    first_over_second = [a / b for _, a, b in pairs]
    middle = statistics.median((a + b) / 2 for _, a, b in pairs) * 8 / 1e6
    took = sorted(scraper.took_s)
    print(f"{len(pairs)} pairs at {middle:.0f} Mbit/s; {scraper.series} series a scrape")
    print(f"a scrape takes {took[len(took) // 2] * 1e3:.1f} ms, the longest {took[-1] * 1e3:.0f} ms")
    print(f"CPU of the gateway's control process a second, with all else that it does: {cpu * 1e3:.1f} ms")
    for words, ratios in (("with over without", with_over_without), ("first over second", first_over_second)):
        median, low, high = interval(ratios, rng)
        print(f"{words}: {median:.4f} (95 %: {low:.4f} to {high:.4f})")
    median, low, high = interval(with_over_without, rng)
    print(f"loss at 1 scrape/s: {(1 - median) / 2:+.2%} (95 %: {(1 - high) / 2:+.2%} to {(1 - low) / 2:+.2%})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
