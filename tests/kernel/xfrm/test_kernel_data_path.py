"""The kernel's own data path, its drivers, AF_ALG and IKE through gwbench's commands, in one boot."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway.netlink import xfrm
from tests.e2e import strongswan
from tests.kernel.machine import BUILD, KIND, Boot, boot_to_the_end


@pytest.fixture(scope="module")
def found() -> Boot:
    """Every case has run in it. The IKE daemon is fetched here: the machine has no network."""
    strongswan.executable()
    return boot_to_the_end(BUILD / "xfrm/out" / f"{KIND}.jsonl", "tests.kernel.xfrm.vm_xfrm")


def rows(run: dict[str, Any]) -> list[dict[str, Any]]:
    assert run["status"] == 0, run["output"]
    result: list[dict[str, Any]] = run["document"]["results"]
    assert all(row["valid"] for row in result), json.dumps(result)[:4000]
    return result


def test_every_message_to_the_kernel_and_back(found: Boot) -> None:
    result = found.result("xfrm", "messages")
    assert len(result["listed"]) >= 18
    for sa in result["listed"]:
        assert sa["same"], sa
        assert sa["key_bits"] == sa["wanted_key_bits"], sa
        assert sa["icv_bits"] == sa["wanted_icv_bits"], sa
    assert [kind for kind, _ in result["events"]] == [xfrm.XFRM_MSG_NEWSA] * len(result["listed"])
    assert result["update"] == {"cipher": "rfc4106(gcm(aes))", "icv_bits": 96, "if_id": 9, "mark": 7}
    assert result["expire"] == [xfrm.XFRM_MSG_EXPIRE, 1]
    assert result["key_visible"] is False and result["after_flush"] == 0


def test_the_list_by_netlink_is_proc_crypto(found: Boot) -> None:
    result = found.result("xfrm", "crypto")
    assert result["netlink"] == result["proc"] and len(result["proc"]) > 20
    assert result["instance"] == [[100], [7777], []]


def test_both_data_paths_in_turns_are_valid(found: Boot) -> None:
    run = found.result("xfrm", "both")
    result = rows(run)
    assert [(row["role"], row["dataplane"]) for row in result] == [
        ("plain", "user"),
        ("null", "user"),
        ("null", "kernel"),
        ("accelerated", "user"),
        ("kernel", "kernel"),
    ]
    kernel = result[-1]
    assert "gcm" in kernel["implementation"] and kernel["implementation"].endswith("/kernel")
    assert kernel["cpu_s_per_gb"] is None and kernel["sa"]["packets"] > 100
    assert kernel["gate"]["packets"] > 5000
    assert any("data path" in line for line in run["document"]["verdict"])


def test_drivers_in_turns(found: Boot) -> None:
    run = found.result("xfrm", "drivers")
    kernels = [row for row in rows(run) if row["role"] == "kernel"]
    assert [row["driver"] for row in kernels] == run["names"]
    for row in kernels:
        assert row["driver"] in row["implementation"]
    # What /proc/crypto said meanwhile: the transforms in use had the driver that stood first.
    during = {first: used for first, used in run["seen"] if used}
    for driver in run["names"]:
        assert driver in during and all(driver in one for one in during[driver]), run["seen"]
    assert run["after"] == run["before"]


@pytest.mark.parametrize("signal", ["SIGINT", "SIGKILL"])
def test_priorities_come_back(found: Boot, signal: str) -> None:
    run = found.result("xfrm", signal)
    assert run["raised"] != run["before"], run["output"]
    if signal == "SIGINT":
        assert run["status"] == 130 and run["left"] == run["before"] and not run["journal"]
        return
    assert run["left"] != run["before"] and run["journal"]
    assert run["cleanup"]["status"] == 0 and run["after"] == run["before"]


def test_af_alg_at_depth(found: Boot) -> None:
    run = found.result("xfrm", "depth")
    assert run["status"] == 0, run["output"]
    document = run["document"]
    table = document["rows"]
    assert {row["depth"] for row in table} == {1, 4, 16, 64}
    assert {f"{name}/kernel" for name in found.result("xfrm", "drivers")["names"]} <= {row["driver"] for row in table}
    assert {row["algorithm"] for row in table} == {"cbc(aes)", "gcm(aes)", "sha256"}
    for row in table:
        assert row["ops"] > 0 and 0 < row["latency_us"]["p50"] <= row["latency_us"]["p99"] <= row["latency_us"]["max"]
    assert document["crossovers"] and "Crossover" in run["output"]


def test_sas_of_an_ike_daemon_over_a_rekey(found: Boot) -> None:
    result = found.result("xfrm", "existing")
    listed = result["listed"]
    assert listed["status"] == 0 and len(listed["document"]["sas"]) == 2
    assert "rfc4106(gcm(aes)) 160 bit" in listed["output"] and "UDP 4500-4500" in listed["output"]
    assert result["nowhere"]["status"] == 2 and "no IPsec policy takes packets" in result["nowhere"]["output"]
    (row,) = rows(result["run"])
    assert row["role"] == "existing" and row["sa"]["new_sas"] == 2 and len(row["sa"]["spis"]) == 2
    assert "completed successfully" in result["rekeyed"][0]


def test_the_exporter_counts_what_the_kernel_counts_over_rekeys(found: Boot) -> None:
    """Sums over all SAs of the tunnel never fall; single SAs are what ``ip -s xfrm state`` says."""
    result = found.result("xfrm", "existing")
    assert result["fell"] == [] and result["scrapes"] > 10
    assert result["before"] == result["kernel_before"]
    (row,) = rows(result["run"])
    moved = {name: result["after_run"][name] - result["before"][name] for name in result["before"]}
    assert moved["out packets"] == row["sa"]["packets"] > 100, row["sa"]
    previous = result["after_run"]
    assert len(result["steps"]) == 3
    for step in result["steps"]:
        start, end = step["start"], step["end"]
        assert start["exporter"] == previous  # a rekey without traffic adds nothing, and takes nothing away
        for name in ("out packets", "in packets", "out bytes", "in bytes"):
            more = end["kernel"][name] - start["kernel"][name]
            assert end["exporter"][name] - start["exporter"][name] == more
            assert more >= 40
        assert step["exported_sas"] == step["sas"] and len(step["sas"]) == 2
        previous = end["exporter"]
    assert sorted(result["rekeys"].values()) == [3, 3]
