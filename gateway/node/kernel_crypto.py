"""The kernel's crypto drivers: /proc/crypto, and which of them an SA runs on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PROC_CRYPTO = Path("/proc/crypto")


@dataclass(frozen=True, slots=True)
class CryptoAlgorithm:
    """One entry of /proc/crypto."""

    name: str
    """The algorithm, ``cbc(aes)``."""
    driver: str
    module: str
    priority: int
    refcnt: int
    """1: only the list has it."""
    selftest: str
    """``passed``, or ``unknown`` while (or when) it was not tested."""
    internal: bool
    kind: str
    """``skcipher``, ``aead``, ``shash``, ``ahash``, ``cipher``, ..."""
    asynchronous: bool
    min_key_bytes: int = 0
    max_key_bytes: int = 0


def parse(text: str) -> list[CryptoAlgorithm]:
    """Entries of /proc/crypto, in its order. Lines that are not understood are left out."""
    found = []
    for entry in text.split("\n\n"):
        pairs = (line.partition(":") for line in entry.splitlines())
        fields = {name.strip(): value.strip() for name, _, value in pairs}
        if "driver" not in fields:
            continue

        def number(name: str, fields: dict[str, str] = fields) -> int:
            text = fields.get(name, "0")
            return int(text) if text.lstrip("-").isdigit() else 0

        found.append(
            CryptoAlgorithm(
                name=fields.get("name", ""),
                driver=fields["driver"],
                module=fields.get("module", ""),
                priority=number("priority"),
                refcnt=number("refcnt"),
                selftest=fields.get("selftest", "unknown"),
                internal=fields.get("internal", "no") == "yes",
                kind=fields.get("type", ""),
                asynchronous=fields.get("async", "no") == "yes",
                min_key_bytes=number("min keysize"),
                max_key_bytes=number("max keysize"),
            )
        )
    return found


def read(path: Path = PROC_CRYPTO) -> list[CryptoAlgorithm]:
    """Empty where there is no /proc/crypto."""
    try:
        return parse(path.read_text(encoding="ascii", errors="replace"))
    except OSError:
        return []


def split_list(text: str) -> list[str]:
    """``a,b(c,d)`` into ``a`` and ``b(c,d)``: drivers' names have commas inside parentheses."""
    found, depth, word = [], 0, ""
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            found.append(word)
            word = ""
        else:
            word += letter
    return [one.strip() for one in [*found, word] if one.strip()]


def unwrapped(driver: str) -> list[str]:
    """The drivers that do the work inside ESP's transform, cipher first.

    ``echainiv(authenc(hmac(sha256-ni),cbc-aes-aesni))`` is ``cbc-aes-aesni`` and ``hmac(sha256-ni)``.
    """
    head, _, rest = driver.partition("(")
    inner = rest[:-1] if rest.endswith(")") else ""
    if inner and head in ("seqiv", "echainiv", "chainiv", "eseqiv"):
        return unwrapped(inner)
    if inner and head in ("authenc", "authencesn"):
        return list(reversed(split_list(inner)))
    return [driver]


def running(name: str, before: list[CryptoAlgorithm], after: list[CryptoAlgorithm]) -> str:
    """The driver of the transform ``name`` whose users became more between the readings, else the one with the highest
    priority; empty when the kernel does not list it."""
    candidates = [one for one in after if one.name == name]
    if not candidates:
        return ""
    users = {one.driver: one.refcnt for one in before}
    grown = [one for one in candidates if one.refcnt > users.get(one.driver, 1)]
    return max(grown or candidates, key=lambda one: one.priority).driver


def words(driver: str) -> str:
    """As results name it: ``cbc-aes-aesni/kernel + hmac(sha256-ni)/kernel``."""
    return " + ".join(f"{one}/kernel" for one in unwrapped(driver)) if driver else ""
