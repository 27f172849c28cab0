"""The machine, recorded before and after a measurement, so that a result can be understood a year later."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import gateway

SYSCTLS = (
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.core.rmem_default",
    "net.core.netdev_max_backlog",
    "net.core.netdev_budget",
    "net.core.default_qdisc",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_available_congestion_control",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.ip_forward",
    "kernel.unprivileged_userns_clone",
    "kernel.apparmor_restrict_unprivileged_userns",
    "user.max_user_namespaces",
)
"""Recorded where they exist."""


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def cpu_model(cpuinfo: str) -> str:
    """From /proc/cpuinfo: x86's model name, PowerPC's cpu, or ARM's implementer and part numbers."""
    fields: dict[str, str] = {}
    for line in cpuinfo.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            fields.setdefault(name.strip(), value.strip())
    for name in ("model name", "cpu", "cpu model", "Processor"):
        if fields.get(name):
            return fields[name]
    if "CPU part" in fields:
        return f"implementer {fields.get('CPU implementer', '?')} part {fields['CPU part']}"
    return "unknown"


def sysctls(proc: Path = Path("/proc")) -> dict[str, str]:
    """Those of :data:`SYSCTLS` that this kernel has, blanks normalised."""
    values = {name: _read(proc / "sys" / name.replace(".", "/")) for name in SYSCTLS}
    return {name: " ".join(value.split()) for name, value in values.items() if value}


def governors(sys: Path = Path("/sys")) -> list[str]:
    """The distinct cpufreq governors; empty where frequency is not the kernel's to choose."""
    found = {_read(path) for path in sys.glob("devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")}
    return sorted(found - {""})


def program_version(program: str, pattern: str) -> str:
    """First match of ``pattern`` in ``program --version``; empty when the program is absent or mute."""
    path = shutil.which(program)
    if path is None:
        return ""
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, errors="replace", timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = re.search(pattern, done.stdout + done.stderr)
    return match[1] if match else ""


def dataplane_facts() -> dict[str, Any]:
    """CPU features in force and implementations whose known answers failed."""
    import dataplane

    failed = [impl.driver for impl in dataplane.implementations() if impl.checked == "failed"]
    return {
        "version": dataplane.version(),
        "cpu_features": list(dataplane.cpu_features()),
        "failed_known_answers": failed,
    }


def machine(proc: Path = Path("/proc"), sys: Path = Path("/sys")) -> dict[str, Any]:
    """What does not change during a measurement."""
    system = os.uname()
    return {
        "machine": system.machine,
        "cpu_model": cpu_model(_read(proc / "cpuinfo")),
        "cpus": os.cpu_count() or 0,
        "cpus_allowed": len(os.sched_getaffinity(0)),
        "hypervisor": "hypervisor" in _read(proc / "cpuinfo"),
        "kernel": system.release,
        "system": _os_name(),
        "python": platform.python_version(),
        "gwbench": gateway.__version__,
        "gwbench_cpu_disable": os.environ.get("GWBENCH_CPU_DISABLE", ""),
        "gwbench_slow_down": os.environ.get("GWBENCH_SLOW_DOWN", ""),
        "iperf3": program_version("iperf3", r"iperf (\S+)"),
        "sysctl": sysctls(proc),
        "governors": governors(sys),
        "dataplane": dataplane_facts(),
    }


def _os_name() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        return ""


def moment(proc: Path = Path("/proc"), sys: Path = Path("/sys")) -> dict[str, Any]:
    """What does change: load, CPU time by kind, memory, frequency, temperature throttling."""
    load = _read(proc / "loadavg").split()
    cpu = _read(proc / "stat").split("\n", 1)[0].split()[1:9]
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    tick = os.sysconf("SC_CLK_TCK")
    meminfo = dict(re.findall(r"^(\w+):\s+(\d+) kB", _read(proc / "meminfo"), re.MULTILINE))
    frequencies = [
        int(value)
        for path in sys.glob("devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq")
        if (value := _read(path)).isdigit()
    ]
    return {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "load": [float(x) for x in load[:3]],
        "cpu_s": {name: int(value) / tick for name, value in zip(names, cpu, strict=False)},
        "memory_available_bytes": int(meminfo.get("MemAvailable", "0")) * 1024,
        "cpu_khz": frequencies,
    }


def record(before: dict[str, Any] | None = None) -> dict[str, Any]:
    """The ``environment`` of a result: call it without argument first, and with the former value afterwards."""
    if before is None:
        return {"machine": machine(), "before": moment()}
    return {**before, "after": moment()}
