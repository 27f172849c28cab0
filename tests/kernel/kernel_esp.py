"""The other side: the kernel's ESP, set up by iproute2 (inside a virtual machine that is thrown away)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import dataplane as dp
from gateway.lab.namespaces import NetworkNamespace

AEADS = {"gcm(aes)": "rfc4106(gcm(aes))", "rfc7539(chacha20,poly1305)": "rfc7539esp(chacha20,poly1305)"}
CIPHERS = {"cbc(aes)": "cbc(aes)", "ctr(aes)": "rfc3686(ctr(aes))", "null": "ecb(cipher_null)"}
# Without ESN the kernel keeps windows up to 32 in its first form (a word); with ESN always in the long one.
WINDOW = {False: 32, True: 256}


PATIENCE_S = 300
"""For a command: the machine may be emulated, its host busy."""


def run(space: NetworkNamespace, command: list[str], text: str = "") -> str:
    """Runs a command in the namespace of this thread; its output. The data path's threads forbid a plain fork."""
    with space.entered():
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=PATIENCE_S)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def ip(space: NetworkNamespace, *lines: str) -> None:
    """One ``ip -batch``: starting a process is the slow part in an emulated machine."""
    run(space, ["ip", "-batch", "-"], "\n".join(lines) + "\n")


def algorithms(params: dp.SaParams) -> str:
    """iproute2's ALGO-LIST. The kernel takes the salt as the end of the key."""
    suite = dp.find_suite(params.suite)
    icv_bits = 8 * (params.icv_bytes or suite.icv_bytes)
    key = (bytes(params.enc_key) + bytes(params.salt)).hex()
    if suite.enc_alg in AEADS:
        return f"aead {AEADS[suite.enc_alg]} 0x{key} {icv_bits}"
    auth = f"auth-trunc {suite.auth_alg} 0x{bytes(params.auth_key).hex()} {icv_bits}"
    return f"enc {CIPHERS[suite.enc_alg]} {'0x' + key if key else chr(34) * 2} {auth}"


def state(params: dp.SaParams, src: str, dst: str, reqid: int, window: int) -> str:
    """The line that adds the SA whose packets go from ``src`` to ``dst``. af-unspec: IPv4 and IPv6 inside a tunnel."""
    words = [f"xfrm state add src {src} dst {dst} proto esp spi {params.spi:#x} reqid {reqid} mode {params.mode}"]
    words.append(f"replay-window {window}")
    words += ["flag af-unspec"] if params.mode == "tunnel" else []
    words += ["flag esn"] if params.esn else []
    if params.encap_udp:
        words.append(f"encap espinudp 4500 4500 {'::' if ':' in src else '0.0.0.0'}")
    words.append(algorithms(params))
    return " ".join(words)


def policy(direction: str, inner: tuple[str, str], outer: tuple[str, str], reqid: int) -> str:
    """The line of a tunnel's policy."""
    return (
        f"xfrm policy add src {inner[0]} dst {inner[1]} dir {direction} "
        f"tmpl src {outer[0]} dst {outer[1]} proto esp reqid {reqid} mode tunnel"
    )


def transport_policy(direction: str, src: str, dst: str, port: int, reqid: int) -> str:
    """The line of a policy for one UDP port between two hosts: everything else between them stays as it is."""
    return (
        f"xfrm policy add src {src} dst {dst} proto udp sport {port} dport {port} dir {direction} "
        f"tmpl src {src} dst {dst} proto esp reqid {reqid} mode transport"
    )


def statistics(space: NetworkNamespace) -> dict[str, int]:
    """/proc/net/xfrm_stat, and what IP and UDP threw away, of the namespace."""
    with space.entered():
        lines = Path("/proc/thread-self/net/xfrm_stat").read_text().split("\n")
        snmp = Path("/proc/thread-self/net/snmp").read_text().split("\n")
        snmp6 = Path("/proc/thread-self/net/snmp6").read_text().split("\n")
    values = {name: int(value) for name, value in (line.split() for line in lines + snmp6 if line)}
    for names, numbers in zip(snmp[::2], snmp[1::2], strict=False):
        prefix = names.split(":")[0]
        for name, number in zip(names.split()[1:], numbers.split()[1:], strict=True):
            values[prefix + name] = int(number)
    return values


def difference(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    """What changed, zeros left out."""
    return {name: n - before.get(name, 0) for name, n in after.items() if n != before.get(name, 0)}
