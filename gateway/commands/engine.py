"""Handing packets to another thread, as drivers of crypto engines do: is the lock that sleeps better, or the one that
spins?

Throughput, latency and CPU time of each strategy per suite and packet size, then one strategy before and another after
in the form of cryptsetup benchmark, with the change per row and whether it exceeds noise. On a machine of one core a
worker thread gains nothing; inline shows what it costs.
"""

from __future__ import annotations

import argparse
import sys

from gateway.errors import EXIT_OK, UnusableError

EXAMPLE = "gwbench engine --before spin --after mutex --suite aes128-sha256,aes256-sha256 --bytes 64,1408"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """--suite, --impl, --bytes, --batch, --depth, --before, --after, --rounds, --json."""
    parser.add_argument("--suite", default="aes128-sha256,aes256-sha256", metavar="A,B", help="(default: %(default)s)")
    parser.add_argument("--impl", default="auto", metavar="NAME", help="a tag or driver names (default: auto)")
    parser.add_argument("--bytes", default="64,256,1408", metavar="N,N", help="inner packets (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=1, metavar="N", help="packets a job (default: 1)")
    parser.add_argument("--depth", type=int, default=16, metavar="N", help="jobs under way, 1 to 64 (default: 16)")
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="interleaved (default: 7)")
    parser.add_argument("--before", default="spin", metavar="A", help="inline, mutex, spin or ring (default: spin)")
    parser.add_argument("--after", default="mutex", metavar="A", help="(default: mutex)")
    parser.add_argument("-J", "--json", nargs="?", const="-", metavar="FILE", help="as JSON, to stdout without FILE")


def run(arguments: argparse.Namespace) -> int:
    """Measures and prints."""
    import dataplane
    from gateway import environment
    from gateway.measure import engine
    from gateway.measure.faults import end_progress, progress
    from gateway.output import engine as output
    from gateway.output.console import human
    from gateway.output.document import check_writable, write
    from gateway.suites import check_implementation, parse_suites

    for name in (arguments.before, arguments.after):
        if name not in dataplane.HANDOVERS:
            raise UnusableError(f"no strategy is called '{name}'", f"there are: {', '.join(dataplane.HANDOVERS)}")
    try:
        sizes = tuple(int(part) for part in arguments.bytes.split(","))
    except ValueError:
        raise UnusableError(f"--bytes {arguments.bytes} is no list of numbers", EXAMPLE) from None
    if min(sizes) < 20 or max(sizes) > 9000:
        raise UnusableError("packets have 20 to 9000 bytes", EXAMPLE)
    if arguments.depth not in (1, 2, 4, 8, 16, 32, 64) or not 1 <= arguments.batch <= 64 or arguments.rounds < 1:
        raise UnusableError("--depth is a power of two up to 64, --batch 1 to 64, --rounds at least 1", EXAMPLE)
    suites = parse_suites(arguments.suite)
    check_implementation(suites, arguments.impl)
    check_writable(arguments.json)
    options = engine.Options(
        suites=tuple(suite.name for suite in suites),
        implementation=arguments.impl,
        sizes=sizes,
        batch=arguments.batch,
        depth=arguments.depth,
        rounds=arguments.rounds,
    )
    try:
        results = engine.run(options, progress())
    finally:
        end_progress()
    comparison = None
    if arguments.before != arguments.after:
        comparison = engine.before_after(results, arguments.before, arguments.after)
    console = human(arguments.json == "-")
    for line in output.render(results, comparison):
        console.print(line)
    if arguments.json is not None:
        document = {"schema": "gwbench-engine/1", "command": sys.argv, "environment": environment.record()}
        write(arguments.json, {**document, **output.as_dict(results, comparison)})
    return EXIT_OK
