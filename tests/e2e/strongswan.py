r"""Two strongSwan daemons with an ESP of their own in user space (kernel-libipsec), which agree by IKE.

::

    left   198.18.9.1 ------- veth ------- 198.18.9.2   right     outer, IKE and ESP on UDP 4500
    lo     10.9.1.1                        10.9.2.1     lo        inner
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gateway.lab.namespaces import NetworkNamespace

ROOT = Path(__file__).resolve().parents[2]
OUTER = ("198.18.9.1", "198.18.9.2")
INNER = ("10.9.1.1", "10.9.2.1")
NAMES = ("left", "right")
PLUGINS = (
    *("random", "nonce", "openssl", "aes", "sha1", "sha2", "hmac", "kdf", "gmp", "gcm"),
    *("kernel-libipsec", "kernel-netlink", "socket-default", "vici"),
)
"""The order is the preference: without kernel-libipsec first, the kernel's ESP would be taken."""
PATIENCE_S = 120

_DAEMON = """
charon-systemd {{
    load = {plugins}
    install_virtual_ip = no
    journal {{
        default = -1
    }}
    filelog {{
        log {{
            path = {log}
            flush_line = yes
            default = 1
            chd = 4
        }}
    }}
    plugins {{
        vici {{
            socket = unix://{socket}
        }}
    }}
}}
swanctl {{
    load =
}}
"""

_CONNECTION = """
connections {{
    tunnel {{
        local_addrs = {outer[0]}
        remote_addrs = {outer[1]}
        encap = yes
        proposals = aes128-sha256-ecp256
        local {{
            auth = psk
            id = {name[0]}
        }}
        remote {{
            auth = psk
            id = {name[1]}
        }}
        children {{
            net {{
                local_ts = {inner[0]}/32
                remote_ts = {inner[1]}/32
                esp_proposals = {proposal}
            }}
        }}
    }}
}}
secrets {{
    ike-any {{
        secret = for tests only
    }}
}}
"""


@dataclass(frozen=True)
class Keys:
    """What the initiator's daemon wrote down: test keys, of two namespaces that are about to vanish."""

    spi_in: int
    spi_out: int
    """As the initiator sees them."""
    enc: dict[str, bytes]
    integ: dict[str, bytes]
    """By ``initiator`` and ``responder``: who sends with it. A GCM key ends with its salt."""


class Daemon:
    """One charon in its namespace."""

    def __init__(self, side: int, space: NetworkNamespace, directory: Path, proposal: str) -> None:
        self.space = space
        self.log, self.conf = directory / "charon.log", directory / "strongswan.conf"
        self.uri = f"unix://{directory / 'vici'}"
        turn = slice(None, None, 1 - 2 * side)
        directory.mkdir(mode=0o700)
        self.connection = directory / "swanctl.conf"
        self.conf.write_text(
            _DAEMON.format(plugins=" ".join(PLUGINS), log=self.log, socket=self.uri.removeprefix("unix://"))
        )
        self.connection.write_text(
            _CONNECTION.format(outer=OUTER[turn], inner=INNER[turn], name=NAMES[turn], proposal=proposal)
        )
        self.environment = {**os.environ, "STRONGSWAN_CONF": str(self.conf)}
        self.stderr = (directory / "stderr").open("wb")
        words = ["env", f"STRONGSWAN_CONF={self.conf}", str(executable())]
        self.process = space.popen(words, stdout=self.stderr, stderr=self.stderr)

    def swanctl(self, *words: str) -> str:
        """A command to this daemon; its output."""
        command = ["swanctl", *words, "--uri", self.uri]
        with self.space.entered():
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=PATIENCE_S, env=self.environment, check=False
            )
        assert done.returncode == 0, f"{' '.join(command)}: {done.stdout}{done.stderr}{self.tail()}"
        return done.stdout

    def tail(self) -> str:
        """The log's end, without its lines of key bytes."""
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else ["(no log)"]
        return "\n".join(["", *[line for line in lines if not re.search(r"\[CHD\] +\d+: ", line)][-25:]])

    def books(self) -> dict[str, int]:
        """packets and inner bytes of its CHILD_SA, in and out, by its own count."""
        text = self.swanctl("--list-sas", "--raw")
        return {name: int(n) for name, n in re.findall(r"((?:packets|bytes)-(?:in|out))=(\d+)", text)}

    def kill(self) -> None:
        """At once: the other side is told nothing."""
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        self.kill()
        self.stderr.close()
        self.log.unlink(missing_ok=True)  # it has keys in it


def executable() -> Path:
    """The daemon: installed, or Debian's package unpacked."""
    installed, unpacked = Path("/usr/sbin/charon-systemd"), ROOT / "build" / "charon"
    if installed.exists():
        return installed
    script = ROOT / "scripts" / "fetch_deb.sh"
    done = subprocess.run([script, "charon-systemd", unpacked], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return unpacked / installed.relative_to("/")


def negotiated(log: str) -> Keys:
    """SPIs and keys from the log of the initiator, level 4 of ``chd``."""
    spis = re.search(r"CHILD_SA net\{\d+\} established with SPIs ([0-9a-f]+)_i ([0-9a-f]+)_o", log)
    assert spis, "no CHILD_SA was established"
    found: dict[str, dict[str, bytes]] = {"encryption": {}, "integrity": {}}
    head = re.compile(r"(encryption|integrity) (initiator|responder) key => (\d+) bytes")
    lines = log.splitlines()
    for i, line in enumerate(lines):
        if match := head.search(line):
            size = int(match[3])
            dump = [
                re.search(r"\d+: ((?:[0-9A-F]{2} ){1,16})", row) for row in lines[i + 1 : i + 1 + (size + 15) // 16]
            ]
            data = bytes.fromhex("".join(row[1] for row in dump if row))
            assert len(data) == size
            found[match[1]][match[2]] = data
    return Keys(int(spis[1], 16), int(spis[2], 16), found["encryption"], found["integrity"])


@contextlib.contextmanager
def daemons(
    spaces: tuple[NetworkNamespace, NetworkNamespace], directory: Path, proposal: str
) -> Iterator[list[Daemon]]:
    """Both daemons, with a CHILD_SA that the left one asked for."""
    with contextlib.ExitStack() as stack:
        pair = []
        for side, space in enumerate(spaces):
            pair.append(Daemon(side, space, directory / NAMES[side], proposal))
            stack.callback(pair[-1].close)
        for daemon in pair:
            wait_for(daemon)
            daemon.swanctl("--load-all", "--file", str(daemon.connection))
        pair[0].swanctl("--initiate", "--child", "net", "--timeout", str(PATIENCE_S))
        yield pair


def wait_for(daemon: Daemon) -> None:
    """Until it answers."""
    path, end = Path(daemon.uri.removeprefix("unix://")), time.monotonic() + PATIENCE_S
    while not path.exists():
        assert daemon.process.poll() is None and time.monotonic() < end, daemon.tail()
        time.sleep(0.05)
