"""A real Prometheus scrapes two gateways that carry iperf3's load and are rekeyed meanwhile."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from gateway.lab.monitoring import MonitoringLab, Wish
from tests.promql import selector_texts

from .conftest import ROOT

RULES = [ROOT / "config/prometheus" / f"gwbench.{kind}.yml" for kind in ("rules", "alerts")]
LOAD_S = 26
LONG_HEX = re.compile(r"(?<![0-9a-f])[0-9a-f]{32,}(?![0-9a-f])", re.IGNORECASE)
"""What a key would look like: 16 bytes at least, in hex as the protocol carries them."""


@dataclass
class Watch:
    """What was seen while the load ran."""

    lab: MonitoringLab
    directory: Path
    scrapes: list[str] = field(default_factory=list)
    loads: list[dict[str, Any]] = field(default_factory=list)
    status: dict[str, Any] = field(default_factory=dict)
    end_s: float = 0.0
    """Unix time while the load still ran."""


def results(directory: Path) -> None:
    """A saved measurement of each kind; the crypto one is measured now."""
    crypto = [sys.executable, "-m", "gateway.cli", "crypto", "--algo", "sha256", "--bytes", "1408", "--json"]
    subprocess.run([*crypto, str(directory / "crypto.json")], check=True, capture_output=True, cwd=ROOT)
    rows = [
        {
            "suite": None if role == "plain" else "aes128gcm16",
            "implementation": None if role == "plain" else f"gcm-aes-{role}/gwbench",
            "role": role,
            "direction": "forward",
            "valid": True,
            "mbit_per_s": {"median": speed},
            "gateways": {"gw1": {"cpu_s_per_gb": {"median": 1000 / speed}}},
        }
        for role, speed in (("plain", 9000.0), ("generic", 500.0), ("accelerated", 4000.0))
    ]
    result = {"schema": "gwbench/1", "environment": {"machine": {"gwbench": "0.1.0"}}, "results": rows}
    (directory / "iperf.json").write_text(json.dumps(result))


@pytest.fixture(scope="module")
def watch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watch]:
    if shutil.which("prometheus") is None:
        pytest.skip("no prometheus")
    directory = tmp_path_factory.mktemp("monitoring")
    saved = directory / "results"
    saved.mkdir()
    results(saved)
    wish = Wish(implementations=("auto", "generic"), rekey_seconds=1.0, per_sa=True, results=saved)
    with MonitoringLab(directory, wish) as lab:
        lab.serve_iperf3()
        lab.start_prometheus(RULES)
        seen = Watch(lab, directory)
        loads = [lab.load(LOAD_S), lab.load(LOAD_S, "-b", "50M", v6=True)]
        deadline = time.monotonic() + LOAD_S
        while time.monotonic() < deadline:
            seen.scrapes.append(lab.scrape(0))
            seen.end_s = time.time()
            time.sleep(0.05)
        seen.loads = [json.loads(load.communicate(timeout=30)[0]) for load in loads]
        seen.status = lab.status(0)
        yield seen


def test_the_load_ran(watch: Watch) -> None:
    for load in watch.loads:
        assert "error" not in load, load["error"]
        assert load["end"]["sum_received"]["bytes"] > 10_000_000


def samples(text: str) -> dict[tuple[str, str], float]:
    return {
        (s.name, json.dumps(s.labels, sort_keys=True)): s.value
        for family in text_string_to_metric_families(text)
        if family.type in ("counter", "histogram")
        for s in family.samples
    }


def test_no_counter_falls_while_it_is_rekeyed(watch: Watch) -> None:
    before: dict[tuple[str, str], float] = {}
    for text in watch.scrapes:
        now = samples(text)
        for key, value in before.items():
            if not key[0].startswith("gwbench_sa_"):  # a single SA ends
                assert now[key] >= value, key
        before = now
    rekeys = [value for (name, labels), value in before.items() if "rekeys" in name and '"out"' in labels]
    assert len(watch.scrapes) > 60 and rekeys and min(rekeys) >= 15
    assert not any("failed" in line for line in (watch.directory / "gw1.log").read_text().splitlines())


def test_what_went_in_came_out(watch: Watch) -> None:
    """Make before break: over all rekeys no packet met an SA that was not there."""
    (tunnel,) = watch.status["tunnels"]
    assert tunnel["state"] == "up" and tunnel["rekeys"] >= 15
    text = watch.lab.scrape(0)
    drops = {
        labels: value
        for (name, labels), value in samples(text).items()
        if name == "gwbench_tunnel_drops_total" and value
    }
    assert not drops
    loop = {
        labels: value for (name, labels), value in samples(text).items() if name == "gwbench_loop_drops_total" and value
    }
    assert not any("in_no_states" in labels for labels in loop)


def test_every_panel_shows_data(watch: Watch) -> None:
    empty = []
    for path in sorted((ROOT / "grafana/dashboards").glob("*.json")):
        for panel in json.loads(path.read_text())["panels"]:
            for target in panel.get("targets", ()):
                expr = target["expr"].replace("$__rate_interval", "20s")
                for name in ("job", "instance", "tunnel"):
                    expr = expr.replace(f"${name}", ".+")
                expr = re.sub(r" == 0$", "", expr)  # only what failed
                values = [value for _, value in watch.lab.query(expr, watch.end_s)]
                if not values or all(value != value for value in values):
                    empty.append((path.stem, panel["title"], expr))
    assert empty == []


def test_every_rule_finds_its_series(watch: Watch) -> None:
    expressions = [
        rule for path in RULES for group in yaml.safe_load(path.read_text())["groups"] for rule in group["rules"]
    ]
    for rule in expressions:
        if "record" in rule:
            assert watch.lab.query(rule["record"]), rule["record"]
        for text in selector_texts(rule["expr"]):
            assert watch.lab.query(text), text
    firing = {labels["alertname"] for labels, _ in watch.lab.query('ALERTS{alertstate=~"pending|firing"}')}
    assert "GwbenchFellBackToGeneric" in firing, "the second gateway runs generic C"
    assert not firing & {"GwbenchGatewayDown", "GwbenchTunnelDown", "GwbenchCollectorFails", "GwbenchSaNearOverflow"}


def test_the_overview_counts_what_iperf3_sent(watch: Watch) -> None:
    text = watch.scrapes[-1]
    sent = sum(
        value
        for (name, labels), value in samples(text).items()
        if name == "gwbench_tunnel_bytes_total" and '"direction": "out"' in labels
    )
    received = watch.loads[0]["end"]["sum_received"]["bytes"]
    assert sent > 0.8 * received


def test_promtool_accepts_a_live_scrape(watch: Watch) -> None:
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=watch.scrapes[-1], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_no_key_shows_and_nobody_has_more_than_it_needs(watch: Watch) -> None:
    seen = [watch.scrapes[-1], json.dumps(watch.status), *(p.read_text() for p in watch.directory.glob("gw*.log"))]
    pids = [gateway.process.pid for gateway in watch.lab.gateways]
    nodes = [
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit()
        and _parent(entry) in pids
        and b"gateway.node.worker" in (entry / "cmdline").read_bytes()
    ]
    assert len(nodes) == 4
    for pid in (*pids, *nodes):
        process = Path(f"/proc/{pid}")
        seen += [(process / "cmdline").read_text(), (process / "environ").read_bytes().decode("utf-8", "replace")]
        fields = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines() if ":\t" in line)
        assert {int(fields[name], 16) for name in ("CapEff", "CapPrm", "CapAmb")} == {1 << 12}, "CAP_NET_ADMIN alone"
        assert fields["NoNewPrivs"] == "1"
        core = next(line for line in (process / "limits").read_text().splitlines() if "core file" in line)
        assert core.split()[4:6] == ["0", "0"]
    for text in seen:
        text = re.sub(rf"{re.escape(str(ROOT))}\S*", "", text)
        found = [word for word in LONG_HEX.findall(text) if not word.isdigit()]
        assert not found


def _parent(entry: Path) -> int:
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0
