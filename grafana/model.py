"""Panels, variables and dashboards of Grafana's classic JSON, as far as ours need them. Every panel has a title, a
description and a unit, and asks the data source that the reader chose."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

SCHEMA_VERSION = 39
"""Grafana 10.4's; newer ones migrate it upwards."""
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
WHERE = 'job=~"$job",instance=~"$instance"'
"""What every query of ours begins its selectors with."""
TUNNEL = f'{WHERE},tunnel=~"$tunnel"'


@dataclass(frozen=True)
class Query:
    """One PromQL expression and what its series are called."""

    expr: str
    legend: str = ""
    instant: bool = False


@dataclass(frozen=True)
class Panel:
    """One picture."""

    title: str
    description: str
    queries: tuple[Query, ...]
    unit: str
    kind: str = "timeseries"
    """``timeseries``, ``stat``, ``table`` or ``bargauge``."""
    width: int = 12
    """Of 24 columns."""
    height: int = 8
    stacked: bool = False
    minimum: float | None = 0
    maximum: float | None = None
    thresholds: tuple[tuple[float | None, str], ...] = ((None, "green"),)
    hide: tuple[str, ...] = ()
    """Columns of a table."""
    by_name: dict[str, dict[str, Any]] = field(default_factory=dict)

    def json(self, number: int, x: int, y: int) -> dict[str, Any]:
        defaults: dict[str, Any] = {
            "color": {"mode": "thresholds" if self.kind == "stat" else "palette-classic"},
            "mappings": [],
            "thresholds": {
                "mode": "absolute",
                "steps": [{"color": color, "value": value} for value, color in self.thresholds],
            },
            "unit": self.unit,
        }
        if self.minimum is not None:
            defaults["min"] = self.minimum
        if self.maximum is not None:
            defaults["max"] = self.maximum
        if self.kind == "timeseries":
            defaults["custom"] = {
                "drawStyle": "line",
                "fillOpacity": 20 if self.stacked else 5,
                "lineWidth": 1,
                "showPoints": "never",
                "spanNulls": False,
                "stacking": {"group": "A", "mode": "normal" if self.stacked else "none"},
            }
        panel: dict[str, Any] = {
            "datasource": DATASOURCE,
            "description": self.description,
            "fieldConfig": {"defaults": defaults, "overrides": self._overrides()},
            "gridPos": {"h": self.height, "w": self.width, "x": x, "y": y},
            "id": number,
            "options": self._options(),
            "targets": [self._target(i, query) for i, query in enumerate(self.queries)],
            "title": self.title,
            "type": self.kind,
        }
        if self.kind == "table":
            panel["transformations"] = [
                {"id": "merge", "options": {}},
                {
                    "id": "organize",
                    "options": {"excludeByName": dict.fromkeys(("Time", *self.hide), True), "renameByName": {}},
                },
            ]
        return panel

    def _overrides(self) -> list[dict[str, Any]]:
        return [
            {
                "matcher": {"id": "byName", "options": name},
                "properties": [{"id": key, "value": value} for key, value in properties.items()],
            }
            for name, properties in self.by_name.items()
        ]

    def _options(self) -> dict[str, Any]:
        if self.kind == "timeseries":
            return {
                "legend": {"calcs": ["mean", "max"], "displayMode": "table", "placement": "bottom", "showLegend": True},
                "tooltip": {"mode": "multi", "sort": "desc"},
            }
        if self.kind == "stat":
            return {
                "colorMode": "value",
                "graphMode": "area",
                "justifyMode": "auto",
                "orientation": "auto",
                "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
                "textMode": "auto",
            }
        if self.kind == "bargauge":
            return {
                "displayMode": "basic",
                "orientation": "horizontal",
                "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
            }
        return {"cellHeight": "sm", "showHeader": True}

    def _target(self, number: int, query: Query) -> dict[str, Any]:
        instant = query.instant or self.kind == "table"
        return {
            "datasource": DATASOURCE,
            "editorMode": "code",
            "expr": query.expr,
            "format": "table" if self.kind == "table" else "time_series",
            "instant": instant,
            "legendFormat": query.legend or "__auto",
            "range": not instant,
            "refId": chr(ord("A") + number),
        }


def variable(name: str, label: str, query: str) -> dict[str, Any]:
    """All values of a label, any number of them chosen."""
    return {
        "allValue": ".+",
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
        "datasource": DATASOURCE,
        "definition": query,
        "includeAll": True,
        "label": label,
        "multi": True,
        "name": name,
        "query": {"query": query, "refId": f"{name}-variable"},
        "refresh": 2,
        "sort": 1,
        "type": "query",
    }


def variables(*, tunnel: bool) -> list[dict[str, Any]]:
    """datasource, job, instance, and tunnel where panels use it."""
    found = [
        {
            "current": {},
            "includeAll": False,
            "label": "Data source",
            "multi": False,
            "name": "datasource",
            "query": "prometheus",
            "refresh": 1,
            "type": "datasource",
        },
        variable("job", "Job", "label_values(gwbench_build_info, job)"),
        variable("instance", "Gateway", 'label_values(gwbench_build_info{job=~"$job"}, instance)'),
    ]
    if tunnel:
        found.append(variable("tunnel", "Tunnel", f"label_values(gwbench_tunnel_up{{{WHERE}}}, tunnel)"))
    return found


@dataclass(frozen=True)
class Row:
    """A heading."""

    title: str


@dataclass(frozen=True)
class Dashboard:
    """A page."""

    uid: str
    title: str
    description: str
    content: tuple[Panel | Row, ...]
    refresh: str = "30s"
    since: str = "now-3h"

    @property
    def panels(self) -> list[Panel]:
        return [one for one in self.content if isinstance(one, Panel)]

    def json(self) -> dict[str, Any]:
        placed: list[dict[str, Any]] = []
        x = y = tallest = 0
        for number, one in enumerate(self.content, 1):
            width, height = (24, 1) if isinstance(one, Row) else (one.width, one.height)
            if x + width > 24:
                x, y, tallest = 0, y + tallest, 0
            if isinstance(one, Row):
                placed.append(
                    {
                        "collapsed": False,
                        "gridPos": {"h": 1, "w": 24, "x": x, "y": y},
                        "id": number,
                        "panels": [],
                        "title": one.title,
                        "type": "row",
                    }
                )
            else:
                placed.append(one.json(number, x, y))
            x, tallest = x + width, max(tallest, height)
        return {
            "annotations": {"list": []},
            "description": self.description,
            "editable": False,
            "fiscalYearStartMonth": 0,
            "graphTooltip": 1,
            "links": [
                {
                    "asDropdown": True,
                    "icon": "external link",
                    "includeVars": True,
                    "keepTime": True,
                    "tags": ["gwbench"],
                    "targetBlank": False,
                    "title": "gwbench",
                    "tooltip": "The other dashboards, same time and gateway",
                    "type": "dashboards",
                    "url": "",
                }
            ],
            "panels": placed,
            "refresh": self.refresh,
            "schemaVersion": SCHEMA_VERSION,
            "tags": ["gwbench", "ipsec"],
            "templating": {"list": variables(tunnel=any("$tunnel" in q.expr for p in self.panels for q in p.queries))},
            "time": {"from": self.since, "to": "now"},
            "timepicker": {},
            "timezone": "browser",
            "title": self.title,
            "uid": self.uid,
            "version": 1,
        }
