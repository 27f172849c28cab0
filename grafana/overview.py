"""The fleet: is everything up, what does it carry, what does it drop."""

from grafana.model import TUNNEL, WHERE, Dashboard, Panel, Query, Row

_RED_ABOVE_0 = ((None, "green"), (0.001, "red"))

DASHBOARD = Dashboard(
    "gwbench-overview",
    "gwbench / Overview",
    "All gateways: tunnels, throughput, drops.",
    (
        Panel(
            "Tunnels up",
            "Share of the tunnels that have an SA in each direction.",
            (Query(f"avg(gwbench_tunnel_up{{{TUNNEL}}})", "up"),),
            "percentunit",
            kind="stat",
            width=8,
            height=5,
            maximum=1,
            thresholds=((None, "red"), (1, "green")),
        ),
        Panel(
            "Through the tunnels",
            "Inner bits per second of all tunnels of the chosen gateways, both directions together.",
            (Query(f"8 * sum(rate(gwbench_tunnel_bytes_total{{{TUNNEL}}}[$__rate_interval]))", "throughput"),),
            "bps",
            kind="stat",
            width=8,
            height=5,
        ),
        Panel(
            "Dropped",
            "Packets that tunnels and data paths dropped, for any reason.",
            (
                Query(
                    f"sum(rate(gwbench_tunnel_drops_total{{{TUNNEL}}}[$__rate_interval]))"
                    f" + (sum(rate(gwbench_loop_drops_total{{{WHERE}}}[$__rate_interval])) or vector(0))",
                    "drops",
                ),
            ),
            "pps",
            kind="stat",
            width=8,
            height=5,
            thresholds=_RED_ABOVE_0,
        ),
        Row("By gateway"),
        Panel(
            "Throughput",
            "Inner bits per second by gateway and direction.",
            (
                Query(
                    "8 * sum by (instance, direction)"
                    f" (rate(gwbench_tunnel_bytes_total{{{TUNNEL}}}[$__rate_interval]))",
                    "{{instance}} {{direction}}",
                ),
            ),
            "bps",
        ),
        Panel(
            "Drops by reason",
            "By the kernel's words of /proc/net/xfrm_stat, over all gateways.",
            (
                Query(
                    f"sum by (instance, reason) (rate(gwbench_tunnel_drops_total{{{TUNNEL}}}[$__rate_interval]))",
                    "{{instance}} {{reason}}",
                ),
            ),
            "pps",
        ),
        Panel(
            "Busiest core",
            "One full core is the limit of one SA, whatever the average says.",
            (
                Query(
                    "max by (instance) (sum by (instance, cpu)"
                    f' (rate(gwbench_cpu_seconds_total{{{WHERE},mode!="idle"}}[$__rate_interval])))',
                    "{{instance}}",
                ),
            ),
            "percentunit",
            maximum=1,
        ),
        Panel(
            "Rekeys",
            "New SAs per minute that replaced others.",
            (
                Query(
                    f"60 * sum by (instance) (rate(gwbench_tunnel_rekeys_total{{{TUNNEL}}}[$__rate_interval]))",
                    "{{instance}}",
                ),
            ),
            "short",
        ),
        Row("Now"),
        Panel(
            "Gateways",
            "What runs where.",
            (Query(f"gwbench_build_info{{{WHERE}}}"),),
            "none",
            kind="table",
            hide=("__name__", "Value", "job"),
        ),
        Panel(
            "Tunnels",
            "What each tunnel runs on: the kernel or gwbench, its suite, and the implementation.",
            (Query(f"gwbench_tunnel_info{{{TUNNEL}}}"),),
            "none",
            kind="table",
            hide=("__name__", "Value", "job"),
        ),
    ),
)
