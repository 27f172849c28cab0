"""The kernel's SAs as tunnels. Names are strongSwan's where vici tells them, else made of addresses and reqid."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Protocol

from gateway.metrics.exposition import Families
from gateway.metrics.ledger import Ledger, SaReading, TunnelName
from gateway.metrics.tunnels import tell
from gateway.node.xfrm_reader import XfrmDump

PATIENCE_S = 15.0
"""An SA that strongSwan does not know yet is left out this long: its name must not change afterwards."""

_SUITES = {
    ("rfc4106(gcm(aes))", ""): "aes{bits}gcm16",
    ("rfc7539esp(chacha20,poly1305)", ""): "chacha20poly1305",
    ("cbc(aes)", "hmac(sha256)"): "aes{bits}-sha256",
    ("cbc(aes)", "hmac(sha1)"): "aes{bits}-sha1",
    ("cbc(aes)", "hmac(sha384)"): "aes{bits}-sha384",
    ("cbc(aes)", "hmac(sha512)"): "aes{bits}-sha512",
    ("ecb(cipher_null)", "hmac(sha256)"): "null-sha256",
}
_SALT_BITS = {"rfc4106(gcm(aes))": 32, "rfc4309(ccm(aes))": 24, "rfc4543(gcm(aes))": 32}


class Reader(Protocol):
    """Where SAs come from."""

    def dump(self) -> XfrmDump: ...


Names = Callable[[], Mapping[int, TunnelName]]
"""Tunnels by SPI, as the IKE daemon knows them; raises when it does not answer."""


class KernelSas:
    """The collector."""

    name = "kernel_sas"

    def __init__(
        self,
        reader: Reader,
        names: Names | None = None,
        *,
        per_sa: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._reader, self._names, self._per_sa, self._clock = reader, names, per_sa, clock
        self._ledger = Ledger()
        self._by_reqid: dict[tuple[str, str], TunnelName] = {}
        self._waiting_since: dict[object, float] = {}
        self._lost = 0

    def collect(self, families: Families) -> None:
        """MeasurementError when the kernel cannot be asked."""
        dump = self._reader.dump()
        now_s = self._clock()
        by_spi = self._ask_names(dump)
        live = []
        for fields in dump.sas:
            if (name := self._name(fields, by_spi, now_s)) is not None:
                live.append((name, reading(fields)))
        gone = []
        for fields in dump.gone:
            name = self._ledger.name_of(_key(fields)) or self._name(fields, by_spi, now_s) or _by_address(fields)
            gone.append((name, reading(fields)))
            self._waiting_since.pop(_key(fields), None)
        self._ledger.update(live, gone, now_s)
        self._lost += dump.lost
        families.add("gwbench_kernel_xfrm_events_lost_total", (), self._lost)
        tell(families, self._ledger, "kernel", now_s, per_sa=self._per_sa)

    def _ask_names(self, dump: XfrmDump) -> Mapping[int, TunnelName] | None:
        """None: there is no IKE daemon to ask. It is asked only when there is an SA that has no name yet."""
        if self._names is None:
            return None
        if all(self._ledger.name_of(_key(fields)) for fields in (*dump.sas, *dump.gone)):
            return {}
        try:
            return self._names()
        except Exception:  # whatever the daemon did: names made of addresses are better than none
            return None

    def _name(
        self, fields: Mapping[str, str], by_spi: Mapping[int, TunnelName] | None, now_s: float
    ) -> TunnelName | None:
        """None: wait for its name."""
        key = _key(fields)
        if (known := self._ledger.name_of(key)) is not None:
            return known
        reqid = (_peer(fields), fields["reqid"])
        named = (by_spi or {}).get(int(fields["spi"], 16))
        if named is not None:
            self._by_reqid[reqid] = named
        elif fields["reqid"] != "0":
            named = self._by_reqid.get(reqid)
        if named is None and by_spi is not None and now_s - self._waiting_since.setdefault(key, now_s) < PATIENCE_S:
            return None
        self._waiting_since.pop(key, None)
        return named or _by_address(fields)


def _key(fields: Mapping[str, str]) -> tuple[str, str, str]:
    return fields["dst"], fields["spi"], fields["proto"]


def _peer(fields: Mapping[str, str]) -> str:
    return fields["src"] if fields["dir"] == "in" else fields["dst"]


def _by_address(fields: Mapping[str, str]) -> TunnelName:
    ends = (fields["dst"], fields["src"]) if fields["dir"] == "in" else (fields["src"], fields["dst"])
    child = f"if{fields['if_id']}" if fields["if_id"] != "0" else f"reqid{fields['reqid']}"
    return TunnelName("-".join(ends), child, ends[1])


def reading(fields: Mapping[str, str]) -> SaReading:
    """What the C reader wrote, as a reading."""
    esn = fields["esn"] == "1"
    sequence = fields.get("oseq" if fields["dir"] == "out" else "seq")
    created_s = float(fields["add"])
    return SaReading(
        key=_key(fields),
        spi=int(fields["spi"], 16),
        direction=fields["dir"],
        packets=int(fields["packets"]),
        bytes=int(fields["bytes"]),
        drops={
            "state_seq_error": int(fields["below_window"]) + int(fields["replayed"]),
            "state_proto_error": int(fields["failed"]),
        }
        if fields["dir"] == "in"
        else {},
        created_s=created_s,
        expires_s=created_s + int(fields["hard_s"]) if "hard_s" in fields else None,
        sequence_used=None if sequence is None else int(sequence) / (1 << (64 if esn else 32)),
        suite=suite(fields),
        implementation="offload" if "offload" in fields else "kernel",
    )


def suite(fields: Mapping[str, str]) -> str:
    """IKE's word for the algorithms; the kernel's own names for those that have none here."""
    cipher = fields.get("aead") or fields.get("enc", "")
    auth = "" if "aead" in fields else fields.get("auth", "")
    bits = int(fields.get("aead_bits") or fields.get("enc_bits", "0")) - _SALT_BITS.get(cipher, 0)
    word = _SUITES.get((cipher, auth))
    return word.format(bits=bits) if word else "+".join(part for part in (cipher, auth) if part)
