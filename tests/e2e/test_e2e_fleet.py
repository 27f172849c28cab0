"""Ansible's plays against two gateways behind real ssh servers: installed, refused, found by Prometheus, measured."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.gwnode_build import build

from .conftest import ROOT
from .fleet import ADDRESSES, Fleet

GWBENCH = Path(sys.executable).parent / "gwbench"
UP = """
[gateway]
local = "192.168.78.12"
[peer.one]
ssh = "root@192.168.78.11"
local = "192.168.78.11"
[tunnel.lan]
peer = "one"
local = "10.9.2.0/24"
remote = "10.9.1.0/24"
"""


def wheel(folder: Path, version: str) -> Path:
    """Of this source as ``version``, without the dataplane, whose build is tested elsewhere."""
    source = folder / f"source-{version}"
    source.mkdir()
    for name in ("gateway", "dataplane"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("*.so", "__pycache__", "_gwdp.c"))
    for name in ("setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    text = (ROOT / "pyproject.toml").read_text()
    (source / "pyproject.toml").write_text(text.replace('version = "0.1.0"', f'version = "{version}"'))
    words = ["wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder), str(source)]
    env = {**os.environ, "GWBENCH_PURE": "1"}
    subprocess.run([sys.executable, "-m", "pip", *words], check=True, env=env, cwd="/", timeout=300)
    return next(folder.glob(f"gwbench-{version}-*.whl"))


@pytest.fixture(scope="module")
def fleet() -> Iterator[Fleet]:
    made = Fleet()
    config = made.folder / "two.toml"
    config.write_text(UP)
    made.inventory(two={"gwbench_mode": "up", "gwbench_config_file": str(config)})
    yield made
    made.close()


def recap(output: str) -> dict[str, dict[str, int]]:
    """Ansible's last lines, by host."""
    lines = re.findall(r"^(\w+)\s+: (ok=.*)$", output.partition("PLAY RECAP")[2], re.MULTILINE)
    return {name: {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", words)} for name, words in lines}


def installed(fleet: Fleet, name: str) -> str:
    """Packages there, with versions."""
    host = fleet.hosts[name]
    return host.inside(f"{host.folder}/prefix/bin/python", "-m", "pip", "list", "--format=freeze").stdout


def test_installed_configured_and_upgraded_one_after_another(fleet: Fleet) -> None:
    old, new = wheel(fleet.folder, "0.1.0"), fleet.folder / "gwbench-0.2.0-py3-none-any.whl"
    new.write_bytes(b"no wheel at all")
    targets = fleet.folder / "prometheus" / "targets" / "gwbench.json"
    # What gwbench needs is not installed here: it would come from an index, and this network has none.
    words = ("-e", f"gwbench_targets_file={targets}", "-e", "gwbench_pip_args=--no-deps", "-e", "gwbench_bin=/bin/true")
    done = fleet.play("site.yml", *words, "-e", f"gwbench_wheel={old}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert recap(done.stdout)["one"]["changed"] > 3 and recap(done.stdout)["two"]["changed"] > 3
    assert [name for name in fleet.hosts if "gwbench==0.1.0" in installed(fleet, name)] == ["one", "two"]
    for host in fleet.hosts.values():
        assert host.inside("id", "-u", "gwbench").returncode == 0
    assert (fleet.hosts["two"].folder / "etc/gwbench/gateway.toml").read_text() == UP
    assert json.loads(targets.read_text()) == [
        {"targets": [f"{address}:10795"], "labels": {"gateway": name}} for name, address in ADDRESSES.items()
    ]
    # An upgrade that fails ends with the first host; up to there the wheel alone was new.
    done = fleet.play("site.yml", *words, "-e", f"gwbench_wheel={new}")
    assert done.returncode != 0 and "two" not in recap(done.stdout), done.stdout
    assert (recap(done.stdout)["one"]["failed"], recap(done.stdout)["one"]["changed"]) == (1, 1)
    assert "gwbench==0.1.0" in installed(fleet, "one") and "gwbench==0.1.0" in installed(fleet, "two")


def test_prometheus_finds_what_the_unit_starts_and_a_wrong_configuration_is_not_put_there(fleet: Fleet) -> None:
    """The first gateway's service as its unit says, and Prometheus with the file that the play wrote."""
    wrong = fleet.folder / "wrong.toml"
    wrong.write_text(UP.replace("10.9.2.0/24", "10.9.2.1/24"))
    words = ("-e", "gwbench_install=false", "-e", f"gwbench_bin={GWBENCH}", "-e", f"gwbench_config_file={wrong}")
    done = fleet.play("site.yml", "--limit", "gateways", *words)
    failed = {name: one["failed"] for name, one in recap(done.stdout).items()}
    assert done.returncode != 0 and failed == {"one": 0, "two": 1}, done.stdout + done.stderr
    assert "has host bits set" in done.stdout
    assert (fleet.hosts["two"].folder / "etc/gwbench/gateway.toml").read_text() == UP
    host = fleet.hosts["one"]
    unit = (host.folder / "etc/systemd/system/gwbench-serve.service").read_text()
    assert "User=gwbench\n" in unit and "AmbientCapabilities=CAP_NET_ADMIN\n" in unit
    flags = (host.folder / "etc/default/gwbench-serve").read_text().strip().removeprefix("ARGS=")
    (start,) = re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)
    command = shlex.split(start.replace("$ARGS", flags))
    assert command[0] == str(GWBENCH)
    with (host.folder / "serve.log").open("w") as log:
        fleet.processes.append(subprocess.Popen(host.entering(*command), stdout=log, stderr=log, cwd="/"))
    config = fleet.folder / "prometheus" / "prometheus.yml"
    content = yaml.safe_load((ROOT / "config/prometheus/prometheus.yml").read_text())
    config.write_text(yaml.safe_dump({**content, "rule_files": [], "global": {"scrape_interval": "1s"}}))
    with fleet.control.entered(), (fleet.folder / "prometheus.log").open("w") as log:
        fleet.processes.append(
            subprocess.Popen(
                [
                    "prometheus",
                    f"--config.file={config}",
                    f"--storage.tsdb.path={fleet.folder / 'tsdb'}",
                    "--web.listen-address=127.0.0.1:9090",
                ],
                stdout=log,
                stderr=log,
                cwd="/",
            )
        )
    deadline = time.monotonic() + 60
    while (found := up(fleet)) != {"one": 1.0, "two": 0.0}:  # the second runs nothing
        logs = (host.folder / "serve.log").read_text() + (fleet.folder / "prometheus.log").read_text()[-2000:]
        assert time.monotonic() < deadline, (found, logs)
        time.sleep(0.3)


def up(fleet: Fleet) -> dict[str, float]:
    """By the label that the play gives."""
    with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
        connection = http.client.HTTPConnection("127.0.0.1", 9090, timeout=5)
        with fleet.control.entered():
            connection.connect()
        try:
            connection.request("GET", "/api/v1/query?" + urllib.parse.urlencode({"query": 'up{job="gwbench"}'}))
            rows = json.loads(connection.getresponse().read())["data"]["result"]
        finally:
            connection.close()
        return {row["metric"]["gateway"]: float(row["value"][1]) for row in rows}
    return {}


def test_measured_and_reported(fleet: Fleet) -> None:
    """From one to two over their own ssh; the matrix is of what ran."""
    results = fleet.folder / "results"
    inventory = yaml.safe_load((fleet.folder / "hosts.yml").read_text())
    inventory["gateways"]["vars"]["gwbench_gwnode"] = os.environ.get("GWBENCH_TEST_GWNODE") or str(build())
    (fleet.folder / "hosts.yml").write_text(yaml.safe_dump(inventory))
    more = {"results": str(results), "gwbench_bin": str(GWBENCH), "seconds": 1, "pairs": [["one", "two"]]}
    done = fleet.play("measure.yml", "-e", json.dumps(more))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 pairs, one at a time, at 10M" in done.stdout
    kept = {path.name: path.read_text() for path in results.iterdir()}
    assert list(kept) == ["one--two.json"], kept
    result = json.loads(kept["one--two.json"])
    assert result["valid"] is True and result["peer"]["name"] == ADDRESSES["two"]
    done = fleet.run([str(GWBENCH), "report", "--fleet", str(results)])
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = [line for line in done.stdout.splitlines() if line.startswith("| one ")]
    speed = float(row.split("|")[3])
    assert 5 < speed < 15, "10 Mbit/s were asked for"
