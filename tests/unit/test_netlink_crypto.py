"""NETLINK_CRYPTO's message against the struct of linux/cryptouser.h; live use is in the kernel tier."""

from __future__ import annotations

import struct

import pytest

from gateway.netlink import crypto


def test_an_update_is_the_struct_and_its_attribute() -> None:
    message = crypto.user_alg()
    message["driver_name"] = "cbc-aes-aesni"
    message["attrs"] = [("CRYPTOCFGA_PRIORITY_VAL", 5000)]
    message["header"] = {"type": crypto.CRYPTO_MSG_UPDATEALG, "flags": 5}
    message.encode()
    body = bytes(64) + b"cbc-aes-aesni".ljust(64, b"\0") + bytes(64 + 16) + struct.pack("=HHI", 8, 1, 5000)
    assert bytes(message.data) == struct.pack("=IHHII", 16 + len(body), 0x12, 5, 0, 0) + body
    assert message["driver_name"] == "cbc-aes-aesni"


def test_what_the_kernel_reports_is_read() -> None:
    names = [text.ljust(64, b"\0") for text in (b"cbc(aes)", b"cbc(aes-generic)", b"kernel")]
    cipher = b"skcipher".ljust(64, b"\0") + b"<none>".ljust(64, b"\0") + struct.pack("=4I", 16, 16, 32, 16)
    body = b"".join(names) + struct.pack("=4I", 0, 0, 3, crypto.CRYPTO_ALG_INSTANCE | 5)
    body += struct.pack("=HHI", 8, 1, 100) + struct.pack("=HH", 4 + len(cipher), 4) + cipher
    message = crypto.user_alg(bytearray(struct.pack("=IHHII", 16 + len(body), 0x13, 2, 1, 0) + body))
    message.decode()
    assert (message["name"], message["driver_name"], message["module_name"]) == (
        "cbc(aes)",
        "cbc(aes-generic)",
        "kernel",
    )
    assert message["refcnt"] == 3 and message["flags"] & crypto.CRYPTO_ALG_INSTANCE
    assert message.get_attr("CRYPTOCFGA_PRIORITY_VAL") == 100
    report = message.get_attr("CRYPTOCFGA_REPORT_BLKCIPHER")
    assert (report["min_keysize"], report["max_keysize"], report["ivsize"]) == (16, 32, 16)


def test_a_name_that_does_not_fit_is_refused_not_cut() -> None:
    message = crypto.user_alg()
    message["driver_name"] = "x" * 64
    with pytest.raises(ValueError, match="63 bytes"):
        message.encode()
