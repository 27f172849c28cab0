"""Messages of NETLINK_XFRM, the kernel's IPsec: SAs, policies, SPIs, events.

Each class is one struct of linux/xfrm.h with its members' names; members of nested structs stand flat behind a prefix
(``sel_`` selector, ``lft_`` limits, ``cur_`` counters, ``stats_``). Addresses are text, SPIs and ports numbers in host
order. An SA::

    message = usersa_info()
    message["daddr"], message["saddr"], message["spi"] = "192.0.2.2", "192.0.2.1", 0x1234
    message["proto"], message["mode"], message["family"] = IPPROTO_ESP, XFRM_MODE_TUNNEL, AF_INET
    message["attrs"] = [("XFRMA_ALG_AEAD", {"alg_name": "rfc4106(gcm(aes))", "alg_key": key, "alg_icv_len": 128})]
    message["header"]["type"] = XFRM_MSG_NEWSA

Limits that were not set are none (of bytes and packets XFRM_INF, of seconds 0). Events (:data:`GROUPS`) carry the same
messages.
"""

from __future__ import annotations

import socket
from typing import ClassVar

from pyroute2.netlink import nla, nlmsg

from gateway.netlink import xfrm_attributes as attributes
from gateway.netlink.xfrm_attributes import ADDRESS, alignment_padding, pack_address, unpack_address

NETLINK_XFRM = 6

XFRM_MSG_NEWSA, XFRM_MSG_DELSA, XFRM_MSG_GETSA = 0x10, 0x11, 0x12
XFRM_MSG_NEWPOLICY, XFRM_MSG_DELPOLICY, XFRM_MSG_GETPOLICY = 0x13, 0x14, 0x15
XFRM_MSG_ALLOCSPI, XFRM_MSG_ACQUIRE, XFRM_MSG_EXPIRE = 0x16, 0x17, 0x18
XFRM_MSG_UPDPOLICY, XFRM_MSG_UPDSA, XFRM_MSG_POLEXPIRE = 0x19, 0x1A, 0x1B
XFRM_MSG_FLUSHSA, XFRM_MSG_FLUSHPOLICY = 0x1C, 0x1D
XFRM_MSG_NEWAE, XFRM_MSG_GETAE, XFRM_MSG_REPORT, XFRM_MSG_MIGRATE = 0x1E, 0x1F, 0x20, 0x21
XFRM_MSG_NEWSADINFO, XFRM_MSG_GETSADINFO, XFRM_MSG_NEWSPDINFO, XFRM_MSG_GETSPDINFO = 0x22, 0x23, 0x24, 0x25
XFRM_MSG_MAPPING = 0x26

GROUPS = {"acquire": 1, "expire": 2, "sa": 3, "policy": 4, "aevents": 5, "report": 6, "migrate": 7, "mapping": 8}
"""Multicast groups, for NETLINK_ADD_MEMBERSHIP."""

XFRM_MODE_TRANSPORT, XFRM_MODE_TUNNEL, XFRM_MODE_BEET = 0, 1, 4
XFRM_POLICY_IN, XFRM_POLICY_OUT, XFRM_POLICY_FWD = 0, 1, 2
XFRM_POLICY_ALLOW, XFRM_POLICY_BLOCK = 0, 1
XFRM_STATE_NOECN, XFRM_STATE_DECAP_DSCP, XFRM_STATE_NOPMTUDISC = 1, 2, 4
XFRM_STATE_AF_UNSPEC, XFRM_STATE_ALIGN4, XFRM_STATE_ESN = 32, 64, 128
XFRM_SA_DIR_IN, XFRM_SA_DIR_OUT = 1, 2
XFRM_OFFLOAD_IPV6, XFRM_OFFLOAD_INBOUND, XFRM_OFFLOAD_PACKET = 1, 2, 4
UDP_ENCAP_ESPINUDP = 2
XFRM_INF = (1 << 64) - 1

ALGORITHMS = ("XFRMA_ALG_AUTH", "XFRMA_ALG_CRYPT", "XFRMA_ALG_COMP", "XFRMA_ALG_AEAD", "XFRMA_ALG_AUTH_TRUNC")
"""Attributes that hold keys."""

Fields = tuple[tuple[str, str], ...]

_SELECTOR: Fields = (
    ("sel_daddr", ADDRESS),
    ("sel_saddr", ADDRESS),
    ("sel_dport", ">H"),
    ("sel_dport_mask", ">H"),
    ("sel_sport", ">H"),
    ("sel_sport_mask", ">H"),
    ("sel_family", "H"),
    ("sel_prefixlen_d", "B"),
    ("sel_prefixlen_s", "B"),
    ("sel_proto", "B"),
    ("__pad_sel", "3x"),
    ("sel_ifindex", "i"),
    ("sel_user", "I"),
)
_ID: Fields = (("daddr", ADDRESS), ("spi", ">I"), ("proto", "B"), ("__pad_id", "3x"))
_LIMITS = tuple(
    f"lft_{which}_{what}"
    for what in ("byte_limit", "packet_limit", "add_expires_seconds", "use_expires_seconds")
    for which in ("soft", "hard")
)
_LIFETIME: Fields = (
    *((name, "Q") for name in _LIMITS),
    ("cur_bytes", "Q"),
    ("cur_packets", "Q"),
    ("cur_add_time", "Q"),
    ("cur_use_time", "Q"),
)
_USERSA: Fields = (
    *_SELECTOR,
    *_ID,
    ("saddr", ADDRESS),
    *_LIFETIME,
    ("stats_replay_window", "I"),
    ("stats_replay", "I"),
    ("stats_integrity_failed", "I"),
    ("seq", "I"),
    ("reqid", "I"),
    ("family", "H"),
    ("mode", "B"),
    ("replay_window", "B"),
    ("flags", "B"),
    ("__pad_sa", f"{alignment_padding(217)}x"),
)
_POLICY_PADDING = alignment_padding(164)
_USERPOLICY: Fields = (
    *_SELECTOR,
    *_LIFETIME,
    ("priority", "I"),
    ("index", "I"),
    ("dir", "B"),
    ("action", "B"),
    ("flags", "B"),
    ("share", "B"),
    *((("__pad_policy", f"{_POLICY_PADDING}x"),) if _POLICY_PADDING else ()),
)


class embedded_sa(nla):
    """struct xfrm_usersa_info inside an attribute: a deleted SA's last state, in DELSA events."""

    fields = _USERSA

    def decode(self) -> None:
        nla.decode(self)
        for name in ("daddr", "saddr"):
            self[name] = unpack_address(self[name], self["family"])


class xfrm_message(nlmsg):
    """What all have: text addresses, limits that default to none, the attributes."""

    addresses: ClassVar[dict[str, str]] = {}
    """Field to the field that holds its address family."""
    defaults: ClassVar[dict[str, int]] = {
        name: XFRM_INF for name in _LIMITS if name.endswith(("byte_limit", "packet_limit"))
    }

    nla_map = (
        ("XFRMA_UNSPEC", "none"),
        ("XFRMA_ALG_AUTH", "algorithm"),
        ("XFRMA_ALG_CRYPT", "algorithm"),
        ("XFRMA_ALG_COMP", "algorithm"),
        ("XFRMA_ENCAP", "encap_tmpl"),
        ("XFRMA_TMPL", "user_tmpl"),
        ("XFRMA_SA", "embedded_sa"),
        ("XFRMA_POLICY", "hex"),
        ("XFRMA_SEC_CTX", "hex"),
        ("XFRMA_LTIME_VAL", "lifetime_cur"),
        ("XFRMA_REPLAY_VAL", "replay_state"),
        ("XFRMA_REPLAY_THRESH", "uint32"),
        ("XFRMA_ETIMER_THRESH", "uint32"),
        ("XFRMA_SRCADDR", "address"),
        ("XFRMA_COADDR", "address"),
        ("XFRMA_LASTUSED", "uint64"),
        ("XFRMA_POLICY_TYPE", "policy_type"),
        ("XFRMA_MIGRATE", "hex"),
        ("XFRMA_ALG_AEAD", "algorithm_aead"),
        ("XFRMA_KMADDRESS", "hex"),
        ("XFRMA_ALG_AUTH_TRUNC", "algorithm_auth"),
        ("XFRMA_MARK", "mark"),
        ("XFRMA_TFCPAD", "uint32"),
        ("XFRMA_REPLAY_ESN_VAL", "replay_state_esn"),
        ("XFRMA_SA_EXTRA_FLAGS", "uint32"),
        ("XFRMA_PROTO", "uint8"),
        ("XFRMA_ADDRESS_FILTER", "address_filter"),
        ("XFRMA_PAD", "hex"),
        ("XFRMA_OFFLOAD_DEV", "user_offload"),
        ("XFRMA_SET_MARK", "uint32"),
        ("XFRMA_SET_MARK_MASK", "uint32"),
        ("XFRMA_IF_ID", "uint32"),
        ("XFRMA_MTIMER_THRESH", "uint32"),
        ("XFRMA_SA_DIR", "uint8"),
        ("XFRMA_NAT_KEEPALIVE_INTERVAL", "uint32"),
        ("XFRMA_SA_PCPU", "uint32"),
    )
    embedded_sa = embedded_sa
    algorithm = attributes.algorithm
    algorithm_auth = attributes.algorithm_auth
    algorithm_aead = attributes.algorithm_aead
    encap_tmpl = attributes.encap_tmpl
    user_tmpl = attributes.user_tmpl
    lifetime_cur = attributes.lifetime_cur
    replay_state = attributes.replay_state
    replay_state_esn = attributes.replay_state_esn
    mark = attributes.mark
    policy_type = attributes.policy_type
    user_offload = attributes.user_offload
    address = attributes.address
    address_filter = attributes.address_filter

    def encode(self) -> None:
        texts = {name: self.get(name) for name in self.addresses}
        for name, text in texts.items():
            self[name] = pack_address(text)
        nlmsg.encode(self)
        self.update(texts)

    def decode(self) -> None:
        nlmsg.decode(self)
        for name, family in self.addresses.items():
            # An SA's selector may be of any family (AF_UNSPEC): then its addresses are of none, or of the SA's own.
            self[name] = unpack_address(self[name], self.get(family) or self.get("family") or 0)
        for name in ALGORITHMS:
            self.get_attr(name)  # now, not when somebody looks: decoding takes the key out of the buffer


_OF_SELECTOR = {"sel_daddr": "sel_family", "sel_saddr": "sel_family"}


class usersa_info(xfrm_message):
    """struct xfrm_usersa_info: NEWSA, UPDSA, and what GETSA answers."""

    fields = _USERSA
    addresses: ClassVar[dict[str, str]] = {**_OF_SELECTOR, "daddr": "family", "saddr": "family"}


class usersa_id(xfrm_message):
    """struct xfrm_usersa_id: DELSA, GETSA."""

    fields = (("daddr", ADDRESS), ("spi", ">I"), ("family", "H"), ("proto", "B"), ("__pad", "1x"))
    addresses: ClassVar[dict[str, str]] = {"daddr": "family"}


class usersa_dump(xfrm_message):
    """GETSA with NLM_F_DUMP: no struct, only attributes that choose (``XFRMA_ADDRESS_FILTER``, ``XFRMA_PROTO``)."""

    fields = ()


class usersa_flush(xfrm_message):
    """struct xfrm_usersa_flush: FLUSHSA; protocol 0 is every SA."""

    fields = (("proto", "B"),)


class userspi_info(xfrm_message):
    """struct xfrm_userspi_info: ALLOCSPI, whose answer is a usersa_info."""

    fields = (*_USERSA, ("min", "I"), ("max", "I"))
    addresses = usersa_info.addresses


class userpolicy_info(xfrm_message):
    """struct xfrm_userpolicy_info: NEWPOLICY, UPDPOLICY, and what GETPOLICY answers."""

    fields = _USERPOLICY
    addresses = _OF_SELECTOR


class userpolicy_id(xfrm_message):
    """struct xfrm_userpolicy_id: DELPOLICY, GETPOLICY."""

    fields = (*_SELECTOR, ("index", "I"), ("dir", "B"), ("__pad", "3x"))
    addresses = _OF_SELECTOR


class policy_flush(xfrm_message):
    """FLUSHPOLICY has no struct."""

    fields = ()


class user_expire(xfrm_message):
    """struct xfrm_user_expire: an SA reached its soft (``hard`` 0) or hard limit."""

    fields = (*_USERSA, ("hard", "B"), ("__pad", f"{alignment_padding(225)}x"))
    addresses = usersa_info.addresses


class user_polexpire(xfrm_message):
    """struct xfrm_user_polexpire."""

    fields = (*_USERPOLICY, ("hard", "B"), ("__pad", f"{alignment_padding(169)}x"))
    addresses = _OF_SELECTOR


class user_acquire(xfrm_message):
    """struct xfrm_user_acquire: a packet met a policy that has no SA. Its policy's members have the prefix pol_."""

    fields = (
        *_ID,
        ("saddr", ADDRESS),
        *_SELECTOR,
        *((f"pol_{name}" if not name.startswith("__") else f"__pol{name}", fmt) for name, fmt in _USERPOLICY),
        ("aalgos", "I"),
        ("ealgos", "I"),
        ("calgos", "I"),
        ("seq", "I"),
    )
    addresses: ClassVar[dict[str, str]] = {**_OF_SELECTOR, "daddr": "sel_family", "saddr": "sel_family"}


class aevent_id(xfrm_message):
    """struct xfrm_aevent_id: NEWAE, GETAE, and the event that a replay state or lifetime moved."""

    fields = (*usersa_id.fields, ("saddr", ADDRESS), ("flags", "I"), ("reqid", "I"))
    addresses: ClassVar[dict[str, str]] = {"daddr": "family", "saddr": "family"}


class user_mapping(xfrm_message):
    """struct xfrm_user_mapping: a NAT between the peers gave one another address or port."""

    fields = (
        *usersa_id.fields,
        ("reqid", "I"),
        ("old_saddr", ADDRESS),
        ("new_saddr", ADDRESS),
        ("old_sport", ">H"),
        ("new_sport", ">H"),
    )
    addresses: ClassVar[dict[str, str]] = dict.fromkeys(("daddr", "old_saddr", "new_saddr"), "family")


MESSAGES: dict[int, type[xfrm_message]] = {
    XFRM_MSG_NEWSA: usersa_info,
    XFRM_MSG_UPDSA: usersa_info,
    XFRM_MSG_DELSA: usersa_id,
    XFRM_MSG_GETSA: usersa_id,
    XFRM_MSG_ALLOCSPI: userspi_info,
    XFRM_MSG_FLUSHSA: usersa_flush,
    XFRM_MSG_NEWPOLICY: userpolicy_info,
    XFRM_MSG_UPDPOLICY: userpolicy_info,
    XFRM_MSG_DELPOLICY: userpolicy_id,
    XFRM_MSG_GETPOLICY: userpolicy_id,
    XFRM_MSG_FLUSHPOLICY: policy_flush,
    XFRM_MSG_EXPIRE: user_expire,
    XFRM_MSG_POLEXPIRE: user_polexpire,
    XFRM_MSG_ACQUIRE: user_acquire,
    XFRM_MSG_NEWAE: aevent_id,
    XFRM_MSG_GETAE: aevent_id,
    XFRM_MSG_MAPPING: user_mapping,
}
"""By message type, as they travel to the kernel and in events."""


def family_of(address: str) -> int:
    """AF_INET or AF_INET6."""
    return socket.AF_INET6 if ":" in address else socket.AF_INET
