"""The C suite table and its overhead arithmetic; nothing is recomputed in Python."""

from __future__ import annotations

from dataclasses import dataclass

from dataplane._native import DataplaneError, check, ffi, init, lib, new_err, text

MODES = {"tunnel": int(lib.GW_MODE_TUNNEL), "transport": int(lib.GW_MODE_TRANSPORT)}
ENCAPS = {"none": int(lib.GW_ENCAP_NONE), "udp": int(lib.GW_ENCAP_UDP)}


@dataclass(frozen=True, slots=True)
class Suite:
    """An ESP suite, named in the manner of IKE daemons."""

    index: int
    """Place in the C table."""
    name: str
    enc_alg: str
    auth_alg: str
    """Empty for AEAD."""
    enc_key_bytes: int
    """Without salt."""
    salt_bytes: int
    auth_key_bytes: int
    iv_bytes: int
    block_bytes: int
    icv_bytes: int
    bench_only: bool
    """Refused outside the laboratory."""
    legacy: bool


def suites() -> tuple[Suite, ...]:
    """The whole table, in its order."""
    info = ffi.new("gw_suite_info *")
    table = []
    for index in range(int(lib.gw_suite_count())):
        check(int(lib.gw_suite_at(index, info)), None, f"suite {index}")
        table.append(
            Suite(
                index=index,
                name=text(info.name),
                enc_alg=text(info.enc_alg),
                auth_alg=text(info.auth_alg),
                enc_key_bytes=int(info.enc_key_bytes),
                salt_bytes=int(info.salt_bytes),
                auth_key_bytes=int(info.auth_key_bytes),
                iv_bytes=int(info.iv_bytes),
                block_bytes=int(info.block_bytes),
                icv_bytes=int(info.icv_bytes),
                bench_only=bool(info.bench_only),
                legacy=bool(info.legacy),
            )
        )
    return tuple(table)


def find_suite(name: str) -> Suite:
    """The suite of this name; DataplaneError that lists what exists."""
    index = int(lib.gw_suite_find(name.encode()))
    table = suites()
    if index < 0:
        raise DataplaneError(f"no suite is called '{name}'; there are: {', '.join(s.name for s in table)}", -index)
    return table[index]


def wire_len(
    suite: str, inner_len: int, *, mode: str = "tunnel", encap: str = "udp", outer_af: int = 4, icv_bytes: int = 0
) -> int:
    """Bytes of the whole outer IP packet that carries an inner packet of ``inner_len`` bytes. Exact."""
    index = find_suite(suite).index
    return int(lib.gw_wire_len(index, MODES[mode], ENCAPS[encap], outer_af, icv_bytes, inner_len))


def inner_mtu(
    suite: str, outer_mtu: int, *, mode: str = "tunnel", encap: str = "udp", outer_af: int = 4, icv_bytes: int = 0
) -> int:
    """Largest inner packet whose outer packet has at most ``outer_mtu`` bytes; 0 when there is none."""
    index = find_suite(suite).index
    return int(lib.gw_inner_mtu(index, MODES[mode], ENCAPS[encap], outer_af, icv_bytes, outer_mtu))


def resolve(suite: str, wish: str = "auto") -> str:
    """What would run: ``driver + driver``.

    ``wish``: ``auto`` (best constant-time), ``accelerated``, ``generic``, a tag, or driver names joined by ``+``.
    DataplaneError lists what exists when the wish is unknown or cannot run here.
    """
    init()
    err = new_err()
    out = ffi.new("char[]", 256)
    index = find_suite(suite).index
    check(int(lib.gw_suite_resolve(index, wish.encode(), out, 256, err)), err, f"{suite}: cannot run '{wish}'")
    return text(out)
