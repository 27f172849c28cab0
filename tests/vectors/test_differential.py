"""Every implementation against the generic one: random lengths, splits, offsets, batches, keys, in place, forgeries."""

from __future__ import annotations

import random

import pytest

import dataplane

ROUNDS = 12
IMPLS = [i for i in dataplane.implementations() if i.runnable]
GENERIC: dict[str, str] = {}
for impl in IMPLS:
    if impl.tag == "generic":
        GENERIC.setdefault(impl.alg, impl.driver)
RIVALS = [i for i in IMPLS if GENERIC.get(i.alg, i.driver) != i.driver]

KEY_BYTES = {
    "xts(aes)": (32, 48, 64),
    "rfc7539(chacha20,poly1305)": (32,),
    "xts(speck64)": (32,),
    "xts(speck128)": (64,),
}
BLOCK_BYTES = {"ecb(aes)": 16, "cbc(aes)": 16}
DIGEST_BYTES = {"sha1": 20, "sha256": 32, "sha512": 64}


def shape(rng: random.Random, impl: dataplane.Impl) -> dict[str, object]:
    """One operation's arguments, without keys."""
    length = rng.choice(
        [rng.randrange(0, 100), rng.randrange(0, 700), rng.randrange(1200, 1600), 64 * rng.randrange(1, 24)]
    )
    length -= length % BLOCK_BYTES.get(impl.alg, 1)
    if impl.alg.startswith("xts"):
        length = max(length, 16)
    spans: tuple[int, ...] = ()
    in_place = rng.random() < 0.3 and impl.kind not in ("hash", "mac")
    if not in_place and length >= 128 and rng.random() < 0.7:
        first = 64 * rng.randrange(0, length // 64 + 1)
        second = 64 * rng.randrange(0, (length - first) // 64 + 1)
        spans = rng.choice([(first,), (first, second)])
    aead = impl.kind == "aead"
    chacha = "chacha" in impl.alg
    iv_bytes = 12 if chacha or (aead and rng.random() < 0.8) else rng.choice([1, 8, 16, 60]) if aead else 16
    return {
        "data": rng.randbytes(length),
        "iv": rng.randbytes(8 if impl.alg == "xts(speck64)" else iv_bytes),
        "aad": rng.randbytes(rng.choice([0, 8, 12, 16, 20, 33, 150])) if aead else b"",
        "tag_bytes": tag_bytes(rng, impl, chacha),
        "esn": rng.randrange(1 << 32) if impl.kind == "mac" and rng.random() < 0.5 else None,
        "iv_is_nonce": impl.alg.startswith("cbc") and rng.random() < 0.5,
        "spans": spans,
        "in_place": in_place,
        "misalign": rng.randrange(64),
    }


def tag_bytes(rng: random.Random, impl: dataplane.Impl, chacha: bool) -> int:
    if impl.kind == "aead":
        return 16 if chacha else rng.choice([16, 16, 12, 8])
    if impl.kind in ("hash", "mac"):
        digest = DIGEST_BYTES[impl.alg.removeprefix("hmac(").removesuffix(")")]
        return rng.choice([digest, digest // 2])
    return 0


def raw_key(rng: random.Random, impl: dataplane.Impl) -> bytes:
    if impl.kind == "mac":
        return rng.randbytes(rng.choice([0, 20, 32, 64, 65, 200]))
    return rng.randbytes(rng.choice(KEY_BYTES.get(impl.alg, (16, 24, 32))))


def expand(driver: str, raw: list[bytes], kind: str) -> list[dataplane.Key | None]:
    return [dataplane.Key(driver, key) if kind != "hash" else None for key in raw]


def placed(arguments: dict[str, object], key: dataplane.Key | None, kind: str) -> dataplane.Op:
    keys = {"mac_key": key} if kind == "mac" else {"key": key}
    return dataplane.Op(**arguments, **keys)  # type: ignore[arg-type]


@pytest.mark.parametrize("impl", RIVALS, ids=lambda i: i.driver)
def test_batches_equal_generic(impl: dataplane.Impl) -> None:
    rng = random.Random(impl.driver)
    for count in (1, 2, 3, 5, 7, 11, 16, 17, 33, 40, *(rng.randrange(1, 50) for _ in range(ROUNDS))):
        raw = [raw_key(rng, impl) for _ in range(rng.choice([1, 3, count]))]
        ours, theirs = (expand(driver, raw, impl.kind) for driver in (impl.driver, GENERIC[impl.alg]))
        which = [rng.randrange(len(raw)) for _ in range(count)]
        arguments = [shape(rng, impl) for _ in range(count)]
        got = dataplane.run(impl.driver, [placed(a, ours[w], impl.kind) for a, w in zip(arguments, which, strict=True)])
        want = dataplane.run(
            GENERIC[impl.alg], [placed(a, theirs[w], impl.kind) for a, w in zip(arguments, which, strict=True)]
        )
        if impl.kind in ("hash", "mac"):
            assert [g.tag for g in got] == [w.tag for w in want]
            continue
        assert [(g.out, g.tag, g.iv) for g in got] == [(w.out, w.tag, w.iv) for w in want]
        opened = open_all(rng, impl, arguments, want, [ours[w] for w in which])
        for (forged, result), argument in zip(opened, arguments, strict=True):
            assert result.ok is not forged
            assert forged or result.out == argument["data"]


def open_all(
    rng: random.Random,
    impl: dataplane.Impl,
    arguments: list[dict[str, object]],
    sealed: list[dataplane.OpResult],
    keys: list[dataplane.Key | None],
) -> list[tuple[bool, dataplane.OpResult]]:
    """Opens what was sealed; a fifth of the AEAD tags have one bit wrong."""
    ops, forged = [], []
    for argument, result, key in zip(arguments, sealed, keys, strict=True):
        bad = impl.kind == "aead" and rng.random() < 0.2
        tag = bytearray(result.tag)
        if bad:
            tag[rng.randrange(len(tag))] ^= 1 << rng.randrange(8)
        changed = argument | {"data": result.out, "tag": bytes(tag), "iv": result.iv, "iv_is_nonce": False}
        ops.append(placed(changed, key, impl.kind))
        forged.append(bad)
    return list(zip(forged, dataplane.run(impl.driver, ops, opening=True), strict=True))


@pytest.mark.parametrize("impl", [i for i in IMPLS if i.kind == "aead"], ids=lambda i: i.driver)
def test_refused_plaintext_does_not_appear(impl: dataplane.Impl) -> None:
    """The output of a refused packet is wiped or untouched, never the plaintext."""
    plain = b"\x5a" * 700
    with dataplane.Key(impl.driver, bytes(32)) as key:
        sealed = dataplane.run(impl.driver, [dataplane.Op(data=plain, key=key, iv=bytes(12), tag_bytes=16)])[0]
        tag = bytes([sealed.tag[0] ^ 1]) + sealed.tag[1:]
        for in_place in (True, False):
            op = dataplane.Op(data=sealed.out, key=key, iv=bytes(12), tag=tag, in_place=in_place)
            result = dataplane.run(impl.driver, [op], opening=True)[0]
            assert not result.ok
            assert result.out in (bytes(700), sealed.out)


@pytest.mark.parametrize("impl", IMPLS, ids=lambda i: i.driver)
def test_known_answers_pass_and_faults_are_found(impl: dataplane.Impl) -> None:
    assert impl.checked == "passed"
    dataplane.selftest(impl.driver)


def test_every_algorithm_has_a_generic_implementation() -> None:
    assert {i.alg for i in IMPLS if i.kind != "authenc"} <= set(GENERIC)
