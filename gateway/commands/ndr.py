"""Non-drop and partial-drop rate of the gateway by frame size: packets a second that it seals, opens, or both.

Our own paced generators send plain UDP, or ESP that is sealed as it goes; MLRsearch looks for the highest rate without
loss (NDR) and with at most 0.5 % (PDR). A frame size and direction takes less than a minute. Frame sizes are those of
Ethernet with FCS, on the plain side.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TextIO

from gateway.errors import EXIT_FAILED, EXIT_OK, UnusableError

EXAMPLE = "gwbench ndr --lab --frames 64,512,1408,imix --latency --json ndr.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What is measured, how hard, output."""
    parser.add_argument("--lab", action="store_true", help="in namespaces of this machine (the only place so far)")
    parser.add_argument("--suite", default="aes128gcm16", metavar="A,B", help="ESP suites (default: aes128gcm16)")
    parser.add_argument(
        "--impl", default="auto", metavar="A,B", help="implementations of the gateway: a tag or drivers (default: auto)"
    )
    parser.add_argument(
        "--frames",
        default="64,512,1408,imix",
        metavar="N,N",
        help="Ethernet frame sizes, imix (default: 64,512,1408,imix)",
    )
    parser.add_argument(
        "--direction",
        default="seal,open",
        metavar="A,B",
        help="seal (plain UDP in, ESP out), open (ESP in, plain UDP out), both (default: seal,open)",
    )
    parser.add_argument(
        "--rounds", type=int, default=1, metavar="N", help="searches of each, for a spread (default: 1)"
    )
    parser.add_argument("--latency", action="store_true", help="percentiles at 0, 10, 50 and 90 %% of PDR")
    parser.add_argument(
        "--reorder",
        metavar="N,N",
        help="instead: ESP that comes N packets late, and with losses, against --windows: what the replay window drops",
    )
    parser.add_argument(
        "--windows", default="32,64,512,4096", metavar="N,N", help="of --reorder (default: 32,64,512,4096)"
    )
    parser.add_argument("--no-back-to-back", action="store_true", help="leaves out the longest burst (RFC 9004)")
    parser.add_argument(
        "-t", "--time", type=float, default=38, metavar="S", help="a search ends after so many seconds (default: 38)"
    )
    parser.add_argument(
        "--trial", type=float, default=1.0, metavar="S", help="seconds of the trials that decide (default: 1)"
    )
    parser.add_argument(
        "--train",
        type=int,
        default=64,
        metavar="N",
        help="packets that are due together leave as one train (UDP_SEGMENT) of at most N; 1: each by itself, as from "
        "a network card, which costs the generator most of its rate (default: 64)",
    )
    parser.add_argument(
        "--offload", choices=("default", "wire", "off"), default="default", help="of the veths, as for gwbench iperf"
    )
    parser.add_argument(
        "--txqueuelen", type=int, default=10000, metavar="N", help="packets that the TUN's queue holds (default: 10000)"
    )
    parser.add_argument(
        "--node", action="append", default=[], metavar="KIND", help="worker or gwnode, the routers' binary"
    )
    parser.add_argument(
        "-J", "--json", nargs="?", const="-", metavar="FILE", help="the result as JSON, to stdout without FILE"
    )
    parser.add_argument("--no-save", action="store_true", help="keeps no copy under ~/.local/state/gwbench/results")


def run(arguments: argparse.Namespace) -> int:
    """Checks, measures, prints."""
    from gateway.output.document import check_writable
    from gateway.words import words

    directions = words(arguments.direction, "direction", "seal, open, both")
    frames = words(arguments.frames, "frame size", EXAMPLE)
    for word in directions:
        if word not in ("seal", "open", "both"):
            raise UnusableError(f"no direction is called '{word}'", "there are: seal, open, both")
    for name, value, least, most in (
        ("--rounds", arguments.rounds, 1, 100),
        ("--time", arguments.time, 1, 3600),
        ("--trial", arguments.trial, 0.1, 60),
        ("--train", arguments.train, 1, 64),
        ("--txqueuelen", arguments.txqueuelen, 1, 1_000_000),
    ):
        if not least <= value <= most:
            raise UnusableError(f"{name} {value:g} is not between {least:g} and {most:g}")
    check_writable(arguments.json)
    if arguments.reorder is not None:
        _numbers(arguments.reorder, "--reorder", 1, 1 << 20)
        _numbers(arguments.windows, "--windows", 32, 65536)
    # Before anything is imported that could start a thread.
    from gateway.lab import userns

    userns.enter_if_needed()

    if arguments.reorder is not None:
        return _reorder(arguments)
    from gateway.lab import makers
    from gateway.measure import ndr, ndr_lab
    from gateway.output.console import human
    from gateway.search import Effort

    usual = Effort()
    options = ndr_lab.Options(
        suites=words(arguments.suite, "suite"),
        implementations=words(arguments.impl, "implementation", "--impl auto,generic"),
        frames=frames,
        directions=directions,
        plan=ndr.Plan(
            Effort(
                first_s=min(usual.first_s, arguments.trial),
                last_s=arguments.trial,
                sum_s=usual.sum_s * arguments.trial,
                limit_s=arguments.time,
            ),
            rounds=arguments.rounds,
            back_to_back=not arguments.no_back_to_back,
            latency=arguments.latency,
        ),
        train=arguments.train,
        offload=arguments.offload,
        txqueuelen=arguments.txqueuelen,
        gwnodes=makers.parse(arguments.node, "client"),
    )
    valid = ndr_lab.run(
        options,
        human(arguments.json == "-"),
        command=sys.argv,
        json_to=_json_to(arguments),
        save=not arguments.no_save,
    )
    return EXIT_OK if valid else EXIT_FAILED


def _numbers(text: str, name: str, least: int, most: int) -> list[int]:
    try:
        values = list(dict.fromkeys(int(word) for word in text.split(",") if word.strip()))
    except ValueError:
        raise UnusableError(f"{name} {text} is no list of numbers", f"{name} 64,512") from None
    if not values or min(values) < least or max(values) > most:
        raise UnusableError(f"{name} {text}: numbers from {least} to {most}")
    return values


def _reorder(arguments: argparse.Namespace) -> int:
    from gateway.measure import reorder_lab
    from gateway.output.console import human

    valid = reorder_lab.run(
        arguments.suite,
        _numbers(arguments.windows, "--windows", 32, 65536),
        _numbers(arguments.reorder, "--reorder", 1, 1 << 20),
        human(arguments.json == "-"),
        command=sys.argv,
        json_to=_json_to(arguments),
        save=not arguments.no_save,
    )
    return EXIT_OK if valid else EXIT_FAILED


def _json_to(arguments: argparse.Namespace) -> TextIO | Path | None:
    return None if arguments.json is None else sys.stdout if arguments.json == "-" else Path(arguments.json)
