"""Measurements over time and versions: did last night's firmware make it slower?"""

from grafana.model import WHERE, Dashboard, Panel, Query, Row

DASHBOARD = Dashboard(
    "gwbench-history",
    "gwbench / Benchmark history",
    "The last saved measurement of each gateway, over time.",
    (
        Panel(
            "Goodput by implementation",
            "The median of the rounds of the last saved gwbench iperf.",
            (
                Query(
                    f'8 * gwbench_result_bytes_per_second{{{WHERE},role=~"generic|accelerated"}}',
                    "{{instance}} {{suite}} {{implementation}} {{direction}}",
                ),
            ),
            "bps",
        ),
        Panel(
            "Accelerated over generic",
            "What the fastest implementation gains over generic C, end to end: the A/B of one measurement.",
            (
                Query(
                    "max by (instance, suite, direction)"
                    f' (gwbench_result_bytes_per_second{{{WHERE},role="accelerated"}})'
                    " / max by (instance, suite, direction)"
                    f' (gwbench_result_bytes_per_second{{{WHERE},role="generic"}})',
                    "{{instance}} {{suite}} {{direction}}",
                ),
            ),
            "short",
        ),
        Panel(
            "Share of the plain line",
            "Goodput through the tunnel, of what the same boxes forward without one.",
            (
                Query(
                    "max by (instance, suite, direction)"
                    f' (gwbench_result_bytes_per_second{{{WHERE},role="accelerated"}})'
                    " / on (instance, direction) group_left max by (instance, direction)"
                    f' (gwbench_result_bytes_per_second{{{WHERE},role="plain"}})',
                    "{{instance}} {{suite}} {{direction}}",
                ),
            ),
            "percentunit",
        ),
        Panel(
            "CPU per byte",
            "CPU time of a gateway's data path per byte of goodput: steadier than the goodput on a noisy machine.",
            (
                Query(
                    f'gwbench_result_cpu_seconds_per_byte{{{WHERE},role=~"generic|accelerated"}}',
                    "{{instance}} {{suite}} {{role}} {{gateway}}",
                ),
            ),
            "s",
        ),
        Panel(
            "Cycles per byte of the ciphers",
            "The last saved gwbench crypto, packets of 1408 bytes.",
            (
                Query(
                    f"gwbench_implementation_cycles_per_byte{{{WHERE}}}",
                    "{{instance}} {{driver}} {{operation}}",
                ),
            ),
            "short",
        ),
        Panel(
            "Valid",
            "1 when every packet of the measurement was accounted for.",
            (
                Query(
                    f"min by (instance, suite, role) (gwbench_result_valid{{{WHERE}}})",
                    "{{instance}} {{suite}} {{role}}",
                ),
            ),
            "none",
            maximum=1,
        ),
        Row("When, and by which version"),
        Panel(
            "Age of the results",
            "Since the last saved measurement.",
            (
                Query(f"time() - gwbench_result_timestamp_seconds{{{WHERE}}}", "{{instance}} iperf"),
                Query(
                    f"time() - max by (instance) (gwbench_implementation_timestamp_seconds{{{WHERE}}})",
                    "{{instance}} crypto",
                ),
            ),
            "s",
        ),
        Panel(
            "Versions",
            "Which gwbench measured, and which one runs.",
            (Query(f"gwbench_result_version_info{{{WHERE}}}"),),
            "none",
            kind="table",
            hide=("__name__", "Value", "job"),
        ),
    ),
    refresh="5m",
    since="now-30d",
)
