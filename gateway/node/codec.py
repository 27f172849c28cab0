"""Lines of the protocol to and from dataclasses and mutable buffers.

Keys need care: a Python ``str`` or ``bytes`` cannot be wiped. So their hex is spliced into, and cut out of, the line as
a ``bytearray`` before anything else sees it, and the line is wiped after use.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import re
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from gateway.errors import UnusableError
from gateway.node.protocol import KEY_FIELDS

T = TypeVar("T")

_HEX = b"0123456789abcdef"
_KEY_IN_LINE = re.compile(rb'"(' + b"|".join(name.encode() for name in KEY_FIELDS) + rb')"\s*:\s*"([0-9a-fA-F]*)"')


def wipe(data: bytearray) -> None:
    """Overwrites in place."""
    data[:] = bytes(len(data))


def bad_request(message: str) -> UnusableError:
    """A request or answer that does not fit the protocol."""
    return UnusableError(message, code="bad-request")


def encode_line(message: Mapping[str, object], keys: Mapping[str, bytes | bytearray] | None = None) -> bytearray:
    """One line of JSON; ``keys`` are spliced in as hex. The caller wipes it when it carries keys."""
    line = bytearray(json.dumps(message, separators=(",", ":")).encode())
    if keys:
        line.pop()  # the closing brace
        for name, key in keys.items():
            line += f',"{name}":"'.encode()
            for byte in key:
                line.append(_HEX[byte >> 4])
                line.append(_HEX[byte & 15])
            line += b'"'
        line += b"}"
    line += b"\n"
    return line


def decode_line(line: bytearray) -> tuple[dict[str, Any], dict[str, bytearray]]:
    """The message without keys, and the keys. ``line`` is wiped. UnusableError when it is no JSON object."""
    keys: dict[str, bytearray] = {}
    try:
        for match in _KEY_IN_LINE.finditer(line):
            begin, end = match.span(2)
            if (end - begin) % 2:
                raise bad_request(f"{match[1].decode()} has an odd number of hex digits")
            keys[match[1].decode()] = bytearray(
                _nibble(line[i]) << 4 | _nibble(line[i + 1]) for i in range(begin, end, 2)
            )
            line[begin:end] = b" " * (end - begin)
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            raise bad_request("a line is not JSON") from None
        if not isinstance(message, dict):
            raise bad_request("a line is not a JSON object")
    except BaseException:
        for key in keys.values():
            wipe(key)
        raise
    finally:
        # re keeps the object that it last searched alive, not a copy of it.
        wipe(line)
    for name in keys:
        message.pop(name, None)
    return message, keys


def _nibble(digit: int) -> int:
    return digit - 48 if digit < 58 else (digit | 32) - 87


def to_dict(value: Any) -> dict[str, Any]:
    """A dataclass as JSON-ready fields."""
    return dataclasses.asdict(value)


def to_arguments(value: Any) -> dict[str, Any]:
    """A dataclass as arguments: without keys, which travel apart, and without what stands at its default."""
    return {
        field.name: getattr(value, field.name)
        for field in dataclasses.fields(value)
        if field.name not in KEY_FIELDS and getattr(value, field.name) != field.default
    }


def from_dict(kind: type[T], data: object) -> T:
    """A dataclass from JSON: unknown fields are ignored, missing ones without default and wrong types are errors."""
    if not isinstance(data, dict):
        raise bad_request(f"{kind.__name__} is not an object")
    values: dict[str, Any] = {}
    for name, hint, required in _shape(kind):  # type: ignore[arg-type]
        if name in data:
            values[name] = _convert(hint, data[name], kind, name)
        elif required:
            raise bad_request(f"{kind.__name__} lacks '{name}'")
    return kind(**values)


@functools.cache
def _shape(kind: type) -> tuple[tuple[str, Any, bool], ...]:
    """(field, type, is it required?). Looked up once a class: a node may report ten thousand SAs."""
    hints = typing.get_type_hints(kind)
    missing = dataclasses.MISSING
    return tuple(
        (field.name, hints[field.name], field.default is missing and field.default_factory is missing)
        for field in dataclasses.fields(kind)
    )


def _convert(hint: Any, value: object, kind: type, name: str) -> Any:
    """``value`` as ``hint`` wants it; ``kind`` and ``name`` say where it stands."""
    if type(value) is hint or hint is object:  # nearly always
        return value
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return from_dict(hint, value)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple and isinstance(value, list):
        return tuple(_convert(args[0], item, kind, name) for item in value)
    if origin is dict and isinstance(value, dict):
        return {str(key): _convert(args[1], item, kind, name) for key, item in value.items()}
    if origin is types.UnionType and any(isinstance(value, option) for option in args):
        return value
    if hint is float and type(value) is int:
        return value
    raise bad_request(f"{kind.__name__}.{name} has a value of a wrong type ({type(value).__name__})")
