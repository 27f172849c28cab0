"""What ESP leaves of the line's MTU: the inner MTU and TCP's MSS by suite, as the data path itself computes them.

Bytes. The inner MTU is of the tunnel's device; the MSS is what a host behind the gateway may announce without
timestamps (RFC 879, RFC 6691). Overhead is of the largest packet: what padding adds depends on the length.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from gateway.errors import EXIT_OK

EXAMPLE = "gwbench mtu --outer-mtu 1500,1492,1280 --suite aes256-sha256"

OUTER_MTUS = (1500, 1492)
"""Ethernet, and PPPoE on it (RFC 2516)."""
LARGEST = 65535


def _mtus(text: str) -> tuple[int, ...]:
    try:
        values = tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is no list of numbers") from None
    if not values or min(values) < 68 or max(values) > LARGEST:
        raise argparse.ArgumentTypeError(f"{text}: from 68 (RFC 791) to {LARGEST}")
    return values


def _choice(*allowed: str) -> Callable[[str], tuple[str, ...]]:
    def parse(text: str) -> tuple[str, ...]:
        chosen = tuple(dict.fromkeys(text.split(",")))
        if not set(chosen) <= set(allowed):
            raise argparse.ArgumentTypeError(f"{text}: there are {', '.join(allowed)}")
        return chosen

    return parse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Lines, suites and outer headers."""
    parser.add_argument(
        "--outer-mtu", type=_mtus, default=OUTER_MTUS, metavar="N,N", help="the line's, bytes (default: 1500,1492)"
    )
    parser.add_argument(
        "--suite", default="", metavar="A,B", help="(default: all but the laboratory's and legacy ones)"
    )
    parser.add_argument("--legacy", action="store_true", help="takes legacy suites (SHA-1) too")
    parser.add_argument("--mode", choices=("tunnel", "transport"), default="tunnel", help="(default: tunnel)")
    parser.add_argument(
        "--encap",
        type=_choice("udp", "esp"),
        default=("udp", "esp"),
        metavar="A,B",
        help="udp (RFC 3948), esp: bare, IP protocol 50 (default: both)",
    )
    parser.add_argument(
        "--outer",
        type=_choice("ipv4", "ipv6"),
        default=("ipv4", "ipv6"),
        metavar="A,B",
        help="IP version of the line (default: both)",
    )
    parser.add_argument("-J", "--json", nargs="?", const="-", metavar="FILE", help="as JSON, to stdout without FILE")


def run(arguments: argparse.Namespace) -> int:
    """Prints the table."""
    from gateway.measure import mtu
    from gateway.output import document
    from gateway.output.console import human
    from gateway.output.plain import table
    from gateway.suites import parse_suites, suite_names

    document.check_writable(arguments.json)
    names = arguments.suite or ",".join(suite_names(legacy=arguments.legacy))
    suites = [suite.name for suite in parse_suites(names, legacy=arguments.legacy)]
    rows = mtu.rows(suites, arguments.outer_mtu, arguments.encap, arguments.outer, arguments.mode)
    console = human(arguments.json == "-")
    for line in table(mtu.HEAD, [row.cells() for row in rows], left=2):
        console.print(line)
    if arguments.json is not None:
        found = [row.as_dict() for row in rows]
        document.write(arguments.json, {"schema": "gwbench-mtu/1", "command": sys.argv, "rows": found})
    return EXIT_OK
