"""Encrypt-then-MAC cases: the cipher's half and the MAC's half, each asked of the implementations that have it.

``tag`` is HMAC(aad || ct), cut to its length. Fused implementations have no bare interface; ESP packets test them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gateway.vectors.document import Fields
from gateway.vectors.outcome import Book
from gateway.vectors.question import Question

CIPHER = re.compile(r"(?:aes-?(?:128|192|256)?-?(?P<a>cbc|ctr))|(?:(?P<b>cbc|ctr)[-(]aes)")
MAC = re.compile(r"sha-?2?-?(?P<size>256|512|1)(?!\d)")


def halves(alg: str) -> tuple[str, str]:
    """(cipher, MAC) of the implementation table; empty where the name has none that is known."""
    alg = alg.lower().replace("_", "-")
    cipher, mac = CIPHER.search(alg), MAC.search(alg)
    mode = (cipher["a"] or cipher["b"]) if cipher else ""
    name = f"{mode}(aes)" if mode else "null" if "null" in alg else ""
    return name, f"hmac(sha{mac['size']})" if mac else ""


def questions(case: Fields, book: Book) -> Iterator[tuple[str, Question]]:
    """(algorithm, question) of both halves."""
    alg = case.word("alg", "")
    cipher, mac = halves(alg)
    if not cipher or not mac:
        book["-"].not_applicable[f"no implementation of {alg}"] += 1
        return
    accept = case.word("result", "valid") != "invalid"
    direction = case.word("direction", "both", ("enc", "dec", "both"))
    iv, aad, pt, ct = (case.octets(name) for name in ("iv", "aad", "pt", "ct"))
    if not case.has("enc_key") or not case.has("auth_key"):
        raise case.complain('authenc without "enc_key" and "auth_key"')
    yield (
        mac,
        Question(
            case.name, "mac", False, case.octets("auth_key"), b"", b"", aad + ct, b"", case.octets("tag"), accept, True
        ),
    )
    if cipher == "null" or not accept:
        return
    for opening in (False, True):
        if direction in ("both", "dec" if opening else "enc"):
            data, out = (ct, pt if case.has("pt") else None) if opening else (pt, ct)
            yield (
                cipher,
                Question(case.name, "cipher", opening, case.octets("enc_key"), iv, b"", data, out, b"", True, True),
            )
