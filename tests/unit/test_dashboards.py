"""Dashboards and rules against the registry of metrics, and against the rules that Grafana's dashboard linter has."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.metrics.names import METRICS, PORT, series_names
from grafana.__main__ import DASHBOARDS, write
from tests.promql import grouped_labels, selectors

ROOT = Path(__file__).resolve().parents[2]
PROMETHEUS = ROOT / "config" / "prometheus"
SERIES = series_names()
FREE = {"job", "instance"}
"""Labels that Prometheus gives."""

panels = [
    pytest.param(panel, id=f"{name}-{panel['title']}")
    for name, dashboard in DASHBOARDS.items()
    for panel in dashboard.json()["panels"]
    if panel["type"] != "row"
]
dashboards = [pytest.param(dashboard.json(), id=name) for name, dashboard in DASHBOARDS.items()]


def rules(kind: str) -> list[dict[str, Any]]:
    content = yaml.safe_load((PROMETHEUS / f"gwbench.{kind}.yml").read_text())
    return [rule for group in content["groups"] for rule in group["rules"]]


def check_selectors(expr: str, recorded: set[str]) -> None:
    used = selectors(expr)
    assert used, expr
    labels = set(FREE)
    for name, matchers in used:
        if name in recorded or name == "up":
            labels |= set(re.split(r"[_:]", name)) | set(METRICS["gwbench_result_bytes_per_second"].labels)
            continue
        assert name in SERIES, f"{name} is not in the registry"
        own = {*SERIES[name].labels, *FREE, "le"}
        assert set(matchers) <= own, f"{name} has no label {set(matchers) - own}"
        labels |= own
    assert grouped_labels(expr) <= labels, expr


def test_the_files_are_what_the_code_writes(tmp_path: Path) -> None:
    write(tmp_path)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    kept = {path.name: path.read_bytes() for path in (ROOT / "grafana/dashboards").iterdir()}
    assert made == kept, "python -m grafana writes them again"


@pytest.mark.parametrize("dashboard", dashboards)
def test_dashboard(dashboard: dict[str, Any]) -> None:
    assert re.fullmatch(r"gwbench-[a-z-]{2,32}", dashboard["uid"]) and dashboard["title"].startswith("gwbench / ")
    assert dashboard["editable"] is False and dashboard["description"]
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(ids) == len(set(ids))
    names = [variable["name"] for variable in dashboard["templating"]["list"]]
    assert names[:3] == ["datasource", "job", "instance"]
    text = json.dumps(dashboard["panels"])
    assert ("tunnel" in names) == ("$tunnel" in text)
    for variable in dashboard["templating"]["list"][1:]:
        assert variable["datasource"]["uid"] == "${datasource}" and variable["label"] and variable["refresh"] == 2
        check_selectors(variable["definition"], set())
    (link,) = dashboard["links"]
    assert link["type"] == "dashboards" and set(link["tags"]) <= set(dashboard["tags"])
    assert link["keepTime"] and link["includeVars"]
    taken: set[tuple[int, int]] = set()
    for panel in dashboard["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert at["x"] + at["w"] <= 24 and not cells & taken, f"{panel['title']} lies on another panel"
        taken |= cells


def test_every_dashboard_has_its_own_name() -> None:
    for word in ("uid", "title"):
        assert len({dashboard.json()[word] for dashboard in DASHBOARDS.values()}) == len(DASHBOARDS)


@pytest.mark.parametrize("panel", panels)
def test_panel(panel: dict[str, Any]) -> None:
    assert panel["title"] and panel["description"].endswith(".")
    assert panel["fieldConfig"]["defaults"]["unit"]
    assert panel["datasource"]["uid"] == "${datasource}"
    assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])
    for target in panel["targets"]:
        expr = target["expr"]
        check_selectors(expr, set())
        assert target["datasource"]["uid"] == "${datasource}"
        for name, matchers in selectors(expr):
            assert matchers["job"] == "$job" and matchers["instance"] == "$instance", expr
            if SERIES[name].kind == "counter":
                counted = re.search(rf"(?:rate|irate|increase)\({name}\{{[^}}]*\}}\[(\$__rate_interval|1h)\]\)", expr)
                assert counted, f"{name} is a counter: {expr}"
        assert "[$__interval]" not in expr and not re.search(r"rate\([^)]*\[\d+[smh]\]", expr.replace("increase", ""))


def test_rules_use_metrics_that_exist() -> None:
    recorded = {rule["record"] for rule in rules("rules")}
    for rule in rules("rules") + rules("alerts"):
        check_selectors(rule["expr"], recorded)
    for rule in rules("rules"):
        assert re.fullmatch(r"[a-z_]+:gwbench_[a-z_]+:[a-z_0-9]+", rule["record"])
    for rule in rules("alerts"):
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert rule["annotations"]["summary"] and rule["annotations"]["description"]


def test_every_rule_has_a_test() -> None:
    tests = [yaml.safe_load(path.read_text()) for path in (PROMETHEUS / "tests").glob("*.yml")]
    alerts = {
        one["alertname"]: bool(one.get("exp_alerts"))
        for file in tests
        for test in file["tests"]
        for one in test.get("alert_rule_test", ())
    }
    expressions = {one["expr"] for file in tests for test in file["tests"] for one in test.get("promql_expr_test", ())}
    assert alerts == {rule["alert"]: True for rule in rules("alerts")}
    assert expressions == {rule["record"] for rule in rules("rules")}


def test_promtool_is_content() -> None:
    if shutil.which("promtool") is None:
        pytest.skip("no promtool")
    rule_files = [str(PROMETHEUS / f"gwbench.{kind}.yml") for kind in ("rules", "alerts")]
    tests = [str(path) for path in sorted((PROMETHEUS / "tests").glob("*.yml"))]
    for command in (
        ["check", "rules", *rule_files],
        ["test", "rules", *tests],
        ["check", "config", str(PROMETHEUS / "prometheus.yml")],
    ):
        done = subprocess.run(["promtool", *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_port_is_said_once() -> None:
    """Files that people copy name the default port; it must be the exporter's."""
    for path in [*ROOT.glob("config/**/*"), *ROOT.glob("docs/*.md"), ROOT / "README.md"]:
        if path.is_file():
            for port in re.findall(r"\b(1079\d)\b", path.read_text(encoding="utf-8")):
                assert int(port) == PORT, path
