"""TCP throughput as RFC 6349 frames it: what the path could carry, and how much of it TCP made of it. Pure.

Baseline round-trip time and bottleneck bandwidth give the bandwidth-delay product, which is the window that fills the
path. Transfers with windows below, at and above it then yield the RFC's three figures (section 4): transfer time ratio,
TCP efficiency, buffer delay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gateway.stats import median

SHARES = (0.25, 0.5, 1.0)
"""Of the bandwidth-delay product: windows of the sweep (section 5.1.2); the kernel's own choice comes on top."""
LEAST_WINDOW_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Transfer:
    """One transfer."""

    window_bytes: int
    """0 = as the kernel chooses."""
    share_of_bdp: float | None
    seconds: float
    received_bytes: int
    sent_bytes: int
    retransmits: int | None
    mss_bytes: int
    mean_rtt_us: float | None
    """While it ran, by the sender's kernel."""

    @property
    def mbit_per_s(self) -> float:
        return self.received_bytes * 8e-6 / self.seconds

    @property
    def efficiency(self) -> float | None:
        """Share of what was transmitted that was not transmitted again (4.2)."""
        if self.retransmits is None or not self.sent_bytes:
            return None
        again = self.retransmits * self.mss_bytes
        return (self.sent_bytes - min(again, self.sent_bytes)) / self.sent_bytes


@dataclass(frozen=True, slots=True)
class Path:
    """What one candidate's path is like, in one round."""

    mtu_bytes: int
    baseline_rtt_us: float
    """The least of many handshakes, without load (3.1)."""
    median_rtt_us: float
    bottleneck_mbit_per_s: float
    """The fastest of all transfers, payload (see :func:`describe`)."""
    transfers: tuple[Transfer, ...]

    @property
    def bdp_bytes(self) -> float:
        return bdp_bytes(self.bottleneck_mbit_per_s, self.baseline_rtt_us)


def bdp_bytes(mbit_per_s: float, rtt_us: float) -> float:
    """Bandwidth-delay product (1.1): the least window that fills the path."""
    return mbit_per_s * rtt_us / 8


def window_bytes(share: float, bdp: float) -> int:
    """Of the sweep; never so small that the kernel would not take it."""
    return max(LEAST_WINDOW_BYTES, round(share * bdp))


def expected_mbit_per_s(window: int, bottleneck_mbit_per_s: float, rtt_us: float) -> float:
    """What a window lets through at best (3.3): itself once a round trip, or the bottleneck."""
    return min(bottleneck_mbit_per_s, window * 8 / rtt_us) if window else bottleneck_mbit_per_s


def transfer_time_ratio(transfer: Transfer, ideal_mbit_per_s: float) -> float:
    """Actual over ideal time for the same bytes (4.1)."""
    return ideal_mbit_per_s / transfer.mbit_per_s


def buffer_delay(transfer: Transfer, baseline_rtt_us: float) -> float | None:
    """How much longer a round trip takes under this transfer, relative to the baseline (4.3)."""
    return None if transfer.mean_rtt_us is None else transfer.mean_rtt_us / baseline_rtt_us - 1


def describe(paths: Sequence[Path]) -> dict[str, Any]:
    """One candidate of the result's ``rfc6349``: medians over the rounds.

    The bottleneck is what several streams together, or any transfer, carried at most: a laboratory's line has no rate
    of its own, and the gateway is the bottleneck. Where a window's round trip shrinks below the baseline's least, a
    ratio below 1 is what was measured.
    """
    first = paths[0]
    transfers = []
    for i, one in enumerate(first.transfers):
        same = [(path, path.transfers[i]) for path in paths]
        efficiency = [t.efficiency for _, t in same if t.efficiency is not None]
        delays = [d for path, t in same if (d := buffer_delay(t, path.baseline_rtt_us)) is not None]
        rtts = [t.mean_rtt_us for _, t in same if t.mean_rtt_us is not None]
        transfers.append(
            {
                "share_of_bdp": one.share_of_bdp,
                "window_bytes": round(median([t.window_bytes for _, t in same])) or None,
                "expected_mbit_per_s": median(
                    [
                        expected_mbit_per_s(t.window_bytes, path.bottleneck_mbit_per_s, path.baseline_rtt_us)
                        for path, t in same
                    ]
                ),
                "mbit_per_s": median([t.mbit_per_s for _, t in same]),
                "transfer_time_ratio": median([transfer_time_ratio(t, p.bottleneck_mbit_per_s) for p, t in same]),
                "tcp_efficiency": median(efficiency) if efficiency else None,
                "mean_rtt_us": median(rtts) if rtts else None,
                "buffer_delay": median(delays) if delays else None,
                "retransmits": [t.retransmits for _, t in same],
            }
        )
    return {
        "rounds": len(paths),
        "path_mtu_bytes": first.mtu_bytes,
        "baseline_rtt_us": median([path.baseline_rtt_us for path in paths]),
        "median_rtt_us": median([path.median_rtt_us for path in paths]),
        "bottleneck_mbit_per_s": median([path.bottleneck_mbit_per_s for path in paths]),
        "optimal_window_bytes": round(median([path.bdp_bytes for path in paths])),
        "transfers": transfers,
    }
