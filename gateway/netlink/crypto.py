"""Messages of NETLINK_CRYPTO (linux/cryptouser.h): the kernel's list of algorithms, and which driver comes first.

One struct carries every request::

    message = user_alg()
    message["driver_name"] = "cbc-aes-aesni"
    message["attrs"] = [("CRYPTOCFGA_PRIORITY_VAL", 5000)]
    message["header"]["type"] = CRYPTO_MSG_UPDATEALG

An update drops the instances that were built over the driver (``authenc(...)``, ``seqiv(...)``): the next SA builds
them anew. Existing users keep what they have. The module is crypto_user; it wants CAP_NET_ADMIN on the machine itself,
not only in a namespace.
"""

from __future__ import annotations

from pyroute2.netlink import nla, nlmsg

NETLINK_CRYPTO = 21

CRYPTO_MSG_NEWALG, CRYPTO_MSG_DELALG, CRYPTO_MSG_UPDATEALG, CRYPTO_MSG_GETALG = 0x10, 0x11, 0x12, 0x13

CRYPTO_ALG_TYPE_MASK = 0x0F
CRYPTO_ALG_LARVAL, CRYPTO_ALG_DEAD, CRYPTO_ALG_DYING, CRYPTO_ALG_ASYNC = 0x10, 0x20, 0x40, 0x80
CRYPTO_ALG_TESTED, CRYPTO_ALG_INSTANCE = 0x400, 0x800
CRYPTO_ALG_KERN_DRIVER_ONLY, CRYPTO_ALG_INTERNAL = 0x1000, 0x2000

NAMES = ("name", "driver_name", "module_name")


class report_cipher(nla):
    """struct crypto_report_blkcipher."""

    fields = (
        ("type", "64s"),
        ("geniv", "64s"),
        ("blocksize", "I"),
        ("min_keysize", "I"),
        ("max_keysize", "I"),
        ("ivsize", "I"),
    )


class report_aead(nla):
    """struct crypto_report_aead."""

    fields = (("type", "64s"), ("geniv", "64s"), ("blocksize", "I"), ("maxauthsize", "I"), ("ivsize", "I"))


class report_hash(nla):
    """struct crypto_report_hash."""

    fields = (("type", "64s"), ("blocksize", "I"), ("digestsize", "I"))


class user_alg(nlmsg):
    """struct crypto_user_alg and its attributes. The names are text, ``flags`` the CRYPTO_ALG_* of the algorithm."""

    fields = (
        ("name", "64s"),
        ("driver_name", "64s"),
        ("module_name", "64s"),
        ("type", "I"),
        ("mask", "I"),
        ("refcnt", "I"),
        ("flags", "I"),
    )
    nla_map = (
        ("CRYPTOCFGA_UNSPEC", "none"),
        ("CRYPTOCFGA_PRIORITY_VAL", "uint32"),
        ("CRYPTOCFGA_REPORT_LARVAL", "hex"),
        ("CRYPTOCFGA_REPORT_HASH", "report_hash"),
        ("CRYPTOCFGA_REPORT_BLKCIPHER", "report_cipher"),
        ("CRYPTOCFGA_REPORT_AEAD", "report_aead"),
        ("CRYPTOCFGA_REPORT_COMPRESS", "hex"),
        ("CRYPTOCFGA_REPORT_RNG", "hex"),
        ("CRYPTOCFGA_REPORT_CIPHER", "hex"),
        ("CRYPTOCFGA_REPORT_AKCIPHER", "hex"),
        ("CRYPTOCFGA_REPORT_KPP", "hex"),
        ("CRYPTOCFGA_REPORT_ACOMP", "hex"),
    )
    report_cipher = report_cipher
    report_aead = report_aead
    report_hash = report_hash

    def encode(self) -> None:
        texts = {name: self.get(name) or "" for name in NAMES}
        for name, text in texts.items():
            data = text.encode("ascii")
            if len(data) > 63:
                raise ValueError(f"{name} {text!r} is longer than the kernel's 63 bytes")
            self[name] = data
        nlmsg.encode(self)
        self.update(texts)

    def decode(self) -> None:
        nlmsg.decode(self)
        for name in NAMES:
            self[name] = self[name].split(b"\0")[0].decode("ascii", "replace")
