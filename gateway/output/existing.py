"""``gwbench sa --from-kernel`` and ``gwbench iperf --existing``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from gateway.measure.existing import Report
from gateway.netlink.ipsec import KernelSa
from gateway.output.plain import table, wrap
from gateway.stats import Summary

_ENCAPS = {2: "UDP", 7: "TCP"}


def _algorithms(sa: KernelSa) -> str:
    words = f"{sa.cipher} {sa.cipher_key_bits} bit"
    return words + (f", {sa.integrity} to {sa.icv_bits} bit" if sa.integrity else f", ICV {sa.icv_bits} bit")


def sa_lines(sas: Sequence[KernelSa]) -> list[str]:
    """A table; keys are not even read."""
    if not sas:
        return ["no SA is in this network namespace"]
    rows = []
    for sa in sas:
        encap = _ENCAPS.get(sa.encap[0], str(sa.encap[0])) + f" {sa.encap[1]}-{sa.encap[2]}" if sa.encap else "-"
        drops = {"replay": sa.replayed + sa.outside_window, "ICV": sa.integrity_failed}
        extra = [sa.mode, *(["ESN"] if sa.esn else []), *([f"{sa.offload} offload"] if sa.offload else [])]
        extra += [f"CPU {sa.cpu}"] if sa.cpu is not None else []
        rows.append(
            [
                f"{sa.spi:#010x}",
                f"{sa.src} > {sa.dst}",
                encap,
                ", ".join(extra),
                str(sa.packets),
                str(sa.bytes),
                ", ".join(f"{n} {what}" for what, n in drops.items() if n) or "-",
                f"{max(0, int(time.time()) - sa.added_at)} s",
            ]
        )
    lines = list(table(["spi", "from > to", "encap", "", "packets", "bytes", "dropped", "age"], rows, left=4))
    for words in dict.fromkeys(_algorithms(sa) for sa in sas):
        spis = ", ".join(f"{sa.spi:#010x}" for sa in sas if _algorithms(sa) == words)
        lines += wrap(f"{words}: {spis}")
    for sa in sas:
        lines += [line for text in _cut_short(sa) for line in wrap(text)]
    return lines


def _cut_short(sa: KernelSa) -> list[str]:
    """HMAC-SHA-256 cut to 96 bits, the kernel's own default before RFC 4868: the SA comes up, and nothing passes."""
    if sa.integrity != "hmac(sha256)" or sa.icv_bits != 96:
        return []
    text = f"WARN {sa.spi:#010x}: HMAC-SHA-256 is cut to 96 bits here, where RFC 4868 has 128"
    if sa.integrity_failed:
        text += f", and {sa.integrity_failed} packets failed their ICV: the other end probably sends 128"
    return [f"{text}; a peer with 128 bits takes none of its packets (strongSwan: sha256_96, ip xfrm: auth-trunc)"]


def sas_as_dicts(sas: Sequence[KernelSa]) -> list[dict[str, Any]]:
    """For ``--json``."""
    return [{**asdict(sa), "spi": f"{sa.spi:#010x}"} for sa in sas]


def render(report: Report, bitrate: str) -> list[str]:
    """One line a round and direction, then what is to be said."""
    ends = f"{report.tunnel.outer[0]} > {report.tunnel.outer[1]}"
    lines = [f"SAs of somebody else: {ends}, {report.tunnel.mode} mode, {_algorithms(report.sa)}"]
    if report.implementation:
        lines.append(f"the kernel runs {report.implementation}")
    body = []
    for number, run in enumerate(report.runs):
        for flow in run.load.result.flows:
            moved = run.moved["out" if flow.direction == "forward" else "in"]
            lost = flow.retransmits if flow.packets is None else flow.lost_packets
            word = "INVALID" if run.reasons else "valid"
            body.append(
                [
                    str(number + 1),
                    "->" if flow.direction == "forward" else "<-",
                    f"{flow.mbit_per_s:.1f}",
                    str(moved.packets),
                    str(moved.bytes),
                    str(run.rekeyed),
                    "-" if lost is None else str(lost),
                    word,
                ]
            )
    head = ["round", "", "Mbit/s", "packets", "inner bytes", "new SAs", "lost", ""]
    lines += ["", *table(head, body, left=2), ""]
    for run in report.runs:
        lines += [line for reason in run.reasons for line in wrap(reason)]
        if run.drops:
            lines += wrap("drops: " + ", ".join(f"{name} {count}" for name, count in run.drops.items()))
    spis = {way: sorted({spi for run in report.runs for spi in run.spis[way]}) for way in ("out", "in")}
    for way, found in spis.items():
        lines += wrap(f"{way}: counted over SPI {', '.join(f'{spi:#010x}' for spi in found)}")
    if bitrate:
        lines += wrap(f"at {bitrate}bit/s, so that the line stays usable; --saturate measures what it can carry")
    return lines


def document(report: Report, command: Sequence[str], environment: dict[str, Any]) -> dict[str, Any]:
    """Schema gwbench/1, as far as one end can tell."""
    rows = []
    directions = dict.fromkeys(flow.direction for run in report.runs for flow in run.load.result.flows)
    for direction in directions:
        way = "out" if direction == "forward" else "in"
        rates = [f.mbit_per_s for run in report.runs for f in run.load.result.flows if f.direction == direction]
        rows.append(
            {
                "role": "existing",
                "suite": _algorithms(report.sa),
                "implementation": report.implementation or None,
                "dataplane": "kernel",
                "driver": None,
                "direction": direction,
                "mbit_per_s": Summary(tuple(rates)).as_dict(),
                "cpu_s_per_gb": None,
                "valid": not any(run.reasons for run in report.runs),
                "reasons": [reason for run in report.runs for reason in run.reasons],
                "sa": {
                    "packets": sum(run.moved[way].packets for run in report.runs),
                    "bytes": sum(run.moved[way].bytes for run in report.runs),
                    "spis": sorted({spi for run in report.runs for spi in run.spis[way]}),
                    "new_sas": sum(run.rekeyed for run in report.runs),
                },
                "drops": [dict(run.drops) for run in report.runs],
            }
        )
    return {
        "schema": "gwbench/1",
        "command": list(command),
        "environment": environment,
        "lab": {"existing": asdict(report.tunnel)},
        "results": rows,
        "ratios": [],
        "valid": all(row["valid"] for row in rows),
        "notes": ["SAs of somebody else, counted at this end only"],
        "verdict": [],
    }
