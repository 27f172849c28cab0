"""``gwbench ndr --lab`` as a whole: plan, laboratory, every frame size and direction, result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from gateway import environment, result
from gateway.cleanup import CleanupStack
from gateway.lab import makers, userns
from gateway.lab.tester import Tester, TesterConfig
from gateway.lab.topology import OUTER_MTU, Laboratory
from gateway.lab.tunnel import inner_mtu_of
from gateway.measure import ndr
from gateway.measure.laboratory import deliver
from gateway.output import ndr as output
from gateway.output.console import Console
from gateway.search import check_library
from gateway.suites import check_implementation, parse_suites


@dataclass(frozen=True, slots=True)
class Options:
    """What ``gwbench ndr`` was asked."""

    suites: tuple[str, ...]
    implementations: tuple[str, ...]
    frames: tuple[str, ...]
    directions: tuple[str, ...]
    plan: ndr.Plan
    train: int = 64
    offload: str = "default"
    txqueuelen: int = 10000
    gwnodes: makers.Commands = field(default_factory=dict)


def run(
    options: Options, console: Console, *, command: Sequence[str], json_to: TextIO | Path | None, save: bool
) -> bool:
    """Measures, prints, writes. Returns whether every number adds up. Raises GwbenchError, Interrupted."""
    suites = parse_suites(",".join(options.suites))
    for wish in options.implementations:
        check_implementation(suites, wish)
    for suite in suites:
        for word in options.frames:
            ndr.frame(word, inner_mtu_of(suite.name))  # before anything is made
    check_library()
    rows: list[dict[str, Any]] = []
    lab_facts: dict[str, Any] = {}
    notes: list[str] = []
    with CleanupStack() as cleanup:
        recorded = environment.record()
        for suite in suites:
            for wish in options.implementations:
                _one(options, suite.name, wish, console, cleanup, rows, lab_facts, notes)
        document = {
            "schema": result.SCHEMA,
            "test": "ndr",
            "command": result.recorded_command(command),
            "environment": environment.record(recorded),
            "lab": lab_facts,
            "results": rows,
            "valid": all(row["valid"] for row in rows),
            "notes": list(dict.fromkeys(notes)),
            "verdict": output.verdict(rows),
        }
        console.print()
        for line in output.render(document):
            console.print(line)
        deliver(document, console, json_to, save, "ndr")
    return bool(document["valid"])


def _one(
    options: Options,
    suite: str,
    wish: str,
    console: Console,
    cleanup: CleanupStack,
    rows: list[dict[str, Any]],
    facts: dict[str, Any],
    notes: list[str],
) -> None:
    lab = Laboratory("client", options.offload)
    close_lab = cleanup.push(lab.close, "the laboratory")
    config = TesterConfig(suite, wish, offload=options.offload, txqueuelen=options.txqueuelen, gwnodes=options.gwnodes)
    tester = Tester(lab, config)
    close_tester = cleanup.push(tester.close, "the testers and the gateway")
    console.print(console.bold(f"{suite}: {tester.implementation.replace('/gwbench', '')}"))
    facts |= _facts(options, tester)
    for word in options.frames:
        frame = ndr.frame(word, tester.inner_mtu)
        if frame.note:
            notes.append(frame.note)
        for direction in options.directions:
            row = ndr.measure(tester, frame, direction, options.plan, output.Lines(console), train=options.train)
            rows.append(output.as_dict(row, suite, tester.implementation))
    tester.close()
    cleanup.discard(close_tester)
    lab.close()
    cleanup.discard(close_lab)


def _facts(options: Options, tester: Tester) -> Mapping[str, Any]:
    effort = options.plan.effort
    return {
        "topology": "tester - gateway - tester",
        "offload": options.offload,
        "dataplane_offload": list(tester.path.offload) if tester.path else [],
        "encap": "udp",
        "outer": "ipv4",
        "outer_mtu_bytes": OUTER_MTU,
        "inner_mtu_bytes": tester.inner_mtu,
        "txqueuelen": options.txqueuelen,
        "train": options.train,
        "cores": dict(tester.cores),
        "rootless": userns.entered(),
        "gwnodes": {site: list(command) for site, command in options.gwnodes.items()},
        "effort": {
            "first_trial_s": effort.first_s,
            "last_trial_s": effort.last_s,
            "trials_sum_s": effort.sum_s,
            "search_limit_s": effort.limit_s,
            "rounds": options.plan.rounds,
        },
    }
