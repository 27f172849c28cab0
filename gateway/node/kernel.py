"""The kernel's own ESP (XFRM) as a node: ``python -m gateway.node.kernel`` inside the gateway's namespace.

It answers ``hello``, and says which module is missing before anything is measured. Its data path is not written yet:
the operations that need one refuse, they do not pretend.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
import sys

import gateway
from gateway.errors import UnusableError
from gateway.node.base import Hello, ImplementationInfo, NodeCounters, PathConfig, PathInfo, SaConfig, SaCounters
from gateway.node.protocol import PROTOCOL_VERSION
from gateway.node.server import run_node

NETLINK_XFRM = 6
XFRM_MSG_NEWSA, XFRM_MSG_DELSA = 0x10, 0x11
XFRMA_ALG_CRYPT = 2
XFRM_MODE_TUNNEL = 1
NLM_F_REQUEST, NLM_F_ACK, NLM_F_EXCL, NLM_F_CREATE = 0x1, 0x4, 0x200, 0x400
_PROBE_SPI = 0x67777062
_FOREVER = (1 << 64) - 1


def _attribute(kind: int, data: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def _probe_addresses(family: socket.AddressFamily) -> tuple[bytes, bytes]:
    """Documentation addresses (RFC 5737, RFC 3849) in xfrm_address_t's 16 bytes."""
    names = ("192.0.2.1", "192.0.2.2") if family == socket.AF_INET else ("2001:db8::1", "2001:db8::2")
    src, dst = (socket.inet_pton(family, name).ljust(16, b"\0") for name in names)
    return src, dst


def new_sa_message(family: socket.AddressFamily) -> bytes:
    """struct xfrm_usersa_info of an ESP SA with null encryption, and its one attribute."""
    src, dst = _probe_addresses(family)
    selector = struct.pack("=40xH14x", family)
    identity = dst + struct.pack("!IB3x", _PROBE_SPI, socket.IPPROTO_ESP)
    lifetime = struct.pack("=8Q", _FOREVER, _FOREVER, _FOREVER, _FOREVER, 0, 0, 0, 0)
    current_and_stats = bytes(32 + 12)
    rest = struct.pack("=IIHBBB7x", 0, 0, family, XFRM_MODE_TUNNEL, 0, 0)
    algorithm = b"ecb(cipher_null)".ljust(64, b"\0") + struct.pack("=I", 0)
    return selector + identity + src + lifetime + current_and_stats + rest + _attribute(XFRMA_ALG_CRYPT, algorithm)


def delete_sa_message(family: socket.AddressFamily) -> bytes:
    """struct xfrm_usersa_id of the same SA."""
    _, dst = _probe_addresses(family)
    return dst + struct.pack("!I", _PROBE_SPI) + struct.pack("=HBx", family, socket.IPPROTO_ESP)


def _request(sock: socket.socket, kind: int, flags: int, body: bytes) -> int:
    """Sends one request; returns the errno of its acknowledgement, 0 for success."""
    header = struct.pack("=IHHII", 16 + len(body), kind, NLM_F_REQUEST | NLM_F_ACK | flags, 1, 0)
    sock.send(header + body)
    answer = sock.recv(8192)
    return -int(struct.unpack_from("=i", answer, 16)[0])


def missing(family: socket.AddressFamily = socket.AF_INET) -> str:
    """What this kernel lacks for ESP, in one line; empty when nothing. Adds and removes one SA in this namespace."""
    module = "esp4" if family == socket.AF_INET else "esp6"
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_XFRM) as sock:
            sock.settimeout(5)
            number = _request(sock, XFRM_MSG_NEWSA, NLM_F_CREATE | NLM_F_EXCL, new_sa_message(family))
            if number == 0:
                _request(sock, XFRM_MSG_DELSA, 0, delete_sa_message(family))
    except OSError as error:
        if error.errno == errno.EPROTONOSUPPORT:
            return "this kernel has no XFRM: module xfrm_user is missing"
        return f"the kernel's XFRM does not answer: {error.strerror or error}"
    if number in (0, errno.EEXIST):
        return ""
    if number == errno.EPROTONOSUPPORT:
        return f"this kernel has no ESP: module {module} is missing"
    if number == errno.ENOSYS:
        return "this kernel lacks the algorithm ecb(cipher_null): module crypto_null is missing"
    if number == errno.EPERM:
        return "the kernel's XFRM needs CAP_NET_ADMIN"
    return f"the kernel refuses an ESP SA: {os.strerror(number)}"


def drivers(proc_crypto: str = "/proc/crypto") -> tuple[ImplementationInfo, ...]:
    """The kernel's crypto drivers as ``hello`` lists implementations; empty without /proc/crypto."""
    try:
        with open(proc_crypto, encoding="ascii") as file:
            entries = file.read().split("\n\n")
    except OSError:
        return ()
    found: list[ImplementationInfo] = []
    for entry in entries:
        pairs = (line.partition(":") for line in entry.splitlines())
        fields = {name.strip(): value.strip() for name, _, value in pairs}
        if "driver" in fields:
            found.append(
                ImplementationInfo(
                    alg=fields.get("name", ""),
                    driver=f"{fields['driver']}/kernel",
                    tag="kernel",
                    isa=fields.get("module", ""),
                    kind=fields.get("type", ""),
                    priority=int(fields.get("priority", "0")),
                    constant_time=None,
                    runnable=True,
                    checked="passed" if fields.get("selftest") == "passed" else "not run",
                )
            )
    return tuple(found)


class KernelBackend:
    """The kernel's XFRM."""

    def hello(self) -> Hello:
        """Nothing is changed by asking; no suite is offered, because none can run yet."""
        system = os.uname()
        return Hello(
            kind="kernel",
            protocol=PROTOCOL_VERSION,
            version=gateway.__version__,
            machine=system.machine,
            kernel=system.release,
            cpu_features=(),
            implementations=drivers(),
            suites=(),
        )

    def open_path(self, config: PathConfig) -> PathInfo:
        """Refuses, and says why."""
        raise self._refusal()

    def add_sa(self, config: SaConfig) -> str:
        """Refuses, and says why."""
        raise self._refusal()

    def delete_sa(self, spi: int, direction: str) -> SaCounters:
        """Refuses, and says why."""
        raise self._refusal()

    def set_policy(self, spi: int, src: str, dst: str) -> None:
        """Refuses, and says why."""
        raise self._refusal()

    def counters(self, first: int, most: int) -> NodeCounters:
        """Refuses, and says why."""
        raise self._refusal()

    def health(self) -> None:
        """Refuses, and says why."""
        raise self._refusal()

    def close(self) -> None:
        """Nothing to take down."""

    @staticmethod
    def _refusal() -> UnusableError:
        if lack := missing():
            return UnusableError(lack, "use --dataplane user, or a kernel with IPsec", "kernel-lacks")
        return UnusableError(
            "this kernel has ESP, but gwbench cannot drive it yet", "use --dataplane user", "not-supported"
        )


def main() -> int:
    """Entry point of the process."""
    return run_node(KernelBackend, "The kernel's IPsec as a gwbench node; line JSON on stdin and stdout.")


if __name__ == "__main__":
    sys.exit(main())
