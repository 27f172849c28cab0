"""What this machine has and lacks for measuring IPsec. Looks, and changes nothing.

Each check is a function of the outside world passed in, returning findings with the consequence and, where there is
one, the command that helps.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import time
from collections.abc import Callable
from pathlib import Path

import dataplane
from gateway import environment
from gateway.findings import FAIL, INFO, OK, WARN, Finding
from gateway.lab.syscalls import CLONE_NEWNET, CLONE_NEWUSER
from gateway.lab.trial import in_child
from gateway.noise import STEAL_LIMIT_CORES, cpu_times, noise_between

WANTED_RCVBUF_BYTES = 8 << 20
SOL_UDP, UDP_SEGMENT, UDP_GRO = 17, 103, 104
STEAL_SAMPLE_S = 0.5


def check_processor() -> list[Finding]:
    """CPU, its features, and the known answers of every implementation that it can run."""
    model = environment.cpu_model(Path("/proc/cpuinfo").read_text(errors="replace"))
    features = " ".join(dataplane.cpu_features()) or "none that gwbench uses"
    found = [Finding(INFO, f"CPU: {model}, {os.cpu_count()} cores, {os.uname().machine}; {features}")]
    table = dataplane.implementations()
    failed = [impl.driver for impl in table if impl.checked == "failed"]
    runnable = sum(impl.runnable for impl in table)
    if failed:
        words = f"known answers failed: {', '.join(failed)}"
        found.append(Finding(FAIL, words, "these will not run", "please report it"))
    else:
        found.append(Finding(OK, f"known answers: {runnable} of {len(table)} implementations run here, all passed"))
    return found


def check_tun(path: str = "/dev/net/tun") -> list[Finding]:
    """The device that every data path needs."""
    if not os.path.exists(path):
        return [Finding(FAIL, f"{path} is missing", "no tunnel can be made", "modprobe tun")]
    if not os.access(path, os.R_OK | os.W_OK):
        return [Finding(FAIL, f"{path} is not writable", "no tunnel can be made", f"sudo chmod 666 {path}")]
    return [Finding(OK, f"{path} is writable")]


def check_privilege(proc: Path = Path("/proc")) -> list[Finding]:
    """Root, or a user namespace."""
    if os.geteuid() == 0:
        return [Finding(OK, "running as root")]
    answer = in_child(lambda: "yes", CLONE_NEWUSER | CLONE_NEWNET)
    if answer == "yes":
        return [Finding(OK, "not root: the laboratory runs in a user namespace")]
    values = environment.sysctls(proc)
    for name, forbids, allows in (
        ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
        ("kernel.unprivileged_userns_clone", "0", "1"),
        ("user.max_user_namespaces", "0", "10000"),
    ):
        if values.get(name) == forbids:
            command = f"sudo sysctl {name}={allows}, or run with sudo"
            return [Finding(FAIL, f"user namespaces are forbidden by {name}={forbids}", "no laboratory", command)]
    return [Finding(FAIL, "user namespaces are refused", "no laboratory without root", "run with sudo")]


def check_iperf3(version: str | None = None) -> list[Finding]:
    """The load generator."""
    if version is None:
        version = environment.program_version("iperf3", r"iperf (\S+)")
    if not version and shutil.which("iperf3") is None:
        return [Finding(FAIL, "iperf3 is not installed", "gwbench iperf cannot run", "apt install iperf3")]
    return [Finding(OK, f"iperf3 {version or 'of unknown version'}")]


def check_sockets(values: dict[str, str] | None = None) -> list[Finding]:
    """Buffers, congestion control, UDP offloads."""
    values = environment.sysctls() if values is None else values
    found = []
    rmem_max = int(values.get("net.core.rmem_max", "0"))
    if rmem_max < WANTED_RCVBUF_BYTES and os.geteuid() != 0:
        found.append(
            Finding(
                WARN,
                f"net.core.rmem_max is {rmem_max}",
                "without root the data path's receive buffer stays that small, and bursts are dropped",
                f"sudo sysctl net.core.rmem_max={WANTED_RCVBUF_BYTES}",
            )
        )
    else:
        found.append(Finding(OK, "the data path's receive buffer can be as large as wished"))
    control = values.get("net.ipv4.tcp_congestion_control", "unknown")
    if "cubic" not in values.get("net.ipv4.tcp_available_congestion_control", "").split():
        found.append(Finding(WARN, f"TCP uses {control} and has no cubic", "numbers compare with others' less"))
    else:
        found.append(Finding(INFO, f"TCP's default congestion control is {control}; gwbench iperf pins its own (-C)"))
    lacking = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for name, option in (("UDP_SEGMENT", UDP_SEGMENT), ("UDP_GRO", UDP_GRO)):
            try:
                sock.setsockopt(SOL_UDP, option, 1)
            except OSError:
                lacking.append(name)
    if lacking:
        words = f"this kernel has no {' and no '.join(lacking)}"
        found.append(Finding(WARN, words, "a system call for every few packets: several times slower"))
    else:
        found.append(Finding(OK, "UDP_SEGMENT and UDP_GRO are known here; the data path tests them when it starts"))
    return found


def check_kernel_esp(lack: str | None = None) -> list[Finding]:
    """The kernel's own IPsec, probed in a network namespace that is thrown away."""
    if lack is None:
        from gateway.node.kernel import missing

        flags = CLONE_NEWNET if os.geteuid() == 0 else CLONE_NEWNET | CLONE_NEWUSER
        lack = in_child(missing, flags)
    if lack.startswith("!"):
        return [Finding(INFO, "the kernel's own ESP cannot be probed without root")]
    if lack:
        return [Finding(INFO, lack, "gwbench measures its own data path; the kernel's cannot be compared")]
    return [Finding(OK, "the kernel has ESP")]


def check_kernel_data_path() -> list[Finding]:
    """Drivers, offloads, steering, softirq, and what OpenWrt puts in the way."""
    from gateway import doctor_kernel
    from gateway.lab import offload
    from gateway.netlink.ipsec import Ipsec, KernelSa

    esp = {}
    for name in doctor_kernel.cards():
        with contextlib.suppress(OSError):
            esp[name] = offload.features(name).get("esp-hw-offload")
    sas: list[KernelSa] = []
    with contextlib.suppress(OSError), Ipsec() as ipsec:
        sas = ipsec.sas()
    return doctor_kernel.examine(machine=os.uname().machine, sas=sas, offload=esp)


def check_quiet(sleep: Callable[[float], None] = time.sleep, governors: list[str] | None = None) -> list[Finding]:
    """What makes numbers unsteady: frequency, load, a hypervisor that takes CPU away."""
    found = []
    governors = environment.governors() if governors is None else governors
    slow = [name for name in governors if name in ("powersave", "ondemand", "conservative")]
    if slow:
        words = f"CPU frequency governor: {', '.join(slow)}"
        command = "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
        found.append(Finding(WARN, words, "short runs are measured at a low clock", command))
    before = cpu_times(time.monotonic_ns(), 0)
    sleep(STEAL_SAMPLE_S)
    noise = noise_between(before, cpu_times(time.monotonic_ns(), 0))
    if noise.steal_cores > STEAL_LIMIT_CORES:
        words = f"the hypervisor takes {noise.steal_cores:.2f} cores away"
        found.append(Finding(WARN, words, "rounds will be dirty and repeated"))
    if noise.foreign_cores > 0.2:
        words = f"{noise.foreign_cores:.2f} cores are busy with other work"
        found.append(Finding(WARN, words, "rounds will be dirty and repeated", "end it, or wait"))
    return found or [Finding(OK, "the machine is quiet")]


def examine() -> list[Finding]:
    """All checks, in the order of the report."""
    return [
        *check_processor(),
        *check_tun(),
        *check_privilege(),
        *check_iperf3(),
        *check_sockets(),
        *check_kernel_esp(),
        *check_kernel_data_path(),
        *check_quiet(),
    ]
