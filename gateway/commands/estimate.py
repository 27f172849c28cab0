"""Is this CPU enough? And what would another one do? From a cost model, with its error.

With --mbit: from a cost file (`gwbench esp --cost FILE`), or measured now where none is named. With --target: estimated
from instruction counts; for the WDR4900 without --mbit, the end-to-end factor of the published test.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.errors import EXIT_OK, UnusableError

if TYPE_CHECKING:
    from gateway.costmodel import CostFile

EXAMPLE = "gwbench estimate --mbit 1000 --frame 1400 --suite aes128gcm16"

TARGETS = ("wdr4900", "beaglebone", "rpi3", "hikey960")


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value


def _frame(text: str) -> int:
    value = int(text)
    if not 38 <= value <= 9018:
        raise argparse.ArgumentTypeError(f"{text} is not between 38 and 9018")
    return value


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The load, the machine, where costs come from."""
    parser.add_argument("--mbit", type=_positive, metavar="N", help="the rate that is wanted, Mbit/s of inner packets")
    parser.add_argument("--frame", type=_frame, default=1400, metavar="N", help="Ethernet frame size (default: 1400)")
    parser.add_argument(
        "--suite", default="", metavar="A,B", help="(default: all of the cost file; aes256-sha256 for a target)"
    )
    parser.add_argument("--legacy", action="store_true", help="takes legacy suites (SHA-1) too")
    parser.add_argument("--cost", metavar="FILE", help="schema gwbench-cost/1 (default: measures this machine, 3 s)")
    parser.add_argument(
        "--io-s-per-gb",
        type=_positive,
        metavar="S",
        help="CPU seconds of packet I/O per GB: the null row of gwbench iperf",
    )
    parser.add_argument(
        "--check",
        choices=("seal", "open"),
        help="predicts this machine's laboratory from a run without cryptography and costs in memory, then measures it",
    )
    parser.add_argument("--target", choices=TARGETS, help="another processor, from instruction counts")
    parser.add_argument(
        "--mhz", type=_positive, metavar="N", help="its clock (default: 800 for wdr4900, 1200 for rpi3)"
    )
    parser.add_argument(
        "--from-icount",
        nargs="?",
        const="",
        metavar="FILE",
        help="counts: FILE, or build/icount.json (without the option: those shipped with gwbench)",
    )
    parser.add_argument("-J", "--json", nargs="?", const="-", metavar="FILE", help="as JSON, to stdout without FILE")


def run(arguments: argparse.Namespace) -> int:
    """Chooses between the three questions."""
    from gateway.output.console import human
    from gateway.output.document import check_writable, write

    if arguments.check:
        return _check(arguments)
    if arguments.target and arguments.cost:
        raise UnusableError("--target and --cost are two sources of costs", "leave one away")
    if arguments.mbit is None and arguments.target != "wdr4900":
        if arguments.target:
            raise UnusableError(
                f"--target {arguments.target} needs the rate that is wanted",
                "--mbit 100, for example; only the WDR4900's published test stands without one",
            )
        raise UnusableError("nothing is asked", "--mbit 1000, or --target wdr4900")
    check_writable(arguments.json)
    if arguments.target and arguments.mbit is None:
        lines, document = _wdr4900(arguments)
    else:
        lines, document = _enough(arguments)
    console = human(arguments.json == "-")
    for line in lines:
        console.print(line)
    if arguments.json is not None:
        write(arguments.json, {"schema": "gwbench-estimate/1", "command": sys.argv, **document})
    return EXIT_OK


def _check(arguments: argparse.Namespace) -> int:
    for name, given in (("--target", arguments.target), ("--cost", arguments.cost), ("--mbit", arguments.mbit)):
        if given:
            raise UnusableError(f"--check measures this machine, without {name}")
    from gateway.output.document import check_writable, write

    check_writable(arguments.json)
    names = tuple(filter(None, arguments.suite.split(",")))
    # Before anything is imported that could start a thread.
    from gateway.lab import userns

    userns.enter_if_needed()
    import contextlib

    from gateway import environment, result
    from gateway.measure import calibrate
    from gateway.measure.faults import end_progress, progress
    from gateway.output.console import human
    from gateway.selection import select
    from gateway.suites import parse_suites

    suites = [suite.name for suite in parse_suites(",".join(names or calibrate.SUITES), legacy=arguments.legacy)]
    before = environment.record()
    with contextlib.ExitStack() as cleanup:
        select()
        try:
            rows = calibrate.measure(suites, calibrate.FRAMES, arguments.check, cleanup, progress())
        finally:
            end_progress()
    console = human(arguments.json == "-")
    for line in calibrate.render(rows):
        console.print(line)
    if arguments.json is not None:
        document = {
            "schema": "gwbench-calibration/1",
            "command": result.recorded_command(sys.argv),
            "environment": environment.record(before),
            "rows": [row.as_dict() for row in rows],
        }
        write(arguments.json, document)
    return EXIT_OK


def _suite_names(arguments: argparse.Namespace, default: str) -> tuple[str, ...]:
    from gateway.suites import parse_suites

    return tuple(suite.name for suite in parse_suites(arguments.suite or default, legacy=arguments.legacy))


def _wdr4900(arguments: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    from gateway.measure import estimate, icount
    from gateway.output import estimate as output

    names = _suite_names(arguments, "aes256-sha256")
    if len(names) != 1:
        raise UnusableError("one --suite at a time for the published test")
    counts = icount.load(arguments.from_icount)
    try:
        result = estimate.wdr4900(counts, names[0])
    except ValueError as error:
        raise UnusableError(f"{names[0]}: {error}") from None
    p = result.prediction
    document = {
        "target": "wdr4900",
        "suite": names[0],
        "estimate": True,
        "source": counts.source,
        "implementation": result.best.implementation,
        "generic": result.base.implementation,
        "predicted_factor": p.factor,
        "predicted_factor_error": p.factor * estimate.FACTOR_ERROR,
        "crypto_only_factor": p.crypto_only,
        "published_factor": result.published_factor,
        "unexplained": result.published_factor - p.factor,
        "outside_crypto_share": p.outside_share,
        "cycles_per_goodput_byte": {
            "total": p.total_per_byte,
            "generic": p.base_per_byte,
            "accelerated": p.other_per_byte,
        },
    }
    return output.wdr4900(result, names[0], counts.source), document


def _enough(arguments: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    from gateway import costmodel
    from gateway.output import estimate as output

    source = ""
    if arguments.target:
        file, source = _target_file(arguments)
    elif arguments.cost:
        file = _read(arguments.cost)
    else:
        file = _measure_here(_suite_names(arguments, "aes128gcm16,aes256-sha256"))
    suites = _suite_names(arguments, "") if arguments.suite else tuple(dict.fromkeys(r.suite for r in file.rows))
    rows = [best for suite in suites for op in ("seal", "open") if (best := file.best(suite, op))]
    missing = [suite for suite in suites if not any(row.suite == suite for row in rows)]
    if missing or not rows:
        have = ", ".join(dict.fromkeys(row.suite for row in file.rows)) or "nothing"
        raise UnusableError(f"the cost file has no {', '.join(missing) or 'rows'}", f"it has: {have}")
    inner = arguments.frame - costmodel.ETHERNET_BYTES
    io = arguments.io_s_per_gb or 0.0
    answers = []
    for row in rows:
        need = costmodel.need(row, file.clock_hz, arguments.mbit, inner, io)
        answers.append(
            {
                "suite": row.suite,
                "op": row.op,
                "implementation": row.implementation,
                "crypto_share": need.crypto_share,
                "io_share": need.io_share if io else None,
                "limit_mbit_per_s": need.limit_mbit_per_s,
                "packets_per_s": need.packets_per_s,
                "error": row.fit.worst,
                "enough": need.crypto_share + need.io_share <= 1,
            }
        )
    document = {
        "mbit_per_s": arguments.mbit,
        "frame_bytes": arguments.frame,
        "machine": {"cpu_model": file.cpu_model, "clock_hz": file.clock_hz},
        "estimate": bool(source),
        "source": source or arguments.cost or "measured now",
        "rows": answers,
    }
    return output.enough(rows, file, arguments.mbit, arguments.frame, io, source), document


def _read(path: str) -> CostFile:
    from gateway.costmodel import parse

    try:
        return parse(json.loads(Path(path).read_text(encoding="utf-8")))
    except OSError as error:
        raise UnusableError(f"cannot read {path}: {error.strerror}", "gwbench esp --cost FILE writes one") from None
    except ValueError as error:
        raise UnusableError(f"{path}: {error}", "gwbench esp --cost FILE writes one") from None


def _measure_here(suites: tuple[str, ...]) -> CostFile:
    from gateway.environment import machine
    from gateway.measure import esp
    from gateway.measure.faults import end_progress, progress
    from gateway.selection import select

    select()
    wanted = esp.cases(suites, ("auto",), (64, 256, 594, 1024, 1518), (32,))
    rows = esp.measure(wanted, 15, progress(), budget_s=4.0)
    end_progress()
    return esp.cost_file(rows, machine()["cpu_model"])


def _target_file(arguments: argparse.Namespace) -> tuple[CostFile, str]:
    from gateway.costmodel import CostFile
    from gateway.measure import estimate, icount, published

    mhz = arguments.mhz or estimate.CLOCK_MHZ.get(arguments.target)
    if mhz is None:
        raise UnusableError(f"the clock of {arguments.target} is not known here", "--mhz 1000, for example")
    counts = icount.load(arguments.from_icount)
    rows = tuple(
        estimate.cost_row(counts, arguments.target, suite) for suite in _suite_names(arguments, "aes256-sha256")
    )
    return CostFile(published.load(arguments.target).cpu, mhz * 1e6, "cycles", rows), counts.source
