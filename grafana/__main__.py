"""Writes the dashboards: ``python -m grafana [DIRECTORY]``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from grafana import gateway, history, overview, sas
from grafana.model import Dashboard

DASHBOARDS: dict[str, Dashboard] = {
    "overview": overview.DASHBOARD,
    "gateway": gateway.DASHBOARD,
    "benchmark-history": history.DASHBOARD,
    "sa-detail": sas.DASHBOARD,
}


def write(directory: Path) -> None:
    """One file a dashboard, the same bytes every time."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, dashboard in DASHBOARDS.items():
        text = json.dumps(dashboard.json(), indent=2, sort_keys=True) + "\n"
        (directory / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("dashboards"))
