"""NETLINK_XFRM and NETLINK_CRYPTO against a kernel that has ESP: every message to it and back."""

from __future__ import annotations

import socket
from typing import Any

import dataplane as dp
from gateway.lab.namespaces import NetworkNamespace
from gateway.netlink import crypto, xfrm
from gateway.netlink.connection import NLM_F_DUMP, Connection
from gateway.netlink.ipsec import EspSa, Ipsec
from gateway.node import kernel_crypto, priorities

OUTER = {4: ("192.0.2.1", "192.0.2.2"), 6: ("2001:db8::1", "2001:db8::2")}


def sa_of(suite: dp.Suite, spi: int, family: int, **more: Any) -> EspSa:
    lengths = (suite.enc_key_bytes, suite.auth_key_bytes, suite.salt_bytes)
    enc, auth, salt = (bytes((spi + i) % 256 for i in range(n)) for n in lengths)
    return EspSa(spi, *OUTER[family], suite, enc, auth, salt, **more)


def messages() -> dict[str, Any]:
    """SAs of every suite, as asked and as listed; an update, events, expiry, deletion, flush."""
    with NetworkNamespace("xfrm") as space:
        with space.entered():
            ipsec, raw = Ipsec(), Connection(xfrm.NETLINK_XFRM, xfrm.MESSAGES)
            watcher = Connection(xfrm.NETLINK_XFRM, xfrm.MESSAGES, timeout_s=5)
        with ipsec, raw, watcher:
            for group in ("sa", "expire"):
                watcher.join(xfrm.GROUPS[group])
            listed = _suites(ipsec)
            events = [watcher.event() for _ in listed]
            result = {
                "listed": listed,
                "events": [[kind, one["spi"]] for kind, one in filter(None, events)],
                "update": _update(ipsec, raw),
                "expire": _expire(raw, watcher),
                "key_visible": _key_visible(ipsec, raw),
            }
            flush = xfrm.usersa_flush()
            raw.request(flush, xfrm.XFRM_MSG_FLUSHSA)
            result["after_flush"] = len(ipsec.sas())
    return result


def _suites(ipsec: Ipsec) -> list[dict[str, Any]]:
    found = []
    for number, suite in enumerate(dp.suites()):
        family, spi = 4 if number % 2 else 6, 0x1000 + number
        more: dict[str, Any] = {"esn": bool(number % 3), "replay_window": 32 << number % 4, "reqid": number}
        if family == 4:
            more["encap_ports"] = (4500, 4501)
        ipsec.add_sa(sa_of(suite, spi, family, **more))
        (sa,) = (one for one in ipsec.sas() if one.spi == spi)
        found.append(
            {
                "suite": suite.name,
                "cipher": sa.cipher,
                "key_bits": sa.cipher_key_bits,
                "wanted_key_bits": 8 * (suite.enc_key_bytes + suite.salt_bytes),
                "integrity": sa.integrity,
                "icv_bits": sa.icv_bits,
                "wanted_icv_bits": 8 * suite.icv_bytes,
                "same": [sa.esn, sa.replay_window, sa.reqid, sa.encap and list(sa.encap), sa.src, sa.dst, sa.mode]
                == [
                    more["esn"],
                    more["replay_window"],
                    number,
                    [2, 4500, 4501] if family == 4 else None,
                    *OUTER[family],
                    "tunnel",
                ],
            }
        )
    return found


def _larval(raw: Connection) -> Any:
    message = xfrm.userspi_info()
    message.update({"saddr": OUTER[4][0], "daddr": OUTER[4][1], "family": socket.AF_INET, "proto": 50, "mode": 1})
    message.update({"min": 0x3000, "max": 0x3FFF})
    (answer,) = raw.request(message, xfrm.XFRM_MSG_ALLOCSPI, 0)
    return answer


def _update(ipsec: Ipsec, raw: Connection) -> dict[str, Any]:
    """An SPI is allocated as IKE does, then the SA is filled in."""
    spi = _larval(raw)["spi"]
    message = xfrm.usersa_info()
    message.update({"saddr": OUTER[4][0], "daddr": OUTER[4][1], "family": socket.AF_INET, "proto": 50, "mode": 1})
    message.update({"spi": spi, "replay_window": 32})
    key = {"alg_name": "rfc4106(gcm(aes))", "alg_key": bytes(range(20)), "alg_icv_len": 96}
    message["attrs"] = [("XFRMA_ALG_AEAD", key), ("XFRMA_MARK", {"v": 7, "m": 0xFF}), ("XFRMA_IF_ID", 9)]
    raw.request(message, xfrm.XFRM_MSG_UPDSA)
    (sa,) = (one for one in ipsec.sas() if one.spi == spi)
    return {"cipher": sa.cipher, "icv_bits": sa.icv_bits, "if_id": sa.if_id, "mark": sa.mark}


def _expire(raw: Connection, watcher: Connection) -> list[int]:
    """An SA that lives for a second: the kernel tells when it goes."""
    message = xfrm.usersa_info()
    message.update({"saddr": OUTER[4][0], "daddr": OUTER[4][1], "family": socket.AF_INET, "proto": 50, "mode": 1})
    message.update({"spi": 0x4444, "lft_hard_add_expires_seconds": 1})
    null = {"alg_name": "ecb(cipher_null)", "alg_key": b""}
    message["attrs"] = [("XFRMA_ALG_CRYPT", null)]
    raw.request(message, xfrm.XFRM_MSG_NEWSA)
    for _ in range(20):
        event = watcher.event()
        if event is None:
            return []
        kind, one = event
        if kind == xfrm.XFRM_MSG_EXPIRE and one["spi"] == 0x4444:
            return [kind, one["hard"]]
    return []


def _key_visible(ipsec: Ipsec, raw: Connection) -> bool:
    """The kernel does send keys to root: they are gone from what we keep."""
    key = bytes(range(101, 117)) + bytes(4)
    suite = dp.find_suite("aes128gcm16")
    ipsec.add_sa(EspSa(0x5555, *OUTER[4], suite, key[:16], b"", key[16:]))
    found = raw.request(xfrm.usersa_dump(), xfrm.XFRM_MSG_GETSA, NLM_F_DUMP)
    return any(key[:16] in bytes(one.data) for one in found)


def crypto_list() -> dict[str, Any]:
    """The kernel's list by netlink is /proc/crypto's; an instance is made, raised, and deleted."""
    listing = kernel_crypto.read()
    with Connection(crypto.NETLINK_CRYPTO, {crypto.CRYPTO_MSG_GETALG: crypto.user_alg}) as raw:
        found = raw.request(crypto.user_alg(), crypto.CRYPTO_MSG_GETALG, NLM_F_DUMP)
    by_netlink = sorted((one["name"], one["driver_name"], one.get_attr("CRYPTOCFGA_PRIORITY_VAL")) for one in found)
    priorities.instantiate("ctr(aes-generic)")
    made = [one.priority for one in kernel_crypto.read() if one.driver == "ctr(aes-generic)"]
    priorities.set_priority("ctr(aes-generic)", 7777)
    raised = [one.priority for one in kernel_crypto.read() if one.driver == "ctr(aes-generic)"]
    priorities.delete_instance("ctr(aes-generic)")
    left = [one.priority for one in kernel_crypto.read() if one.driver == "ctr(aes-generic)"]
    return {
        "netlink": [list(one) for one in by_netlink],
        # Names have 64 bytes in struct crypto_user_alg, twice as many in the kernel.
        "proc": sorted([one.name[:63], one.driver[:63], one.priority] for one in listing),
        "instance": [made, raised, left],
    }
