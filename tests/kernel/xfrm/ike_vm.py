"""Two strongSwan daemons over the kernel's ESP (inside the virtual machine): what gwbench measures and exports of SAs
that it did not make, while they are replaced (topology in tests/e2e/strongswan.py)."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gateway.lab.namespaces import NetworkNamespace
from tests.e2e import strongswan
from tests.kernel import kernel_esp

strongswan.PLUGINS = tuple(name for name in strongswan.PLUGINS if name != "kernel-libipsec")
SCRAPE = ("127.0.0.1", 10795)
LONGEST_S = 240
COUNTERS = ("packets", "bytes")
Totals = dict[str, float]


@contextlib.contextmanager
def tunnel() -> Iterator[tuple[tuple[NetworkNamespace, NetworkNamespace], strongswan.Daemon]]:
    """Both namespaces, and the daemon on the left, which asked for the CHILD_SA."""
    with contextlib.ExitStack() as stack:
        spaces = (
            stack.enter_context(NetworkNamespace(strongswan.NAMES[0])),
            stack.enter_context(NetworkNamespace(strongswan.NAMES[1])),
        )
        far = f"netns /proc/{os.getpid()}/fd/{spaces[1].fd}"
        kernel_esp.ip(spaces[0], f"link add wan type veth peer name wan {far}")
        for i, space in enumerate(spaces):
            kernel_esp.ip(
                space,
                "link set lo up",
                f"addr add {strongswan.INNER[i]}/32 dev lo",
                f"addr add {strongswan.OUTER[i]}/24 dev wan",
                "link set wan up",
                f"route add default via {strongswan.OUTER[1 - i]} dev wan",
            )
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        left, _ = stack.enter_context(strongswan.daemons(spaces, directory, "aes128gcm16"))
        yield spaces, left


@contextlib.contextmanager
def iperf3_server(space: NetworkNamespace) -> Iterator[None]:
    server = space.popen(["iperf3", "-s", "-B", strongswan.INNER[1]], stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: "5201" in kernel_esp.run(space, ["ss", "-Hltn"]))
        yield
    finally:
        server.kill()
        server.wait()


def wait_until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + LONGEST_S
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.1)


# ---- the kernel's own word ----


def xfrm_sas(space: NetworkNamespace) -> dict[str, dict[str, float]]:
    """packets, bytes and source of each SA by its SPI, as ``ip -s xfrm state`` prints them."""
    found: dict[str, dict[str, Any]] = {}
    for text in re.split(r"^(?=src )", kernel_esp.run(space, ["ip", "-s", "xfrm", "state"]), flags=re.MULTILINE):
        if head := re.match(r"src (\S+) dst \S+\n\s*proto esp spi (0x[0-9a-f]+)", text):
            now = re.search(r"lifetime current:\s*(\d+)\(bytes\), (\d+)\(packets\)", text)
            assert now, text
            way = "out" if head[1] == strongswan.OUTER[0] else "in"
            found[f"{int(head[2], 16):#010x}"] = {"way": way, "bytes": int(now[1]), "packets": int(now[2])}
    return found


def sums(sas: dict[str, dict[str, Any]]) -> Totals:
    """Over the SAs of a direction: ``out packets`` and so on."""
    return {
        f"{way} {what}": float(sum(one[what] for one in sas.values() if one["way"] == way))
        for way in ("out", "in")
        for what in COUNTERS
    }


def pair_left(space: NetworkNamespace) -> None:
    """Until the SAs before a rekey are gone: the daemon keeps the inbound one for some seconds."""
    wait_until(lambda: len(xfrm_sas(space)) == 2)


# ---- gwbench serve ----


@dataclass
class Exporter:
    """What it tells, scrape by scrape. Series that fell are kept."""

    space: NetworkNamespace
    last: dict[str, float] = field(default_factory=dict)
    fell: list[str] = field(default_factory=list)
    scrapes: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def scrape(self) -> dict[str, float]:
        """Samples by name and labels, of the tunnel and of single SAs."""
        with self.lock:
            with self.space.entered():  # the socket is made by this thread
                text = urllib.request.urlopen("http://{}:{}/metrics".format(*SCRAPE), timeout=60).read().decode()
            lines = re.findall(r"^(gwbench_(?:tunnel|sa)_\w+\{.*\}) (\S+)$", text, re.MULTILINE)
            now = {series: float(value) for series, value in lines}
            for series, value in now.items():
                if "_total{" in series and value < self.last.get(series, 0.0):
                    self.fell.append(f"{series} fell from {self.last[series]} to {value}")
            gone = [series for series in self.last if series.startswith("gwbench_tunnel_") and series not in now]
            self.fell += [f"{series} is gone" for series in gone]
            self.last, self.scrapes = now, self.scrapes + 1
            return now

    def totals(self) -> Totals:
        """Of the tunnel, all its SAs, in the words of ``sums``."""
        found = self.scrape()
        return {
            f"{way} {what}": sum(
                value
                for series, value in found.items()
                if series.startswith(f"gwbench_tunnel_{what}_total{{") and f'direction="{way}"' in series
            )
            for way in ("out", "in")
            for what in COUNTERS
        }

    def by_spi(self) -> dict[str, dict[str, float]]:
        """packets and bytes of single SAs."""
        found: dict[str, dict[str, float]] = {}
        for series, value in self.scrape().items():
            if match := re.match(r'gwbench_sa_(packets|bytes)_total\{.*spi="(\w+)".*\}', series):
                found.setdefault(f"{int(match[2], 16):#010x}", {})[match[1]] = value
        return found


@contextlib.contextmanager
def exporter(space: NetworkNamespace, gwbench: list[str], vici: str) -> Iterator[Exporter]:
    # Whom root becomes must be able to read this Python; in this machine that is root's own.
    words = [*gwbench, "serve", "--collector.sa", "--vici", vici.removeprefix("unix://"), "--user", "root"]
    process = space.popen([*words, "--web.listen-address", "{}:{}".format(*SCRAPE)], stdout=None, stderr=None)
    try:
        wait_until(lambda: process.poll() is not None or str(SCRAPE[1]) in kernel_esp.run(space, ["ss", "-Hltn"]))
        assert process.poll() is None, "gwbench serve ended"
        yield Exporter(space)
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def scraped(one: Exporter) -> Iterator[None]:
    """Again and again meanwhile."""
    done = threading.Event()

    def again() -> None:
        while not done.wait(0.5):
            one.scrape()

    thread = threading.Thread(target=again)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def datagrams(spaces: tuple[NetworkNamespace, NetworkNamespace], n: int = 40) -> None:
    """There and back through the tunnel, all of them."""
    with contextlib.ExitStack() as stack:
        ends = []
        for space, address in zip(spaces, strongswan.INNER, strict=True):
            with space.entered():
                ends.append(stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)))
            ends[-1].bind((address, 7010))
            ends[-1].settimeout(LONGEST_S)
        for i in range(n):
            ends[0].sendto(bytes(100 + i), (strongswan.INNER[1], 7010))
            data, back = ends[1].recvfrom(2000)
            ends[1].sendto(data, back)
            assert ends[0].recv(2000) == data


def rekey(daemon: strongswan.Daemon, space: NetworkNamespace) -> str:
    before = set(xfrm_sas(space))
    said = daemon.swanctl("--rekey", "--child", "net")
    wait_until(lambda: len(set(xfrm_sas(space)) - before) == 2)
    return said


def observed(gwbench: list[str], run: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    """The whole story: SAs listed; a measurement over a rekey, and the exporter's account of it; the account against
    ``ip -s xfrm state`` with traffic of known size and rekeys between."""
    with tunnel() as (spaces, left), iperf3_server(spaces[1]), exporter(spaces[0], gwbench, left.uri) as told:
        space = spaces[0]
        result: dict[str, Any] = {"before": told.totals(), "kernel_before": sums(xfrm_sas(space))}
        result["listed"] = run("sa", "--from-kernel", space=space)
        result["nowhere"] = run("iperf", "--existing", "203.0.113.1", "--no-save", space=space)
        rekeyed: list[str] = []

        def in_the_middle() -> None:
            wait_until(lambda: sums(xfrm_sas(space))["out packets"] > 200)  # iperf3 is under way
            rekeyed.append(rekey(left, space))

        thread = threading.Thread(target=in_the_middle)
        with scraped(told):
            thread.start()
            words = ["--existing", strongswan.INNER[1], "-t", "10", "--rounds", "1", "--no-save", "-b", "2M"]
            result["run"] = run("iperf", *words, space=space)
            thread.join()
            pair_left(space)
        result["rekeyed"] = rekeyed
        result["after_run"] = told.totals()
        result["steps"] = []
        for step in range(3):
            if step:
                rekey(left, space)
                pair_left(space)
            start = {"kernel": sums(xfrm_sas(space)), "exporter": told.totals()}
            datagrams(spaces)
            end = {"kernel": sums(xfrm_sas(space)), "exporter": told.totals()}
            sas = {spi: {what: one[what] for what in COUNTERS} for spi, one in xfrm_sas(space).items()}
            result["steps"].append({"start": start, "end": end, "sas": sas, "exported_sas": told.by_spi()})
        result.update(fell=told.fell, scrapes=told.scrapes)
        result["rekeys"] = {s: n for s, n in told.last.items() if s.startswith("gwbench_tunnel_rekeys_total")}
        return result
