"""For every tier: nothing is skipped on the integration server; minutes of each tier stand before the summary."""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

# Machines are noisy: how long an example takes proves nothing.
settings.register_profile("gwbench", deadline=None, print_blob=True)
settings.load_profile("gwbench")

TESTS = Path(__file__).resolve().parent

# Priorities choose implementations, not a measurement: the same ones in every run. Inherited by what tests start.
os.environ.setdefault("GWBENCH_SELECT", "static")

# Minutes on two cores.
BUDGET_MINUTES = {
    "install": 8,
    "unit and vectors": 4,
    "cross and emulated": 15,
    "kernel": 12,
    "end to end": 10,
    "fuzz": 5,
}
TIER_BUDGET = {
    "unit": "unit and vectors",
    "vectors": "unit and vectors",
    "emulated": "cross and emulated",
    "kernel": "kernel",
    "e2e": "end to end",
    "fuzz": "fuzz",
}
used_s = dict.fromkeys(BUDGET_MINUTES, 0.0)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes seconds; `make check` leaves it out")
    used_s["install"] = float(os.environ.get("GWBENCH_INSTALL_S", "0"))
    used_s["cross and emulated"] = float(os.environ.get("GWBENCH_CROSS_S", "0"))


def on_ci() -> bool:
    return os.environ.get("CI", "").lower() in ("1", "true", "yes")


def _skip_is_failure(report: pytest.TestReport | pytest.CollectReport) -> None:
    """What could not run was not tested."""
    if report.skipped and not hasattr(report, "wasxfail") and on_ci():
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"skipped, which is a failure where CI is set: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _skip_is_failure(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _skip_is_failure(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    start = time.monotonic()
    result = yield
    path = item.path
    tier = path.relative_to(TESTS).parts[0] if path.is_relative_to(TESTS) else ""
    if tier in TIER_BUDGET:
        used_s[TIER_BUDGET[tier]] += time.monotonic() - start
    return result


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if "GWBENCH_INSTALL_S" not in os.environ:
        return
    terminalreporter.section("minutes on this machine, of the budget on two cores")
    for name, budget in BUDGET_MINUTES.items():
        over = "  OVER" if used_s[name] > budget * 60 else ""
        terminalreporter.write_line(f"{name:20}{used_s[name] / 60:6.1f} of {budget:3}{over}")
    total = sum(used_s.values())
    terminalreporter.write_line(f"{'sum':20}{total / 60:6.1f} of {sum(BUDGET_MINUTES.values()):3}")
