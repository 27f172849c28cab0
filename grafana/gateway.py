"""One box: what it carries against its line, and what it is bound by."""

from grafana.model import TUNNEL, WHERE, Dashboard, Panel, Query, Row


def _rate(metric: str, by: str, more: str = "", where: str = WHERE) -> str:
    return f"sum by ({by}) (rate({metric}{{{where}{more}}}[$__rate_interval]))"


_BUSY = ',stage!="wait"'

DASHBOARD = Dashboard(
    "gwbench-gateway",
    "gwbench / Gateway",
    "One gateway: throughput against the line, drops, CPU, cost of a byte.",
    (
        Panel(
            "Throughput against the line",
            "Inner bits per second by direction; the line is what it carries outside, so the tunnel stays below.",
            (
                Query(
                    "8 * " + _rate("gwbench_tunnel_bytes_total", "instance, direction", where=TUNNEL),
                    "{{instance}} {{direction}}",
                ),
                Query(f"8 * gwbench_line_bytes_per_second{{{WHERE}}}", "{{instance}} line"),
            ),
            "bps",
        ),
        Panel(
            "Packets",
            "Packets per second through the tunnels, by direction.",
            (
                Query(
                    _rate("gwbench_tunnel_packets_total", "instance, direction", where=TUNNEL),
                    "{{instance}} {{direction}}",
                ),
            ),
            "pps",
        ),
        Panel(
            "Drops under an SA",
            "state_seq_error is replay or a window that is too small, state_proto_error a wrong ICV.",
            (
                Query(
                    _rate("gwbench_tunnel_drops_total", "instance, tunnel, reason", where=TUNNEL),
                    "{{instance}} {{tunnel}} {{reason}}",
                ),
            ),
            "pps",
        ),
        Panel(
            "Drops before an SA",
            "Unknown SPIs, packets without a policy, full buffers; of the data path and of the kernel.",
            (
                Query(_rate("gwbench_loop_drops_total", "instance, reason"), "{{instance}} {{reason}}"),
                Query(_rate("gwbench_loop_receive_buffer_drops_total", "instance"), "{{instance}} receive buffer full"),
                Query(_rate("gwbench_loop_send_errors_total", "instance"), "{{instance}} socket refused"),
                Query(_rate("gwbench_kernel_xfrm_drops_total", "instance, reason"), "{{instance}} kernel {{reason}}"),
            ),
            "pps",
        ),
        Row("What it is bound by"),
        Panel(
            "CPU by core",
            "Busy and softirq share of each core: one full core bounds one SA.",
            (Query(_rate("gwbench_cpu_seconds_total", "instance, cpu", ',mode!="idle"'), "{{instance}} cpu {{cpu}}"),),
            "percentunit",
            maximum=1,
        ),
        Panel(
            "CPU by kind",
            "softirq is the kernel's packet work, steal what the hypervisor took.",
            (
                Query(
                    f"avg by (instance, mode) (rate(gwbench_cpu_seconds_total{{{WHERE}}}[$__rate_interval]))",
                    "{{instance}} {{mode}}",
                ),
            ),
            "percentunit",
            stacked=True,
        ),
        Panel(
            "Data path threads",
            "CPU share of each loop, which is one thread.",
            (Query(_rate("gwbench_loop_cpu_seconds_total", "instance, loop"), "{{instance}} loop {{loop}}"),),
            "percentunit",
            maximum=1,
        ),
        Panel(
            "Stages",
            "Where a loop's cycles go, without waiting.",
            (Query(_rate("gwbench_loop_stage_cycles_total", "instance, stage", _BUSY), "{{instance}} {{stage}}"),),
            "short",
            stacked=True,
        ),
        Panel(
            "Cycles per byte",
            "All of the data path's cycles but waiting, per inner byte through the tunnels.",
            (
                Query(
                    _rate("gwbench_loop_stage_cycles_total", "instance", _BUSY)
                    + " / "
                    + _rate("gwbench_tunnel_bytes_total", "instance"),
                    "{{instance}}",
                ),
            ),
            "short",
        ),
        Panel(
            "Batch size",
            "Packets that were sealed or opened together, on average: small batches are wake-ups, large ones queues.",
            (
                Query(
                    _rate("gwbench_loop_batch_packets_sum", "instance, operation")
                    + " / "
                    + _rate("gwbench_loop_batch_packets_count", "instance, operation"),
                    "{{instance}} {{operation}} mean",
                ),
                Query(
                    "histogram_quantile(0.9, "
                    + _rate("gwbench_loop_batch_packets_bucket", "instance, operation, le")
                    + ")",
                    "{{instance}} {{operation}} 9 of 10",
                ),
            ),
            "short",
        ),
        Panel(
            "Time inside the gateway",
            "CPU time of the data path per batch: what a packet waits at least for the batch that it is in.",
            (
                Query(
                    _rate("gwbench_loop_cpu_seconds_total", "instance")
                    + " / "
                    + _rate("gwbench_loop_batch_packets_count", "instance"),
                    "{{instance}}",
                ),
            ),
            "s",
        ),
        Panel(
            "Packets per system call",
            "What offloads save: 1 is none.",
            (
                Query(
                    _rate("gwbench_loop_io_packets_total", "instance, call")
                    + " / "
                    + _rate("gwbench_loop_io_calls_total", "instance, call"),
                    "{{instance}} {{call}}",
                ),
            ),
            "short",
        ),
        Panel(
            "Offloads",
            "Packets that an offload saved a call for, and calls that the kernel refused with one.",
            (
                Query(_rate("gwbench_loop_offload_hits_total", "instance, offload"), "{{instance}} {{offload}}"),
                Query(
                    _rate("gwbench_loop_offload_fallbacks_total", "instance, offload"),
                    "{{instance}} {{offload}} refused",
                ),
            ),
            "pps",
        ),
        Panel(
            "Wake-ups",
            "Times a second that a loop woke from waiting.",
            (Query(_rate("gwbench_loop_wakeups_total", "instance, loop"), "{{instance}} loop {{loop}}"),),
            "short",
        ),
        Row("Implementations and the exporter"),
        Panel(
            "Selected implementations",
            "What a new SA gets for each algorithm.",
            (Query(f"gwbench_implementation_selected{{{WHERE}}} == 1"),),
            "none",
            kind="table",
            hide=("__name__", "Value", "job"),
        ),
        Panel(
            "Collectors",
            "How long each part of a scrape takes; one that failed is absent from the data and 0 here.",
            (
                Query(f"gwbench_collector_duration_seconds{{{WHERE}}}", "{{instance}} {{collector}}"),
                Query(f"gwbench_collector_success{{{WHERE}}} == 0", "{{instance}} {{collector}} FAILED"),
            ),
            "s",
        ),
    ),
)
