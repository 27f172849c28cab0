"""The monitoring laboratory: two gateways under iperf3's load, a real Prometheus, and the overview dashboard's three
numbers as Grafana would show them - asked of Prometheus with the very queries of grafana/dashboards/overview.json."""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from gateway.cleanup import CleanupStack, Interrupted  # noqa: E402
from gateway.errors import EXIT_INTERRUPTED, GwbenchError  # noqa: E402
from gateway.lab import userns  # noqa: E402

LOAD_S = 12
WINDOW = "8s"


def panels() -> list[tuple[str, str, str]]:
    """Title, unit and query of the overview's single numbers."""
    dashboard = json.loads((ROOT / "grafana/dashboards/overview.json").read_text(encoding="utf-8"))
    found = []
    for panel in dashboard["panels"]:
        if panel["type"] == "stat":
            expr = panel["targets"][0]["expr"].replace("$__rate_interval", WINDOW)
            expr = re.sub(r"\$(?:job|instance|tunnel)\b", ".+", expr)
            found.append((panel["title"], panel["fieldConfig"]["defaults"]["unit"], expr))
    return found


def shown(value: float, unit: str) -> str:
    """As Grafana shows the unit."""
    if unit == "percentunit":
        return f"{value * 100:.0f} %"
    if unit == "bps":
        return f"{value / 1e6:.0f} Mbit/s"
    return f"{value:.1f} packets/s"


def main() -> int:
    userns.enter_if_needed()
    from gateway.lab.monitoring import MonitoringLab, Wish

    with CleanupStack(), tempfile.TemporaryDirectory(prefix="gwbench-monitoring-") as directory:
        print("Two gateways, each with gwbench up and its exporter ...", flush=True)
        with MonitoringLab(Path(directory), Wish(rekey_seconds=5)) as lab:
            lab.serve_iperf3()
            lab.start_prometheus([ROOT / "config/prometheus" / f"gwbench.{kind}.yml" for kind in ("rules", "alerts")])
            print(f"Prometheus scrapes both every second; iperf3 runs for {LOAD_S} s ...", flush=True)
            loads = [lab.load(LOAD_S), lab.load(LOAD_S, "-b", "100M", v6=True)]
            time.sleep(LOAD_S - 1)
            numbers = [(title, unit, lab.query(expr)) for title, unit, expr in panels()]
            for load in loads:
                load.communicate(timeout=30)
            rekeys = lab.query("sum(gwbench_tunnel_rekeys_total)")
        print("\ngwbench / Overview")
        failed = False
        for title, unit, values in numbers:
            failed = failed or len(values) != 1
            print(f"  {title:<20} {shown(values[0][1], unit) if values else 'no data'}")
        print(f"  meanwhile            {rekeys[0][1]:.0f} rekeys" if rekeys else "")
        up, through = (values[0][1] if values else 0.0 for _, _, values in numbers[:2])
        if failed or up != 1 or through <= 0:
            print("demo-monitoring: Prometheus does not have what the overview shows", file=sys.stderr)
            return 1
    print("\nThe dashboards are grafana/dashboards/*.json; docs/monitoring.md says how to import them.")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Interrupted as interrupted:
        print(f"demo-monitoring: {interrupted}", file=sys.stderr)
        sys.exit(EXIT_INTERRUPTED)
    except GwbenchError as error:
        print(f"demo-monitoring: {error}", file=sys.stderr)
        sys.exit(error.exit_status)
