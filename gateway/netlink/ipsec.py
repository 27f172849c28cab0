"""The kernel's SAs and policies as gwbench handles them: NETLINK_XFRM with ESP's parameters by name."""

from __future__ import annotations

import errno
import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dataplane import Suite
from gateway.errors import UnusableError
from gateway.netlink import xfrm
from gateway.netlink.connection import NLM_F_ACK, NLM_F_DUMP, NLM_F_EXCL, Connection

AEADS = {"gcm(aes)": "rfc4106(gcm(aes))", "rfc7539(chacha20,poly1305)": "rfc7539esp(chacha20,poly1305)"}
CIPHERS = {"cbc(aes)": "cbc(aes)", "ctr(aes)": "rfc3686(ctr(aes))", "null": "ecb(cipher_null)"}
"""Our algorithms by the names that the kernel's ESP takes."""
_GENIV = {"cbc(aes)": "echainiv", "rfc3686(ctr(aes))": "seqiv"}
_SHORT_WINDOW = 32
LARGEST_WINDOW = 4096
DIRECTIONS = {"in": xfrm.XFRM_POLICY_IN, "out": xfrm.XFRM_POLICY_OUT, "fwd": xfrm.XFRM_POLICY_FWD}
MODES = {"tunnel": xfrm.XFRM_MODE_TUNNEL, "transport": xfrm.XFRM_MODE_TRANSPORT, "beet": xfrm.XFRM_MODE_BEET}


def instance_name(suite: Suite, esn: bool) -> str:
    """What /proc/crypto calls the one transform that ESP makes for an SA of this suite."""
    if suite.enc_alg in AEADS:
        return f"seqiv({AEADS[suite.enc_alg]})"
    cipher = CIPHERS[suite.enc_alg]
    inner = f"authenc{'esn' if esn else ''}({suite.auth_alg or 'digest_null'},{cipher})"
    return f"{_GENIV[cipher]}({inner})" if cipher in _GENIV else inner


@dataclass(frozen=True, slots=True)
class EspSa:
    """An SA to install. Keys never appear in ``repr``."""

    spi: int
    src: str
    dst: str
    suite: Suite
    enc_key: bytes | bytearray = field(repr=False)
    auth_key: bytes | bytearray = field(repr=False)
    salt: bytes | bytearray = field(repr=False)
    direction: str = ""
    """``in`` or ``out``: told to kernels that know it (6.10); empty = not told."""
    mode: str = "tunnel"
    reqid: int = 0
    icv_bytes: int = 0
    """0 = the suite's."""
    esn: bool = True
    replay_window: int = 64
    encap_ports: tuple[int, int] | None = None
    """UDP ports (ours, the peer's as this SA's packets have them: source, destination); None = bare ESP."""
    if_id: int = 0


@dataclass(frozen=True, slots=True)
class KernelSa:
    """An SA that the kernel has, whoever made it. No key."""

    spi: int
    src: str
    dst: str
    protocol: int
    mode: str
    reqid: int
    cipher: str
    """The kernel's name; an AEAD as a whole."""
    cipher_key_bits: int
    """With the salt."""
    integrity: str
    """Empty for AEAD."""
    icv_bits: int
    esn: bool
    replay_window: int
    packets: int
    bytes: int
    """Inner bytes."""
    seq: int
    """Last sent, or top of the window; whichever moves."""
    outside_window: int
    replayed: int
    integrity_failed: int
    encap: tuple[int, int, int] | None
    """Type (2: ESP in UDP), source and destination port."""
    offload: str
    """What was asked for: ``crypto eth0``, ``packet eth0``; empty = none."""
    offload_ifindex: int
    direction: str
    """``in``, ``out``, or empty where the kernel was not told."""
    if_id: int
    mark: int | None
    cpu: int | None
    """RFC 9611: the CPU that it is for."""
    added_at: int
    """Seconds since 1970."""
    used_at: int


class Ipsec:
    """NETLINK_XFRM of the network namespace in which it was made. OSError when this kernel has none."""

    def __init__(self) -> None:
        self._socket = Connection(xfrm.NETLINK_XFRM, xfrm.MESSAGES)

    def close(self) -> None:
        """Safe twice."""
        self._socket.close()

    def __enter__(self) -> Ipsec:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- SAs ----

    def add_sa(self, sa: EspSa) -> None:
        """OSError: EPROTONOSUPPORT without ESP, ENOSYS without an algorithm, EEXIST for an SPI that is there."""
        # The kernel takes the salt as the end of the key.
        key = bytearray(sa.enc_key) + sa.salt
        try:
            for told in (True, False):
                message = _sa_message(sa, key, told)
                try:
                    self._socket.request(message, xfrm.XFRM_MSG_NEWSA, NLM_F_ACK | NLM_F_EXCL)
                    return
                except OSError as error:
                    # Kernels before 6.10 have no SA_DIR, and refuse attributes that they do not know.
                    if not (told and sa.direction and error.errno in (errno.EINVAL, errno.ERANGE, errno.EOPNOTSUPP)):
                        raise
        finally:
            key[:] = bytes(len(key))

    def delete_sa(self, spi: int, dst: str, protocol: int = socket.IPPROTO_ESP) -> None:
        """OSError ESRCH when it is not there."""
        self._socket.request(_identity(spi, dst, protocol), xfrm.XFRM_MSG_DELSA)

    def sas(self) -> list[KernelSa]:
        """All of the namespace, ESP and others."""
        return [
            _sa_of(message) for message in self._socket.request(xfrm.usersa_dump(), xfrm.XFRM_MSG_GETSA, NLM_F_DUMP)
        ]

    # ---- policies ----

    def set_policy(
        self,
        direction: str,
        src: str,
        dst: str,
        template: tuple[str, str, int, int] | None,
        priority: int = 0,
        mode: str = "tunnel",
    ) -> None:
        """Adds or replaces. src, dst: prefixes of one family. template: outer source and destination, reqid, and SPI
        (0 = any SA of that reqid); None = the packets are dropped."""
        message = xfrm.userpolicy_info()
        message.update(_selector(src, dst))
        message.update({"dir": DIRECTIONS[direction], "priority": priority})
        if template is None:
            message["action"] = xfrm.XFRM_POLICY_BLOCK
        else:
            saddr, daddr, reqid, spi = template
            one = {"saddr": saddr, "daddr": daddr, "reqid": reqid, "spi": spi, "mode": MODES[mode]}
            message["attrs"] = [("XFRMA_TMPL", [one])]
        self._socket.request(message, xfrm.XFRM_MSG_UPDPOLICY)

    def delete_policy(self, direction: str, src: str, dst: str) -> None:
        """OSError ENOENT when it is not there."""
        message = xfrm.userpolicy_id()
        message.update(_selector(src, dst))
        message["dir"] = DIRECTIONS[direction]
        self._socket.request(message, xfrm.XFRM_MSG_DELPOLICY)

    def policies(self) -> list[Any]:
        """All of the namespace, as messages."""
        return self._socket.request(xfrm.policy_flush(), xfrm.XFRM_MSG_GETPOLICY, NLM_F_DUMP)


def _identity(spi: int, dst: str, protocol: int) -> Any:
    message = xfrm.usersa_id()
    message.update({"spi": spi, "daddr": dst, "family": xfrm.family_of(dst), "proto": protocol})
    return message


def _selector(src: str, dst: str) -> dict[str, Any]:
    source, destination = (ipaddress.ip_network(prefix, strict=False) for prefix in (src, dst))
    if source.version != destination.version:
        raise UnusableError(f"{src} and {dst} are of different families", code="bad-request")
    return {
        "sel_family": socket.AF_INET6 if source.version == 6 else socket.AF_INET,
        "sel_saddr": str(source.network_address),
        "sel_prefixlen_s": source.prefixlen,
        "sel_daddr": str(destination.network_address),
        "sel_prefixlen_d": destination.prefixlen,
    }


def _sa_message(sa: EspSa, key: bytearray, tell_direction: bool) -> Any:
    message = xfrm.usersa_info()
    message.update({"spi": sa.spi, "saddr": sa.src, "daddr": sa.dst, "family": xfrm.family_of(sa.dst)})
    message.update({"proto": socket.IPPROTO_ESP, "mode": MODES[sa.mode], "reqid": sa.reqid})
    flags = xfrm.XFRM_STATE_AF_UNSPEC if sa.mode == "tunnel" else 0
    attrs = _algorithms(sa, key)
    window = min(sa.replay_window, LARGEST_WINDOW)
    if sa.direction == "out" and tell_direction:
        window = 0  # a kernel that knows directions refuses a window there
    if sa.esn:
        flags |= xfrm.XFRM_STATE_ESN
    if sa.esn or window > _SHORT_WINDOW:
        # ESN wants a bitmap of at least a word in every direction.
        attrs.append(("XFRMA_REPLAY_ESN_VAL", {"replay_window": window, "bmp_len": max(1, (window + 31) // 32)}))
    else:
        message["replay_window"] = window
    if sa.encap_ports is not None:
        source, destination = sa.encap_ports
        ports = {"encap_sport": source, "encap_dport": destination}
        attrs.append(("XFRMA_ENCAP", {"encap_type": xfrm.UDP_ENCAP_ESPINUDP, **ports}))
    if sa.if_id:
        attrs.append(("XFRMA_IF_ID", sa.if_id))
    if sa.direction and tell_direction:
        attrs.append(("XFRMA_SA_DIR", xfrm.XFRM_SA_DIR_IN if sa.direction == "in" else xfrm.XFRM_SA_DIR_OUT))
    message["flags"] = flags
    message["attrs"] = attrs
    return message


def _algorithms(sa: EspSa, key: bytearray) -> list[tuple[str, Any]]:
    suite, icv_bits = sa.suite, 8 * (sa.icv_bytes or sa.suite.icv_bytes)
    if suite.enc_alg in AEADS:
        return [("XFRMA_ALG_AEAD", {"alg_name": AEADS[suite.enc_alg], "alg_key": key, "alg_icv_len": icv_bits})]
    attrs: list[tuple[str, Any]] = []
    if suite.auth_alg:
        # Always with its length: the kernel's default for SHA-256 is 96 bits.
        auth = {"alg_name": suite.auth_alg, "alg_key": sa.auth_key, "alg_trunc_len": icv_bits}
        attrs.append(("XFRMA_ALG_AUTH_TRUNC", auth))
    attrs.append(("XFRMA_ALG_CRYPT", {"alg_name": CIPHERS[suite.enc_alg], "alg_key": key}))
    return attrs


def _sa_of(message: Any) -> KernelSa:
    aead, crypt = message.get_attr("XFRMA_ALG_AEAD"), message.get_attr("XFRMA_ALG_CRYPT")
    auth = message.get_attr("XFRMA_ALG_AUTH_TRUNC") or message.get_attr("XFRMA_ALG_AUTH")
    esn, replay = message.get_attr("XFRMA_REPLAY_ESN_VAL"), message.get_attr("XFRMA_REPLAY_VAL")
    encap, offload = message.get_attr("XFRMA_ENCAP"), message.get_attr("XFRMA_OFFLOAD_DEV")
    mark = message.get_attr("XFRMA_MARK")
    cipher = aead or crypt or {}
    sequences = [0, 0]
    if esn:
        sequences = [esn["oseq_hi"] << 32 | esn["oseq"], esn["seq_hi"] << 32 | esn["seq"]]
    elif replay:
        sequences = [replay["oseq"], replay["seq"]]
    modes = {number: name for name, number in MODES.items()}
    return KernelSa(
        spi=message["spi"],
        src=message["saddr"],
        dst=message["daddr"],
        protocol=message["proto"],
        mode=modes.get(message["mode"], str(message["mode"])),
        reqid=message["reqid"],
        cipher=cipher.get("alg_name", ""),
        cipher_key_bits=cipher.get("alg_key_len", 0),
        integrity="" if aead or not auth else auth["alg_name"],
        icv_bits=(aead or {}).get("alg_icv_len") or (auth or {}).get("alg_trunc_len", 0),
        esn=bool(message["flags"] & xfrm.XFRM_STATE_ESN),
        replay_window=esn["replay_window"] if esn else message["replay_window"],
        packets=message["cur_packets"],
        bytes=message["cur_bytes"],
        seq=max(sequences),
        outside_window=message["stats_replay_window"],
        replayed=message["stats_replay"],
        integrity_failed=message["stats_integrity_failed"],
        encap=(encap["encap_type"], encap["encap_sport"], encap["encap_dport"]) if encap else None,
        offload=("packet" if offload["flags"] & xfrm.XFRM_OFFLOAD_PACKET else "crypto") if offload else "",
        offload_ifindex=offload["ifindex"] if offload else 0,
        direction={1: "in", 2: "out"}.get(message.get_attr("XFRMA_SA_DIR") or 0, ""),
        if_id=message.get_attr("XFRMA_IF_ID") or 0,
        mark=mark["v"] if mark else None,
        cpu=message.get_attr("XFRMA_SA_PCPU"),
        added_at=message["cur_add_time"],
        used_at=message["cur_use_time"],
    )


def inbound(sas: Sequence[KernelSa], addresses: Sequence[str]) -> list[KernelSa]:
    """Those whose destination is one of ``addresses``: this machine's."""
    return [sa for sa in sas if sa.dst in addresses]
