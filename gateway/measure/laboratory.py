"""``gwbench iperf --lab`` as a whole: plan, laboratory, rounds, result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from dataplane import find_suite
from gateway import bound, environment, result, waterfall
from gateway.cleanup import CleanupStack
from gateway.lab import userns
from gateway.lab.topology import OUTER_MTU, Laboratory
from gateway.load.rate import offered_mbit_per_s
from gateway.measure import endtoend, kernel_verdict, rfc6349
from gateway.measure.endtoend import Options
from gateway.measure.machines import LabMachines
from gateway.measure.sample import Sample
from gateway.measure.split import integrity_share
from gateway.node.base import LoopCounters, NodeCounters
from gateway.output import table
from gateway.output.console import Console
from gateway.output.progress import Lines
from gateway.rounds import Case, Taken
from gateway.stats import median_ratio

__all__ = ["Options", "run"]

Measured = Mapping[Case, Sequence[Taken[Sample]]]


def run(
    options: Options, console: Console, *, command: Sequence[str], json_to: TextIO | Path | None, save: bool
) -> bool:
    """Measures, prints, writes. Returns whether every number adds up. Raises GwbenchError, Interrupted."""
    with CleanupStack() as cleanup:
        checked = endtoend.plan(options)
        recorded = environment.record()
        select = lambda driver: None  # noqa: E731
        if options.drivers:
            from gateway.node.priorities import Priorities

            priorities = Priorities(options.drivers, system_wide=options.system_wide)
            cleanup.push(priorities.close, "the kernel's driver priorities")
            select = priorities.select
        lab = Laboratory(options.topology, options.offload)
        cleanup.push(lab.close, "the laboratory")
        machines, progress = of_lab(lab, options, select), Lines(console, options.rounds)
        extra: dict[str, Any] = {}
        measured: Measured
        if options.rfc6349:
            measured, extra["rfc6349"] = rfc6349.run(machines, (lab.client, lab.server), options, checked, progress)
        else:
            measured = endtoend.run(machines, options, checked, progress)
        document = result.document(
            result.recorded_command(command),
            environment.record(recorded),
            _lab(options),
            measured,
            checked.notes,
            verdict(measured),
        )
        document |= extra
        if options.waterfall:
            document["waterfall"] = waterfall.describe(document["results"])
        console.print()
        for line in table.render(document):
            console.print(line)
        deliver(document, console, json_to, save)
    return bool(document["valid"])


def of_lab(
    lab: Laboratory, options: Options, select_driver: Callable[[str], None] = lambda driver: None
) -> LabMachines:
    """The machines that the measurement sees."""
    config = {
        "offload": options.dataplane_offload,
        "encap": options.encap,
        "outer": options.outer,
        "udp_checksum": options.udp_checksum,
        "queues": options.queues,
    }
    return LabMachines(lab, config, options.gwnodes, select_driver)


def _lab(options: Options) -> dict[str, Any]:
    return {
        "topology": options.topology,
        "offload": options.offload,
        "dataplane_offload": list(options.dataplane_offload),
        "encap": options.encap,
        "outer": options.outer,
        "udp_checksum": options.udp_checksum,
        "queues": options.queues,
        "outer_mtu_bytes": OUTER_MTU,
        "rootless": userns.entered(),
        "dataplanes": list(options.dataplanes),
        "drivers": list(options.drivers),
        "gwnodes": {site: list(command) for site, command in options.gwnodes.items()},
    }


def deliver(
    document: Mapping[str, Any], console: Console, json_to: TextIO | Path | None, save: bool, name: str = "iperf"
) -> None:
    """Saves under ``name``, and writes where --json says."""
    if save:
        try:
            console.print(f"Saved: {result.save(document, name)}")
        except OSError as error:
            console.print(f"Not saved: {error.filename or result.results_directory()}: {error.strerror}")
    if isinstance(json_to, Path):
        result.write(document, json_to)
    elif json_to is not None:
        json_to.write(result.to_json(document))
        json_to.flush()


def verdict(measured: Measured, *, where: str = bound.HERE, split: bool = True, then: str = bound.THEN) -> list[str]:
    """Of the first suite's accelerated candidate (generic where there is none); empty without a tunnel.

    where: the machine that was measured. split: whether this one can tell how its time divides. then: what comes next.
    """
    candidates = [
        (case, taken)
        for role in ("accelerated", "generic", "null")
        for case, taken in measured.items()
        if case.role == role and case.dataplane == "user" and taken
    ]
    kernel = kernel_verdict.lines(measured)
    if not candidates or all(case.dataplane == "kernel" for case, _ in candidates):
        return kernel
    case, taken = candidates[0]
    plain = next((t for c, t in measured.items() if c.role == "plain"), ())
    return [*bound.verdict(evidence(case, taken, plain, candidates, split), where, then), *kernel]


def evidence(
    case: Case,
    taken: Sequence[Taken[Sample]],
    plain: Sequence[Taken[Sample]],
    others: Sequence[tuple[Case, Sequence[Taken[Sample]]]],
    split: bool = True,
) -> bound.Evidence:
    """Sums over the rounds of one candidate."""
    samples = [t.value for t in taken]
    wall_s = sum(s.wall_s for s in samples) or 1.0
    busy_wall = sum(s.busy.wall_s for s in samples) or 1.0
    suite = find_suite(case.suite)
    gateways = []
    for name in samples[0].gateways:
        gateways.append(_busiest_thread(name, [sample.gateways[name] for sample in samples], wall_s))
    return bound.Evidence(
        suite=case.suite,
        cipher=suite.enc_alg,
        integrity=suite.auth_alg,
        mbit_per_s=_median_rate(taken),
        share_of_plain=median_ratio(_rates(taken), _rates(plain)),
        gateways=tuple(gateways),
        idle=sum(s.busy.idle_s for s in samples) / busy_wall,
        softirq=sum(s.busy.softirq_s for s in samples) / busy_wall,
        cores=max(1, round(busy_wall / wall_s)),
        offered_mbit_per_s=offered_mbit_per_s(samples[0].command),
        others=sum((s.noise.foreign_cores + s.noise.steal_cores) * s.wall_s for s in samples) / wall_s,
        integrity_share=integrity_share(suite, samples[0].implementation, samples[0].inner_mtu) if split else None,
        alternatives={c.suite: _median_rate(t) for c, t in others if c.role == case.role},
    )


def _busiest_thread(name: str, parts: Sequence[NodeCounters], wall_s: float) -> bound.Gateway:
    """Of one gateway over all rounds. The only loop's time is its thread's, which the kernel counts, too."""
    all_share = sum(part.cpu_ns for part in parts) / 1e9 / wall_s
    threads: list[Sequence[NodeCounters | LoopCounters]] = [parts]
    if all(len(part.loops) > 1 for part in parts):
        threads = list(zip(*(part.loops for part in parts), strict=True))
    busiest = max(threads, key=lambda thread: sum(part.cpu_ns for part in thread))
    cycles: dict[str, int] = {}
    for part in busiest:
        for stage, value in part.stage_cycles.items():
            cycles[stage] = cycles.get(stage, 0) + value
    share = sum(part.cpu_ns for part in busiest) / 1e9 / wall_s
    return bound.Gateway(name, share, cycles, all_share, len(threads))


def _rates(taken: Sequence[Taken[Sample]]) -> dict[int, float]:
    return {t.round: sum(f.mbit_per_s for f in t.value.load.flows) for t in taken}


def _median_rate(taken: Sequence[Taken[Sample]]) -> float:
    rates = sorted(_rates(taken).values())
    return (rates[(len(rates) - 1) // 2] + rates[len(rates) // 2]) / 2
