"""What is it bound by? A verdict of at most two lines, from evidence; "cannot tell" where the evidence disagrees. Pure.

Three witnesses are heard: the data-path threads' CPU time against the clock, the machine's idle time, and the cycles
that the busiest gateway spent in each stage. A bound is named only when they agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

HERE = "this PC"
THEN = "For your router: --peer root@ROUTER"
LINE_SHARE = 0.90
"""From this share of the plain line on, the tunnel is not the limit."""
BUSY_THREAD = 0.88
"""A data-path thread that runs for this share of the time is busy; the rest is scheduling."""
OTHERS_SHARE = 0.2
"""When others took more of the machine than this, it is not the tunnel that was observed."""
IDLE_MACHINE = 0.12
"""Below this share of idle time no core has anything left."""
_WAIT_STAGES = frozenset(("wait",))
_GROUPS = {
    "seal": "crypto",
    "open": "crypto",
    "tun_read": "packet I/O",
    "tun_write": "packet I/O",
    "send": "packet I/O",
    "recv": "packet I/O",
    "segment": "segmenting",
    "coalesce": "coalescing",
    "other": "other work",
}
_WORDS = {
    "gcm(aes)": "AES-GCM",
    "cbc(aes)": "AES-CBC",
    "ctr(aes)": "AES-CTR",
    "hmac(sha256)": "SHA-256",
    "hmac(sha1)": "SHA-1",
    "hmac(sha512)": "SHA-512",
    "rfc7539(chacha20,poly1305)": "ChaCha20-Poly1305",
    "null": "no cipher",
}


@dataclass(frozen=True, slots=True)
class Gateway:
    """One gateway during the measurement."""

    name: str
    cpu_share: float
    """CPU time of its busiest data-path thread over elapsed time: a thread is what one core can bind."""
    stage_cycles: Mapping[str, int]
    """Of that thread."""
    all_share: float | None = None
    """CPU time of all its threads over elapsed time; None: there is only one."""
    queues: int = 1
    """Loops, each with SAs of its own (RFC 9611)."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Of one candidate, over its rounds."""

    suite: str
    cipher: str
    """Kernel's name; of an AEAD the whole."""
    integrity: str
    """Empty for AEAD."""
    mbit_per_s: float
    share_of_plain: float | None
    gateways: tuple[Gateway, ...]
    idle: float
    """Share of all cores' time, 0..1."""
    softirq: float
    cores: int
    offered_mbit_per_s: float | None = None
    """The load's own rate (``-b``, or UDP's default); None where it goes as fast as it can."""
    integrity_share: float | None = None
    """Part of the crypto time that goes to the hash, 0..1; measured apart from the run, None when it was not."""
    others: float = 0.0
    """Cores that other programs and the hypervisor took meanwhile."""
    alternatives: Mapping[str, float] = field(default_factory=dict)
    """Mbit/s of other suites in the same run."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The verdict's parts: lines for people, words for the result file."""

    kind: str
    """``line``, ``crypto``, ``packet I/O``, ``cpu``, ``unknown``, ..."""
    text: str
    evidence: str


def find(evidence: Evidence) -> Bound:
    """What limits this candidate."""
    if not evidence.gateways:
        return Bound("unknown", "cannot tell what binds it", "no gateway was observed")
    offered = evidence.offered_mbit_per_s
    if offered is not None and evidence.mbit_per_s >= LINE_SHARE * offered:
        return Bound("load", "bound by the load that was offered", "raise it with -b")
    # A paced load that the plain line did not carry either says nothing of the line: the sender may have been too slow.
    if offered is None and evidence.share_of_plain is not None and evidence.share_of_plain >= LINE_SHARE:
        return Bound(
            "line",
            "bound by the line, not by IPsec",
            f"{evidence.share_of_plain:.0%} of plain forwarding",
        )
    if evidence.others > OTHERS_SHARE * evidence.cores:
        return Bound(
            "unknown",
            "cannot tell what binds it",
            f"others took {evidence.others:.1f} of {evidence.cores} cores meanwhile: measure again when it is quiet",
        )
    busiest = max(evidence.gateways, key=lambda g: g.cpu_share)
    thread_busy = busiest.cpu_share >= BUSY_THREAD
    machine_busy = evidence.idle <= IDLE_MACHINE
    groups = _shares(busiest.stage_cycles)
    if not groups:
        return Bound("unknown", "cannot tell what binds it", "the data path has no cycle counter")
    top, share = max(groups.items(), key=lambda item: item[1])
    if thread_busy or machine_busy:
        where = f"of {busiest.name}'s busy core" if thread_busy else f"of {busiest.name}'s CPU time"
        if top == "crypto" and share >= 0.4:
            return _crypto(evidence, share, where)
        if share >= 0.4:
            return Bound(top, f"bound by {top}", f"{share:.0%} {where}")
        if not thread_busy:
            return Bound(
                "cpu",
                f"bound by the {evidence.cores} cores of this machine together",
                f"{1 - evidence.idle:.0%} busy, the gateways' threads are "
                f"{sum(_all(g) for g in evidence.gateways) / evidence.cores:.0%} of it",
            )
        parts = ", ".join(f"{name} {part:.0%}" for name, part in sorted(groups.items(), key=lambda i: -i[1])[:3])
        return Bound("cpu", f"bound by one core ({busiest.name}), by no single thing on it", parts)
    return Bound(
        "unknown",
        "cannot tell what binds it",
        f"busiest gateway thread {busiest.cpu_share:.0%}, machine {evidence.idle:.0%} idle: waiting for each other",
    )


def _all(gateway: Gateway) -> float:
    return gateway.cpu_share if gateway.all_share is None else gateway.all_share


def _crypto(evidence: Evidence, share: float, where: str) -> Bound:
    cipher = _WORDS.get(evidence.cipher, evidence.cipher)
    integrity = _WORDS.get(evidence.integrity, evidence.integrity)
    if not evidence.integrity:
        return Bound("crypto", f"bound by {cipher}", f"{share:.0%} {where}")
    if evidence.integrity_share is None:
        return Bound("crypto", f"bound by {cipher} with {integrity}", f"{share:.0%} {where}")
    hashing = share * evidence.integrity_share
    name, part = (integrity, hashing) if evidence.integrity_share >= 0.5 else (cipher, share - hashing)
    return Bound("crypto", f"bound by {name}", f"{part:.0%} {where}")


def _shares(stage_cycles: Mapping[str, int]) -> dict[str, float]:
    """Share of the working cycles (waiting left out) of each group of stages."""
    groups: dict[str, int] = {}
    for stage, cycles in stage_cycles.items():
        if stage not in _WAIT_STAGES and cycles > 0:
            group = _GROUPS.get(stage, "other work")
            groups[group] = groups.get(group, 0) + cycles
    total = sum(groups.values())
    return {name: cycles / total for name, cycles in groups.items()} if total else {}


def verdict(evidence: Evidence, where: str = HERE, then: str = THEN) -> list[str]:
    """At most two lines: number, machine, bound, evidence; next step."""
    bound = find(evidence)
    first = f"Verdict: {_speed(evidence.mbit_per_s)} on {where}, {bound.text} ({bound.evidence})"
    better = [
        (rate, suite)
        for suite, rate in evidence.alternatives.items()
        if suite != evidence.suite and rate > 1.15 * evidence.mbit_per_s
    ]
    if bound.kind == "crypto" and better:
        first += f"; {max(better)[1]} avoids it"
    if _one_loop(bound, evidence):
        then = f"One SA on one core carries it all: --queues {evidence.cores} -P {2 * evidence.cores} uses more. {then}"
    return [f"{first}.", then]


def _one_loop(bound: Bound, evidence: Evidence) -> bool:
    """A single loop is full while a whole core's time is left: that, and not the machine, is the limit."""
    busiest = max(evidence.gateways, key=lambda g: g.cpu_share, default=None)
    if busiest is None or busiest.queues > 1 or busiest.cpu_share < BUSY_THREAD:
        return False
    return bound.kind not in ("line", "load", "unknown") and evidence.idle * evidence.cores >= 1


def _speed(mbit_per_s: float) -> str:
    return f"{mbit_per_s / 1000:.1f} Gbit/s" if mbit_per_s >= 1000 else f"{mbit_per_s:.0f} Mbit/s"
