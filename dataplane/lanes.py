"""Operations that stay in place in memory while they run again and again: what Monte Carlo tests need.

:func:`dataplane.run` copies every operation in and out; a thousand dependent steps of a hundred rounds would spend
their time there. Here the hundred rounds lie side by side, and a step is one call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dataplane._native import check, ffi, lib
from dataplane.impls import Key, _pointer


class Lanes:
    """``len(keys)`` operations of ``data_bytes`` each under one implementation, one key a lane (None for a hash)."""

    def __init__(self, driver: str, keys: Sequence[Key | None], *, data_bytes: int, tag_bytes: int = 0) -> None:
        self._driver, self._implementation, self._count = driver, _pointer(driver), len(keys)
        self._keys = tuple(keys)  # kept alive
        self._memory = {
            name: ffi.new("uint8_t[]", max(size, 1) * self._count)
            for name, size in (("data", data_bytes), ("out", data_bytes), ("iv", 16), ("tag", tag_bytes))
        }
        self.data = ffi.buffer(self._memory["data"], data_bytes * self._count)
        """Input of all lanes, one after the other; writable."""
        self.out = ffi.buffer(self._memory["out"], data_bytes * self._count)
        self.iv = ffi.buffer(self._memory["iv"], 16 * self._count)
        """Sixteen bytes a lane; writable."""
        self.tag = ffi.buffer(self._memory["tag"], tag_bytes * self._count)
        self._ops: Any = ffi.new("gw_op[]", self._count)
        for i, key in enumerate(keys):
            op = self._ops[i]
            op.key = key.context if key else ffi.NULL
            spans = getattr(op, "in")  # a keyword in Python
            spans[0].data, spans[0].len = self._memory["data"] + i * data_bytes, data_bytes
            op.n_in = 1
            op.out = self._memory["out"] + i * data_bytes
            op.iv, op.iv_len = self._memory["iv"] + i * 16, 16
            op.tag, op.tag_len = self._memory["tag"] + i * tag_bytes, tag_bytes

    def step(self, *, opening: bool = False) -> None:
        """Runs every lane once. DataplaneError when the implementation cannot."""
        result = int(lib.gw_impl_run(self._implementation, 0 if opening else 1, self._ops, self._count))
        check(result, None, f"{self._driver} cannot {'open' if opening else 'seal'}")
