"""Ours against other libraries, like for like: both inside the same seal and open of whole ESP packets.

A rival is a provider: an implementation with a tag of its own, loaded at run time where its library is installed.
Rounds are interleaved, and the ratio is the median of the ratios within each round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import dataplane
from gateway.measure.crypto import OWN
from gateway.stats import Summary, median_ratio

RIVALS = {"openssl": "OpenSSL's libcrypto.so.3 or .1.1", "ipsec-mb": "intel-ipsec-mb's libIPSec_MB.so.1"}
SUITES = ("aes128gcm16", "aes256-sha256", "chacha20poly1305")
PACKET_BYTES = (64, 1408)
"""Encrypted bytes of a packet: the inner packet and two of trailer."""
TRAILER_BYTES = 2
BATCH = 32
RAW = (("gcm(aes)", 128), ("cbc(aes)", 256), ("hmac(sha256)", 256), ("rfc7539(chacha20,poly1305)", 256))
"""(algorithm, key bits) of the rows without ESP."""


@dataclass(frozen=True, slots=True)
class Contest:
    """What is measured: a suite's packets, or an algorithm's requests."""

    name: str
    op: str
    bytes: int
    key_bits: int
    """0 for a suite."""


@dataclass(frozen=True, slots=True)
class Row:
    """Ours against one rival."""

    contest: Contest
    implementation: str
    rival: str
    ratio: float
    """Above 1 where ours is faster."""
    ours_gbit_per_s: Summary
    rival_gbit_per_s: Summary

    def as_dict(self) -> dict[str, object]:
        """``suite`` is an algorithm in the rows without ESP."""
        return {
            "suite": self.contest.name,
            "op": self.contest.op,
            "bytes": self.contest.bytes,
            "batch": BATCH,
            "implementation": self.implementation,
            "rival": self.rival,
            "ratio": self.ratio,
            "gbit_per_s": self.ours_gbit_per_s.as_dict(),
            "rival_gbit_per_s": self.rival_gbit_per_s.as_dict(),
        }


def own(suite: str) -> str:
    """Our best constant-time choice, with no part of anyone else's: a wish for the data path."""
    name = dataplane.resolve(suite, "auto")
    if all(part.endswith(OWN) for part in name.split(" + ")):
        return name.replace(" ", "")
    s = dataplane.find_suite(suite)
    return "+".join(filter(None, (_best_own(s.enc_alg), _best_own(s.auth_alg))))


def _best_own(algorithm: str) -> str:
    fitting = [
        i
        for i in dataplane.implementations()
        if i.alg == algorithm and i.runnable and i.checked == "passed" and i.driver.endswith(OWN)
    ]
    best = max(fitting, key=lambda i: (i.constant_time, i.priority), default=None)
    return best.driver if best else ""


def _of_rival(algorithm: str, tag: str) -> str:
    """The rival's driver; empty where it has none."""
    return next(
        (
            i.driver
            for i in dataplane.implementations()
            if i.alg == algorithm and i.tag == tag and i.checked == "passed"
        ),
        "",
    )


def rival_wish(suite: str, tag: str) -> str:
    """What a data path must be asked for so that all of it is the rival's; empty where that cannot be."""
    try:
        name = dataplane.resolve(suite, tag)
    except dataplane.DataplaneError:
        return ""
    drivers = {i.driver: i.tag for i in dataplane.implementations()}
    return tag if all(drivers.get(part) == tag for part in name.split(" + ")) else ""


def absent(rivals: Sequence[str] = tuple(RIVALS)) -> list[str]:
    """One line for each rival that has nothing here."""
    tags = {i.tag for i in dataplane.implementations() if i.runnable and i.checked == "passed"}
    return [f"{rival} is not here: it needs {RIVALS[rival]}" for rival in rivals if rival not in tags]


@dataclass(frozen=True, slots=True)
class Side:
    """One implementation in one contest."""

    contest: Contest
    who: str
    """Empty for ours."""
    wish: str


Bench = Callable[[Side, int], dataplane.BenchSample]


def sides() -> list[Side]:
    """Ours and every rival that can take part, next to each other."""
    found = []
    for suite in SUITES:
        wishes = {"": own(suite), **{rival: rival_wish(suite, rival) for rival in RIVALS}}
        for op in ("seal", "open"):
            for size in PACKET_BYTES:
                found += [Side(Contest(suite, op, size, 0), who, wish) for who, wish in wishes.items() if wish]
    for algorithm, bits in RAW:
        drivers = {"": _best_own(algorithm), **{rival: _of_rival(algorithm, rival) for rival in RIVALS}}
        kind = next((i.kind for i in dataplane.implementations() if i.alg == algorithm), "")
        for op in {"aead": ("seal", "open"), "mac": ("hash",)}.get(kind, ("encrypt", "decrypt")):
            found += [Side(Contest(algorithm, op, 1408, bits), who, d) for who, d in drivers.items() if d]
    contested = {s.contest for s in found if s.who}
    return [s for s in found if s.contest in contested]


def bench(side: Side, min_ns: int) -> dataplane.BenchSample:
    """One measurement."""
    contest = side.contest
    if contest.key_bits:
        return dataplane.bench_impl(
            side.wish,
            opening=contest.op in ("open", "decrypt"),
            key_len=contest.key_bits // 8,
            bytes_=contest.bytes,
            batch=BATCH,
            min_ns=min_ns,
        )
    return dataplane.bench_esp(
        contest.name,
        side.wish,
        opening=contest.op == "open",
        inner_len=contest.bytes - TRAILER_BYTES,
        batch=BATCH,
        sas=1,
        min_ns=min_ns,
    )


def measure(
    taking_part: Sequence[Side],
    rounds: int,
    slice_s: float,
    progress: Callable[[str], None] = lambda _: None,
    run: Bench = bench,
) -> list[Row]:
    """Interleaved rounds; one row for each rival of each contest."""
    speeds: dict[Side, dict[int, float]] = {side: {} for side in taking_part}
    for number in range(rounds):
        for side in taking_part:
            progress(f"round {number + 1}/{rounds}: {side.contest.name} {side.contest.op} {side.who or 'ours'}")
            sample = run(side, round(slice_s * 1e9))
            speeds[side][number] = sample.ops * side.contest.bytes * 8 / sample.ns
    ours = {side.contest: side for side in taking_part if not side.who}
    rows = []
    for side in taking_part:
        if not side.who or side.contest not in ours:
            continue
        mine = ours[side.contest]
        ratio = median_ratio(speeds[mine], speeds[side])
        if ratio is None:
            continue
        rows.append(
            Row(
                side.contest,
                mine.wish,
                side.who,
                ratio,
                Summary(tuple(speeds[mine].values())),
                Summary(tuple(speeds[side].values())),
            )
        )
    return rows
