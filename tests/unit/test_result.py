"""The result file: its rows, where it is kept, and what never gets into it."""

from __future__ import annotations

import json
import os
import pwd
from pathlib import Path

import pytest

from gateway import result
from gateway.load.iperf3_parse import Flow, Interval, Iperf3Result
from gateway.measure.machine import Busy
from gateway.measure.sample import Sample
from gateway.node.base import NodeCounters, PathInfo, SaCounters
from gateway.noise import Noise
from gateway.output import table
from gateway.rounds import Case, Taken
from gateway.validity import Account, Verdict

PLAIN = Case("plain")
GENERIC = Case("generic", "aes128gcm16", "generic")
FAST = Case("accelerated", "aes128gcm16", "accelerated")


def node(packets: int, direction: str, cpu_ns: int) -> NodeCounters:
    sas = (SaCounters(7, direction, packets, packets * 1400, packets * 1440, {}, packets, "valid", "i"),)
    loop = {
        "udp_send_packets": packets if direction == "out" else 3,
        "udp_sends": packets // 40 if direction == "out" else 3,
        "udp_recv_packets": packets if direction == "in" else 3,
        "udp_recvs": packets // 100 if direction == "in" else 3,
        "tun_write_segments": packets if direction == "in" else 3,
        "tun_writes": packets // 40 if direction == "in" else 3,
    }
    return NodeCounters(sas, loop, {}, {"seal": 5}, cpu_ns, {"esp7": {"tx_dropped": 2}, "wan": {"tx_dropped": 9}})


def sample(case: Case, mbit_per_s: float, reasons: tuple[str, ...] = (), dirty: str = "") -> Sample:
    size = int(mbit_per_s * 125_000)
    flow = Flow("forward", mbit_per_s, size, size, 0, 1.0, 4, None, None, None)
    load = Iperf3Result("iperf 3.12", "TCP", "cubic", (flow,), (Interval(0, 1, mbit_per_s, size, 4, False, "forward"),))
    common = {
        "case": case,
        "load": load,
        "command": ("iperf3", "-c"),
        "wall_s": 1.0,
        "busy": Busy(2.0, 0.5, 0.2, 0.8, 0.5, 0.0, 0.9),
        "iperf3_cpu_s": 0.3,
        "noise": Noise(1.0, 0.0, 0.0, bool(dirty), dirty),
    }
    if not case.suite:
        return Sample(**common)  # type: ignore[arg-type]
    accounts = (
        Account("forward", 4000, 3990, {"state_seq_error": 10}, 0, 0, 0),
        Account("reverse", 3, 3, {}, 0, 0, 0),
    )
    return Sample(
        **common,  # type: ignore[arg-type]
        implementation=f"{case.implementation}/gwbench",
        inner_mtu=1438,
        gateways={"gw1": node(4000, "out", 300_000_000), "gw2": node(3990, "in", 200_000_000)},
        verdict=Verdict(accounts, reasons),
        paths={name: PathInfo("esp7", 3, 4500, (), 64, 1, 1, 1) for name in ("gw1", "gw2")},
    )


def measured(**more: tuple[str, ...]) -> dict[Case, list[Taken[Sample]]]:
    rates = {PLAIN: (1000.0, 2000.0), GENERIC: (100.0, 180.0), FAST: (400.0, 900.0)}
    return {
        case: [
            Taken(n, sample(case, rate, more.get(case.role, ())), "", 1)  # a round each
            for n, rate in enumerate(of_case)
        ]
        for case, of_case in rates.items()
    }


def document(**more: tuple[str, ...]) -> dict[str, object]:
    lab = {"topology": "client", "offload": "default"}
    return result.document(["gwbench", "iperf"], {"machine": {}}, lab, measured(**more), ["a note"], ["Verdict: x."])


def test_rows_by_the_schema() -> None:
    made = document()
    assert list(made)[:5] == ["schema", "command", "environment", "lab", "results"]
    assert made["schema"] == "gwbench/1" and made["valid"] is True
    plain, generic, fast = result.rows(measured())
    assert (plain["role"], plain["suite"], plain["implementation"], plain["sa"]) == ("plain", None, None, None)
    assert plain["cpu_s_per_gb"] is None and plain["share_of_plain"] == 1.0
    assert fast["mbit_per_s"] == {"median": 650.0, "min": 400.0, "max": 900.0, "samples": [400.0, 900.0]}
    # Median of 400/1000 and 900/2000.
    assert fast["share_of_plain"] == pytest.approx(0.425)
    # Half a second of both gateways for 50 MB and 112.5 MB.
    assert fast["cpu_s_per_gb"]["samples"] == pytest.approx([10.0, 4.444], abs=0.01)
    assert fast["gateways"]["gw1"]["cpu_s_per_gb"]["samples"][0] == pytest.approx(6.0)
    assert fast["sa"]["packets"] == 2 * 3990
    assert fast["sa"]["drops"] == {"state_seq_error": 20}
    assert fast["sa"]["sealed_packets"] == 8000
    assert fast["sa"]["tun_drops"] == 2 * 2 * 2, "rounds x gateways, of the TUN alone, whatever its name"
    assert fast["counts"]["esp_packets_per_send"] == 40
    assert fast["counts"]["receive_calls_per_packet"] == pytest.approx(0.00977, abs=1e-4)
    assert len(fast["intervals"]) == 2 and fast["intervals"][1]["round"] == 1
    assert generic["valid"] is True


def test_the_factor_is_the_median_of_rounds() -> None:
    (ratio,) = result.ratios(measured())
    assert ratio["factor"] == pytest.approx((4 + 5) / 2)
    assert (ratio["implementation"], ratio["over"]) == ("accelerated/gwbench", "generic/gwbench")


def test_numbers_that_do_not_add_up() -> None:
    made = document(accelerated=("forward: sealed 5, but opened 4",))
    assert made["valid"] is False
    row = made["results"][2]  # type: ignore[index]
    assert row["valid"] is False
    assert row["reasons"] == [f"round {n}: forward: sealed 5, but opened 4" for n in (1, 2)]
    text = "\n".join(table.render(made))
    assert "do NOT add up" in text and "INVALID" in text and "sealed 5" in text


def test_table_shows_what_the_file_says() -> None:
    lines = table.render(document())
    text = "\n".join(lines)
    assert text.isascii()
    fast = next(line for line in lines if "accelerated" in line)
    for cell in ("aes128gcm16", "650 (400-900)", "4.50", "43 %", "4.33", "2.89"):
        assert cell in fast, (cell, fast)
    assert "/gwbench" not in fast
    assert "The numbers add up: 16,000 packets sealed = 15,960 opened + 40 dropped" in text
    assert "not a router" in text
    assert lines[-2:] == ["Note: a note.", "Verdict: x."]


def test_nothing_secret_in_the_command_line() -> None:
    argv = [
        "/home/me/.venv/bin/gwbench",
        "iperf",
        "--psk",
        "s3cret",
        "--auth-key=abc",
        "--peer",
        "root:pw@host",
        "-t",
        "5",
    ]
    recorded = result.recorded_command(argv)
    assert recorded[0] == "gwbench" and recorded[-2:] == ["-t", "5"]
    assert not any(word in " ".join(recorded) for word in ("s3cret", "abc", "pw@"))


def test_saved_results_never_meet(tmp_path: Path) -> None:
    paths = {result.save({"a": n}, "iperf", tmp_path / "x" / "y") for n in range(3)}
    assert len(paths) == 3
    assert sorted(json.loads(p.read_text())["a"] for p in paths) == [0, 1, 2]


@pytest.mark.parametrize(
    ("environ", "where"),
    [
        ({"XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s/gwbench/results"),
        ({"HOME": "/h"}, "/h/.local/state/gwbench/results"),
        ({"XDG_STATE_HOME": "relative", "HOME": "/h"}, "/h/.local/state/gwbench/results"),
    ],
)
def test_where_results_are_kept(environ: dict[str, str], where: str) -> None:
    assert str(result.results_directory(environ)) == where


def test_where_results_are_kept_without_a_home() -> None:
    home = pwd.getpwuid(os.getuid()).pw_dir
    assert str(result.results_directory({})) == f"{home}/.local/state/gwbench/results"


def test_write_replaces_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text("old")
    result.write({"a": 1}, path)
    assert json.loads(path.read_text()) == {"a": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]


@pytest.mark.parametrize(("attempts", "said"), [(1, "a disturbed machine; see"), (3, "even when repeated; see")])
def test_a_disturbed_round_is_called_repeated_only_when_it_was(attempts: int, said: str) -> None:
    case = Case("plain")
    taken = {case: [Taken(0, sample(case, 100.0, dirty="busy"), "busy", attempts)]}
    lab = {"topology": "client", "offload": "default"}
    lines = table.render(result.document(["gwbench"], {"machine": {}}, lab, taken, [], []))
    assert said in next(line for line in lines if line.startswith("* 1 of 1 measurements"))


def test_nan_is_refused() -> None:
    with pytest.raises(ValueError):
        result.to_json({"a": float("nan")})
