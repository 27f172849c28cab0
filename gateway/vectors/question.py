"""One known answer as an operation of the dataplane, and who can be asked it.

A :class:`Question` is one case in one direction for one algorithm of the implementation table; it makes the
:class:`dataplane.Op` for one implementation in a chosen layout and judges the result.
"""

from __future__ import annotations

from dataclasses import dataclass

import dataplane

AEAD = {"aes-gcm": "gcm(aes)", "chacha20-poly1305": "rfc7539(chacha20,poly1305)"}
HASHED = {"hmac-sha256": "hmac(sha256)", "hmac-sha1": "hmac(sha1)", "hmac-sha512": "hmac(sha512)"}


ALIASES = {
    "chacha20poly1305": "chacha20-poly1305",
    "hmac-sha2-256": "hmac-sha256",
    "hmac-sha-256": "hmac-sha256",
    "hmac-sha2-512": "hmac-sha512",
    "hmac-sha-512": "hmac-sha512",
    "hmac-sha-1": "hmac-sha1",
    "sha2-256": "sha256",
    "sha-256": "sha256",
    "sha2-512": "sha512",
    "sha-512": "sha512",
    "sha-1": "sha1",
}


def table_algorithm(alg: str) -> str:
    """The implementation table's name for a schema's: aes-xts -> xts(aes), speck128-256-xts -> xts(speck128)."""
    alg = alg.lower().replace("_", "-")
    alg = ALIASES.get(alg, alg)
    if alg in AEAD or alg in HASHED:
        return AEAD.get(alg) or HASHED[alg]
    cipher, _, mode = alg.rpartition("-")
    return f"{mode}({cipher.split('-')[0]})" if cipher else alg


def implementations_of(algorithm: str) -> list[dataplane.Impl]:
    """All that were compiled in, runnable here or not."""
    return [i for i in dataplane.implementations() if i.alg == algorithm]


def runnable(algorithm: str) -> list[str]:
    """Drivers of the algorithm that this CPU can run."""
    return [i.driver for i in implementations_of(algorithm) if i.runnable]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the bytes lie: leading span, offset from 64-byte alignment, output over input."""

    first_span: int = 0
    misalign: int = 0
    in_place: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """``accept`` False: opening must fail; ``exists`` False: a nonce length that the algorithm does not have;
    ``out`` None: nobody knows the output."""

    case_id: str
    kind: str
    opening: bool
    key: bytes
    iv: bytes
    aad: bytes
    data: bytes
    out: bytes | None
    tag: bytes
    accept: bool
    exists: bool

    def op(self, driver: str, layout: Layout, key: dataplane.Key | None) -> dataplane.Op:
        """The operation; ``key`` was expanded for ``driver``."""
        spans: tuple[int, ...] = ()
        if not layout.in_place and 0 < layout.first_span <= len(self.data):
            spans = (layout.first_span,)
        return dataplane.Op(
            data=self.data,
            key=key if self.kind in ("cipher", "xts", "aead") else None,
            mac_key=key if self.kind == "mac" else None,
            iv=self.iv,
            aad=self.aad,
            tag=self.tag if self.opening else b"",
            tag_bytes=0 if self.opening else len(self.tag),
            spans=spans,
            in_place=layout.in_place,
            misalign=layout.misalign,
        )

    def wrong(self, result: dataplane.OpResult) -> str:
        """Empty when the answer is right."""
        if self.opening and self.kind == "aead":
            if result.ok != self.accept:
                return f"{self.case_id}: {'accepted' if result.ok else 'refused'}"
            return f"{self.case_id}: plaintext" if result.ok and self.out not in (None, result.out) else ""
        if self.kind not in ("hash", "mac") and self.out not in (None, result.out):
            return f"{self.case_id}: output"
        # A wrong tag in the data must differ from the right one.
        return f"{self.case_id}: tag" if self.tag and (result.tag == self.tag) != self.accept else ""


def lacking(implementation: dataplane.Impl) -> str:
    """Why an implementation cannot run here."""
    return f"this CPU lacks {implementation.isa}"
