"""Where the speed goes: what each step between the bare line and the whole tunnel costs, measured by leaving it out.

Steps are told in seconds per 10^9 bytes, because times add up and rates do not: 8000 over Mbit/s. What a step costs is
the median of the differences within rounds. The loops' own stage counters are the second witness: cycles of a stage
over those of a second, next to the CPU time that the kernel charged the same threads with. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dataplane import Suite, suites
from gateway.rounds import NULL_SUITE, Case
from gateway.stats import median

_CIPHER_ALONE = {"gcm(aes)": "ctr(aes)", "ctr(aes)": "ctr(aes)", "cbc(aes)": "cbc(aes)"}
_WORDS = {
    "line": "the line between the gateways",
    "plain": "forwarding",
    "null": "TUN and ESP without crypto",
    "integrity": "integrity alone (ESP-NULL)",
    "cipher": "cipher alone",
    "accelerated": "cipher and integrity",
}
_BEFORE = {
    "plain": "line",
    "null": "plain",
    "integrity": "null",
    "cipher": "null",
    "accelerated": "null",
}
_WAIT = "wait"


def cases(chosen: Sequence[str], implementations: Sequence[str], *, line: bool) -> tuple[Case, ...]:
    """The steps in the order in which every round takes them. line: whether the bare line can be measured."""
    table = {suite.name: suite for suite in suites()}
    found = [Case("line")] if line else []
    found += [Case("plain"), Case("null", NULL_SUITE, "auto")]
    for name in dict.fromkeys(chosen):
        if name == NULL_SUITE:
            continue
        found += [Case(role, one, "auto") for role, one in _parts(table[name], table.values())]
        found += [Case("accelerated", name, wish) for wish in implementations or ("accelerated",)]
    return tuple(dict.fromkeys(found))


def _parts(suite: Suite, table: Any) -> list[tuple[str, str]]:
    """The suite's integrity alone and its cipher alone, where the table has such suites."""
    parts = []
    for one in table:
        if suite.auth_alg and one.enc_alg == "null" and one.auth_alg == suite.auth_alg and not one.legacy:
            parts.append(("integrity", one.name))
        alone = _CIPHER_ALONE.get(suite.enc_alg)
        if one.bench_only and one.enc_alg == alone and one.enc_key_bytes == suite.enc_key_bytes:
            parts.append(("cipher", one.name))
    return parts


def describe(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The result's ``waterfall``: steps with their cost, the one that costs most, and the loops' stages.

    rows: of a result of one direction. Steps that were not measured are absent.
    """
    by_role: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        if row["mbit_per_s"] is not None:
            by_role.setdefault(row["role"], row)
    steps = []
    for role, words in _WORDS.items():
        if role not in by_role:
            continue
        row = by_role[role]
        before = by_role.get(_BEFORE.get(role, ""))
        steps.append(
            {
                "step": words,
                "role": role,
                "suite": row["suite"],
                "mbit_per_s": row["mbit_per_s"]["median"],
                "s_per_gb": 8000 / row["mbit_per_s"]["median"],
                "added_s_per_gb": None if before is None else _added(row, before),
                "gateways_cpu_s_per_gb": row["cpu_s_per_gb"]["median"] if row["cpu_s_per_gb"] else None,
            }
        )
    return {"steps": steps, "costs_most": _most(steps), "stages": _stages(by_role.get("accelerated"))}


def _added(row: Mapping[str, Any], before: Mapping[str, Any]) -> float:
    pairs = zip(row["mbit_per_s"]["samples"], before["mbit_per_s"]["samples"], strict=False)
    return median([8000 / after - 8000 / earlier for after, earlier in pairs])


def _most(steps: Sequence[Mapping[str, Any]]) -> str | None:
    """Of what adds up to the whole: the parts of the crypto where both are known, else the whole of it."""
    added = {step["role"]: step["added_s_per_gb"] for step in steps if step["added_s_per_gb"] is not None}
    if "integrity" in added and "accelerated" in added:
        # What the cipher adds to ESP-NULL: run alone it has the caches to itself.
        added["cipher"] = added["accelerated"] - added["integrity"]
        del added["accelerated"]
    elif "accelerated" in added:
        added.pop("cipher", None)
    if not added:
        return None
    role = max(added, key=lambda name: added[name])
    return _WORDS[role]


def _stages(row: Mapping[str, Any] | None) -> dict[str, Any]:
    """Of each gateway while the whole tunnel ran: seconds per GB in each stage, and how much of the CPU time they
    explain. The counter's rate comes from the run itself: all stages, waiting included, fill the wall clock."""
    if row is None:
        return {}
    wall_s = sum(one["seconds"] for one in row["rounds"])
    found = {}
    for name, gateway in row["gateways"].items():
        cycles, share, cost = gateway["stage_cycles"], gateway["core_share"], gateway["cpu_s_per_gb"]
        total = sum(cycles.values())
        if not total or not wall_s or share is None or cost is None:
            continue
        cpu_s = sum(s * one["seconds"] for s, one in zip(share["samples"], row["rounds"], strict=False))
        gigabytes = cpu_s / cost["median"] if cost["median"] else 0
        busy_s = sum(value for stage, value in cycles.items() if stage != _WAIT) / total * wall_s
        if not gigabytes or not cpu_s:
            continue
        found[name] = {
            "s_per_gb": {
                stage: value / total * wall_s / gigabytes for stage, value in cycles.items() if stage != _WAIT and value
            },
            "cpu_s_per_gb": cost["median"],
            "explained": busy_s / cpu_s,
        }
    return found


def render(found: Mapping[str, Any]) -> list[str]:
    """Lines for people."""
    head = ("step", "suite", "Mbit/s", "s/GB", "added", "CPU s/GB")
    body = [
        (
            step["step"],
            step["suite"] or "",
            f"{step['mbit_per_s']:.0f}",
            f"{step['s_per_gb']:.2f}",
            "" if step["added_s_per_gb"] is None else f"{step['added_s_per_gb']:+.2f}",
            "" if step["gateways_cpu_s_per_gb"] is None else f"{step['gateways_cpu_s_per_gb']:.2f}",
        )
        for step in found["steps"]
    ]
    widths = [max(len(line[i]) for line in (head, *body)) for i in range(len(head))]
    lines = []
    for line in (head, tuple("-" * width for width in widths), *body):
        cells = zip(line, widths, strict=True)
        lines.append("  ".join(c.ljust(w) if i < 2 else c.rjust(w) for i, (c, w) in enumerate(cells)).rstrip())
    if found["costs_most"]:
        lines.append(f"Costs most: {found['costs_most']}. Crypto is added to TUN and ESP, not to the line above it.")
    for name, gateway in found["stages"].items():
        stages = sorted(gateway["s_per_gb"].items(), key=lambda item: -item[1])
        parts = ", ".join(f"{stage} {seconds:.3f}" for stage, seconds in stages)
        lines.append(f"{name}, s/GB by stage: {parts}; {gateway['explained']:.0%} of its CPU time")
    return lines
