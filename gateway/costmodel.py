"""What sealing or opening a packet costs, as two numbers: cycles = per_packet + per_byte * bytes. Pure.

A cost file is one JSON document::

    {"schema": "gwbench-cost/1",
     "machine": {"cpu_model": str, "clock_hz": number},   clock of the unit below
     "unit": "cycles" | "ns",                             what costs are in; with ns clock_hz is 1e9
     "rows": [{"suite": str, "op": "seal" | "open", "implementation": str,
               "batch": int,                              packets handed over at a time
               "per_packet": number, "per_byte": number,  of the inner packet's bytes
               "residual": number,                        root mean square of (model - measured) / measured
               "worst": number,                           largest of these, absolute
               "bytes_from": int, "bytes_to": int,        inner packet lengths that were measured: no further
               "points": [{"bytes": int, "cost": number}]}]}

Packet I/O is not in it: what TUN, sockets and the network card's driver cost is measured by ``gwbench iperf`` (the null
row's CPU seconds per GB).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SCHEMA = "gwbench-cost/1"
UNITS = ("cycles", "ns")
ETHERNET_BYTES = 18
"""Header and checksum of a frame: a frame of 1518 bytes carries an IP packet of 1500."""
IMIX = ((64, 7), (594, 4), (1518, 1))
"""(frame bytes, packets): the simple Internet mix."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The two numbers and how well they hold."""

    per_packet: float
    per_byte: float
    residual: float
    """Root mean square of the relative errors."""
    worst: float

    def cost(self, size: float) -> float:
        """Of one packet of ``size`` bytes."""
        return self.per_packet + self.per_byte * size


def fit(points: Sequence[tuple[float, float]]) -> Fit:
    """Least squares of the relative errors, so that small packets count as much as large ones.

    points: (bytes, cost). ValueError for fewer than two sizes or a cost that is not positive.
    """
    if len({size for size, _ in points}) < 2:
        raise ValueError("a line needs two sizes")
    if any(cost <= 0 for _, cost in points):
        raise ValueError("a cost is not positive")
    s0 = sum(1 / y**2 for _, y in points)
    s1 = sum(x / y**2 for x, y in points)
    s2 = sum(x * x / y**2 for x, y in points)
    t0 = sum(1 / y for _, y in points)
    t1 = sum(x / y for x, y in points)
    determinant = s0 * s2 - s1 * s1
    a = (t0 * s2 - t1 * s1) / determinant
    b = (s0 * t1 - s1 * t0) / determinant
    errors = [(a + b * x - y) / y for x, y in points]
    return Fit(a, b, math.sqrt(sum(e * e for e in errors) / len(errors)), max(abs(e) for e in errors))


@dataclass(frozen=True, slots=True)
class CostRow:
    """One suite in one direction."""

    suite: str
    op: str
    implementation: str
    batch: int
    fit: Fit
    points: tuple[tuple[int, float], ...]
    """(inner bytes, cost)."""

    def as_dict(self) -> dict[str, Any]:
        sizes = [size for size, _ in self.points]
        return {
            "suite": self.suite,
            "op": self.op,
            "implementation": self.implementation,
            "batch": self.batch,
            "per_packet": self.fit.per_packet,
            "per_byte": self.fit.per_byte,
            "residual": self.fit.residual,
            "worst": self.fit.worst,
            "bytes_from": min(sizes),
            "bytes_to": max(sizes),
            "points": [{"bytes": size, "cost": cost} for size, cost in self.points],
        }


@dataclass(frozen=True, slots=True)
class CostFile:
    """All rows of one machine."""

    cpu_model: str
    clock_hz: float
    unit: str
    rows: tuple[CostRow, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "machine": {"cpu_model": self.cpu_model, "clock_hz": self.clock_hz},
            "unit": self.unit,
            "rows": [row.as_dict() for row in self.rows],
        }

    def best(self, suite: str, op: str) -> CostRow | None:
        """The cheapest row at 1400 bytes; None where the suite was not measured."""
        fitting = [row for row in self.rows if (row.suite, row.op) == (suite, op)]
        return min(fitting, key=lambda row: row.fit.cost(1400), default=None)


def parse(document: Any) -> CostFile:
    """From JSON. ValueError, with what is wrong, for what is no cost file."""
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise ValueError(f'no document of schema "{SCHEMA}"')
    try:
        if document["unit"] not in UNITS:
            raise ValueError(f"the unit is none of {', '.join(UNITS)}")
        machine = document["machine"]
        return CostFile(
            cpu_model=str(machine["cpu_model"]),
            clock_hz=_positive(machine["clock_hz"]),
            unit=document["unit"],
            rows=tuple(_row(row) for row in document["rows"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"a field is missing or of a wrong type: {error}") from None


def _row(row: Mapping[str, Any]) -> CostRow:
    if row["op"] not in ("seal", "open"):
        raise ValueError('an "op" is neither seal nor open')
    return CostRow(
        suite=str(row["suite"]),
        op=row["op"],
        implementation=str(row["implementation"]),
        batch=int(row["batch"]),
        fit=Fit(
            float(row["per_packet"]), float(row["per_byte"]), float(row.get("residual", 0)), float(row.get("worst", 0))
        ),
        points=tuple((int(p["bytes"]), float(p["cost"])) for p in row.get("points", ()))
        or ((int(row["bytes_from"]), 0.0), (int(row["bytes_to"]), 0.0)),
    )


def _positive(value: Any) -> float:
    number = float(value)
    if not number > 0 or math.isinf(number):
        raise ValueError("the clock is not positive")
    return number


def imix(costs: Mapping[int, float]) -> tuple[float, float]:
    """(cost, frame bytes) of the mean packet of the mix, from the costs of its three frame sizes."""
    packets = sum(share for _, share in IMIX)
    cost = sum(costs[frame] * share for frame, share in IMIX) / packets
    return cost, sum(frame * share for frame, share in IMIX) / packets


@dataclass(frozen=True, slots=True)
class Need:
    """What a rate takes of one core."""

    packets_per_s: float
    crypto_share: float
    """1 is the whole core."""
    io_share: float
    limit_mbit_per_s: float
    """Rate at which one core is full."""


def need(row: CostRow, clock_hz: float, mbit_per_s: float, inner_bytes: int, io_s_per_gb: float = 0.0) -> Need:
    """io_s_per_gb: CPU seconds of packet I/O per 10^9 inner bytes; 0 leaves it out."""
    packets = mbit_per_s * 1e6 / 8 / inner_bytes
    crypto = packets * row.fit.cost(inner_bytes) / clock_hz
    io = mbit_per_s * 1e6 / 8 / 1e9 * io_s_per_gb
    return Need(packets, crypto, io, mbit_per_s / (crypto + io))


@dataclass(frozen=True, slots=True)
class Prediction:
    """End-to-end factor between two implementations, when everything else stays."""

    total_per_byte: float
    """Cycles per byte of goodput, calibrated: clock over the published rate."""
    base_per_byte: float
    """Of these the base implementation's crypto."""
    other_per_byte: float
    """The faster one's."""
    factor: float
    crypto_only: float
    """Factor if there were nothing but crypto: the most that this pair could give."""

    @property
    def outside_share(self) -> float:
        """Of the base's time, what no cipher or hash takes: packet I/O, TCP/IP, idle."""
        return 1 - self.base_per_byte / self.total_per_byte


def predict(clock_hz: float, mbit_per_s: float, base_per_byte: float, other_per_byte: float) -> Prediction:
    """Takes what lies outside crypto from one known rate, and holds it constant. ValueError when the crypto alone would
    take more than that rate allows."""
    total = clock_hz * 8 / (mbit_per_s * 1e6)
    if base_per_byte >= total:
        raise ValueError("the model's crypto alone is slower than the rate that it is calibrated with")
    factor = total / (total - base_per_byte + other_per_byte)
    return Prediction(total, base_per_byte, other_per_byte, factor, base_per_byte / other_per_byte)


def crypto_share_for(factor: float, gain: float) -> float:
    """The share of crypto that explains an end-to-end ``factor`` when crypto alone gains ``gain`` (Amdahl's law)."""
    return (1 - 1 / factor) / (1 - 1 / gain)
