"""The gateway's configuration: TOML or UCI in, frozen dataclasses out, one clear line for what is wrong."""

from __future__ import annotations

import ipaddress
import re
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from gateway.appliance import uci
from gateway.errors import UnusableError

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass(frozen=True, slots=True)
class End:
    """One end of the tunnels: where its data path listens, and its TUN."""

    local: str
    """Outer address."""
    port: int = 4500
    tun: str = "esp0"
    addresses: tuple[str, ...] = ()
    """Inner addresses with prefix length, set on the TUN."""


@dataclass(frozen=True, slots=True)
class Gateway(End):
    """This end, and what holds for all tunnels."""

    name: str = "gateway"
    encap: str = "udp"
    """``udp`` (RFC 3948), or ``esp``: bare, IP protocol 50, which needs CAP_NET_RAW."""
    outer_mtu: int = 1500
    mtu: int = 0
    """Inner MTU, bytes; 0 = what the suites leave of the outer one."""
    user: str = ""
    """Whom root becomes; empty: nobody else."""
    max_sas: int = 1024


@dataclass(frozen=True, slots=True)
class Peer(End):
    """A far end, which is started and given its keys by us."""

    name: str = ""
    ssh: str = ""
    """``[user@]host[:port]``."""
    command: str = "gwnode --stdio"
    """What ssh starts there: anything that speaks the node protocol."""
    netns: str = ""
    """Instead of ssh: a network namespace of this machine, as a file."""


@dataclass(frozen=True, slots=True)
class Child:
    """A pair of SAs: one local prefix, one remote."""

    tunnel: str
    name: str
    peer: str
    local: str
    remote: str
    suite: str
    implementation: str = "auto"
    replay_window: int = 4096


@dataclass(frozen=True, slots=True)
class Rekey:
    """When new SAs replace the old; whichever comes first."""

    seconds: float = 3600.0
    bytes: int = 256 << 30
    """Far below the 2^64 blocks at which AES-CBC leaks (2^36 blocks of 16 bytes are 2^40)."""
    packets: int = 1 << 32
    grace_seconds: float = 5.0
    """How long the old SAs still receive what was on its way."""
    margin: float = 1.25
    """Times the limits above: then the SA is removed, also when no new one could be made."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """As ``gwbench serve``'s flags."""

    listen: tuple[str, ...] = ("127.0.0.1:10795",)
    """Empty: no metrics."""
    path: str = "/metrics"
    web_config: str = ""
    per_sa: bool = False
    line_mbit: float = 0.0
    """What the line carries, Mbit/s; 0: the speed of the outer interface, where the kernel knows it."""
    results: str = ""


@dataclass(frozen=True, slots=True)
class Config:
    """All of it."""

    gateway: Gateway
    peers: dict[str, Peer]
    children: tuple[Child, ...]
    rekey: Rekey = Rekey()
    metrics: Metrics = field(default_factory=Metrics)


def load(path: Path) -> Config:
    """UnusableError names the file, the table and the word that is wrong."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UnusableError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UnusableError(f"{path} is no text") from None
    try:
        return parse(_tables(text), path.stem)
    except UnusableError as error:
        raise UnusableError(f"{path}: {error.message}", error.hint) from None


def _tables(text: str) -> dict[str, Any]:
    if uci.is_uci(text):
        kinds = {"gateway": Gateway, "rekey": Rekey, "metrics": Metrics, "peer": Peer, "tunnel": Child}
        return uci.tables(text, kinds)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UnusableError(f"no TOML: {error}") from None


def parse(content: dict[str, Any], name: str = "gateway") -> Config:
    """The same from tables."""
    _known("the file", content, {"gateway", "rekey", "metrics", "peer", "tunnel"})
    if "gateway" not in content:
        raise UnusableError("there is no table [gateway]", "see config/gateway.toml")
    gateway = _make(Gateway, "gateway", {"name": name, **_table("gateway", content["gateway"])})
    if gateway.encap not in ("udp", "esp"):
        raise UnusableError(f"[gateway] encap '{gateway.encap}' does not exist", "there are: udp, esp")
    peers = {
        word: _make(Peer, f"peer.{word}", {"name": word, **_table(f"peer.{word}", table)})
        for word, table in _table("peer", content.get("peer", {})).items()
    }
    for end in (gateway, *peers.values()):
        where = "[gateway]" if end is gateway else f"[peer.{end.name}]"
        _address(where, "local", end.local)
        for address in end.addresses:
            _interface(where, address)
        if not 1 <= end.port <= 65535:
            raise UnusableError(f"{where} port {end.port} does not exist")
    for peer in peers.values():
        if bool(peer.ssh) == bool(peer.netns):
            raise UnusableError(f'[peer.{peer.name}] needs ssh = "user@host" (or netns, in a laboratory)')
        if ipaddress.ip_address(peer.local).version != ipaddress.ip_address(gateway.local).version:
            raise UnusableError(f"[peer.{peer.name}] local {peer.local} is not of [gateway]'s IP version")
    children = [
        child for word, table in _table("tunnel", content.get("tunnel", {})).items() for child in _children(word, table)
    ]
    if not children:
        raise UnusableError("there is no [tunnel.NAME]", "see config/gateway.toml")
    for child in children:
        if child.peer not in peers:
            raise UnusableError(
                f"[tunnel.{child.tunnel}] peer '{child.peer}' is not there", f"[peer.{child.peer}] would say where"
            )
    seen: dict[tuple[str, str], str] = {}
    for child in children:
        if (other := seen.setdefault((child.local, child.remote), child.tunnel)) != child.tunnel:
            raise UnusableError(f"[tunnel.{child.tunnel}] has the same prefixes as [tunnel.{other}]")
    rekey = _make(Rekey, "rekey", _sizes(_table("rekey", content.get("rekey", {}))))
    if (
        rekey.seconds < 1
        or rekey.bytes < 1 << 20
        or rekey.packets < 1000
        or rekey.grace_seconds < 0
        or rekey.margin < 1
    ):
        raise UnusableError("[rekey] is too soon", "at least 1 second, 1M bytes, 1000 packets, margin 1")
    return Config(
        gateway, peers, tuple(children), rekey, _make(Metrics, "metrics", _table("metrics", content.get("metrics", {})))
    )


def _children(word: str, table: Any) -> list[Child]:
    where = f"tunnel.{word}"
    content = {"suite": "aes128gcm16", **_table(where, table)}
    _known(f"[{where}]", content, {"peer", "local", "remote", "suite", "implementation", "replay_window"})
    for key in ("peer", "local", "remote"):
        if key not in content:
            raise UnusableError(f"[{where}] lacks {key}")
    _check_suite(where, content["suite"])
    sides = {}
    for key in ("local", "remote"):
        prefixes = content.pop(key)
        sides[key] = [_prefix(f"[{where}]", one) for one in ([prefixes] if isinstance(prefixes, str) else prefixes)]
    pairs = [(a, b) for a in sides["local"] for b in sides["remote"] if (":" in a) == (":" in b)]
    if not pairs:
        raise UnusableError(f"[{where}] has no local and remote prefix of the same IP version")
    return [
        _make(
            Child,
            where,
            {"tunnel": word, "name": word if len(pairs) == 1 else f"{word}-{n}", "local": a, "remote": b, **content},
        )
        for n, (a, b) in enumerate(pairs, 1)
    ]


def _check_suite(where: str, name: Any) -> None:
    """One that exists, encrypts, and is not legacy: this is no laboratory."""
    from gateway.suites import parse_suites

    try:
        parsed = parse_suites(str(name), lab=False)
    except UnusableError as error:
        hint = "choose another" if error.code in ("legacy", "bench-only") else error.hint
        raise UnusableError(f"[{where}]: {error.message}", hint, error.code) from None
    if [suite.name for suite in parsed] != [name]:
        raise UnusableError(f"[{where}]: suite is one name, not {name!r}")


def _table(where: str, content: Any) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise UnusableError(f"[{where}] is no table")
    return dict(content)


def _known(where: str, content: dict[str, Any], known: set[str]) -> None:
    for word in content:
        if word not in known:
            raise UnusableError(f"{where}: '{word}' does not exist", f"there are: {', '.join(sorted(known))}")


def _make(kind: Any, where: str, content: dict[str, Any]) -> Any:
    """An instance of a dataclass whose fields are str, int, float, bool or tuples of str."""
    types = {one.name: one.type for one in fields(kind)}
    _known(f"[{where}]", content, set(types))
    values: dict[str, Any] = {}
    for word, value in content.items():
        wanted = str(types[word])
        if wanted == "tuple[str, ...]":
            words = [value] if isinstance(value, str) else value
            if not isinstance(words, list | tuple) or not all(isinstance(one, str) for one in words):
                raise UnusableError(f"[{where}] {word} is a list of words")
            values[word] = tuple(words)
        elif wanted == "float" and type(value) in (int, float):
            values[word] = float(value)
        elif type(value).__name__ != wanted:
            raise UnusableError(f"[{where}] {word} = {value!r} is not of type {wanted}")
        else:
            values[word] = value
    try:
        return kind(**values)
    except TypeError:
        missing = [name for name in ("local", "peer") if name in types and name not in values]
        raise UnusableError(f"[{where}] lacks {' and '.join(missing)}") from None


def _sizes(content: dict[str, Any]) -> dict[str, Any]:
    for word in ("bytes", "packets"):
        value = content.get(word)
        if isinstance(value, str):
            match = re.fullmatch(r"(\d+)([KMGT]?)", value)
            if match is None:
                raise UnusableError(f"[rekey] {word} = '{value}' is no number with K, M, G, T or nothing behind it")
            content[word] = int(match[1]) * _UNITS[match[2]]
    return content


def _address(where: str, word: str, text: str) -> None:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        raise UnusableError(f"{where} {word} '{text}' is no IP address") from None


def _interface(where: str, text: str) -> None:
    try:
        ipaddress.ip_interface(text)
    except ValueError:
        raise UnusableError(f"{where} addresses: '{text}' is no address with a prefix length") from None


def _prefix(where: str, text: Any) -> str:
    try:
        return str(ipaddress.ip_network(text))
    except ValueError as error:
        raise UnusableError(f"{where}: {error}", "as in 10.1.0.0/24") from None
