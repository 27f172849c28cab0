"""What ``gwbench estimate`` computes for a processor that is not here: crypto from instruction counts, and for the
WDR4900 the end-to-end factor beside the published one."""

from __future__ import annotations

from dataclasses import dataclass

import dataplane
from gateway import costmodel
from gateway.errors import UnusableError
from gateway.measure import published
from gateway.measure.icount import Counts, Key

CLOCK_MHZ = {"wdr4900": 800, "rpi3": 1200}
"""Of the machines whose clock was published with their figures."""
BATCH = 16
"""Suites are counted sixteen packets at a time, as a data path has them."""
TCP_AND_IP_BYTES = 52
"""IPv4 header, TCP header with time stamps."""
OUTER_MTU = 1500
SEGMENTS_PER_ACK = 2
TRAILER_BYTES = 2
FACTOR_ERROR = 0.10
"""Counts predict time within a class of code to 5 %; the two sides' errors add up in a ratio."""


@dataclass(frozen=True, slots=True)
class Flow:
    """One TCP stream through the tunnel, as the published test had it: data is opened, acknowledgements are sealed."""

    inner_bytes: int
    goodput_bytes: int
    encrypted_bytes: int
    ack_encrypted_bytes: int


def flow(suite: str) -> Flow:
    """Full segments at an outer MTU of 1500, tunnel mode, no UDP encapsulation."""
    s = dataplane.find_suite(suite)
    inner = dataplane.inner_mtu(suite, OUTER_MTU, encap="none")

    def encrypted(size: int) -> int:
        return size + TRAILER_BYTES + -(size + TRAILER_BYTES) % s.block_bytes

    return Flow(inner, inner - TCP_AND_IP_BYTES, encrypted(inner), encrypted(TCP_AND_IP_BYTES))


@dataclass(frozen=True, slots=True)
class SuiteCost:
    """Estimated cycles of one implementation of a suite."""

    implementation: str
    per_byte: float
    """Of an encrypted packet of 1408 bytes, sealed."""
    per_goodput_byte: float
    """Of the flow, acknowledgements included."""


def _cycles(counts: Counts, target: str, suite: str, implementation: str, op: str, size: int) -> float | None:
    key = Key(target, suite, op, dataplane.find_suite(suite).enc_key_bytes * 8, BATCH)
    cost = counts.cost(key, implementation, size)
    return None if cost is None or cost.cycles is None else cost.cycles * size


def suite_costs(counts: Counts, target: str, suite: str) -> list[SuiteCost]:
    """Generic first, then the others by their cost. UnusableError where the suite was not counted on the target."""
    f = flow(suite)
    found = []
    for implementation in counts.implementations(target, suite):
        data = _cycles(counts, target, suite, implementation, "open", f.encrypted_bytes)
        ack = _cycles(counts, target, suite, implementation, "seal", f.ack_encrypted_bytes)
        one = _cycles(counts, target, suite, implementation, "seal", 1408)
        if data is not None and ack is not None and one is not None:
            per_goodput = (data + ack / SEGMENTS_PER_ACK) / f.goodput_bytes
            found.append(SuiteCost(implementation, one / 1408, per_goodput))
    if not found:
        raise UnusableError(
            f"{suite} has no estimated cycles on {target} in {counts.source}",
            "make icount counts all suites; some classes of code have no published cycles",
        )
    return sorted(found, key=lambda c: ("generic" not in c.implementation, c.per_goodput_byte))


@dataclass(frozen=True, slots=True)
class WdrResult:
    """The WDR4900's test, predicted."""

    base: SuiteCost
    best: SuiteCost
    published_base_mbit_per_s: float
    published_mbit_per_s: float
    prediction: costmodel.Prediction
    predicted_mbit_per_s: float

    @property
    def published_factor(self) -> float:
        return self.published_mbit_per_s / self.published_base_mbit_per_s


def wdr4900(counts: Counts, suite: str) -> WdrResult:
    """Everything outside crypto is taken from the published generic rate and held constant."""
    target, core = published.TARGETS["wdr4900"]
    costs = suite_costs(counts.core(core), target, suite)
    base, best = costs[0], costs[-1] if len(costs) == 1 else costs[1]
    if "generic" not in base.implementation or base == best:
        raise UnusableError(f"{suite} was counted in one implementation only on {target}", "make icount TARGET=e500v2")
    iperf = published.iperf()
    rate = float(iperf["generic"]["total"]["mbit_per_s"])
    prediction = costmodel.predict(CLOCK_MHZ["wdr4900"] * 1e6, rate, base.per_goodput_byte, best.per_goodput_byte)
    return WdrResult(base, best, rate, float(iperf["spe"]["total"]["mbit_per_s"]), prediction, rate * prediction.factor)


def cost_row(counts: Counts, name: str, suite: str) -> costmodel.CostRow:
    """The cheapest implementation's sealing as a row of a cost file; sizes are inner packets."""
    target, core = published.TARGETS[name]
    best = min(suite_costs(counts.core(core), target, suite), key=lambda c: c.per_byte)
    points = []
    for size in (64, 256, 1024, 1408):
        cycles = _cycles(counts, target, suite, best.implementation, "seal", size)
        if cycles is not None:
            points.append((size - TRAILER_BYTES, cycles))
    return costmodel.CostRow(suite, "seal", best.implementation, BATCH, costmodel.fit(points), tuple(points))
