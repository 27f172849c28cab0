"""Metrics for Prometheus: the kernel's SAs, with strongSwan's names where it runs, and the last saved measurements.

Changes nothing. Started as root it keeps a small reader with CAP_NET_ADMIN, which strips the keys, and goes on as an
unprivileged user; the flags are the Prometheus exporter toolkit's.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from gateway.errors import EXIT_OK, UnusableError

EXAMPLE = "gwbench serve --web.listen-address 127.0.0.1:10795"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The exporter toolkit's words where they mean the same."""
    from gateway.metrics.names import PORT

    web = parser.add_argument_group("web")
    web.add_argument(
        "--web.listen-address",
        dest="listen",
        action="append",
        metavar="HOST:PORT",
        help=f"where to listen; may be repeated (default: 127.0.0.1:{PORT})",
    )
    web.add_argument(
        "--web.telemetry-path", dest="path", default="/metrics", metavar="PATH", help="(default: /metrics)"
    )
    web.add_argument(
        "--web.config.file", dest="web_config", type=Path, metavar="FILE", help="TLS, client certificates, passwords"
    )
    file = parser.add_argument_group("without a web server")
    file.add_argument("--textfile", type=Path, metavar="FILE.prom", help="for node_exporter's textfile collector")
    file.add_argument(
        "--interval", type=float, default=15.0, metavar="S", help="seconds between two textfiles (default: 15)"
    )
    file.add_argument("--once", action="store_true", help="one scrape, to --textfile or stdout, and end")
    file.add_argument("-J", "--json", nargs="?", const="-", metavar="FILE", help="that scrape as JSON; implies --once")
    what = parser.add_argument_group("what is told")
    what.add_argument("--collector.sa", dest="per_sa", action="store_true", help="series for each SA, by SPI, too")
    what.add_argument("--vici", metavar="SOCKET", help="strongSwan's socket (default: /run/charon.vici where it is)")
    what.add_argument(
        "--results", type=Path, metavar="DIR", help="saved measurements (default: where gwbench iperf keeps them)"
    )
    what.add_argument("--user", default="nobody", help="whom root becomes (default: nobody)")


def run(arguments: argparse.Namespace) -> int:
    """Serves until it is interrupted."""
    from gateway.appliance import exporter

    if arguments.interval <= 0:
        raise UnusableError("--interval is at least a fraction of a second")
    exporter.run(
        exporter.Options(
            listen=tuple(arguments.listen or ()),
            path=arguments.path,
            web_config=arguments.web_config,
            textfile=arguments.textfile,
            interval_s=arguments.interval,
            once=arguments.once or arguments.json is not None,
            json_to=arguments.json,
            per_sa=arguments.per_sa,
            vici=arguments.vici,
            results=arguments.results,
            user=arguments.user,
        )
    )
    return EXIT_OK
