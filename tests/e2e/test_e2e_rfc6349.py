"""gwbench iperf --rfc6349 in the laboratory."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .conftest import Finished, Run


def test_each_path_has_its_figures(gwbench: Callable[..., Finished]) -> None:
    finished = gwbench("--rfc6349", "-t", "1", "--repeats", "0", "--suite", "aes128gcm16")
    assert finished.status == 0, finished.stdout + finished.stderr
    assert [row["role"] for row in finished.result["results"]] == ["plain", "accelerated"]
    plain, tunnel = finished.result["rfc6349"]
    assert (plain["path_mtu_bytes"], tunnel["path_mtu_bytes"]) == (1500, 1438)
    for path in (plain, tunnel):
        assert 0 < path["baseline_rtt_us"] <= path["median_rtt_us"]
        bdp = path["bottleneck_mbit_per_s"] * path["baseline_rtt_us"] / 8
        assert path["optimal_window_bytes"] == pytest.approx(bdp, abs=1)
        assert path["transfers"][-1]["window_bytes"] is None
        for one in path["transfers"]:
            assert one["mbit_per_s"] <= path["bottleneck_mbit_per_s"] * 1.0001
            assert one["transfer_time_ratio"] == pytest.approx(path["bottleneck_mbit_per_s"] / one["mbit_per_s"])
            assert 0 <= one["tcp_efficiency"] <= 1
            assert one["mean_rtt_us"] > 0
    assert "RFC 6349 path" in finished.stdout and "optimal window" in finished.stdout


@pytest.mark.parametrize("other", [("-u",), ("-R",), ("--bidir",), ("--waterfall",), ("--peer", "root@192.0.2.1")])
def test_what_excludes_it(start: Callable[..., Run], other: tuple[str, ...]) -> None:
    finished = start("iperf", "--rfc6349", *other).wait(30)
    assert finished.status == 2
    assert finished.stderr.startswith("gwbench: --rfc6349 is one TCP direction in the laboratory")
    assert len(finished.stderr.splitlines()) == 1
