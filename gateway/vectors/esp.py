"""ESP packets that others published (schema esp-packet-v1), opened by SAs of every implementation of their suite.

Packets without integrity have no suite: their cipher is asked alone, both ways. Algorithms that this project does not
name must be refused, by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import dataplane as dp
from gateway.vectors.document import Document, Fields, fields
from gateway.vectors.kat import ask
from gateway.vectors.outcome import Book
from gateway.vectors.question import Question, implementations_of, lacking

SUITES = {
    ("aes-gcm-16", "none"): "aes{}gcm16",
    ("aes-gcm-12", "none"): "aes{}gcm16",  # the ICV's length is a parameter of the SA
    ("aes-gcm-8", "none"): "aes{}gcm16",
    ("chacha20-poly1305", "none"): "chacha20poly1305",
    ("aes-cbc", "hmac-sha256-128"): "aes{}-sha256",
    ("aes-cbc", "hmac-sha512-256"): "aes{}-sha512",
    ("aes-cbc", "hmac-sha1-96"): "aes{}-sha1",
    ("aes-ctr", "hmac-sha256-128"): "aes{}-ctr-sha256",
    ("null", "hmac-sha256-128"): "null-sha256",
}
"""The vectors' names of (cipher, integrity) and ours; {} takes the key's bits."""
BARE = {"aes-cbc": "cbc(aes)", "aes-ctr": "ctr(aes)"}
AEAD = {
    "aes-gcm-16": "gcm(aes)",
    "aes-gcm-12": "gcm(aes)",
    "aes-gcm-8": "gcm(aes)",
    "chacha20-poly1305": "rfc7539(chacha20,poly1305)",
}


@dataclass(frozen=True, slots=True)
class Packet:
    """One case, read."""

    name: str
    accept: bool
    mode: str
    esn: bool
    spi: int
    number: int
    """The whole sequence number, 64 bits with ESN."""
    enc_alg: str
    auth_alg: str
    enc_key: bytes
    auth_key: bytes
    salt: bytes
    iv: bytes
    esp: bytes
    inner: bytes | None
    """What the receiver must get; None where nobody says."""
    plaintext: bytes | None
    next_header: int | None
    in_scope: bool
    icv_bytes: int


def read(case: Fields) -> Packet:
    """Complains of what the schema does not allow; optional fields may be missing."""
    mode = case.word("mode", "tunnel")
    esn = case.flag("esn")
    inner = next(
        (case.octets(f) for f in (("inner", "payload") if mode == "tunnel" else ("payload",)) if case.has(f)), None
    )
    esp = case.octets("esp")
    if len(esp) < 8:
        raise case.complain('"esp" has less than SPI and sequence number')
    return Packet(
        name=case.name,
        accept=case.word("expect", "ok", ("ok", "auth-fail")) == "ok",
        mode=mode,
        esn=esn,
        spi=case.number("spi", int.from_bytes(esp[:4], "big"), 1 << 32),
        number=(case.number("seq_hi", 0, 1 << 32) << 32 if esn else 0)
        | case.number("seq", int.from_bytes(esp[4:8], "big"), 1 << 32),
        enc_alg=_enc_alg(case),
        auth_alg=case.word("auth_alg", "none").lower() or "none",
        enc_key=case.octets("enc_key"),
        auth_key=case.octets("auth_key"),
        salt=case.octets("salt"),
        iv=case.octets("iv"),
        esp=esp,
        inner=inner,
        plaintext=case.octets("plaintext") if case.has("plaintext") else None,
        next_header=case.number("next_header", 0, 256) if case.has("next_header") else None,
        in_scope=case.flag("in_scope", True),
        icv_bytes=case.number("icv_len", 0, 256),
    )


def _enc_alg(case: Fields) -> str:
    """``aes-gcm`` alone has its ICV's length in a field of its own."""
    name = case.word("enc_alg", "").lower()
    return f"aes-gcm-{case.number('icv_len', 16, 256)}" if name == "aes-gcm" else name


def suite_name(packet: Packet) -> str:
    """Our suite's name; empty where nothing here has that name."""
    pattern = SUITES.get((packet.enc_alg, packet.auth_alg), "")
    name = pattern.format(len(packet.enc_key) * 8)
    return name if name in {s.name for s in dp.suites()} else ""


def wishes(suite: str) -> tuple[str, ...]:
    """Every tag under which this suite runs here: one for each family of implementations."""
    s = dp.find_suite(suite)
    algs = {s.enc_alg, s.auth_alg, f"authenc({s.auth_alg},{s.enc_alg})"}
    found: dict[str, str] = {}
    for tag in dict.fromkeys(i.tag for i in dp.implementations() if i.alg in algs):
        try:
            found.setdefault(dp.resolve(suite, tag), tag)
        except dp.DataplaneError:
            continue
    return tuple(found.values())


def receiver(packet: Packet, suite: str, wish: str) -> dp.Sa:
    """An SA that expects just this packet next."""
    return dp.Sa(
        dp.SaParams(
            spi=packet.spi,
            suite=suite,
            direction="in",
            enc_key=packet.enc_key,
            auth_key=packet.auth_key,
            salt=packet.salt,
            esn=packet.esn,
            # mcgrew's "unspecified" carry upper-layer protocols
            mode="tunnel" if packet.mode == "tunnel" else "transport",
            seq=packet.number - 1,
            icv_bytes=packet.icv_bytes,
            lab=True,  # some published packets use SPIs that RFC 4303 reserves
            implementation=wish,
        )
    )


def _open(packet: Packet, sa: dp.Sa) -> str:
    """What is wrong; empty when nothing is."""
    opened = sa.open([packet.esp])[0]
    if not packet.accept:
        return "" if opened.status == "state_proto_error" else f"{packet.name}: {opened.status}, not an ICV error"
    if packet.next_header == 59:  # a dummy packet: authentic, then swallowed
        return "" if opened.status != "state_proto_error" else f"{packet.name}: {opened.status}"
    if opened.status != "ok":
        return f"{packet.name}: {opened.status}"
    if packet.inner is not None and opened.inner != packet.inner:
        return f"{packet.name}: another inner packet"
    if packet.next_header is not None and opened.next_header != packet.next_header:
        return f"{packet.name}: next header {opened.next_header}"
    again = sa.open([packet.esp])[0].status
    return "" if again == "state_seq_error" else f"{packet.name}: the second copy: {again}"


def _alone(packet: Packet) -> tuple[str, list[Question]]:
    """The algorithm behind the packet, and what to ask of it without an SA."""
    head = packet.esp[:8]
    body = packet.esp[8 + len(packet.iv) :]
    if packet.enc_alg in AEAD:
        aad = head[:4] + (packet.number >> 32).to_bytes(4, "big") + head[4:] if packet.esn else head
        icv = packet.icv_bytes or 16
        key, iv, tag = packet.enc_key, packet.salt + packet.iv, body[-icv:]
        common = (packet.name, "aead")
        data = body[:-icv]
        asked = [Question(*common, True, key, iv, aad, data, packet.plaintext, tag, packet.accept, True)]
        if packet.plaintext is not None and packet.accept:
            asked.append(Question(*common, False, key, iv, aad, packet.plaintext, data, tag, True, True))
        return AEAD[packet.enc_alg], asked
    iv = packet.salt + packet.iv + b"\0\0\0\1" if packet.enc_alg == "aes-ctr" else packet.iv
    both = [(True, body, packet.plaintext)]
    if packet.plaintext is not None:
        both.append((False, packet.plaintext, body))
    return BARE[packet.enc_alg], [
        Question(packet.name, "cipher", opening, packet.enc_key, iv, b"", data, out, b"", True, True)
        for opening, data, out in both
    ]


def _refuse(packet: Packet, book: Book) -> None:
    """No suite has these algorithms: asking for one by name must be refused."""
    name = f"{packet.enc_alg}+{packet.auth_alg}"
    try:
        dp.find_suite(name)
    except dp.DataplaneError:
        book["-"].refused[f"no suite is {packet.enc_alg} with {packet.auth_alg}"] += 1
    else:
        book["-"].failed.append(f"{packet.name}: {name} was not refused")


def _ask_alone(packet: Packet, book: Book) -> None:
    algorithm, asked = _alone(packet)
    for implementation in implementations_of(algorithm):
        row = book[implementation.driver]
        if implementation.runnable:
            ask(implementation.driver, asked, row)
        else:
            row.not_applicable[lacking(implementation)] += len(asked)


def _ask_suite(packet: Packet, suite: str, book: Book) -> None:
    tags: Sequence[str] = wishes(suite)
    if not tags:
        book["-"].not_applicable[f"no implementation of {suite} runs here"] += 1
    for tag in tags:
        row = book[dp.resolve(suite, tag)]
        try:
            sa = receiver(packet, suite, tag)
        except dp.DataplaneError as error:
            row.not_applicable[error.message] += 1
            continue
        with sa:
            row.judge(_open(packet, sa))


def run(document: Document, book: Book) -> None:
    """Every packet of the file."""
    for case in fields(document):
        packet = read(case)
        suite = suite_name(packet)
        unauthenticated = packet.auth_alg == "none" and packet.enc_alg in BARE
        if not suite and not unauthenticated:
            _refuse(packet, book)
        elif unauthenticated or (packet.spi == 0 and packet.enc_alg in AEAD):
            if unauthenticated:
                # The cipher is right or wrong; an SA without integrity is nothing that can be asked for.
                _refuse(packet, book)
            _ask_alone(packet, book)
        elif dp.find_suite(suite).legacy and not document.legacy:
            book["-"].refused[f"{suite} is a legacy suite: only with --legacy"] += 1
        elif packet.spi == 0 or packet.number == 0:
            book["-"].not_applicable["SPI 0 and sequence number 0 do not exist (RFC 4303)"] += 1
        else:
            _ask_suite(packet, suite, book)
