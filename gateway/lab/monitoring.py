r"""Two gateways that watch themselves, a load between them, and a real Prometheus::

    client ---- gw1 ==== esp0: IPv4, made by gw1's gwbench up ==== gw2 ---- server
                    ==== esp1: IPv6, made by gw2's gwbench up ====
    iperf3 -c   198.18.0.1:10795                  198.18.0.2:10795    iperf3 -s
                Prometheus on 127.0.0.1:9090 scrapes both

Everything is a process in a namespace, and goes with :meth:`MonitoringLab.close`.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from gateway.appliance import control
from gateway.errors import GwbenchError, MeasurementError
from gateway.lab.topology import CLIENT_V4, CLIENT_V6, SERVER_V4, SERVER_V6, Laboratory, Site

EXPORTER_PORT = 10795
PROMETHEUS_PORT = 9090
START_S = 60.0


@dataclass(frozen=True, slots=True)
class Watched:
    """One gateway that runs ``gwbench up``."""

    site: Site
    process: subprocess.Popen[Any]
    socket: Path

    @property
    def address(self) -> str:
        """Of its exporter."""
        return f"{self.site.outer}:{EXPORTER_PORT}"


@dataclass(frozen=True, slots=True)
class Wish:
    """What the two gateways are told, beyond addresses."""

    suite: str = "aes128gcm16"
    implementations: tuple[str, str] = ("auto", "auto")
    rekey_seconds: float = 3600.0
    tunnels: int = 1
    """Of the first gateway: the further ones carry nothing."""
    per_sa: bool = False
    results: Path | None = None
    user: str = ""


class MonitoringLab:
    """See above."""

    def __init__(self, directory: Path, wish: Wish = Wish()) -> None:
        """``directory``: for configurations, logs and Prometheus' data."""
        self._directory, self._wish = directory, wish
        self._processes: list[subprocess.Popen[Any]] = []
        self.lab = Laboratory("site-to-site")
        try:
            self.lab.route_tunnel()
            self.gateways = (self._up(0), self._up(1))
            self._wait("the tunnels", self._tunnels_are_up)
        except BaseException:
            self.close()
            raise

    def _up(self, number: int) -> Watched:
        here, there = self.lab.sites if number == 0 else self.lab.sites[::-1]
        path = self._directory / f"gw{number + 1}.toml"
        path.write_text(self._configuration(number, here, there), encoding="utf-8")
        sock = self._directory / f"gw{number + 1}.sock"
        log = (self._directory / f"gw{number + 1}.log").open("w")
        with log:
            command = [sys.executable, "-m", "gateway.cli", "up", str(path), "--socket", str(sock)]
            process = here.namespace.popen(command, stdout=log, stderr=log)
        self._processes.append(process)
        return Watched(here, process, sock)

    def _configuration(self, number: int, here: Site, there: Site) -> str:
        wish = self._wish
        lines = [
            "[gateway]",
            f'local = "{here.outer}"',
            f"port = {4500 + number}",
            f'tun = "esp{number}"',
            f'user = "{wish.user}"',
            "[rekey]",
            f"seconds = {wish.rekey_seconds}",
            "grace_seconds = 1",
            "[metrics]",
            f'listen = ["{here.outer}:{EXPORTER_PORT}"]',
            "line_mbit = 10000",
            f"per_sa = {str(wish.per_sa).lower()}",
            f'results = "{wish.results or self._directory}"',
            "[peer.other]",
            f'local = "{there.outer}"',
            f"port = {4500 + number}",
            f'tun = "esp{number}"',
            f'netns = "/proc/{os.getpid()}/fd/{there.namespace.fd}"',
        ]
        pairs = [(here.prefixes[number], there.prefixes[number])]
        if number == 0:
            more = range(wish.tunnels - 1)
            pairs += [(f"10.{100 + n // 250}.{n % 250}.0/24", f"10.{200 + n // 250}.{n % 250}.0/24") for n in more]
        for n, (local, remote) in enumerate(pairs):
            lines += [
                f"[tunnel.{('ipv4', 'ipv6')[number] if n == 0 else f'more{n}'}]",
                'peer = "other"',
                f'local = "{local}"',
                f'remote = "{remote}"',
                f'suite = "{wish.suite}"',
                f'implementation = "{wish.implementations[number]}"',
            ]
        return "\n".join(lines) + "\n"

    def status(self, number: int = 0) -> dict[str, Any]:
        """Of a gateway."""
        return control.ask(self.gateways[number].socket, {"op": "status"})

    def _tunnels_are_up(self) -> bool:
        for gateway in self.gateways:
            if gateway.process.poll() is not None:
                log = self._directory / f"{gateway.socket.stem}.log"
                raise MeasurementError(f"a gateway ended: {log.read_text().strip().splitlines()[-1:]}")
        with contextlib.suppress(GwbenchError):
            return all(t["state"] == "up" for n in (0, 1) for t in self.status(n)["tunnels"])
        return False

    def _wait(self, what: str, ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + START_S
        while not ready():
            if time.monotonic() > deadline:
                raise MeasurementError(f"{what} did not come up within {START_S:.0f} s")
            time.sleep(0.1)

    # ---- load ----

    def serve_iperf3(self) -> None:
        """Two servers: IPv4 on 5201, IPv6 on 5202."""
        for address, port in ((SERVER_V4, 5201), (SERVER_V6, 5202)):
            self._processes.append(
                self.lab.server.popen(["iperf3", "-s", "-B", address, "-p", str(port)], stdout=subprocess.DEVNULL)
            )
            self._wait("iperf3's server", lambda port=port: _listens(self.lab, port))  # type: ignore[misc]

    def load(self, seconds: int, *arguments: str, v6: bool = False) -> subprocess.Popen[Any]:
        """An iperf3 client; its result is JSON on stdout."""
        server, client, port = (SERVER_V6, CLIENT_V6, 5202) if v6 else (SERVER_V4, CLIENT_V4, 5201)
        command = ["iperf3", "-c", server, "-B", client, "-p", str(port), "-t", str(seconds), "-J", "-C", "cubic"]
        process = self.lab.client.popen([*command, *arguments])
        self._processes.append(process)
        return process

    # ---- Prometheus ----

    def start_prometheus(self, rules: Sequence[Path], interval: str = "1s") -> None:
        """Scrapes both gateways; returns when it has scraped each."""
        config = {
            "global": {"scrape_interval": interval, "evaluation_interval": interval},
            "rule_files": [str(path.resolve()) for path in rules],
            "scrape_configs": [
                {"job_name": "gwbench", "static_configs": [{"targets": [g.address for g in self.gateways]}]}
            ],
        }
        path = self._directory / "prometheus.json"
        path.write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML
        log = (self._directory / "prometheus.log").open("w")
        with log:
            process = self.lab.left.namespace.popen(
                [
                    "prometheus",
                    f"--config.file={path}",
                    f"--storage.tsdb.path={self._directory / 'prometheus'}",
                    f"--web.listen-address=127.0.0.1:{PROMETHEUS_PORT}",
                    "--log.level=warn",
                ],
                stdout=log,
                stderr=log,
            )
        self._processes.append(process)

        def scraped() -> bool:
            if process.poll() is not None:
                words = (self._directory / "prometheus.log").read_text().strip().splitlines()
                raise MeasurementError(f"prometheus ended: {words[-1] if words else process.returncode}")
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
                return [value for _, value in self.query('up{job="gwbench"}')] == [1.0, 1.0]
            return False

        self._wait("Prometheus", scraped)

    def query(self, expr: str, at_s: float | None = None) -> list[tuple[dict[str, str], float]]:
        """An instant query, now or at a Unix time: labels and values. MeasurementError when it is refused."""
        words = {"query": expr} if at_s is None else {"query": expr, "time": f"{at_s:.3f}"}
        path = "/api/v1/query?" + urllib.parse.urlencode(words)
        answer = json.loads(self._get(self.lab.left, "127.0.0.1", PROMETHEUS_PORT, path))
        if answer["status"] != "success":
            raise MeasurementError(f"Prometheus refuses {expr}: {answer.get('error')}")
        data = answer["data"]
        if data["resultType"] == "scalar":
            return [({}, float(data["result"][1]))]
        return [(one["metric"], float(one["value"][1])) for one in data["result"]]

    def scrape(self, number: int = 0) -> str:
        """A gateway's exposition now."""
        return self._get(self.gateways[number].site, self.gateways[number].site.outer, EXPORTER_PORT, "/metrics")

    @staticmethod
    def _get(site: Site, host: str, port: int, path: str) -> str:
        connection = http.client.HTTPConnection(host, port, timeout=20)
        with site.namespace.entered():
            connection.connect()
        try:
            connection.request("GET", path)
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    # ---- end ----

    def close(self) -> None:
        """Ends every process in reverse order; the namespaces go with them. Safe twice."""
        while self._processes:
            process = self._processes.pop()
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            try:
                process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
        self.lab.close()

    def __enter__(self) -> MonitoringLab:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _listens(lab: Laboratory, port: int) -> bool:
    with lab.server.entered():
        tables = [Path(f"/proc/thread-self/net/{name}").read_text() for name in ("tcp", "tcp6")]
    return any(f":{port:04X} " in line and " 0A " in line for table in tables for line in table.splitlines())
