"""Records what `ip xfrm` sends, through strace in a network namespace of its own: fixtures of tests/unit/test_xfrm.py.

    unshare -n python3 scripts/record_xfrm.py > tests/unit/fixtures/netlink/ip-xfrm.json

Whether the kernel then accepts it does not matter. Sequence numbers are set to 0. The keys are fixed and protect
nothing.
"""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
import tempfile

KEY16, KEY20, KEY32, KEY36 = ("0x" + bytes(range(1, n + 1)).hex() for n in (16, 20, 32, 36))
V4 = "src 192.0.2.1 dst 192.0.2.2 proto esp spi 0x12345678"
V6 = "src 2001:db8::1 dst 2001:db8::2 proto esp spi 0x00000100"
CBC = f"auth-trunc hmac(sha256) {KEY32} 128 enc cbc(aes) {KEY32}"
GCM = f"aead rfc4106(gcm(aes)) {KEY20} 128"
POLICY = "src 10.1.0.0/16 dst 10.2.0.0/16"
COMMANDS = {
    "sa-gcm": f"state add {V4} reqid 7 mode tunnel replay-window 32 flag af-unspec {GCM}",
    "sa-cbc-auth-trunc": f"state add {V4} reqid 7 mode tunnel replay-window 0 {CBC}",
    "sa-esn": f"state add {V4} reqid 7 mode tunnel replay-window 256 flag esn flag af-unspec {GCM}",
    "sa-encap": f"state add {V4} mode tunnel encap espinudp 4500 4501 0.0.0.0 {GCM}",
    "sa-marks": f"state add {V4} mode tunnel mark 0x10 mask 0xff output-mark 0x20 mask 0xf0 if_id 0x2a {GCM}",
    "sa-null": f"state add {V4} mode transport enc ecb(cipher_null) ",
    "sa-offload": f"state add {V4} mode tunnel {GCM} offload dev lo dir in",
    "sa-limits": f"state add {V4} mode tunnel limit packet-soft 90 limit packet-hard 100 limit time-hard 60 {GCM}",
    "sa-v6": f"state add {V6} mode tunnel {CBC} sel src 2001:db8:1::/48 dst 2001:db8:2::/48",
    "sa-update": f"state update {V4} reqid 7 mode tunnel replay-window 32 {GCM}",
    "sa-delete": f"state delete {V4}",
    "sa-get": f"state get {V4}",
    "sa-flush": "state flush proto esp",
    "sa-list": "state list",
    "spi-alloc": "state allocspi src 192.0.2.1 dst 192.0.2.2 proto esp reqid 7 mode tunnel min 0x100 max 0x1ff",
    "policy-out": f"policy add {POLICY} dir out priority 10 tmpl src 192.0.2.1 dst 192.0.2.2 proto esp spi 0x1234 "
    "reqid 7 mode tunnel",
    "policy-block": f"policy add {POLICY} dir out priority 1000 action block",
    "policy-two-templates": f"policy add {POLICY} dir in tmpl src 192.0.2.1 dst 192.0.2.2 proto esp mode tunnel "
    "tmpl proto ah mode transport level use",
    "policy-if-id": f"policy add {POLICY} dir fwd if_id 0x2a mark 0x1 mask 0x3 tmpl proto esp mode tunnel",
    "policy-update": f"policy update {POLICY} dir out tmpl src 192.0.2.1 dst 192.0.2.2 proto esp mode tunnel",
    "policy-delete": f"policy delete {POLICY} dir out",
    "policy-get": f"policy get {POLICY} dir out",
    "policy-flush": "policy flush",
}


def sent(command: str) -> bytes:
    """The message to NETLINK_XFRM, its sequence number zeroed."""
    words = ["ip", "xfrm", *command.split()]
    if command.endswith("(cipher_null) "):
        words.append("")
    with tempfile.NamedTemporaryFile() as log:
        trace = ["strace", "-xx", "-s", "65536", "-e", "trace=sendmsg,sendto"]
        subprocess.run([*trace, "-o", log.name, *words], capture_output=True, check=False)
        text = log.read().decode()
    return _assemble(text)


_MESSAGE = re.compile(
    r"nlmsg_len=(\d+), nlmsg_type=(\w+)(?: /\* \w+ \*/)?, nlmsg_flags=([\w|]+), nlmsg_seq=\d+, nlmsg_pid=\d+}"
    r'(?:, "((?:\\x[0-9a-f]{2})*)")?'
)
_TYPES = ["NEWSA", "DELSA", "GETSA", "NEWPOLICY", "DELPOLICY", "GETPOLICY", "ALLOCSPI", "ACQUIRE", "EXPIRE"]
_TYPES += ["UPDPOLICY", "UPDSA", "POLEXPIRE", "FLUSHSA", "FLUSHPOLICY"]
_FLAGS = {"REQUEST": 1, "ACK": 4, "ROOT": 0x100, "MATCH": 0x200, "DUMP": 0x300, "REPLACE": 0x100, "EXCL": 0x200}
_FLAGS["CREATE"] = 0x400


def _assemble(text: str) -> bytes:
    """Out of strace's line, which takes the header apart."""
    for length, kind, flags, body in _MESSAGE.findall(text):
        if not kind.startswith("XFRM_MSG_"):
            continue
        number = 0
        for flag in flags.split("|"):
            number |= int(flag, 0) if flag.startswith("0") else _FLAGS[flag.removeprefix("NLM_F_")]
        type_number = 0x10 + _TYPES.index(kind.removeprefix("XFRM_MSG_"))
        header = struct.pack("=IHHII", int(length), type_number, number, 0, 0)
        data = header + bytes.fromhex(body.replace("\\x", ""))
        if len(data) != int(length):
            raise SystemExit(f"{len(data)} of {length} bytes: {text}")
        return data
    raise SystemExit(f"no message was sent: {text}")


if __name__ == "__main__":
    print(subprocess.run(["ip", "-V"], capture_output=True, text=True).stdout, file=sys.stderr)
    json.dump(
        {n: {"command": f"ip xfrm {c}", "bytes": sent(c).hex()} for n, c in COMMANDS.items()}, sys.stdout, indent=1
    )
