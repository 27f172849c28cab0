"""What one measurement of one candidate yields: plain data that result, bound and output read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.lab.gate import GateReport
from gateway.load.iperf3_parse import Iperf3Result
from gateway.measure.machine import Busy
from gateway.node.base import NodeCounters, PathInfo
from gateway.noise import Noise
from gateway.rounds import Case
from gateway.validity import Verdict


@dataclass(frozen=True, slots=True)
class Sample:
    """One round of one candidate."""

    case: Case
    load: Iperf3Result
    command: tuple[str, ...]
    """iperf3's."""
    wall_s: float
    """From the reading of counters before to that after the load, drain left out."""
    busy: Busy
    """The whole machine over the same time."""
    iperf3_cpu_s: float
    noise: Noise
    """What others took meanwhile."""
    implementation: str = ""
    inner_mtu: int = 0
    """Bytes; 0 for plain."""
    gateways: Mapping[str, NodeCounters] = field(default_factory=dict)
    """What each gateway counted meanwhile; empty for plain."""
    verdict: Verdict | None = None
    """None for plain, where there is no SA to count."""
    gate: GateReport | None = None
    """Of this round; later rounds of a candidate do without."""
    paths: Mapping[str, PathInfo] = field(default_factory=dict)
    """What each gateway's data path was granted: offloads, buffers."""

    @property
    def valid(self) -> bool:
        return self.verdict is None or self.verdict.valid

    @property
    def gateway_cpu_s(self) -> float | None:
        """CPU time of all gateways' data-path threads; None for plain, and where one is the kernel's."""
        times = [g.cpu_ns for g in self.gateways.values()]
        # The kernel's data path has no thread of its own: 0 is "not known".
        return sum(times) / 1e9 if times and all(times) else None

    @property
    def carried_gb(self) -> float:
        """Goodput of all directions, 10^9 bytes."""
        return self.load.carried_bytes / 1e9

    @property
    def cpu_s_per_gb(self) -> float | None:
        """CPU seconds of all gateways per GB of goodput."""
        cpu = self.gateway_cpu_s
        return cpu / self.carried_gb if cpu is not None and self.carried_gb > 0 else None
