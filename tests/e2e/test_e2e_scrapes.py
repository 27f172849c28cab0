"""A hundred tunnels under iperf3's load, scraped: no error, no counter falls, and no loop waits for a scrape.

That no loop waits is shown by what each side can do while the other is stopped, by what the exporter may write to,
and by a count of wake-ups; what a scrape costs in throughput is measured by ``scripts/measure_scrapes.py``.
"""

from __future__ import annotations

import http.client
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gateway.appliance import control
from gateway.lab.monitoring import EXPORTER_PORT, MonitoringLab, Wish

TUNNELS = 100
REKEYS = 20
FLOOR_BYTES = 1_000_000
"""Of what iperf3 moves meanwhile: more than any queue holds."""


def get(lab: MonitoringLab, path: str = "/metrics") -> tuple[int, str]:
    site = lab.gateways[0].site
    connection = http.client.HTTPConnection(site.outer, EXPORTER_PORT, timeout=60)
    with site.namespace.entered():
        connection.connect()
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def samples(text: str) -> dict[str, float]:
    """By name with labels as they stand there; whether the format is right, promtool says elsewhere."""
    pairs = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {series: float(value) for series, _, value in pairs}


def counters(found: dict[str, float]) -> dict[str, float]:
    return {key: value for key, value in found.items() if re.search(r"_(total|bucket|count|sum)(\{|$)", key)}


def values(found: dict[str, float], name: str) -> list[float]:
    return [value for key, value in found.items() if key.partition("{")[0] == name]


def children(pid: int, needle: bytes) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            parent = (entry / "stat").read_text().rpartition(")")[2].split()[1] if entry.name.isdigit() else ""
            if parent == str(pid) and needle in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def received_bytes(lab: MonitoringLab) -> int:
    """By the server, on its cable."""
    with lab.lab.server.entered():
        lines = Path("/proc/thread-self/net/dev").read_text().splitlines()[2:]
    return sum(int(line.partition(":")[2].split()[0]) for line in lines if not line.strip().startswith("lo:"))


def stopped(pid: int) -> bool:
    states = [path.read_text().rpartition(")")[2].split()[0] for path in Path(f"/proc/{pid}/task").glob("*/stat")]
    return set(states) == {"T"}


def wait(until: Callable[[], bool], words: str, within_s: float = 60.0) -> None:
    deadline = time.monotonic() + within_s
    while not until():
        assert time.monotonic() < deadline, words
        time.sleep(0.02)


class Halted:
    """A process that does nothing meanwhile."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def __enter__(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)
        wait(lambda: stopped(self.pid), "it does not stop")

    def __exit__(self, *_: object) -> None:
        os.kill(self.pid, signal.SIGCONT)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MonitoringLab]:
    with MonitoringLab(tmp_path_factory.mktemp("scrapes"), Wish(tunnels=TUNNELS)) as made:
        made.serve_iperf3()
        yield made


@pytest.fixture
def load(lab: MonitoringLab) -> Iterator[None]:
    """iperf3 for as long as the test needs it."""
    process = lab.load(600)
    begin = received_bytes(lab)
    wait(lambda: received_bytes(lab) > begin + FLOOR_BYTES, "iperf3 moves nothing")
    yield
    assert process.poll() is None, process.communicate()[0]
    process.terminate()
    process.communicate(timeout=20)


@pytest.fixture
def worker(lab: MonitoringLab) -> int:
    """The process of the first gateway's own loops."""
    (pid,) = children(lab.gateways[0].process.pid, b"--pages-fd")
    return pid


def test_twenty_scrapes_a_second_find_no_error_and_twenty_rekeys_no_counter_that_falls(
    lab: MonitoringLab, load: None
) -> None:
    first = counters(samples(get(lab)[1]))
    before, scrapes, rekeyed, start = first, 0, 0, time.monotonic()
    while rekeyed < REKEYS or scrapes < 100:
        time.sleep(max(0.0, start + scrapes / 20 - time.monotonic()))
        if rekeyed < REKEYS and scrapes % 5 == 0:
            assert control.ask(lab.gateways[0].socket, {"op": "rekey", "name": "ipv4"}) == {"pairs": 1}
            rekeyed += 1
        status, text = get(lab)
        scrapes += 1
        assert status == 200
        found = samples(text)
        assert set(values(found, "gwbench_collector_success")) == {1.0}
        assert values(found, "gwbench_tunnel_up") == [1.0] * TUNNELS
        now = counters(found)
        fallen = [key for key, value in before.items() if now.get(key, -1.0) < value]
        assert fallen == []
        before = now
    assert len(before) > 10 * TUNNELS
    rekeys = [before[key] - first[key] for key in before if key.startswith("gwbench_tunnel_rekeys_total")]
    assert sorted(rekeys) == [0.0] * (2 * TUNNELS - 2) + [REKEYS] * 2
    log = (lab.gateways[0].socket.parent / "gw1.log").read_text()
    assert "Traceback" not in log and "fail" not in log


def test_the_exporter_can_only_read_what_the_loops_write(lab: MonitoringLab, worker: int) -> None:
    """No lock, no flag, no queue of the loops lies in its reach."""
    exporter = lab.gateways[0].process.pid
    pages = [line for line in Path(f"/proc/{exporter}/maps").read_text().splitlines() if "gwbench-counters" in line]
    assert pages and all(line.split()[1] == "r--s" for line in pages)
    shared = {line.split()[4] for line in Path(f"/proc/{exporter}/maps").read_text().splitlines() if "s " in line[:40]}
    writable = {
        line.split()[4]
        for line in Path(f"/proc/{worker}/maps").read_text().splitlines()
        if line.split()[1][1] == "w" and line.split()[1][3] == "s"
    }
    assert shared & writable == {line.split()[4] for line in pages}


def test_a_scrape_is_answered_while_the_loops_stand_still(lab: MonitoringLab, worker: int, load: None) -> None:
    """It asks nothing of them: nothing can have reached a mailbox."""
    with Halted(worker):
        texts = [get(lab) for _ in range(20)]
    assert {status for status, _ in texts} == {200}
    packets = {tuple(values(samples(text), "gwbench_tunnel_packets_total")) for _, text in texts}
    assert len(packets) == 1 and sum(packets.pop()) > 0


def test_packets_go_on_while_the_exporter_stands_still_in_a_scrape(lab: MonitoringLab, load: None) -> None:
    exporter = lab.gateways[0].process.pid
    answers: list[tuple[int, str]] = []
    for _ in range(5):
        thread = threading.Thread(target=lambda: answers.append(get(lab)))
        before = len(answers)
        thread.start()
        with Halted(exporter):  # wherever it was: before the copy, within it, after
            begin = received_bytes(lab)
            wait(lambda begin=begin: received_bytes(lab) > begin + FLOOR_BYTES, "the loops wait for the exporter")
            inside = len(answers) == before
        thread.join()
        assert inside or len(answers) == before + 1
    assert [status for status, _ in answers] == [200] * 5


def test_fifty_scrapes_wake_no_thread_of_the_loops(lab: MonitoringLab, worker: int) -> None:
    """Without load, where each wake-up of a thread is a voluntary switch of its own."""

    def switches() -> dict[str, int]:
        found = {}
        for path in Path(f"/proc/{worker}/task").iterdir():
            lines = dict(line.split(":", 1) for line in (path / "status").read_text().splitlines())
            found[f"{lines['Name'].strip()} {path.name}"] = int(lines["voluntary_ctxt_switches"])
        return found

    def quiet() -> bool:
        before = switches()
        time.sleep(0.5)
        return sum(switches().values()) - sum(before.values()) <= 5

    wait(quiet, "the loops do not come to rest")
    before = switches()
    assert any(name.startswith("gwbench-loop") for name in before)
    for _ in range(50):
        assert get(lab)[0] == 200
    after = switches()
    # Health is asked for every five seconds, a lifetime may end: not one in three scrapes.
    assert all(after[name] - before[name] < 17 for name in before), (before, after)
