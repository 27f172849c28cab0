"""Seals and opens whole ESP packets in memory: packets per second by frame and batch size, and what a packet costs.

The model is cycles = a per packet + b per byte of the inner packet; --cost writes it to a file that `gwbench estimate`
reads. Packet I/O is not in it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from gateway.errors import EXIT_FAILED, EXIT_OK, UnusableError

EXAMPLE = "gwbench esp --suite aes128gcm16 --impl generic,auto --cost here.cost.json"


FRAME_RANGE = (38, 9018)
"""From an IPv4 header alone to a jumbo frame."""


def _numbers(low: int, high: int) -> Callable[[str], tuple[int, ...]]:
    def parse(text: str) -> tuple[int, ...]:
        try:
            values = tuple(dict.fromkeys(int(part) for part in text.split(",") if part.strip()))
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text} is no list of numbers") from None
        if not values or min(values) < low or max(values) > high:
            raise argparse.ArgumentTypeError(f"{text}: numbers from {low} to {high}")
        return values

    return parse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Suites, implementations, sizes, output."""
    parser.add_argument("--suite", default="aes128gcm16,aes256-sha256", metavar="A,B", help="(default: %(default)s)")
    parser.add_argument("--legacy", action="store_true", help="takes legacy suites (SHA-1) too")
    parser.add_argument(
        "--impl",
        default="auto",
        metavar="A,B",
        help="auto, accelerated, generic, tags, or drivers joined by + (default: auto)",
    )
    parser.add_argument(
        "--frames",
        type=_numbers(*FRAME_RANGE),
        default=(),
        metavar="N,N",
        help="Ethernet frame sizes (default: 64 to 1518, IMIX)",
    )
    parser.add_argument(
        "--batch", type=_numbers(1, 4096), default=(), metavar="N,N", help="packets at a time (default: 1,8,32,64)"
    )
    parser.add_argument(
        "--sas",
        type=_numbers(2, 100_000),
        metavar="N",
        help="instead: what N SAs cost, in random order and in runs of 8, against one",
    )
    parser.add_argument(
        "--sa-curve",
        nargs="?",
        const="1,10,100,1000,10000",
        metavar="N,N",
        help="instead: packets a second with so many SAs, and how fast these are set up (default: 1 to 10000)",
    )
    parser.add_argument(
        "--lab",
        action="store_true",
        help="with --sas: end to end as well, a gateway in namespaces that opens under N SAs",
    )
    parser.add_argument("--full", action="store_true", help="41 rounds, whatever it takes; says first how long")
    parser.add_argument("--cost", metavar="FILE", help="writes the model (schema gwbench-cost/1)")
    parser.add_argument(
        "-J",
        "--json",
        nargs="?",
        const="-",
        metavar="FILE",
        help="the model and all samples as JSON, to stdout without FILE",
    )


def _many_sas(arguments: argparse.Namespace) -> int:
    if arguments.lab:  # before anything else: the program starts again in its namespace
        from gateway.lab import userns

        userns.enter_if_needed()
    from gateway.environment import record
    from gateway.measure import many_sas, many_sas_lab
    from gateway.measure.faults import end_progress, progress
    from gateway.output.console import human
    from gateway.output.document import check_writable, write
    from gateway.selection import select
    from gateway.suites import parse_suites

    check_writable(arguments.json)
    if arguments.cost or arguments.frames or arguments.batch or len(arguments.sas) != 1:
        raise UnusableError("--sas takes one number, and neither --cost, --frames nor --batch with it")
    select()
    before = record()
    suites = [s.name for s in parse_suites(arguments.suite)]
    rounds = 21 if arguments.full else 7
    rows = many_sas.measure(suites, arguments.sas[0], rounds, progress())
    through = many_sas_lab.measure(suites, arguments.sas[0], rounds, progress()) if arguments.lab else []
    end_progress()
    console = human(arguments.json == "-")
    for line in many_sas.render(rows) + (many_sas_lab.render(through) if through else []):
        console.print(line)
    if arguments.json is not None:
        write(
            arguments.json,
            {
                "schema": "gwbench-sas/1",
                "command": sys.argv,
                "environment": record(before),
                "measured": [row.as_dict() for row in rows],
                "end_to_end": [row.as_dict() for row in through],
            },
        )
    return EXIT_FAILED if any(row.reasons for row in through) else EXIT_OK


def _sa_curve(arguments: argparse.Namespace) -> int:
    from gateway.environment import record
    from gateway.measure import sa_curve
    from gateway.measure.faults import end_progress, progress
    from gateway.output.console import human
    from gateway.output.document import check_writable, write
    from gateway.result import recorded_command
    from gateway.selection import select
    from gateway.suites import parse_suites

    if arguments.cost or arguments.frames or arguments.batch or arguments.sas or arguments.lab:
        raise UnusableError("--sa-curve takes neither --sas, --lab, --cost, --frames nor --batch with it")
    try:
        counts = _numbers(1, 100_000)(arguments.sa_curve)
    except argparse.ArgumentTypeError as error:
        raise UnusableError(f"--sa-curve {error}", "--sa-curve 1,100,10000") from None
    check_writable(arguments.json)
    suites = [s.name for s in parse_suites(arguments.suite, legacy=arguments.legacy)]
    select()
    before = record()
    try:
        rows = sa_curve.measure(suites, counts, 15 if arguments.full else 5, progress())
    finally:
        end_progress()
    console = human(arguments.json == "-")
    for line in sa_curve.render(rows):
        console.print(line)
    if arguments.json is not None:
        found = [row.as_dict() for row in rows]
        head = {"schema": "gwbench-sas/1", "command": recorded_command(sys.argv), "environment": record(before)}
        write(arguments.json, {**head, "curve": found})
    return EXIT_OK


def run(arguments: argparse.Namespace) -> int:
    """Measures, fits, prints."""
    if arguments.sa_curve is not None:
        return _sa_curve(arguments)
    if arguments.sas:
        return _many_sas(arguments)
    if arguments.lab:
        raise UnusableError("--lab goes with --sas", "end to end with one SA: gwbench iperf, gwbench ndr")
    from gateway.environment import record
    from gateway.measure import esp
    from gateway.measure.faults import end_progress, inject_from_environment, load_providers, out_of_selection, progress
    from gateway.output import esp as output
    from gateway.output.console import human
    from gateway.output.document import check_writable, write
    from gateway.selection import select
    from gateway.suites import check_implementation, implementation_choices, parse_suites
    from gateway.words import words

    check_writable(arguments.json)
    check_writable(arguments.cost)
    if arguments.cost == "-" and arguments.json == "-":
        raise UnusableError("stdout carries one document: --cost FILE, or --json FILE")
    load_providers()
    out = inject_from_environment()
    selection = select()
    suites = parse_suites(arguments.suite, legacy=arguments.legacy)
    wishes = words(arguments.impl, "implementation", implementation_choices())
    for wish in wishes:
        check_implementation(suites, wish)
    wanted = esp.cases([s.name for s in suites], wishes, arguments.frames or esp.FRAMES, arguments.batch or esp.BATCHES)
    rounds = 41 if arguments.full else esp.rounds_for(len(wanted))
    seconds = len(wanted) * rounds * (esp.SLICE_S + esp.OVERHEAD_S)
    print(f"{len(wanted)} measurements in {rounds} interleaved rounds, about {seconds:.1f} s", file=sys.stderr)
    before = record()
    rows = esp.measure(wanted, rounds, progress(), budget_s=None if arguments.full else esp.BUDGET_S)
    end_progress()
    environment = record(before)
    file = esp.cost_file(rows, environment["machine"]["cpu_model"])
    console = human("-" in (arguments.json, arguments.cost))
    for line in [*output.render(rows, file), *out_of_selection(out)]:
        console.print(line)
    if arguments.cost is not None:
        write(arguments.cost, file.as_dict())
    if arguments.json is not None:
        write(
            arguments.json,
            {
                **file.as_dict(),
                "command": sys.argv,
                "rounds": rounds,
                "environment": environment,
                "out_of_selection": out,
                "selection": {"source": selection.source, "preferred": selection.preferred},
                "measured": [row.as_dict() for row in rows],
            },
        )
    return EXIT_FAILED if out else EXIT_OK
