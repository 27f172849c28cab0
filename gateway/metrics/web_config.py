"""``--web.config.file`` of the Prometheus exporter toolkit: TLS, client certificates, basic authentication.

The format is the toolkit's; what is not supported here is refused by name, because a security setting that is
silently ignored is worse than none.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gateway.errors import UnusableError, install_hint

_CLIENT_AUTH = {
    "NoClientCert": ssl.CERT_NONE,
    "RequestClientCert": ssl.CERT_OPTIONAL,
    "VerifyClientCertIfGiven": ssl.CERT_OPTIONAL,
    "RequireAnyClientCert": ssl.CERT_REQUIRED,
    "RequireAndVerifyClientCert": ssl.CERT_REQUIRED,
}
_VERSIONS = {"TLS12": ssl.TLSVersion.TLSv1_2, "TLS13": ssl.TLSVersion.TLSv1_3}
_TLS = {"cert_file", "key_file", "client_auth_type", "client_ca_file", "min_version", "max_version"}
_DUMMY = b"$2b$10$CwTycUXWue0Thq9StjUM0uJ8nQkzJ9GZ0RQO0Rwhc2GJ8B0bR5i2K"
"""Checked for unknown users, so that they take as long as known ones."""


@dataclass(frozen=True, slots=True)
class Tls:
    """tls_server_config."""

    cert_file: Path
    key_file: Path
    client_auth_type: str = "NoClientCert"
    client_ca_file: Path | None = None
    min_version: str = "TLS12"
    max_version: str = "TLS13"

    def context(self) -> ssl.SSLContext:
        """UnusableError when a file cannot be used."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = _VERSIONS[self.min_version]
        context.maximum_version = _VERSIONS[self.max_version]
        for what, path in (("cert_file", self.cert_file), ("key_file", self.key_file), ("", self.client_ca_file)):
            if path is not None and not path.is_file():
                raise UnusableError(f"web configuration: {what or 'client_ca_file'} {path} is not there")
        try:
            context.load_cert_chain(self.cert_file, self.key_file)
            if self.client_ca_file:
                context.load_verify_locations(self.client_ca_file)
        except (OSError, ssl.SSLError) as error:
            raise UnusableError(f"web configuration: certificate or key unusable: {error}") from None
        context.verify_mode = _CLIENT_AUTH[self.client_auth_type]
        return context

    def stamp(self) -> tuple[float, ...]:
        """Changes when a file does: certificates are renewed while we run."""
        paths = (self.cert_file, self.key_file, self.client_ca_file)
        return tuple(path.stat().st_mtime if path is not None and path.is_file() else 0.0 for path in paths)


@dataclass(slots=True)
class WebConfig:
    """The file's content."""

    tls: Tls | None = None
    users: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    """bcrypt hashes by user name."""
    headers: Mapping[str, str] = field(default_factory=dict)
    _known: set[bytes] = field(default_factory=set, repr=False)
    """Digests of what was right before: bcrypt takes a tenth of a second on purpose."""

    def allows(self, authorization: str | None) -> bool:
        """Whether a request with this Authorization header may pass."""
        if not self.users:
            return True
        kind, _, encoded = (authorization or "").partition(" ")
        if kind.lower() != "basic":
            return False
        try:
            user, _, password = base64.b64decode(encoded, validate=True).partition(b":")
        except (binascii.Error, ValueError):
            return False
        hashed = self.users.get(user.decode("utf-8", "replace"))
        digest = hashlib.sha256(b"\0".join((user, password, hashed or b""))).digest()
        if hashed is not None and any(hmac.compare_digest(digest, known) for known in self._known):
            return True
        import bcrypt

        try:
            right = bcrypt.checkpw(password[:72], hashed or _DUMMY)
        except ValueError:
            right = False
        if right and hashed is not None:
            if len(self._known) > 100:
                self._known.clear()
            self._known.add(digest)
            return True
        return False


def load(path: Path) -> WebConfig:
    """UnusableError says what is wrong in one line."""
    try:
        import bcrypt  # noqa: F401 - needed at the first request, missed now
        import yaml
    except ImportError as error:
        raise UnusableError(
            f"--web.config.file needs Python's {error.name}", install_hint("pyyaml bcrypt"), "no-library"
        ) from None
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except OSError as error:
        raise UnusableError(f"cannot read {path}: {error.strerror}") from None
    except yaml.YAMLError as error:
        raise UnusableError(f"{path} is no YAML: {error}") from None
    known = {"tls_server_config", "http_server_config", "basic_auth_users"}
    _refuse_unknown(path, "", content, known)
    tls = content.get("tls_server_config")
    http = content.get("http_server_config") or {}
    users = content.get("basic_auth_users") or {}
    _refuse_unknown(path, "http_server_config: ", http, {"headers", "http2"})
    for user, hashed in users.items():
        if not str(hashed).startswith(("$2a$", "$2b$", "$2y$")):
            raise UnusableError(f"{path}: the password of '{user}' is not a bcrypt hash", "htpasswd -nBC 10 NAME")
    return WebConfig(
        tls=None if tls is None else _tls(path, tls),
        users={str(user): str(hashed).encode() for user, hashed in users.items()},
        headers={str(name): str(value) for name, value in (http.get("headers") or {}).items()},
    )


def _refuse_unknown(path: Path, where: str, content: Any, known: set[str]) -> None:
    if not isinstance(content, dict):
        raise UnusableError(f"{path}: {where or 'the file '}is no mapping")
    for word in content:
        if word not in known:
            raise UnusableError(f"{path}: {where}'{word}' is not supported", f"there are: {', '.join(sorted(known))}")


def _tls(path: Path, content: Any) -> Tls:
    _refuse_unknown(path, "tls_server_config: ", content, _TLS)
    for word in ("cert_file", "key_file"):
        if word not in content:
            raise UnusableError(f"{path}: tls_server_config lacks {word}")
    auth = content.get("client_auth_type", "NoClientCert")
    if auth not in _CLIENT_AUTH:
        raise UnusableError(
            f"{path}: client_auth_type '{auth}' does not exist", f"there are: {', '.join(_CLIENT_AUTH)}"
        )
    if _CLIENT_AUTH[auth] != ssl.CERT_NONE and "client_ca_file" not in content:
        # Go's toolkit would take any certificate then; OpenSSL can only verify.
        raise UnusableError(f"{path}: client_auth_type {auth} needs client_ca_file")
    for word in ("min_version", "max_version"):
        if content.get(word, "TLS13") not in _VERSIONS:
            raise UnusableError(
                f"{path}: {word} '{content[word]}' is not supported", f"there are: {', '.join(_VERSIONS)}"
            )

    def file(word: str) -> Path:
        return path.parent / str(content[word])  # relative to the configuration file, as the toolkit's

    return Tls(
        cert_file=file("cert_file"),
        key_file=file("key_file"),
        client_auth_type=auth,
        client_ca_file=file("client_ca_file") if "client_ca_file" in content else None,
        min_version=content.get("min_version", "TLS12"),
        max_version=content.get("max_version", "TLS13"),
    )
