"""gwnode as a lasting service on another machine: put there, upgraded in place, and taken away without a trace.

Two kinds of machines: OpenWrt (procd, UCI) and those with systemd. What is installed is listed here, and nothing else
is written; the configuration is the owner's and survives an upgrade.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass

from gateway.errors import MeasurementError, UnusableError
from gateway.node.ssh import Ssh
from gateway.peer import identify
from gateway.peer.identify import Facts
from gateway.peer.targets import Gwnode

PROGRAM = "/usr/bin"
SPARE_BYTES = 64 << 10
METRICS = ("auto", "port", "textfile", "both")
_WAIT_S = 15


@dataclass(frozen=True, slots=True)
class Options:
    """How the service is set up where it is new."""

    metrics: str = "auto"
    listen: str = "loopback"
    """A network of the router's, or an address."""
    port: int = 10795


@dataclass(frozen=True, slots=True)
class File:
    """One file that is installed."""

    path: str
    mode: str
    content: bytes
    config: bool = False
    """The owner's: left alone where it is there already."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How services are kept there."""

    name: str
    files: tuple[File, ...]
    start: str
    stop: str
    """Safe where nothing is installed."""
    left: tuple[str, ...]
    """What the service makes beside these files, and does not always take away: globs."""


def _data(name: str) -> bytes:
    return (importlib.resources.files("gateway") / "data" / "router" / name).read_bytes()


def _config(options: Options) -> bytes:
    text = _data("gwbench.config").decode()
    for name, value in (
        ("enabled", "1"),
        ("metrics", options.metrics),
        ("listen", options.listen),
        ("port", str(options.port)),
    ):
        text, n = re.subn(rf"(option {name}) '.*'", rf"\g<1> '{value}'", text)
        if n != 1:
            raise ValueError(name)
    return text.encode()


def look(ssh: Ssh) -> Facts:
    """Reaches and identifies, with the file system that gwnode will lie on; changes nothing."""
    script = f"GWBENCH_DIR={PROGRAM}\n{identify.SCRIPT}"
    return identify.parse(ssh.where.host, ssh.script(script).out)


def kind_of(facts: Facts, gwnode: bytes, options: Options) -> Kind:
    """UnusableError for a machine that has neither."""
    if facts.openwrt:
        return Kind(
            "procd",
            (
                File("/usr/bin/gwnode", "755", gwnode),
                File("/etc/init.d/gwbench", "755", _data("gwbench.init")),
                File("/etc/config/gwbench", "600", _config(options), config=True),
                File("/lib/upgrade/keep.d/gwbench", "644", _data("gwbench.keep")),
            ),
            "/etc/init.d/gwbench enable && /etc/init.d/gwbench restart",
            "[ ! -x /etc/init.d/gwbench ] || { /etc/init.d/gwbench stop; /etc/init.d/gwbench disable; }",
            ("/etc/rc.d/[SK]*gwbench", "/var/prometheus/gwbench.prom*"),
        )
    if "systemctl" not in facts.programs:
        raise UnusableError(
            f"{facts.name} has neither procd nor systemd", "start `gwnode serve` there by other means", "no-service"
        )
    unit = _data("gwnode.service").decode()
    if options.metrics in ("textfile", "both"):
        raise UnusableError("the textfile is for OpenWrt's exporter", "--metrics port", "not-supported")
    address = "127.0.0.1" if options.listen == "loopback" else options.listen
    if not re.fullmatch(r"[0-9a-fA-F.:]+", address):
        raise UnusableError(f"'{address}' is no address", "--listen ADDRESS", "bad-address")
    where = f"[{address}]:{options.port}" if ":" in address else f"{address}:{options.port}"
    return Kind(
        "systemd",
        (
            File("/usr/local/bin/gwnode", "755", gwnode),
            File("/etc/systemd/system/gwnode.service", "644", unit.replace("127.0.0.1:10795", where).encode()),
        ),
        "systemctl daemon-reload && systemctl enable --quiet gwnode && systemctl restart gwnode",
        "[ ! -e /etc/systemd/system/gwnode.service ] || systemctl disable --quiet --now gwnode",
        ("/etc/systemd/system/*.wants/gwnode.service",),
    )


class Machine:
    """Shell lines there, as root."""

    def __init__(self, ssh: Ssh, facts: Facts) -> None:
        self._ssh, self.facts = ssh, facts
        if not facts.root and not facts.sudo:
            raise UnusableError(
                f"{facts.name}: a service needs root", "log in as root, or allow sudo without a password", "not-root"
            )
        self._sudo = "" if facts.root else "sudo -n "

    def run(self, script: str, stdin: bytes = b"", timeout_s: float = 120.0) -> tuple[int, str]:
        """Status, and what it said."""
        done = self._ssh.run(f"exec {self._sudo}sh -c {shlex.quote(script)}", stdin, timeout_s)
        return done.status, (done.out.decode(errors="replace") + done.err).strip()

    def must(self, what: str, script: str, stdin: bytes = b"") -> str:
        """UnusableError says what could not be done, and why."""
        status, said = self.run(script, stdin)
        if status:
            why = next((line for line in reversed(said.splitlines()) if line.strip()), f"status {status}")
            full = "No space left" in said
            raise UnusableError(
                f"{self.facts.name}: cannot {what}: {why.strip()[:200]}",
                "free some flash there" if full else "",
                "full" if full else "deploy",
            )
        return said


def check(facts: Facts, kind: Kind, gwnode: Gwnode) -> None:
    """Whether it fits, before anything is changed; ``facts`` were looked up for PROGRAM's file system."""
    needed = gwnode.size_bytes + SPARE_BYTES
    if "ro" in facts.directory_mount:
        raise UnusableError(
            f"{facts.name}: the root file system is read-only",
            "is its overlay mounted? or put gwnode into the image",
            "ro",
        )
    if 0 <= facts.directory_free_bytes < needed:
        raise UnusableError(
            f"{facts.name}: {facts.directory_free_bytes >> 10} KB of flash are free, gwnode needs {needed >> 10}",
            "gwbench iperf --peer runs it from memory, and installs nothing",
            "full",
        )


def install(machine: Machine, kind: Kind, say: Callable[[str], None]) -> None:
    """Puts every file in its place, whole or not at all; starts the service; sees that it runs."""
    if kind.name == "procd":
        status, _ = machine.run("[ -e /usr/lib/opkg/info/gwbench-node.list ] || apk info -e gwbench-node 2>/dev/null")
        if status == 0:
            raise UnusableError(
                f"{machine.facts.name} has the package gwbench-node",
                f"upgrade it there: {machine.facts.package_manager} upgrade gwbench-node; or remove it first",
                "packaged",
            )
    for file in kind.files:
        path, scratch = shlex.quote(file.path), shlex.quote(file.path + ".gwbench-new")
        if file.config and machine.run(f"[ -s {path} ]")[0] == 0:
            say(f"{file.path}: kept as it is")
            continue
        folder = shlex.quote(file.path.rpartition("/")[0])
        machine.must(
            f"write {file.path}",
            f"umask 077; mkdir -p -m 755 {folder}; "
            f"cat >{scratch} && chmod {file.mode} {scratch} || {{ rm -f {scratch}; exit 1; }}",
            file.content,
        )
        digest = hashlib.sha256(file.content).hexdigest()
        status, said = machine.run(f"command -v sha256sum >/dev/null || exit 0; sha256sum {scratch}")
        if said and not said.startswith(digest):
            machine.run(f"rm -f {scratch}")
            raise UnusableError(f"{machine.facts.name}: {file.path} arrived damaged", "try again", "damaged")
        machine.must(f"write {file.path}", f"mv -f {scratch} {path}")
        say(f"{file.path}: {len(file.content)} bytes")
    machine.must("run gwnode", f"{kind.files[0].path} --version")
    machine.must("start the service", kind.start)
    _see(machine, kind, say)


def _see(machine: Machine, kind: Kind, say: Callable[[str], None]) -> None:
    """What the owner configured decides where the metrics are: the process's own arguments tell."""
    program = kind.files[0].path
    script = (
        f"i=0; while [ $i -lt {_WAIT_S} ]; do for p in /proc/[0-9]*; do "
        f"[ \"$(tr '\\000' ' ' <$p/cmdline 2>/dev/null | cut -d' ' -f1-2)\" = '{program} serve' ] && "
        "{ tr '\\000' ' ' <$p/cmdline; exit 0; }; done; sleep 1; i=$((i+1)); done; exit 1"
    )
    status, said = machine.run(script)
    if status:
        enabled = machine.run("grep -q \"option enabled '1'\" /etc/config/gwbench")[0] == 0
        if kind.name == "procd" and not enabled:
            say("the service is off: its configuration says so (option enabled)")
            return
        raise MeasurementError(
            f"{machine.facts.name}: the service does not stay up", "logread -e gwbench there", "service"
        )
    where = re.search(r"--listen (\S+)", said)
    file = re.search(r"--textfile (\S+)", said)
    if where:
        url = f"http://{where[1]}/metrics"
        said = machine.must("read the metrics", f"wget -q -O - {url} 2>/dev/null || curl -sf {url}")
        if "gwbench_build_info" not in said:
            raise MeasurementError(f"{machine.facts.name}: {url} answers something else", "", "service")
        say(f"metrics at {url}")
    if file:
        machine.must("read the metrics", f"grep -q gwbench_build_info {shlex.quote(file[1])}")
        say(f"metrics in {file[1]}")


def remove(machine: Machine, kind: Kind, say: Callable[[str], None]) -> int:
    """Stops the service and deletes every file; how many there were."""
    machine.run(kind.stop)
    there = 0
    for file in kind.files:
        path = shlex.quote(file.path)
        if machine.run(f"[ -e {path} ] && rm -f {path} {path}.gwbench-new")[0] == 0:
            there += 1
            say(f"{file.path}: removed")
    machine.run("rm -f " + " ".join(kind.left))
    if kind.name == "systemd" and there:
        machine.run("systemctl daemon-reload; systemctl reset-failed gwnode 2>/dev/null")
    still = machine.run("ls -d " + " ".join([f.path for f in kind.files] + list(kind.left)) + " 2>/dev/null")[1]
    if still:
        raise MeasurementError(f"{machine.facts.name}: could not remove {' '.join(still.split())}", "", "deploy")
    return there
