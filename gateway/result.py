"""The result file, schema ``gwbench/1``: one JSON document that is understood a year later.

Top level: ``schema, command, environment, results[], ratios`` and, besides, ``lab``, ``notes``, ``verdict``. Rows are
candidates in one direction; raw samples are kept in round order. What was not measured is null, never 0.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gateway import noise
from gateway.errors import UnusableError
from gateway.load.iperf3_parse import Flow
from gateway.measure.sample import Sample
from gateway.node.base import NodeCounters
from gateway.rounds import Case, Taken
from gateway.stats import median_ratio, summary_or_none

SCHEMA = "gwbench/1"

Measured = Mapping[Case, Sequence[Taken[Sample]]]

_SECRET = re.compile(r"(?i)(--?[\w-]*(?:key|secret|password|psk|token)[\w-]*)(=.*)?$")


def recorded_command(argv: Sequence[str]) -> list[str]:
    """The command line without anything that could be a secret, and without the installation's path."""
    words: list[str] = []
    hide_next = False
    for i, word in enumerate(argv):
        if hide_next:
            words.append("...")
            hide_next = False
            continue
        secret = _SECRET.match(word) if word.startswith("-") else None
        if secret:
            words.append(f"{secret.group(1)}=..." if secret.group(2) else word)
            hide_next = not secret.group(2)
        else:
            # user:password@host
            words.append(os.path.basename(word) if i == 0 else re.sub(r":[^@/\s]*@", ":...@", word))
    return words


def document(
    command: Sequence[str],
    environment: Mapping[str, Any],
    lab: Mapping[str, Any],
    measured: Measured,
    notes: Sequence[str] = (),
    verdict: Sequence[str] = (),
) -> dict[str, Any]:
    """The whole result. measured: every candidate's samples; candidates without any are left out."""
    results = rows(measured)
    return {
        "schema": SCHEMA,
        "command": list(command),
        "environment": dict(environment),
        "lab": dict(lab),
        "results": results,
        "ratios": ratios(measured),
        "valid": all(row["valid"] for row in results),
        "notes": list(notes),
        "verdict": list(verdict),
    }


def rows(measured: Measured) -> list[dict[str, Any]]:
    """One row a candidate and direction."""
    plain = next((taken for case, taken in measured.items() if case.role == "plain"), ())
    result = []
    for case, taken in measured.items():
        for direction in _directions(taken):
            result.append(_row(case, taken, plain, direction))
    return result


def _directions(taken: Sequence[Taken[Sample]]) -> list[str]:
    return list(dict.fromkeys(flow.direction for t in taken for flow in t.value.load.flows))


def _flow(sample: Sample, direction: str) -> Flow | None:
    return next((f for f in sample.load.flows if f.direction == direction), None)


def _rates(taken: Sequence[Taken[Sample]], direction: str) -> dict[int, float]:
    return {t.round: flow.mbit_per_s for t in taken if (flow := _flow(t.value, direction)) is not None}


def _row(case: Case, taken: Sequence[Taken[Sample]], plain: Sequence[Taken[Sample]], direction: str) -> dict[str, Any]:
    samples = [t.value for t in taken]
    rates = _rates(taken, direction)
    flows = [f for s in samples if (f := _flow(s, direction)) is not None]
    reasons = [f"round {t.round + 1}: {r}" for t in taken if t.value.verdict for r in t.value.verdict.reasons]
    speed, cpu = summary_or_none(list(rates.values())), summary_or_none([s.cpu_s_per_gb for s in samples])
    machine_cpu = summary_or_none(
        [(s.busy.busy_s - s.iperf3_cpu_s) / s.carried_gb if s.carried_gb > 0 else None for s in samples]
    )
    lost = [f.lost_packets / f.packets * 100 for f in flows if f.packets and f.lost_packets is not None]
    lost_summary = summary_or_none(lost)
    retransmits = summary_or_none([None if f.retransmits is None else float(f.retransmits) for f in flows])
    first = samples[0]
    return {
        "role": case.role,
        "suite": case.suite or None,
        "implementation": first.implementation or None,
        "dataplane": case.dataplane,
        "driver": case.driver or None,
        "direction": direction,
        "mbit_per_s": speed.as_dict() if speed else None,
        "cpu_s_per_gb": cpu.as_dict() if cpu else None,
        "share_of_plain": median_ratio(rates, _rates(plain, direction)) if case.role != "plain" else 1.0,
        "retransmits": retransmits.as_dict() if retransmits else None,
        "lost_percent": lost_summary.as_dict() if lost_summary else None,
        "valid": not reasons,
        "reasons": reasons,
        "sa": _sa(samples, direction),
        "counts": counts(samples, direction),
        "gateways": _gateways(samples),
        "machine_cpu_s_per_gb_without_iperf3": machine_cpu.as_dict() if machine_cpu else None,
        "inner_mtu_bytes": first.inner_mtu or None,
        "paths": {name: asdict(path) for name, path in first.paths.items()},
        "gate": asdict(first.gate) if first.gate else None,
        "load": {
            "command": list(first.command),
            "iperf3": first.load.version,
            "protocol": first.load.protocol,
            "congestion": first.load.congestion or None,
        },
        "intervals": [
            {"round": t.round, **asdict(interval)}
            for t in taken
            for interval in t.value.load.intervals
            if interval.direction == direction
        ],
        "rounds": [
            {
                "round": t.round,
                "attempts": t.attempts,
                "seconds": t.value.wall_s,
                "noise": noise.as_json(t.value.noise),
                "machine": t.value.busy.as_dict(),
                "iperf3_cpu_s": t.value.iperf3_cpu_s,
            }
            for t in taken
        ],
        "dirty_rounds": sum(bool(t.dirty) for t in taken),
    }


def _sa(samples: Sequence[Sample], direction: str) -> dict[str, Any] | None:
    """Packets, bytes and drops of the SA of this direction, summed over the rounds' SAs."""
    accounts = [
        (account, s) for s in samples if s.verdict for account in s.verdict.accounts if account.direction == direction
    ]
    if not accounts:
        return None
    sealed_bytes = opened_bytes = wire_bytes = 0
    drops: dict[str, int] = {}
    for account, sample in accounts:
        left, right = list(sample.gateways.values())
        sender, receiver = (left, right) if direction == "forward" else (right, left)
        sealed_bytes += sum(sa.bytes for sa in sender.sas if sa.direction == "out")
        wire_bytes += sum(sa.wire_bytes for sa in sender.sas if sa.direction == "out")
        opened_bytes += sum(sa.bytes for sa in receiver.sas if sa.direction == "in")
        _add(drops, account.dropped)
    return {
        "packets": sum(a.opened for a, _ in accounts),
        "bytes": opened_bytes,
        "drops": drops,
        "sealed_packets": sum(a.sealed for a, _ in accounts),
        "sealed_bytes": sealed_bytes,
        "wire_bytes": wire_bytes,
        "socket_drops": sum(a.socket_drops for a, _ in accounts),
        "send_errors": sum(a.send_errors for a, _ in accounts),
        "veth_drops": sum(a.veth_drops for a, _ in accounts),
        "tun_drops": sum(_tun_drops(s) for _, s in accounts),
    }


def _tun_drops(sample: Sample) -> int:
    """Packets that a TUN's queue had no room for, before they were sealed."""
    return sum(
        sample.gateways[name].interfaces.get(path.tun, {}).get("tx_dropped", 0) for name, path in sample.paths.items()
    )


def counts(samples: Sequence[Sample], direction: str) -> dict[str, float | None]:
    """How much each system call carried in the data's direction, over all rounds; acknowledgements, which travel
    singly, are the other direction's. These carry no noise, so tests hold them."""
    sent: dict[str, int] = {}
    received: dict[str, int] = {}
    for sample in samples:
        if len(sample.gateways) == 2:
            left, right = sample.gateways.values()
            ends = (left, right) if direction == "forward" else (right, left)
            for total, gateway in zip((sent, received), ends, strict=True):
                _add(total, gateway.loop)
    return {
        "esp_packets_per_send": _ratio(sent, "udp_send_packets", "udp_sends"),
        "esp_packets_per_receive": _ratio(received, "udp_recv_packets", "udp_recvs"),
        "receive_calls_per_packet": _ratio(received, "udp_recvs", "udp_recv_packets"),
        "inner_segments_per_tun_write": _ratio(received, "tun_write_segments", "tun_writes"),
        "tun_writes_per_packet": _ratio(received, "tun_writes", "tun_write_segments"),
        "wakeups_per_packet": _ratio(received, "wakeups", "udp_recv_packets"),
    }


def _add(total: dict[str, int], part: Mapping[str, int]) -> None:
    for name, value in part.items():
        total[name] = total.get(name, 0) + value


def _ratio(counters: Mapping[str, int], over: str, under: str) -> float | None:
    return counters[over] / counters[under] if counters.get(under) and over in counters else None


def _gateways(samples: Sequence[Sample]) -> dict[str, Any]:
    """Each gateway by itself: CPU per GB, share of a core, counters summed over the rounds."""
    names = list(dict.fromkeys(name for s in samples for name in s.gateways))
    result = {}
    for name in names:
        of_this: list[tuple[Sample, NodeCounters]] = [(s, s.gateways[name]) for s in samples if name in s.gateways]
        per_gb = summary_or_none(
            [g.cpu_ns / 1e9 / s.carried_gb if s.carried_gb > 0 and g.cpu_ns else None for s, g in of_this]
        )
        share = summary_or_none([g.cpu_ns / 1e9 / s.wall_s if s.wall_s and g.cpu_ns else None for s, g in of_this])
        loop: dict[str, int] = {}
        stages: dict[str, int] = {}
        for _, gateway in of_this:
            _add(loop, gateway.loop)
            _add(stages, gateway.stage_cycles)
        loop = {k: v for k, v in loop.items() if k not in ("alive", "started_ns", "now_ns")}
        result[name] = {
            "cpu_s_per_gb": per_gb.as_dict() if per_gb else None,
            "core_share": share.as_dict() if share else None,
            "loop": loop,
            "stage_cycles": stages,
        }
    return result


def ratios(measured: Measured) -> list[dict[str, Any]]:
    """What each implementation gains over generic, per suite and direction: median of the per-round ratios."""
    found = []
    for case, taken in measured.items():
        generic = _over(case, measured)
        if generic is None:
            continue
        for direction in _directions(taken):
            ratio = median_ratio(_rates(taken, direction), _rates(generic, direction))
            if ratio is not None and taken:
                found.append(
                    {
                        "suite": case.suite,
                        "dataplane": case.dataplane,
                        "direction": direction,
                        "implementation": taken[0].value.implementation,
                        "over": generic[0].value.implementation,
                        "factor": ratio,
                    }
                )
    return found


def _over(case: Case, measured: Measured) -> Sequence[Taken[Sample]] | None:
    """What a candidate is compared with: generic; of the kernel's, the first driver, or else our fastest."""
    if case.role == "accelerated":
        wanted = [c for c in measured if c.role == "generic" and c.suite == case.suite]
    elif case.role == "kernel" and case.driver:
        wanted = [c for c in measured if c.role == "kernel" and c.suite == case.suite]
    elif case.role == "kernel":
        wanted = [c for c in measured if c.role == "accelerated" and c.suite == case.suite]
    else:
        wanted = []
    return measured[wanted[0]] if wanted and wanted[0] != case else None


# ---- where results are kept ----


def _home(environ: Mapping[str, str]) -> str:
    """HOME, or what the password file says where a service starts us without one; / only when neither knows."""
    if environ.get("HOME"):
        return environ["HOME"]
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return "/"


def results_directory(environ: Mapping[str, str] = os.environ) -> Path:
    """XDG_STATE_HOME/gwbench/results, by default ~/.local/state/gwbench/results."""
    base = environ.get("XDG_STATE_HOME", "")
    root = Path(base) if base.startswith("/") else Path(_home(environ)) / ".local" / "state"
    return root / "gwbench" / "results"


def save(result: Mapping[str, Any], name: str, directory: Path | None = None) -> Path:
    """Writes a new file; several at once never meet. OSError when the directory cannot be written."""
    folder = directory or results_directory()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    path = folder / f"{stamp}-{name}.json"
    number = 1
    while True:
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(to_json(result))
            return path
        except FileExistsError:
            number += 1
            path = folder / f"{stamp}-{name}-{number}.json"


def write(result: Mapping[str, Any], path: Path) -> None:
    """Replaces ``path`` as a whole. UnusableError when that is impossible."""
    try:
        if path.exists() and not path.is_file():
            path.write_text(to_json(result), encoding="utf-8")  # /dev/stdout, a pipe
            return
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".gwbench-", delete=False) as file:
            file.write(to_json(result))
        os.chmod(file.name, 0o644)
        os.replace(file.name, path)
    except OSError as error:
        raise UnusableError(f"cannot write {path}: {error.strerror}") from error


def to_json(result: Mapping[str, Any]) -> str:
    """Readable, ends with a newline; NaN never."""
    return json.dumps(result, indent=1, allow_nan=False) + "\n"
