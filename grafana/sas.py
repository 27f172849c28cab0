"""Tunnels and SAs in detail."""

from grafana.model import TUNNEL, Dashboard, Panel, Query, Row

_NAME = "{{instance}} {{child}} {{direction}}"


def _rate(metric: str, factor: str = "") -> str:
    return f"{factor}rate({metric}{{{TUNNEL}}}[$__rate_interval])"


DASHBOARD = Dashboard(
    "gwbench-sas",
    "gwbench / SA detail",
    "Each tunnel's SAs: traffic, age, rekeys, sequence numbers; single SAs where the exporter is asked for them.",
    (
        Panel(
            "Up",
            "1 while there is an SA in each direction.",
            (Query(f"gwbench_tunnel_up{{{TUNNEL}}}", "{{instance}} {{child}} to {{peer}}"),),
            "none",
            maximum=1,
        ),
        Panel(
            "Throughput", "Inner bits per second.", (Query(_rate("gwbench_tunnel_bytes_total", "8 * "), _NAME),), "bps"
        ),
        Panel("Packets", "Packets per second.", (Query(_rate("gwbench_tunnel_packets_total"), _NAME),), "pps"),
        Panel(
            "Overhead",
            "ESP bytes per inner byte; the kernel does not count them.",
            (
                Query(
                    _rate("gwbench_tunnel_wire_bytes_total") + " / " + _rate("gwbench_tunnel_bytes_total"),
                    _NAME,
                ),
            ),
            "short",
            minimum=None,
        ),
        Panel(
            "Drops",
            "Packets per second, by reason.",
            (Query(_rate("gwbench_tunnel_drops_total"), _NAME + " {{reason}}"),),
            "pps",
        ),
        Panel(
            "SAs",
            "More than one for some seconds after a rekey.",
            (Query(f"gwbench_tunnel_sas{{{TUNNEL}}}", _NAME),),
            "short",
        ),
        Row("Lifetime"),
        Panel("Age", "Of the newest SA.", (Query(f"gwbench_tunnel_sa_age_seconds{{{TUNNEL}}}", _NAME),), "s"),
        Panel(
            "Lifetime left",
            "Until the newest SA's hard limit; a rekey comes before.",
            (Query(f"gwbench_tunnel_sa_lifetime_left_seconds{{{TUNNEL}}}", _NAME),),
            "s",
            minimum=None,
        ),
        Panel(
            "Rekeys",
            "In the last hour.",
            (Query(f"increase(gwbench_tunnel_rekeys_total{{{TUNNEL}}}[1h])", _NAME),),
            "short",
        ),
        Panel(
            "Sequence numbers used",
            "Of 2^32, with ESN 2^64: at 1 the SA stops.",
            (Query(f"gwbench_tunnel_sequence_used_ratio{{{TUNNEL}}}", _NAME),),
            "percentunit",
        ),
        Row("Single SAs (gwbench serve --collector.sa, or per_sa = true)"),
        Panel(
            "Throughput of each SA",
            "Inner bits per second by SPI.",
            (Query(_rate("gwbench_sa_bytes_total", "8 * "), _NAME + " {{spi}}"),),
            "bps",
        ),
        Panel(
            "Packets of each SA",
            "Packets per second by SPI.",
            (Query(_rate("gwbench_sa_packets_total"), _NAME + " {{spi}}"),),
            "pps",
        ),
        Panel(
            "Drops of each SA",
            "Packets per second by SPI and reason.",
            (Query(_rate("gwbench_sa_drops_total"), _NAME + " {{spi}} {{reason}}"),),
            "pps",
        ),
        Panel(
            "SAs now",
            "Age of each, seconds.",
            (Query(f"gwbench_sa_age_seconds{{{TUNNEL}}}"),),
            "s",
            kind="table",
            hide=("__name__", "job"),
        ),
    ),
)
