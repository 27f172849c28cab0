"""The running gateway's SAs: listed, rekeyed before their time, or removed. Keys are never shown.

With --from-kernel those of the kernel, whoever made them (strongSwan, libreswan, ip xfrm): nothing is changed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from gateway.errors import EXIT_OK, UnusableError

EXAMPLE = "gwbench sa rekey office"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to do, and with which tunnel."""
    parser.add_argument(
        "action",
        nargs="?",
        default="list",
        choices=("list", "rekey", "del"),
        help="del: the tunnel stays without SAs until it is rekeyed (default: list)",
    )
    parser.add_argument("--from-kernel", action="store_true", help="the kernel's SAs in this network namespace")
    parser.add_argument("tunnel", nargs="?", default="", metavar="TUNNEL", help="by name, or all")
    parser.add_argument("--socket", type=Path, metavar="FILE", help="control socket, where several gateways run")
    parser.add_argument("-J", "--json", nargs="?", const="-", metavar="FILE", help="as JSON, to stdout without FILE")


def run(arguments: argparse.Namespace) -> int:
    """Asks the gateway."""
    if arguments.from_kernel:
        return _from_kernel(arguments)
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


def _from_kernel(arguments: argparse.Namespace) -> int:
    if arguments.action != "list" or arguments.tunnel:
        raise UnusableError(
            "the kernel's SAs belong to whoever made them: they are only listed", "gwbench sa --from-kernel"
        )
    from gateway.measure import existing
    from gateway.output import document
    from gateway.output import existing as output

    sas = existing.kernel_sas()
    if arguments.json is not None:
        document.write(arguments.json, {"schema": "gwbench-sas/1", "sas": output.sas_as_dicts(sas)})
    if arguments.json != "-":
        print("\n".join(output.sa_lines(sas)))
    return EXIT_OK
