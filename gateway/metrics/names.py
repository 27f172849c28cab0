"""Every metric of gwbench in one table: name, type, help, unit, labels. Collectors, dashboards and rules are checked
against it, and nothing that is not in it can be exported.

Names follow Prometheus' conventions: base units (seconds, bytes, ratios), counters end in ``_total``. Words for drops
are the kernel's of /proc/net/xfrm_stat.
"""

from __future__ import annotations

from dataclasses import dataclass

PREFIX = "gwbench_"
PORT = 10795
"""Where ``gwbench serve`` and ``up`` listen by default, on the loopback."""

TUNNEL = ("tunnel", "child", "peer")
DIRECTED = (*TUNNEL, "direction")
"""Never the SPI: it would begin a new series at every rekey."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One family."""

    name: str
    kind: str
    """``counter``, ``gauge`` or ``histogram``."""
    help: str
    labels: tuple[str, ...] = ()
    unit: str = ""
    """Grafana's word: ``pps`` (of a rate), ``Bps``, ``s``, ``percentunit``, ``short``, ``none``."""


def _table(*metrics: Metric) -> dict[str, Metric]:
    table = {metric.name: metric for metric in metrics}
    if len(table) != len(metrics):
        raise ValueError("a metric stands twice in the table")
    return table


METRICS: dict[str, Metric] = _table(
    # ---- tunnels, of the kernel and of our own dataplane alike ----
    Metric("gwbench_tunnel_up", "gauge", "1 while the tunnel has an SA in each direction, else 0.", TUNNEL, "none"),
    Metric(
        "gwbench_tunnel_info",
        "gauge",
        "Always 1: what the tunnel runs on (kernel or gwbench), its suite, and the implementation that runs it.",
        (*TUNNEL, "dataplane", "suite", "implementation"),
        "none",
    ),
    Metric(
        "gwbench_tunnel_packets_total",
        "counter",
        "Packets sealed (out) or opened and accepted (in), over all SAs that the tunnel has had.",
        DIRECTED,
        "pps",
    ),
    Metric("gwbench_tunnel_bytes_total", "counter", "Inner bytes of these packets.", DIRECTED, "Bps"),
    Metric(
        "gwbench_tunnel_wire_bytes_total",
        "counter",
        "ESP bytes of these packets, SPI to ICV; the kernel does not count them.",
        DIRECTED,
        "Bps",
    ),
    Metric(
        "gwbench_tunnel_drops_total",
        "counter",
        "Packets dropped under the tunnel's SAs, by the kernel's words of /proc/net/xfrm_stat.",
        (*DIRECTED, "reason"),
        "pps",
    ),
    Metric("gwbench_tunnel_sas", "gauge", "SAs that the tunnel has now.", DIRECTED, "short"),
    Metric("gwbench_tunnel_rekeys_total", "counter", "SAs that came after the tunnel's first.", DIRECTED, "short"),
    Metric("gwbench_tunnel_sa_age_seconds", "gauge", "Age of the tunnel's newest SA.", DIRECTED, "s"),
    Metric(
        "gwbench_tunnel_sa_lifetime_left_seconds",
        "gauge",
        "Seconds until the newest SA's hard limit in time; absent without one.",
        DIRECTED,
        "s",
    ),
    Metric(
        "gwbench_tunnel_sequence_used_ratio",
        "gauge",
        "Share of the newest SA's sequence numbers that are used up: 2^32 of them, with ESN 2^64.",
        DIRECTED,
        "percentunit",
    ),
    # ---- SAs one by one, behind a flag ----
    Metric("gwbench_sa_packets_total", "counter", "Packets of one SA.", (*DIRECTED, "spi"), "pps"),
    Metric("gwbench_sa_bytes_total", "counter", "Inner bytes of one SA.", (*DIRECTED, "spi"), "Bps"),
    Metric("gwbench_sa_drops_total", "counter", "Drops of one SA.", (*DIRECTED, "spi", "reason"), "pps"),
    Metric("gwbench_sa_age_seconds", "gauge", "Age of one SA.", (*DIRECTED, "spi"), "s"),
    Metric(
        "gwbench_sa_sequence_used_ratio",
        "gauge",
        "Share of one SA's sequence numbers that are used up.",
        (*DIRECTED, "spi"),
        "percentunit",
    ),
    # ---- the kernel ----
    Metric(
        "gwbench_kernel_xfrm_drops_total",
        "counter",
        "The kernel's own count of packets that IPsec dropped in this network namespace: /proc/net/xfrm_stat.",
        ("reason",),
        "pps",
    ),
    Metric(
        "gwbench_kernel_xfrm_events_lost_total",
        "counter",
        "Events of removed SAs that could not be kept: counts may miss what these SAs did since the scrape before.",
        (),
        "short",
    ),
    Metric(
        "gwbench_cpu_seconds_total",
        "counter",
        "CPU time of the machine by core and mode (busy is user, system and the rest but idle, softirq and steal).",
        ("cpu", "mode"),
        "percentunit",
    ),
    Metric(
        "gwbench_line_bytes_per_second",
        "gauge",
        "What the line can carry in each direction: as configured, or the speed of the outer interface.",
        (),
        "Bps",
    ),
    # ---- our own dataplane, by loop, which is one thread ----
    Metric("gwbench_loop_cpu_seconds_total", "counter", "CPU time of a loop's thread.", ("loop",), "percentunit"),
    Metric(
        "gwbench_loop_stage_cycles_total",
        "counter",
        "Clock cycles by stage of a loop; wait is idle.",
        ("loop", "stage"),
        "short",
    ),
    Metric(
        "gwbench_loop_drops_total",
        "counter",
        "Packets dropped before an SA was known, by the kernel's words.",
        ("loop", "reason"),
        "pps",
    ),
    Metric(
        "gwbench_loop_batch_packets",
        "histogram",
        "Packets of a batch that was sealed or opened together.",
        ("loop", "operation"),
        "short",
    ),
    Metric(
        "gwbench_loop_io_calls_total",
        "counter",
        "System calls that moved packets: tun_read, tun_write, udp_send, udp_receive.",
        ("loop", "call"),
        "short",
    ),
    Metric("gwbench_loop_io_bytes_total", "counter", "Bytes that these calls moved.", ("loop", "call"), "Bps"),
    Metric(
        "gwbench_loop_io_packets_total",
        "counter",
        "Packets that these calls moved (tun_read is not told apart before segmentation, and absent).",
        ("loop", "call"),
        "pps",
    ),
    Metric(
        "gwbench_loop_offload_hits_total",
        "counter",
        "Packets that an offload saved a call for; for tun-tso the super-packets that were read.",
        ("loop", "offload"),
        "short",
    ),
    Metric(
        "gwbench_loop_offload_fallbacks_total",
        "counter",
        "Calls that the kernel refused with an offload and that were repeated without.",
        ("loop", "offload"),
        "short",
    ),
    Metric("gwbench_loop_send_errors_total", "counter", "ESP packets that the socket refused.", ("loop",), "pps"),
    Metric(
        "gwbench_loop_receive_buffer_drops_total",
        "counter",
        "ESP packets that the socket's receive buffer had no room for.",
        ("loop",),
        "pps",
    ),
    Metric("gwbench_loop_wakeups_total", "counter", "Times that a loop woke from poll.", ("loop",), "short"),
    Metric("gwbench_loop_peer_moves_total", "counter", "Peers found at another address or port.", ("loop",), "short"),
    # ---- implementations ----
    Metric(
        "gwbench_implementation_selected",
        "gauge",
        "1 for the implementation of an algorithm that a new SA gets by default, 0 for the others that run here.",
        ("algorithm", "driver", "isa", "constant_time"),
        "none",
    ),
    Metric(
        "gwbench_implementation_cycles_per_byte",
        "gauge",
        "As the last saved gwbench crypto measured it, at 1408 bytes or the nearest size.",
        ("algorithm", "driver", "operation"),
        "short",
    ),
    Metric(
        "gwbench_implementation_timestamp_seconds", "gauge", "When that was measured.", ("algorithm",), "dateTimeAsIso"
    ),
    # ---- saved results ----
    Metric(
        "gwbench_result_bytes_per_second",
        "gauge",
        "Goodput of the last saved end-to-end measurement, the median of its rounds.",
        ("suite", "implementation", "role", "direction"),
        "Bps",
    ),
    Metric(
        "gwbench_result_cpu_seconds_per_byte",
        "gauge",
        "CPU seconds of a gateway's data path per byte of goodput in that measurement.",
        ("suite", "implementation", "role", "gateway"),
        "s",
    ),
    Metric(
        "gwbench_result_valid",
        "gauge",
        "1 when the packets of the measurement added up.",
        ("suite", "implementation", "role", "direction"),
        "none",
    ),
    Metric(
        "gwbench_result_timestamp_seconds", "gauge", "When the last saved result was measured.", (), "dateTimeAsIso"
    ),
    Metric("gwbench_result_version_info", "gauge", "Always 1: which gwbench measured it.", ("version",), "none"),
    # ---- the exporter itself ----
    Metric("gwbench_build_info", "gauge", "Always 1: what is running.", ("version", "python", "machine"), "none"),
    Metric("gwbench_collector_success", "gauge", "1 when the collector measured, else 0.", ("collector",), "none"),
    Metric(
        "gwbench_collector_duration_seconds",
        "gauge",
        "How long the collector took for this scrape.",
        ("collector",),
        "s",
    ),
)


def metric(name: str) -> Metric:
    """KeyError names what is not in the table."""
    return METRICS[name]


def series_names() -> dict[str, Metric]:
    """By the names that PromQL uses: a histogram has three."""
    found: dict[str, Metric] = {}
    for one in METRICS.values():
        if one.kind == "histogram":
            found |= {f"{one.name}_{part}": one for part in ("bucket", "sum", "count")}
        else:
            found[one.name] = one
    return found
