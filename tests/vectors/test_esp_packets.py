"""ESP packets that others published, through every implementation that runs here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from esp_support import open_one, sa_params, wishes

import dataplane as dp
from gateway.vectors.esp import SUITES

DATA = Path(__file__).parent / "data" / "esp"
FILES = ("esp_rfc.json", "esp_dpdk.json", "esp_odp.json", "esp_captures.json")

# What nobody may run: no integrity at all, or algorithms this project does not name.
REFUSED_CIPHERS = {"3des-cbc", "des-cbc", "aes-ccm-16", "aes-gmac"}


def load() -> list[dict[str, Any]]:
    return [case for name in FILES for case in json.loads((DATA / name).read_text())["cases"]]


CASES = load()


def suite_of(case: dict[str, Any]) -> str | None:
    pattern = SUITES.get((case["enc_alg"], case["auth_alg"]))
    return pattern.format(len(case["enc_key"]) * 4) if pattern else None


def by_suite() -> tuple[list[Any], list[Any]]:
    """(cases of a suite that runs here under some implementation, cases of one that does not)."""
    runs, refused = [], []
    for case in CASES:
        suite = suite_of(case)
        if suite is None or case["spi"] == 0:
            continue
        tags = wishes(suite)
        runs += [pytest.param(case, suite, wish, id=f"{case['name']}-{wish}") for wish in tags]
        if not tags:
            refused.append(pytest.param(case, suite, id=case["name"]))
    return runs, refused


RUNS, NO_IMPLEMENTATION = by_suite()


def receiver(case: dict[str, Any], suite: str, wish: str) -> dp.Sa:
    number = case["seq_hi"] << 32 | case["seq"]
    return dp.Sa(
        sa_params(
            suite,
            "in",
            spi=case["spi"],
            enc_key=bytes.fromhex(case["enc_key"]),
            auth_key=bytes.fromhex(case["auth_key"]),
            salt=bytes.fromhex(case["salt"]),
            esn=case["esn"],
            # mcgrew's "unspecified" carry upper-layer protocols
            mode="tunnel" if case["mode"] == "tunnel" else "transport",
            seq=number - 1,
            lab=True,  # DPDK and ODP use SPIs that RFC 4303 reserves
            implementation=wish,
        )
    )


@pytest.mark.parametrize(("case", "suite", "wish"), RUNS)
def test_published_packet_opens(case: dict[str, Any], suite: str, wish: str) -> None:
    esp = bytes.fromhex(case["esp"])
    with receiver(case, suite, wish) as sa:
        if case["expect"] == "auth-fail":
            assert open_one(sa, esp).status == "state_proto_error"
            return
        opened = open_one(sa, esp)
        if case["mode"] == "tunnel":
            assert (opened.status, opened.inner.hex()) == ("ok", case["inner"])
        else:
            assert (opened.status, opened.inner.hex()) == ("ok", case["payload"])
        assert opened.next_header == case["next_header"]
        assert open_one(sa, esp).status == "state_seq_error"


def test_most_published_packets_ran() -> None:
    """A table that maps nothing would pass silently."""
    names = {param.values[0]["name"] for param in RUNS}
    assert len(names) >= 27
    assert {"mcgrew-gcm-01", "dpdk-aes_128_cbc_hmac_sha256", "packetgen-esp-tfc-pkt1"} <= names


WITHOUT_SHA256 = """
import dataplane as dp
for impl in dp.implementations():
    if "sha256" in impl.alg:
        dp.inject_fault(impl.driver)
try:
    dp.resolve("aes128-sha256")
except dp.DataplaneError as error:
    print(error.message)
"""


def test_suite_without_implementation_says_so() -> None:
    """Every suite may find all its implementations here; so all of HMAC-SHA-256 is taken away, in another process."""
    done = subprocess.run([sys.executable, "-c", WITHOUT_SHA256], capture_output=True, text=True, timeout=60)
    assert done.stdout == "suite aes128-sha256 cannot run here: no implementation of hmac(sha256)\n", done.stderr
    for param in NO_IMPLEMENTATION:
        case, suite = param.values
        with pytest.raises(dp.DataplaneError, match=f"suite {suite} cannot run here: no implementation of"):
            receiver(case, suite, "auto")


@pytest.mark.parametrize("case", [c for c in CASES if c["enc_alg"] in REFUSED_CIPHERS], ids=lambda c: str(c["name"]))
def test_foreign_algorithm_is_parser_input(case: dict[str, Any]) -> None:
    """Nothing here names these ciphers; their packets are refused by whatever SA has their SPI."""
    assert suite_of(case) is None
    with dp.Sa(sa_params("aes128gcm16", "in", spi=case["spi"], lab=True)) as sa:
        assert open_one(sa, bytes.fromhex(case["esp"])).status in ("state_proto_error", "in_hdr_error")
        assert sa.counters().packets == 0


def test_no_suite_encrypts_without_integrity() -> None:
    """RFC 3602's packets have none: the table offers nothing that would take them outside the laboratory."""
    for suite in dp.suites():
        assert suite.auth_alg or suite.enc_alg in ("gcm(aes)", "rfc7539(chacha20,poly1305)") or suite.bench_only


def impls(alg: str) -> list[str]:
    return [i.driver for i in dp.implementations() if i.alg == alg and i.runnable]


UNAUTHENTICATED = [c for c in CASES if c["auth_alg"] == "none" and c["enc_alg"] in ("aes-cbc", "aes-ctr")]


@pytest.mark.parametrize("case", UNAUTHENTICATED, ids=lambda c: str(c["name"]))
def test_cipher_path_of_unauthenticated_packet(case: dict[str, Any]) -> None:
    """The ciphers alone, both ways; an SA of this kind cannot be made."""
    esp, iv = bytes.fromhex(case["esp"]), bytes.fromhex(case["iv"])
    ciphertext = esp[8 + len(iv) :]
    alg = "cbc(aes)" if case["enc_alg"] == "aes-cbc" else "ctr(aes)"
    if alg == "ctr(aes)":
        iv = bytes.fromhex(case["salt"]) + iv + b"\0\0\0\1"
    assert impls(alg)
    for driver in impls(alg):
        with dp.Key(driver, bytes.fromhex(case["enc_key"])) as key:
            (opened,) = dp.run(driver, [dp.Op(data=ciphertext, key=key, iv=iv)], opening=True)
            assert opened.out.hex() == case["plaintext"]
            (sealed,) = dp.run(driver, [dp.Op(data=opened.out, key=key, iv=iv)])
            assert sealed.out == ciphertext


@pytest.mark.parametrize(
    "case",
    [c for c in CASES if c["enc_alg"] == "aes-gcm-16" and c["expect"] == "ok"],
    ids=lambda c: str(c["name"]),
)
def test_gcm_packet_is_reproduced(case: dict[str, Any]) -> None:
    """Sealing the published plaintext under the published IV gives the published bytes (SPI 0 included)."""
    esp, iv = bytes.fromhex(case["esp"]), bytes.fromhex(case["iv"])
    aad = esp[:4] + case["seq_hi"].to_bytes(4, "big") + esp[4:8] if case["esn"] else esp[:8]
    nonce = bytes.fromhex(case["salt"]) + iv
    op: dict[str, Any] = {"data": bytes.fromhex(case["plaintext"]), "iv": nonce, "aad": aad, "tag_bytes": 16}
    assert impls("gcm(aes)")
    for driver in impls("gcm(aes)"):
        with dp.Key(driver, bytes.fromhex(case["enc_key"])) as key:
            (sealed,) = dp.run(driver, [dp.Op(key=key, **op)])
            assert esp[:8] + iv + sealed.out + sealed.tag == esp
