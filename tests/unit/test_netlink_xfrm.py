"""NETLINK_XFRM's messages against what `ip xfrm` sends (scripts/record_xfrm.py), and against this kernel."""

from __future__ import annotations

import errno
import json
import os
import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.lab import syscalls
from gateway.lab.trial import in_child
from gateway.netlink import connection, xfrm
from gateway.netlink.connection import Connection
from gateway.netlink.xfrm_attributes import algorithm, pack_address, unpack_address

GOLDEN = json.loads((Path(__file__).parent / "fixtures/netlink/ip-xfrm.json").read_text())
KEYS = {n: bytes(range(1, n + 1)) for n in (16, 20, 32, 36)}
V4 = {"saddr": "192.0.2.1", "daddr": "192.0.2.2", "spi": 0x12345678, "proto": 50, "family": socket.AF_INET}
GCM = ("XFRMA_ALG_AEAD", {"alg_name": "rfc4106(gcm(aes))", "alg_key": KEYS[20], "alg_icv_len": 128})
HMAC = ("XFRMA_ALG_AUTH_TRUNC", {"alg_name": "hmac(sha256)", "alg_key": KEYS[32], "alg_trunc_len": 128})
CBC = ("XFRMA_ALG_CRYPT", {"alg_name": "cbc(aes)", "alg_key": KEYS[32]})
NETS = {"sel_saddr": "10.1.0.0", "sel_prefixlen_s": 16, "sel_daddr": "10.2.0.0", "sel_prefixlen_d": 16}
NETS = {**NETS, "sel_family": socket.AF_INET}
TEMPLATE = {"saddr": "192.0.2.1", "daddr": "192.0.2.2"}


def golden(name: str) -> bytes:
    return bytes.fromhex(GOLDEN[name]["bytes"])


def class_of(data: bytes) -> Any:
    _, kind, flags = struct.unpack_from("=IHH", data)
    if kind == xfrm.XFRM_MSG_GETSA and flags & connection.NLM_F_DUMP:
        return xfrm.usersa_dump
    return xfrm.MESSAGES[kind]


def built(kind: int, values: dict[str, Any], attrs: list[Any] = [], flags: int = 5) -> bytes:  # noqa: B006
    message = xfrm.MESSAGES[kind]()
    message.update(values)
    message["attrs"] = list(attrs)
    message["header"] = {"type": kind, "flags": flags}
    message.encode()
    return bytes(message.data[: message["header"]["length"]])


@pytest.mark.parametrize("name", GOLDEN)
def test_what_ip_sends_survives_decoding_and_encoding(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(algorithm, "keep_keys", True)
    data = golden(name)
    first = class_of(data)(bytearray(data))
    first.decode()
    again = class_of(data)()
    again.update({field: first[field] for field, _ in first.fields if not field.startswith("__")})
    again["attrs"] = [(attr, first.get_attr(attr)) for attr in dict.fromkeys(slot[0] for slot in first["attrs"])]
    again["header"] = {"type": first["header"]["type"], "flags": first["header"]["flags"]}
    again.encode()
    assert bytes(again.data[: again["header"]["length"]]) == data
    assert "UNKNOWN" not in [slot[0] for slot in first["attrs"]]


# af-unspec leaves the selector's family at 0.
SAS: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "sa-gcm": ({"reqid": 7, "replay_window": 32, "flags": xfrm.XFRM_STATE_AF_UNSPEC}, [GCM]),
    "sa-cbc-auth-trunc": ({"reqid": 7}, [HMAC, CBC]),
    "sa-esn": (
        {"reqid": 7, "flags": xfrm.XFRM_STATE_AF_UNSPEC | xfrm.XFRM_STATE_ESN},
        [("XFRMA_REPLAY_ESN_VAL", {"replay_window": 256}), GCM],
    ),
    "sa-encap": ({}, [("XFRMA_ENCAP", {"encap_type": 2, "encap_sport": 4500, "encap_dport": 4501}), GCM]),
    "sa-marks": (
        {},
        [
            ("XFRMA_MARK", {"v": 0x10, "m": 0xFF}),
            ("XFRMA_SET_MARK", 0x20),
            ("XFRMA_SET_MARK_MASK", 0xF0),
            ("XFRMA_IF_ID", 0x2A),
            GCM,
        ],
    ),
    "sa-null": ({"mode": 0}, [("XFRMA_ALG_CRYPT", {"alg_name": "ecb(cipher_null)", "alg_key": b""})]),
    "sa-limits": (
        {"lft_soft_packet_limit": 90, "lft_hard_packet_limit": 100, "lft_hard_add_expires_seconds": 60},
        [GCM],
    ),
}


def in_any_order(data: bytes, fixed: int = 16 + 224) -> tuple[bytes, set[bytes]]:
    """The struct, and the attributes: their order means nothing to the kernel."""
    found, at = set(), fixed
    while at < len(data):
        length = struct.unpack_from("=H", data, at)[0]
        found.add(data[at : at + length])
        at += (length + 3) & ~3
    return data[4:fixed], found


@pytest.mark.parametrize("name", SAS)
def test_sas_built_by_name_are_what_ip_sends(name: str) -> None:
    values, attrs = SAS[name]
    data = built(xfrm.XFRM_MSG_NEWSA, {**V4, "mode": xfrm.XFRM_MODE_TUNNEL, **values}, attrs)
    assert in_any_order(data) == in_any_order(golden(name))


@pytest.mark.parametrize(
    ("name", "values", "attrs"),
    [
        (
            "policy-out",
            {"dir": xfrm.XFRM_POLICY_OUT, "priority": 10},
            [("XFRMA_TMPL", [{**TEMPLATE, "spi": 0x1234, "reqid": 7}])],
        ),
        ("policy-block", {"dir": xfrm.XFRM_POLICY_OUT, "priority": 1000, "action": xfrm.XFRM_POLICY_BLOCK}, []),
    ],
)
def test_policies_built_by_name_are_what_ip_sends(name: str, values: dict[str, Any], attrs: list[Any]) -> None:
    data = built(xfrm.XFRM_MSG_NEWPOLICY, {**NETS, **values}, attrs)
    assert in_any_order(data, 16 + 168) == in_any_order(golden(name), 16 + 168)


def test_deleting_and_flushing_are_what_ip_sends() -> None:
    wanted = {k: v for k, v in V4.items() if k != "saddr"}
    # ip adds the source address; the destination and the SPI are enough.
    assert built(xfrm.XFRM_MSG_DELSA, wanted, [("XFRMA_SRCADDR", "192.0.2.1")]) == golden("sa-delete")
    assert built(xfrm.XFRM_MSG_FLUSHSA, {"proto": 50}) == golden("sa-flush")
    assert built(xfrm.XFRM_MSG_FLUSHPOLICY, {}) == golden("policy-flush")
    policy = {**NETS, "dir": xfrm.XFRM_POLICY_OUT}
    assert built(xfrm.XFRM_MSG_DELPOLICY, policy) == golden("policy-delete")


def test_newer_attributes_have_the_kernels_numbers() -> None:
    attrs = [("XFRMA_SA_DIR", xfrm.XFRM_SA_DIR_OUT), ("XFRMA_NAT_KEEPALIVE_INTERVAL", 20), ("XFRMA_SA_PCPU", 3)]
    _, found = in_any_order(built(xfrm.XFRM_MSG_NEWSA, V4, attrs))
    assert found == {
        struct.pack("=HHB", 5, 33, 2),
        struct.pack("=HHI", 8, 34, 20),
        struct.pack("=HHI", 8, 35, 3),
    }


def test_a_key_does_not_come_out_of_a_decoded_message() -> None:
    buffer = bytearray(golden("sa-cbc-auth-trunc"))
    assert KEYS[32] in buffer
    message = xfrm.usersa_info(buffer)
    message.decode()
    assert KEYS[32] not in buffer
    crypt = message.get_attr("XFRMA_ALG_CRYPT")
    assert crypt["alg_name"] == "cbc(aes)" and crypt["alg_key_len"] == 256 and "alg_key" not in crypt
    assert KEYS[32].hex() not in repr(message) and str(KEYS[32]) not in repr(message)


def test_addresses_of_both_families() -> None:
    for text, family in (("192.0.2.1", socket.AF_INET), ("2001:db8::1", socket.AF_INET6), ("::1", socket.AF_INET6)):
        assert unpack_address(pack_address(text), family) == text
    assert pack_address("") == bytes(16) and unpack_address(pack_address("2001:db8::1"), 0) == "2001:db8::1"


# ---- this kernel: namespaces of a child's own; what needs an algorithm is in the kernel tier ----


def live(action: Callable[[Connection], Any]) -> Any:
    """What ``action`` returns (JSON), run with a socket in a network namespace of its own."""

    def inside() -> str:
        try:
            with Connection(xfrm.NETLINK_XFRM, xfrm.MESSAGES) as socket_:
                return json.dumps(action(socket_))
        except Exception as error:
            return json.dumps(f"failed: {type(error).__name__}: {error}")

    # Root needs no user namespace, and in a chroot gets none.
    user = 0 if os.geteuid() == 0 else syscalls.CLONE_NEWUSER
    text = in_child(inside, syscalls.CLONE_NEWNET | user)
    assert not text.startswith("!"), f"no namespace: {text}"
    return json.loads(text)


def message(kind: int, values: dict[str, Any], attrs: list[Any] = []) -> Any:  # noqa: B006
    one = xfrm.MESSAGES[kind]()
    one.update(values)
    one["attrs"] = list(attrs)
    return one


def sas(socket_: Connection) -> list[Any]:
    return socket_.request(xfrm.usersa_dump(), xfrm.XFRM_MSG_GETSA, connection.NLM_F_DUMP)


def policies(socket_: Connection) -> list[Any]:
    return socket_.request(xfrm.policy_flush(), xfrm.XFRM_MSG_GETPOLICY, connection.NLM_F_DUMP)


ALLOC = {**V4, "reqid": 7, "mode": 1, "min": 0x100, "max": 0x1FF}


def test_an_spi_is_allocated_listed_found_and_deleted() -> None:
    def action(socket_: Connection) -> Any:
        (larval,) = socket_.request(message(xfrm.XFRM_MSG_ALLOCSPI, ALLOC), xfrm.XFRM_MSG_ALLOCSPI, 0)
        listed = sas(socket_)
        wanted = {"daddr": "192.0.2.2", "spi": larval["spi"], "proto": 50, "family": socket.AF_INET}
        (found,) = socket_.request(message(xfrm.XFRM_MSG_GETSA, wanted), xfrm.XFRM_MSG_GETSA, 0)
        socket_.request(message(xfrm.XFRM_MSG_DELSA, wanted), xfrm.XFRM_MSG_DELSA)
        return [
            larval["spi"],
            [sa["spi"] for sa in listed],
            [found[name] for name in ("saddr", "daddr", "reqid", "mode", "proto")],
            len(sas(socket_)),
        ]

    spi, listed, found, left = live(action)
    assert 0x100 <= spi <= 0x1FF and listed == [spi] and left == 0
    assert found == ["192.0.2.1", "192.0.2.2", 7, 1, 50]


def test_policies_are_added_replaced_listed_deleted_and_flushed() -> None:
    def action(socket_: Connection) -> Any:
        values = {**NETS, "dir": xfrm.XFRM_POLICY_OUT, "priority": 10}
        attrs = [("XFRMA_TMPL", [{**TEMPLATE, "reqid": 7}]), ("XFRMA_IF_ID", 42)]
        socket_.request(message(xfrm.XFRM_MSG_NEWPOLICY, values, attrs), xfrm.XFRM_MSG_NEWPOLICY)
        try:
            socket_.request(message(xfrm.XFRM_MSG_NEWPOLICY, values, attrs), xfrm.XFRM_MSG_NEWPOLICY, 4 | 0x200)
            twice = 0
        except OSError as error:
            twice = error.errno or -1
        attrs[0] = ("XFRMA_TMPL", [{**TEMPLATE, "reqid": 8, "spi": 0x999}])
        socket_.request(message(xfrm.XFRM_MSG_UPDPOLICY, values, attrs), xfrm.XFRM_MSG_UPDPOLICY)
        (one,) = policies(socket_)
        result = [twice, one["sel_saddr"], one["priority"], one.get_attr("XFRMA_IF_ID"), one.get_attr("XFRMA_TMPL")]
        which = message(xfrm.XFRM_MSG_DELPOLICY, {**NETS, "dir": xfrm.XFRM_POLICY_OUT}, [("XFRMA_IF_ID", 42)])
        socket_.request(which, xfrm.XFRM_MSG_DELPOLICY)
        result.append(len(policies(socket_)))
        for direction in (0, 1, 2):
            values["dir"] = direction
            socket_.request(message(xfrm.XFRM_MSG_NEWPOLICY, values), xfrm.XFRM_MSG_NEWPOLICY)
        result.append(len(policies(socket_)))
        socket_.request(xfrm.policy_flush(), xfrm.XFRM_MSG_FLUSHPOLICY)
        return [*result, len(policies(socket_))]

    twice, source, priority, if_id, templates, after_delete, three, after_flush = live(action)
    assert twice == errno.EEXIST and (source, priority, if_id) == ("10.1.0.0", 10, 42)
    assert [(t["saddr"], t["daddr"], t["reqid"], t["spi"], t["mode"]) for t in templates] == [
        ("192.0.2.1", "192.0.2.2", 8, 0x999, 1)
    ]
    assert (after_delete, three, after_flush) == (0, 3, 0)


def test_ipv6_and_marks_come_back_as_they_went() -> None:
    def action(socket_: Connection) -> Any:
        values = {"dir": 1, "sel_family": socket.AF_INET6, "sel_saddr": "2001:db8:1::", "sel_prefixlen_s": 48}
        values |= {"sel_daddr": "2001:db8:2::", "sel_prefixlen_d": 64, "sel_proto": 17, "sel_dport": 53}
        values["sel_dport_mask"] = 0xFFFF
        attrs = [
            ("XFRMA_MARK", {"v": 5, "m": 0xFF}),
            ("XFRMA_TMPL", [{"saddr": "2001:db8::1", "daddr": "2001:db8::2"}]),
        ]
        socket_.request(message(xfrm.XFRM_MSG_NEWPOLICY, values, attrs), xfrm.XFRM_MSG_NEWPOLICY)
        (one,) = policies(socket_)
        template = one.get_attr("XFRMA_TMPL")[0]
        return [{n: one[n] for n in values}, values, one.get_attr("XFRMA_MARK")["v"], template["daddr"]]

    got, sent, mark, daddr = live(action)
    assert got == sent and (mark, daddr) == (5, "2001:db8::2")


def test_events_of_policies_arrive() -> None:
    def action(socket_: Connection) -> Any:
        with Connection(xfrm.NETLINK_XFRM, xfrm.MESSAGES, timeout_s=5) as watcher:
            watcher.join(xfrm.GROUPS["policy"])
            values = {**NETS, "dir": xfrm.XFRM_POLICY_OUT}
            socket_.request(message(xfrm.XFRM_MSG_NEWPOLICY, values), xfrm.XFRM_MSG_NEWPOLICY)
            socket_.request(message(xfrm.XFRM_MSG_DELPOLICY, values), xfrm.XFRM_MSG_DELPOLICY)
            events = [watcher.event(), watcher.event()]
            return [(kind, one.get("sel_daddr")) for kind, one in filter(None, events)]

    new, deleted = live(action)
    assert new == [xfrm.XFRM_MSG_NEWPOLICY, "10.2.0.0"] and deleted[0] == xfrm.XFRM_MSG_DELPOLICY


def test_the_kernels_refusal_is_an_oserror_with_its_number() -> None:
    def action(socket_: Connection) -> Any:
        wanted = {"daddr": "192.0.2.2", "spi": 0x999, "proto": 50, "family": socket.AF_INET}
        try:
            socket_.request(message(xfrm.XFRM_MSG_DELSA, wanted), xfrm.XFRM_MSG_DELSA)
        except OSError as error:
            return error.errno
        return 0

    assert live(action) == errno.ESRCH


@pytest.fixture(autouse=True)
def _keys_are_dropped() -> Iterator[None]:
    yield
    assert not algorithm.keep_keys
