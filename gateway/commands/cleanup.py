"""Undoes what a lost session left on a router: addresses, routes, rules, sysctls, programs in /tmp.

Without HOST: on this machine, priorities of the kernel's crypto drivers (iperf --driver).

As a rule nothing is left: gwnode undoes everything by itself within seconds, even when it is killed. This is for what
even that could not undo, such as a power cut of one half.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from gateway.errors import EXIT_FAILED, EXIT_OK, UnusableError

EXAMPLE = "gwbench cleanup root@192.168.1.1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The router."""
    parser.add_argument("host", nargs="?", metavar="[USER@]HOST[:PORT]", help="the router, over ssh")
    parser.add_argument("--gwnode", default="", metavar="FILE", help="the binary for it (default: by its processor)")
    parser.add_argument("--remote-dir", default="/tmp", metavar="DIR", help="where gwnode goes there (default: /tmp)")
    parser.add_argument("--json", nargs="?", const="-", metavar="FILE", help="as JSON, to stdout without FILE")


def run(arguments: argparse.Namespace) -> int:
    """Prints what was undone."""
    if arguments.host:
        from gateway.peer.address import parse
        from gateway.peer.cleanup import clean

        lines, whole = clean(parse(arguments.host), arguments.gwnode, arguments.remote_dir)
    else:
        from gateway.node.priorities import restore_stale

        lines, whole = [f"put back the priority of {driver}" for driver in restore_stale()], True
        lines = lines or ["nothing was left here"]
    if arguments.json is not None:
        text = json.dumps({"schema": "gwbench-cleanup/1", "undone": lines, "complete": whole}, indent=2) + "\n"
        if arguments.json == "-":
            sys.stdout.write(text)
        else:
            try:
                Path(arguments.json).write_text(text, encoding="utf-8")
            except OSError as error:
                raise UnusableError(f"cannot write {arguments.json}: {error.strerror}") from None
    if arguments.json != "-":
        for line in lines:
            print(line)
    return EXIT_OK if whole else EXIT_FAILED
