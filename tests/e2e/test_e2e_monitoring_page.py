"""docs/monitoring.md, followed as it is written up to the import of the dashboards."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from pyroute2 import IPRoute

from gateway.lab.namespaces import NetworkNamespace

from .conftest import ROOT, environment

# /etc and /var/lib are copies or empty: nothing of this machine is written to.
MACHINE = """
set -e
cp -a /etc $FOLDER/etc && mount --bind $FOLDER/etc /etc
mkdir -p $FOLDER/lib && mount --bind $FOLDER/lib /var/lib
rm -rf /etc/prometheus /etc/grafana
mkdir -p /etc/prometheus /etc/grafana/provisioning/datasources /etc/grafana/provisioning/dashboards
exec sh -e -c "$1"
"""
ASK = """
import json, sys, time, urllib.request
for _ in range(300):
    try:
        answer = urllib.request.urlopen("http://127.0.0.1:9090/api/v1/query?query=up")
        rows = [row for row in json.load(answer)["data"]["result"] if row["value"][1] == "1"]
    except OSError:
        rows = []
    if rows:
        print("FOUND", rows[0]["metric"]["job"], rows[0]["value"][1])
        sys.exit()
    time.sleep(0.2)
sys.exit("Prometheus does not find the exporter")
"""


def blocks(kind: str) -> list[str]:
    text = (ROOT / "docs" / "monitoring.md").read_text()
    found = re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [content for word, content in found if word == kind]


def test_the_page(tmp_path: Path) -> None:
    if shutil.which("prometheus") is None or shutil.which("promtool") is None:
        pytest.skip("no prometheus")
    lines = [line.partition("  #")[0].strip() for block in blocks("") for line in block.splitlines() if line.strip()]
    commands = [line.replace("sudo ", "") for line in lines if line != "make build"]  # its own tests have it
    (serve,) = [line for line in commands if line.endswith("gwbench serve")]
    copies = [line for line in commands if line != serve]
    assert len(copies) == 5 and all(line.split()[0] in ("cp", "mkdir") for line in copies), copies
    (config,) = blocks("yaml")
    (tmp_path / "prometheus.yml").write_text(f"global:\n  scrape_interval: 1s\n{config}")  # what is there already
    (tmp_path / "ask.py").write_text(ASK)
    script = "\n".join(
        (
            f"cd {ROOT}",
            f"{serve.replace('.venv/bin/gwbench', f'{sys.executable} -m gateway.cli')} & exporter=$!",
            *copies,
            f"cp {tmp_path}/prometheus.yml /etc/prometheus/",
            "promtool check config /etc/prometheus/prometheus.yml",
            "prometheus --config.file=/etc/prometheus/prometheus.yml --storage.tsdb.path=/var/lib/tsdb "
            "--web.listen-address=127.0.0.1:9090 --log.level=warn & prometheus=$!",
            "trap 'kill $exporter $prometheus; wait' EXIT",
            f"{sys.executable} {tmp_path}/ask.py",
        )
    )
    with NetworkNamespace("page") as namespace, namespace.entered():
        with IPRoute() as ip:
            ip.link("set", index=1, state="up")
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", MACHINE, "sh", script],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            env=environment(FOLDER=str(tmp_path)),
            timeout=180,
        )
    assert done.returncode == 0 and "FOUND gwbench 1" in done.stdout, done.stdout + done.stderr
    (provider,) = yaml.safe_load((tmp_path / "etc/grafana/provisioning/dashboards/gwbench.yaml").read_text())[
        "providers"
    ]
    there = tmp_path / "lib" / Path(provider["options"]["path"]).relative_to("/var/lib")
    assert {json.loads(path.read_text())["title"] for path in there.glob("*.json")} == {
        json.loads(path.read_text())["title"] for path in (ROOT / "grafana/dashboards").glob("*.json")
    }
    assert (tmp_path / "etc/grafana/provisioning/datasources/gwbench.yaml").exists()
