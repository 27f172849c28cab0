"""The final table of ``gwbench iperf``, from a result document: what the file says is what a person reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gateway import waterfall
from gateway.output import rfc6349

FULL_OF_SOFTIRQ = 0.85
"""Share of a core's time; the rest is the timer and the scheduler."""


def render(result: Mapping[str, Any]) -> list[str]:
    """Lines of the table and what belongs under it; ASCII."""
    rows = result["results"]
    gateways = list(dict.fromkeys(name for row in rows for name in row["gateways"]))
    directions = {row["direction"] for row in rows}
    head = ["suite", "implementation", "Mbit/s (min-max)", "x generic", "of plain"]
    head += [f"s/GB {name}" for name in gateways]
    udp = any(row["load"]["protocol"] == "UDP" for row in rows)
    head += ["% lost" if udp else "retrans"]
    body = [_cells(row, result["ratios"], gateways, len(directions) > 1, udp) for row in rows]
    lines = _columns(head, body)
    lines.append("")
    if "waterfall" in result:
        lines += [*waterfall.render(result["waterfall"]), ""]
    if "rfc6349" in result:
        lines += [*rfc6349.render(result["rfc6349"]), ""]
    lines.append(_machine_line(result))
    lines += _adds_up(rows)
    lines += _full_of_softirq(rows)
    dirty = sum(row["dirty_rounds"] for row in rows)
    if dirty:
        total = sum(len(row["rounds"]) for row in rows)
        again = any(taken["attempts"] > 1 for row in rows for taken in row["rounds"])
        how = " even when repeated" if again else ""
        lines.append(f"* {dirty} of {total} measurements met a disturbed machine{how}; see the file.")
    lines += [f"Note: {note}." for note in result["notes"]]
    lines += result["verdict"]
    return lines


def _cells(
    row: Mapping[str, Any],
    ratios: Sequence[Mapping[str, Any]],
    gateways: Sequence[str],
    show_direction: bool,
    udp: bool,
) -> list[str]:
    name = row["suite"] or row["role"]
    if show_direction:
        name += " <-" if row["direction"] == "reverse" else " ->"
    factor = next(
        (
            r["factor"]
            for r in ratios
            if r["suite"] == row["suite"]
            and r["direction"] == row["direction"]
            and r["implementation"] == row["implementation"]
            and row["role"] == "accelerated"
            and r.get("dataplane", "user") == "user"
        ),
        1.0 if row["role"] == "generic" else None,
    )
    speed = row["mbit_per_s"]
    text = "-" if speed is None else f"{speed['median']:.0f} ({speed['min']:.0f}-{speed['max']:.0f})"
    if row.get("lower_bound") and speed is not None:
        text = f">= {text}"
    if row["dirty_rounds"]:
        text += "*"
    if not row["valid"]:
        text += " INVALID"
    cells = [
        name,
        (row["implementation"] or ("no tunnel" if row["role"] in ("line", "plain") else "-")).replace("/gwbench", ""),
        text,
        "-" if factor is None else f"{factor:.2f}",
        "-" if row["share_of_plain"] is None else f"{row['share_of_plain'] * 100:.0f} %",
    ]
    for gateway in gateways:
        cpu = row["gateways"].get(gateway, {}).get("cpu_s_per_gb")
        cells.append("-" if cpu is None else f"{cpu['median']:.2f}")
    last = row["lost_percent"] if udp else row["retransmits"]
    cells.append("-" if last is None else f"{last['median']:.3f}" if udp else f"{last['median']:.0f}")
    return cells


def _columns(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(line[i]) for line in [head, *body]) for i in range(len(head))]
    left = 2  # the first two columns are words, the rest numbers

    def line(cells: Sequence[str]) -> str:
        return "  ".join(
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ).rstrip()

    return [line(head), "  ".join("-" * width for width in widths), *(line(cells) for cells in body)]


def _machine_line(result: Mapping[str, Any]) -> str:
    peer = result.get("peer")
    if peer:
        what = ", ".join(
            word for word in (peer["model"], peer["cpu_model"], f"{peer['cpus']} cores", peer["os"]) if word
        )
        return f"Measured: {peer['name']} ({what}), topology {result['lab']['topology']}; this PC is the other end."
    machine = result["environment"].get("machine", {})
    lab = result["lab"]
    what = f"{machine.get('cpu_model', 'this machine')}, {machine.get('cpus_allowed', '?')} cores"
    return (
        f"The laboratory ({lab['topology']}, veth offloads {lab['offload']}) measures this PC ({what}), not a router: "
        "client, gateways and server share its cores."
    )


def _full_of_softirq(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """A core on which the kernel did nothing but take packets binds whatever the mean over all cores says."""
    found: dict[int, float] = {}
    for row in rows:
        for taken in row["rounds"]:
            for core in taken["machine"].get("cores", ()):
                if core["softirq"] >= FULL_OF_SOFTIRQ:
                    found[core["number"]] = max(core["softirq"], found.get(core["number"], 0.0))
    words = ", ".join(f"core {number} {share:.0%}" for number, share in sorted(found.items()))
    return [f"Softirq filled {words} in at least one round: see packet steering in gwbench doctor."] if found else []


def _adds_up(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    tunnels = [row for row in rows if row["sa"]]
    bad = [row for row in tunnels if not row["valid"]]
    if bad:
        lines = [f"The numbers do NOT add up in {len(bad)} of {len(tunnels)} rows:"]
        return lines + [f"  {row['suite']} {row['role']}: {reason}" for row in bad for reason in row["reasons"][:3]]
    sealed = sum(row["sa"]["sealed_packets"] for row in tunnels)
    opened = sum(row["sa"]["packets"] for row in tunnels)
    lost = sealed - opened
    if not tunnels:
        return []
    return [f"The numbers add up: {sealed:,} packets sealed = {opened:,} opened + {lost:,} dropped and accounted for."]
