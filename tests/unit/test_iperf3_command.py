"""The command line that iperf3 gets, and what is asked of the machine before."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.errors import UnusableError
from gateway.lab import offload
from gateway.load.iperf3 import Iperf3Binary, Load, client_command, udp_window_bytes
from gateway.measure import machine

OLD = Iperf3Binary("/usr/bin/iperf3", "3.12", False)
NEW = Iperf3Binary("/usr/bin/iperf3", "3.17", True)


def command(binary: Iperf3Binary = OLD, **more: object) -> str:
    return " ".join(client_command(Load("10.77.2.2", "10.77.1.2", **more), binary))  # type: ignore[arg-type]


def test_json_stream_where_iperf3_has_it() -> None:
    assert command().endswith("-t 5 -i 1 --json")
    assert command(NEW).endswith("-i 1 --json-stream")


def test_flags_pass_through() -> None:
    text = command(parallel=4, reverse=True, omit=1, mss=1200, length=65536, congestion="cubic", bitrate="1G", port=9)
    for flag in ("-P 4", "-R", "-O 1", "-M 1200", "-l 65536", "-C cubic", "-b 1G", "-p 9", "-B 10.77.1.2"):
        assert f" {flag}" in text
    assert "--bidir" in command(bidir=True) and " -R" not in command(bidir=True, reverse=True)


def test_udp_gets_a_window_and_nothing_of_tcp() -> None:
    text = command(udp=True, congestion="cubic", mss=1200)
    assert " -u -w 4194304" in text
    assert "-C" not in text and "-M" not in text


def test_the_window_is_what_the_kernel_grants(tmp_path: Path) -> None:
    (tmp_path / "rmem_max").write_text("212992\n")
    (tmp_path / "wmem_max").write_text("8388608\n")
    assert udp_window_bytes(tmp_path) == 212992
    assert udp_window_bytes(tmp_path / "absent") == 4 << 20


@pytest.mark.parametrize(("mode", "gro"), [("wire", True), ("off", False)])
def test_veth_modes(mode: str, gro: bool) -> None:
    features = offload.features_of(mode)
    assert features["rx-gro"] is gro
    assert not any(features[name] for name in offload.SEND_FEATURES)


def test_veth_default_touches_nothing_and_others_are_refused() -> None:
    assert offload.features_of("default") == {}
    with pytest.raises(UnusableError, match="wire"):
        offload.features_of("some")


def test_cpu_between_two_readings() -> None:
    # user nice system idle iowait irq softirq steal, ticks
    before = [[0] * 8, [0] * 8, [0] * 8]
    after = [[10, 0, 60, 80, 0, 0, 40, 10], [5, 0, 55, 0, 0, 0, 40, 0], [5, 0, 5, 80, 0, 0, 0, 10]]
    busy = machine.between(before, after)
    shares = busy.as_dict()
    assert shares["idle"] == pytest.approx(0.4)
    assert shares["softirq"] == pytest.approx(0.2)
    assert shares["steal"] == pytest.approx(0.05)
    assert shares["busiest_core"] == 1.0
    first, second = shares["cores"]
    assert first == {"number": 0, "busy": 1.0, "softirq": pytest.approx(0.4)}
    assert second == {"number": 1, "busy": pytest.approx(0.2), "softirq": 0.0}


def test_others_are_neither_ours_nor_the_kernels(tmp_path: Path) -> None:
    tick_ns = 10_000_000

    def process(pid: int, parent: int, ticks: int, name: str = "x") -> None:
        (tmp_path / str(pid)).mkdir()
        fields = ["S", str(parent), *["0"] * 9, str(ticks), "0", "0", "0"]
        (tmp_path / str(pid) / "stat").write_text(f"{pid} ({name}) {' '.join(fields)}")

    process(1, 0, 1, "init")
    process(2, 0, 1000, "kthreadd")
    process(15, 2, 1000, "ksoftirqd/0")
    process(100, 1, 10, "other) (x")
    process(200, 1, 5000, "gwbench")
    process(201, 200, 5000, "worker")
    process(202, 201, 5000)
    (tmp_path / "300").mkdir()  # ended meanwhile
    assert machine.others_cpu_ns(tmp_path, own_pid=200) == 11 * tick_ns
