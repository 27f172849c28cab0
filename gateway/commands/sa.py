"""The running gateway's SAs: listed, rekeyed before their time, or removed. Keys are never shown."""

from __future__ import annotations

import argparse
from pathlib import Path

from gateway.errors import EXIT_OK

EXAMPLE = "gwbench sa rekey office"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to do, and with which tunnel."""
    parser.add_argument(
        "action", choices=("list", "rekey", "del"), help="del: the tunnel stays without SAs until it is rekeyed"
    )
    parser.add_argument("tunnel", nargs="?", default="", metavar="TUNNEL", help="by name, or all")
    parser.add_argument("--socket", type=Path, metavar="FILE", help="control socket, where several gateways run")
    parser.add_argument("-J", "--json", nargs="?", const="-", metavar="FILE", help="as JSON, to stdout without FILE")


def run(arguments: argparse.Namespace) -> int:
    """Asks the gateway."""
    from gateway.appliance import client
    from gateway.output import appliance, document

    if arguments.action == "list":
        sas = client.sas(arguments.socket, arguments.tunnel)
        result: dict[str, object] = {"schema": "gwbench-sas/1", "sas": sas}
        lines = appliance.sa_lines(sas)
    else:
        pairs = client.change(arguments.socket, arguments.action, arguments.tunnel)
        result = {"schema": "gwbench-sas/1", "pairs": pairs}
        lines = [f"{pairs} pair{'s' if pairs != 1 else ''} {'rekeyed' if arguments.action == 'rekey' else 'removed'}"]
    if arguments.json is not None:
        document.write(arguments.json, result)
    if arguments.json != "-":
        print("\n".join(lines))
    return EXIT_OK
