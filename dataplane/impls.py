"""Implementations as data, and one-shot access to them for vectors, differential tests and benches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from dataplane._native import Buffer, DataplaneError, buffer, check, fail, ffi, init, lib, new_err, text

KINDS = {
    int(lib.GW_KIND_CIPHER): "cipher",
    int(lib.GW_KIND_HASH): "hash",
    int(lib.GW_KIND_MAC): "mac",
    int(lib.GW_KIND_AEAD): "aead",
    int(lib.GW_KIND_AUTHENC): "authenc",
}
CHECKED = {1: "passed", 0: "not run", -1: "failed"}

# Bytes around each output that must come back untouched; a write past the end is a failed test, not a mystery.
CANARY = b"\xa5" * 64


@dataclass(frozen=True, slots=True)
class Impl:
    """One implementation of one algorithm."""

    alg: str
    """Kernel name, ``cbc(aes)``."""
    driver: str
    """``cbc-aes-aesni/gwbench``."""
    tag: str
    """Family name that ``--impl`` accepts: ``generic``, ``aesni``, ..."""
    isa: str
    """For people."""
    kind: str
    """``cipher``, ``hash``, ``mac``, ``aead`` or ``authenc``."""
    priority: int
    constant_time: bool
    runnable: bool
    """This CPU has what it needs."""
    checked: str
    """Known answers: ``passed``, ``not run`` or ``failed``."""
    key_ctx_bytes: int
    batch_hint: int
    """Packets abreast that it likes."""


def _describe(pointer: Any) -> Impl:
    info = ffi.new("gw_impl_info *")
    lib.gw_impl_describe(pointer, info)
    return Impl(
        alg=text(info.alg),
        driver=text(info.driver),
        tag=text(info.tag),
        isa=text(info.isa),
        kind=KINDS[int(info.kind)],
        priority=int(info.priority),
        constant_time=bool(info.constant_time),
        runnable=bool(info.runnable),
        checked=CHECKED[int(info.checked)],
        key_ctx_bytes=int(info.key_ctx_bytes),
        batch_hint=int(info.batch_hint),
    )


def _pointer(driver: str) -> Any:
    init()
    pointer = lib.gw_impl_find(driver.encode())
    if pointer == ffi.NULL:
        raise DataplaneError(f"no implementation is called '{driver}'")
    return pointer


def implementations() -> tuple[Impl, ...]:
    """Every implementation that was compiled in, runnable here or not, in the table's order."""
    init()
    return tuple(_describe(lib.gw_impl_at(i)) for i in range(int(lib.gw_impl_count())))


def find_impl(driver: str) -> Impl:
    """The implementation with this driver name; DataplaneError when there is none."""
    return _describe(_pointer(driver))


def selftest(driver: str) -> None:
    """Runs the known answers of one implementation again; DataplaneError when one is wrong."""
    err = new_err()
    check(int(lib.gw_impl_selftest(_pointer(driver), err)), err, f"{driver} failed its known answers")


def inject_fault(driver: str) -> None:
    """Test hook: makes the known answers of ``driver`` fail and takes it out of selection for this process."""
    check(int(lib.gw_impl_inject_fault(driver.encode())), None, f"cannot inject a fault into {driver}")


class Key:
    """An expanded key for one implementation. The context is wiped by ``close`` (or at the end of a ``with``)."""

    def __init__(self, driver: str, key: Buffer) -> None:
        """``key``: any length for a MAC; both halves for XTS; DataplaneError when the length does not fit."""
        err = new_err()
        self.driver = driver
        self._key = lib.gw_key_new(_pointer(driver), buffer(key), len(key), err)
        if self._key == ffi.NULL:
            raise fail(err, 0, f"{driver} takes no key of {len(key)} bytes")

    @property
    def context(self) -> Any:
        """The C pointer that an operation carries."""
        if self._key == ffi.NULL:
            raise DataplaneError("the key was wiped")
        return lib.gw_key_ctx(self._key)

    def close(self) -> None:
        """Wipes and frees; safe twice."""
        if self._key != ffi.NULL:
            lib.gw_key_free(self._key)
            self._key = ffi.NULL

    def __enter__(self) -> Key:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_key", ffi.NULL) != ffi.NULL:
            self.close()


@dataclass(frozen=True, slots=True)
class Op:
    """One operation of a batch, in bytes.

    ``spans``: lengths of the input's leading spans, each a multiple of 64 bytes; the rest is the last span.
    ``tag``: expected tag of an open; for a seal, hash or MAC its length is given by ``tag_bytes``.
    """

    data: bytes = b""
    key: Key | None = field(default=None, repr=False)
    mac_key: Key | None = field(default=None, repr=False)
    iv: bytes = b""
    aad: bytes = b""
    tag: bytes = b""
    tag_bytes: int = 0
    esn: int | None = None
    """High 32 bits of the sequence number, hashed after the data (mac and authenc)."""
    iv_is_nonce: bool = False
    """CBC: encrypt ``iv`` under the key first and use the result."""
    spans: tuple[int, ...] = ()
    in_place: bool = False
    """Output over the (single) input span."""
    misalign: int = 0
    """Bytes by which input and output are moved off 64-byte alignment."""


@dataclass(frozen=True, slots=True)
class OpResult:
    """``ok`` is False when the tag of an open was wrong; ``out`` is then without meaning."""

    ok: bool
    out: bytes
    tag: bytes
    iv: bytes


class _Placed:
    """One operation in C memory: canary | aad | out | tag | canary, and the input apart from it unless in place."""

    def __init__(self, op: Op, c_op: Any, opening: bool) -> None:
        tag_bytes = len(op.tag) if opening else op.tag_bytes
        lengths = [*op.spans, len(op.data) - sum(op.spans)]
        if len(lengths) > int(lib.GW_OP_SPANS) or min(lengths) < 0 or any(n % 64 for n in lengths[:-1]):
            raise ValueError(f"spans {op.spans} do not fit {len(op.data)} bytes")
        if op.in_place and op.spans:
            raise ValueError("in place takes one span")

        front = len(CANARY) + len(op.aad) + -len(op.aad) % 64 + op.misalign
        self.memory = ffi.new("uint8_t[]", front + len(op.data) + tag_bytes + len(CANARY) + 64)
        self.view = ffi.buffer(self.memory)
        self.out_at = _to_64(self.memory) + front
        self.tag_at = self.out_at + len(op.data)
        self.end = self.tag_at + tag_bytes
        self.begin = self.out_at - len(op.aad)
        self.view[self.begin - len(CANARY) : self.begin] = CANARY
        self.view[self.end : self.end + len(CANARY)] = CANARY
        self.view[self.begin : self.out_at] = op.aad
        if opening:
            self.view[self.tag_at : self.end] = op.tag
        if op.in_place:
            self.view[self.out_at : self.tag_at] = op.data
            source = self.memory + self.out_at
        else:
            self.source = ffi.new("uint8_t[]", len(op.data) + 64 + op.misalign)
            source_at = _to_64(self.source) + op.misalign
            ffi.buffer(self.source)[source_at : source_at + len(op.data)] = op.data
            source = self.source + source_at
        self.iv = ffi.new("uint8_t[]", op.iv or b"\0")
        self.iv_bytes = len(op.iv)
        self.c_op = c_op

        c_op.key = op.key.context if op.key else ffi.NULL
        c_op.mac_key = op.mac_key.context if op.mac_key else ffi.NULL
        spans = getattr(c_op, "in")  # a keyword in Python
        at = 0
        for i, length in enumerate(lengths):
            spans[i].data, spans[i].len = source + at, length
            at += length
        c_op.n_in = len(lengths)
        c_op.out = self.memory + self.out_at
        c_op.aad, c_op.aad_len = self.memory + self.begin, len(op.aad)
        c_op.iv, c_op.iv_len = self.iv, len(op.iv)
        c_op.tag, c_op.tag_len = self.memory + self.tag_at, tag_bytes
        if op.esn is not None:
            c_op.flags |= lib.GW_OP_ESN
            ffi.memmove(c_op.esn, op.esn.to_bytes(4, "big"), 4)
        if op.iv_is_nonce:
            c_op.flags |= lib.GW_OP_IV_NONCE
        c_op.status = 0

    def result(self, driver: str) -> OpResult:
        """Reads the outcome back; AssertionError when a canary was overwritten."""
        before = bytes(self.view[self.begin - len(CANARY) : self.begin])
        after = bytes(self.view[self.end : self.end + len(CANARY)])
        if before != CANARY or after != CANARY:
            raise AssertionError(f"{driver} wrote outside its output")
        return OpResult(
            ok=int(self.c_op.status) == 0,
            out=bytes(self.view[self.out_at : self.tag_at]),
            tag=bytes(self.view[self.tag_at : self.end]),
            iv=bytes(ffi.buffer(self.iv, self.iv_bytes)),
        )


def _to_64(memory: Any) -> int:
    """Offset of the first 64-byte aligned byte."""
    return -int(ffi.cast("uintptr_t", memory)) % 64


def run(driver: str, ops: Sequence[Op], *, opening: bool = False) -> list[OpResult]:
    """Runs a batch: encrypt, seal, hash or MAC, or with ``opening`` decrypt or open.

    DataplaneError when the implementation has no such direction or this CPU cannot run it.
    """
    pointer = _pointer(driver)
    c_ops = ffi.new("gw_op[]", max(len(ops), 1))
    placed = [_Placed(op, c_ops[i], opening) for i, op in enumerate(ops)]
    result = int(lib.gw_impl_run(pointer, 0 if opening else 1, c_ops, len(ops)))
    check(result, None, f"{driver} cannot {'open' if opening else 'seal'}")
    return [one.result(driver) for one in placed]
