"""``gwbench serve``: collectors, privileges, and where the scrape goes."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from gateway.appliance import notify
from gateway.cleanup import CleanupStack
from gateway.errors import GwbenchError
from gateway.metrics import textfile, web, web_config
from gateway.metrics.build_info import BuildInfo
from gateway.metrics.cpu import Cpu
from gateway.metrics.implementations import Implementations
from gateway.metrics.kernel_sas import KernelSas
from gateway.metrics.names import PORT
from gateway.metrics.results import Results
from gateway.metrics.scrape import Collector, Exporter
from gateway.metrics.vici_names import ViciNames, find_socket
from gateway.metrics.xfrm_stat import XfrmStat
from gateway.node import privileges
from gateway.node.process import harden
from gateway.node.xfrm_reader import XfrmReader
from gateway.result import results_directory

POLL_S = 60.0
"""The kernel's events are counted at least this often, also when nobody scrapes."""


@dataclass(frozen=True, slots=True)
class Options:
    """See ``gwbench serve --help``."""

    listen: tuple[str, ...] = ()
    path: str = "/metrics"
    web_config: Path | None = None
    textfile: Path | None = None
    interval_s: float = 15.0
    once: bool = False
    json_to: str | None = None
    per_sa: bool = False
    vici: str | None = None
    results: Path | None = None
    user: str = "nobody"


def default_results() -> Path:
    """systemd's StateDirectory= where there is one, else the user's."""
    state = os.environ.get("STATE_DIRECTORY", "").split(":")[0]
    return Path(state) / "results" if state else results_directory()


def run(options: Options) -> None:
    """Returns after one scrape with ``once``; otherwise serves until a signal ends it."""
    config = web_config.load(options.web_config) if options.web_config else web_config.WebConfig()
    addresses = [web.parse_address(text) for text in options.listen or (f"127.0.0.1:{PORT}",)]
    with CleanupStack() as cleanup:
        reader = XfrmReader()
        reader.start()
        cleanup.push(reader.close, "the reader of the kernel's SAs")
        names = None
        if path := (options.vici or find_socket() or "").removeprefix("unix://"):  # swanctl's --uri
            names = ViciNames(path)
            cleanup.push(names.close)
            try:
                names.connect()
            except GwbenchError as error:
                if options.vici:
                    raise
                print(f"gwbench: {error}; tunnels are named by addresses", file=sys.stderr)
        collectors: list[Collector] = [
            BuildInfo(),
            KernelSas(reader, names, per_sa=options.per_sa),
            XfrmStat(),
            Cpu(),
            Implementations(),
            Results(options.results or default_results(), named=options.results is not None),
        ]
        exporter = Exporter(collectors)
        if options.once or options.textfile:
            # The file's directory belongs to root as a rule: without a listener there is nobody to be guarded from.
            harden()
            _write_files(options, exporter)
            return
        server = web.WebServer(lambda: exporter.scrape().text(), addresses, options.path, config)
        cleanup.push(server.close)
        exporter.scrape()  # what is imported or looked up once may be out of the next user's reach
        privileges.drop(options.user if os.geteuid() == 0 else None, ())
        harden()
        server.start()
        where = ", ".join(
            f"{host}:{port}" if ":" not in host else f"[{host}]:{port}" for host, port in server.addresses
        )
        print(f"Metrics at {'https' if config.tls else 'http'}://{where}{options.path}", flush=True)
        notify.ready()
        while True:
            time.sleep(POLL_S)
            exporter.scrape()


def _write_files(options: Options, exporter: Exporter) -> None:
    while True:
        text = exporter.scrape().text()
        if options.json_to is not None:
            from gateway.output import document

            document.write(options.json_to, {"schema": "gwbench-metrics/1", "samples": samples(text)})
        elif options.textfile is not None:
            textfile.write(options.textfile, text)
        else:
            sys.stdout.write(text)
        if options.once:
            return
        notify.ready()
        time.sleep(options.interval_s)


def samples(text: str) -> list[dict[str, object]]:
    """An exposition as a list of name, labels and value."""
    from prometheus_client.parser import text_string_to_metric_families

    return [
        {"name": sample.name, "labels": dict(sample.labels), "value": sample.value}
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    ]
