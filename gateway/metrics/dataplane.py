"""Our own dataplane: its tunnels and loops, from shared memory. The loops do not notice."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from dataplane import DROP_REASONS
from gateway.metrics.exposition import Families
from gateway.metrics.ledger import Ledger, SaReading, TunnelName
from gateway.metrics.tunnels import tell
from gateway.node.base import SaCounters

if TYPE_CHECKING:
    from gateway.appliance.gateway import Key, SaRecord

SEQUENCE_NUMBERS = float(1 << 64)
"""With ESN, which the appliance's SAs have."""
_BOUNDS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, math.inf)
"""Of GW_HIST_BUCKETS."""
_ZEROS = {
    "in": dict.fromkeys(("state_seq_error", "state_proto_error", "in_tmpl_mismatch"), 0),
    "out": dict.fromkeys(("out_state_seq_error", "state_expired"), 0),
}
"""A rate needs a series that was there before the first drop. All of a loop's reasons are told, too."""
_CALLS = (
    ("tun_read", "tun_reads", "tun_read_bytes", None),
    ("tun_write", "tun_writes", "tun_write_bytes", "tun_write_segments"),
    ("udp_send", "udp_sends", "udp_send_bytes", "udp_send_packets"),
    ("udp_receive", "udp_recvs", "udp_recv_bytes", "udp_recv_packets"),
)


class OwnTunnels:
    """The collector of tunnels."""

    name = "tunnels"

    def __init__(
        self,
        read_sas: Callable[[], Mapping[Key, SaCounters]],
        records: Callable[[], Mapping[Key, SaRecord]],
        gone: deque[tuple[Key, SaRecord, SaCounters]],
        expected: Callable[[], Collection[TunnelName]],
        *,
        per_sa: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._read_sas, self._records, self._gone, self._expected = read_sas, records, gone, expected
        self._per_sa, self._clock = per_sa, clock
        self._ledger = Ledger()

    def collect(self, families: Families) -> None:
        """DataplaneError when the counters cannot be read."""
        now_s = self._clock()
        # In this order: an SA that is removed meanwhile is missing in the counters and is found among the gone.
        records = self._records()
        counters = self._read_sas()
        live = [
            (record.name, _reading(key, record, sa))
            for key, record in records.items()
            if (sa := counters.get(key)) is not None
        ]
        gone = []
        while self._gone:
            key, record, last = self._gone.popleft()
            gone.append((record.name, _reading(key, record, last)))
        self._ledger.update(live, gone, now_s)
        tell(families, self._ledger, "gwbench", now_s, expected=self._expected(), per_sa=self._per_sa)


def _reading(key: Key, record: SaRecord, sa: SaCounters) -> SaReading:
    return SaReading(
        key=key,
        spi=key[0],
        direction=key[1],
        packets=sa.packets,
        bytes=sa.bytes,
        drops={**_ZEROS[key[1]], **sa.drops},
        created_s=record.created_s,
        wire_bytes=sa.wire_bytes,
        expires_s=record.expires_s,
        sequence_used=sa.seq / SEQUENCE_NUMBERS,
        suite=record.suite,
        implementation=record.implementation,
    )


class Loops:
    """The collector of loops."""

    name = "loops"

    def __init__(self, read_loops: Callable[[], Sequence[Mapping[str, object]]]) -> None:
        """``read_loops``: for each loop ``counters``, ``drops``, ``stage_cycles``, ``seal``, ``open`` (histograms)."""
        self._read_loops = read_loops

    def collect(self, families: Families) -> None:
        """DataplaneError when the counters cannot be read."""
        for number, loop in enumerate(self._read_loops()):
            _loop(families, str(number), loop)


def _loop(families: Families, loop: str, read: Mapping[str, object]) -> None:
    n: Mapping[str, int] = read["counters"]  # type: ignore[assignment]
    drops: Mapping[str, int] = read["drops"]  # type: ignore[assignment]
    stages: Mapping[str, int] = read["stage_cycles"]  # type: ignore[assignment]
    families.add("gwbench_loop_cpu_seconds_total", (loop,), n["cpu_ns"] / 1e9)
    for stage, cycles in stages.items():
        families.add("gwbench_loop_stage_cycles_total", (loop, stage), cycles)
    for reason in DROP_REASONS[1:]:
        families.add("gwbench_loop_drops_total", (loop, reason), drops.get(reason, 0))
    for operation, packets in (("seal", "udp_send_packets"), ("open", "udp_recv_packets")):
        histogram: Sequence[int] = read[operation]  # type: ignore[assignment]
        buckets = zip(_BOUNDS, histogram, strict=True)
        families.histogram("gwbench_loop_batch_packets", (loop, operation), buckets, n[packets])
    for call, calls, size, packets_or_none in _CALLS:
        families.add("gwbench_loop_io_calls_total", (loop, call), n[calls])
        families.add("gwbench_loop_io_bytes_total", (loop, call), n[size])
        if packets_or_none is not None:
            families.add("gwbench_loop_io_packets_total", (loop, call), n[packets_or_none])
    families.add("gwbench_loop_offload_hits_total", (loop, "tun-tso"), n["tun_read_gso"])
    families.add(
        "gwbench_loop_offload_hits_total", (loop, "tun-coalesce"), max(0, n["tun_write_segments"] - n["tun_writes"])
    )
    families.add("gwbench_loop_offload_hits_total", (loop, "udp-gso"), max(0, n["udp_send_packets"] - n["udp_sends"]))
    families.add("gwbench_loop_offload_hits_total", (loop, "udp-gro"), max(0, n["udp_recv_packets"] - n["udp_recvs"]))
    families.add("gwbench_loop_offload_fallbacks_total", (loop, "udp-gso"), n["gso_fallbacks"])
    families.add("gwbench_loop_offload_fallbacks_total", (loop, "tun-coalesce"), n["tun_write_einval"])
    families.add("gwbench_loop_send_errors_total", (loop,), n["udp_send_errors"])
    families.add("gwbench_loop_receive_buffer_drops_total", (loop,), n["udp_rcvbuf_drops"])
    families.add("gwbench_loop_wakeups_total", (loop,), n["wakeups"])
    families.add("gwbench_loop_peer_moves_total", (loop,), n["peer_moves"])
