"""Puts gwnode on a router for good, with a service that tells Prometheus; the same again upgrades it in place.

Files are shown before they are written. The configuration (/etc/config/gwbench on OpenWrt) is yours and is kept.
"""

from __future__ import annotations

import argparse
import sys

from gateway.errors import EXIT_OK, UnusableError

EXAMPLE = "gwbench deploy root@192.168.1.1"


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"'{text}' is not a port")
    return int(text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """HOST and what is there to choose."""
    parser.add_argument("host", metavar="[USER@]HOST[:PORT]", help="the router, as ssh reaches it")
    parser.add_argument("--remove", action="store_true", help="stop the service and delete every file of it")
    parser.add_argument("--dry-run", action="store_true", help="show what would be done, and change nothing")
    parser.add_argument("--gwnode", default="", metavar="FILE", help="the static binary, instead of make cross's")
    parser.add_argument(
        "--metrics",
        choices=("auto", "port", "textfile", "both"),
        default="auto",
        help="of a new installation; auto: a file where prometheus-node-exporter-lua is installed, else a port",
    )
    parser.add_argument("--listen", default="loopback", metavar="NETWORK", help="a network or address (loopback)")
    parser.add_argument("--port", type=_port, default=10795, metavar="PORT", help="10795")
    parser.add_argument("-J", "--json", nargs="?", const="-", metavar="FILE", help="as JSON, to stdout without FILE")


def run(arguments: argparse.Namespace) -> int:
    """Looks, says what will be done, does it."""
    from gateway.node.ssh import Ssh
    from gateway.output import console, document
    from gateway.peer import address, deploy, targets

    if not set(arguments.listen) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-"):
        raise UnusableError(f"'{arguments.listen}' is neither a network nor an address", "--listen lan")
    document.check_writable(arguments.json)
    out = console.human(arguments.json == "-")
    lines: list[str] = []

    def say(line: str) -> None:
        lines.append(line)
        out.print(line)

    ssh = Ssh(address.parse(arguments.host))
    try:
        facts = deploy.look(ssh)
        machine = deploy.Machine(ssh, facts)
        options = deploy.Options(arguments.metrics, arguments.listen, arguments.port)
        found = None if arguments.remove else targets.find(facts, arguments.gwnode)
        kind = deploy.kind_of(facts, found.path.read_bytes() if found else b"", options)
        out.print(f"{facts.name}: {facts.model or facts.machine}, {facts.os or facts.kernel}")
        if found:
            deploy.check(facts, kind, found)
        if arguments.dry_run:
            for file in kind.files:
                out.print(f"would {'remove' if arguments.remove else 'write'} {file.path}")
            out.print(f"would run: {kind.stop if arguments.remove else kind.start}")
        elif arguments.remove:
            if not deploy.remove(machine, kind, say):
                say("nothing was installed")
        else:
            deploy.install(machine, kind, say)
    finally:
        ssh.close()
    if arguments.json is not None:
        document.write(
            arguments.json,
            {
                "schema": "gwbench-deploy/1",
                "command": sys.argv,
                "host": facts.name,
                "service": kind.name,
                "files": [file.path for file in kind.files],
                "dry_run": arguments.dry_run,
                "removed": arguments.remove,
                "steps": lines,
            },
        )
    return EXIT_OK
