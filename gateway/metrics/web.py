"""The web server: /metrics, /-/healthy and a page that leads there, as the exporter toolkit's."""

from __future__ import annotations

import contextlib
import gzip
import html
import socket
import ssl
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from gateway import __version__
from gateway.errors import UnusableError
from gateway.metrics.exposition import CONTENT_TYPE
from gateway.metrics.web_config import WebConfig

REQUEST_TIMEOUT_S = 10.0
MOST_CONNECTIONS = 64
"""At once; a client more waits in the kernel's queue."""


def parse_address(text: str) -> tuple[str, int]:
    """``host:port``, ``:port`` or ``[v6]:port``; UnusableError."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit() or not 0 <= int(port) <= 65535:
        raise UnusableError(
            f"--web.listen-address '{text}' is no address with a port", "as in 127.0.0.1:10795 or :10795"
        )
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise UnusableError(f"--web.listen-address '{text}' is ambiguous", f"as in [{host}]:{port}")
    return host, int(port)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    site: _Site

    def __init__(self, address: tuple[str, int], site: _Site) -> None:
        host, port = address
        try:
            family, _, _, _, sockaddr = socket.getaddrinfo(
                host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            if not host and socket.has_ipv6:
                family, sockaddr = socket.AF_INET6, ("::", port, 0, 0)
        except OSError as error:
            raise UnusableError(f"--web.listen-address {host}:{port}: {error.strerror or error}") from None
        self.address_family = family
        self.site = site
        self._slots = threading.BoundedSemaphore(MOST_CONNECTIONS)
        try:
            super().__init__((str(sockaddr[0]), int(sockaddr[1])), _Handler)
        except OSError as error:
            raise UnusableError(
                f"cannot listen on {host or '*'}:{port}: {error.strerror}", "--web.listen-address says where else"
            ) from None

    def server_bind(self) -> None:
        if self.address_family == socket.AF_INET6 and self.server_address[0] == "::":
            with contextlib.suppress(OSError):
                self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        # Not HTTPServer's: it looks the host's name up, which may take seconds.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        self._slots.acquire()
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._slots.release()

    def finish_request(self, request: Any, client_address: Any) -> None:
        request.settimeout(REQUEST_TIMEOUT_S)
        # In the request's own thread: a client that never finishes its handshake stops nobody else.
        context = self.site.tls_context()
        if context is None:
            _Handler(request, client_address, self)
            return
        with contextlib.suppress(OSError):
            with context.wrap_socket(request, server_side=True) as wrapped:
                _Handler(wrapped, client_address, self)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is not worth a traceback."""


class _Site:
    """What all servers of one exporter share."""

    def __init__(self, scrape: Callable[[], str], path: str, config: WebConfig) -> None:
        self.scrape, self.path, self.config = scrape, path, config
        self._stamp: tuple[float, ...] = ()
        self._context: ssl.SSLContext | None = None
        self._lock = threading.Lock()
        if config.tls is not None:
            self._context, self._stamp = config.tls.context(), config.tls.stamp()

    def tls_context(self) -> ssl.SSLContext | None:
        """With the certificate that is on disk now; the one before when that cannot be used."""
        tls = self.config.tls
        if tls is None:
            return None
        with self._lock, contextlib.suppress(UnusableError):
            stamp = tls.stamp()
            if stamp != self._stamp:
                self._stamp = stamp
                self._context = tls.context()
        return self._context


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = f"gwbench/{__version__}"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = REQUEST_TIMEOUT_S

    def do_GET(self) -> None:
        site = self.server.site
        if not site.config.allows(self.headers.get("Authorization")):
            self._answer(401, "Unauthorized\n", more={"WWW-Authenticate": 'Basic realm="gwbench"'})
            return
        path = self.path.partition("?")[0]
        if path == site.path:
            self._answer(200, site.scrape(), CONTENT_TYPE)
        elif path == "/-/healthy":
            self._answer(200, "Healthy\n")
        elif path == "/":
            link = html.escape(site.path, quote=True)
            page = f'<!doctype html><title>gwbench</title><h1>gwbench {__version__}</h1><a href="{link}">Metrics</a>\n'
            self._answer(200, page, "text/html; charset=utf-8")
        else:
            self._answer(404, "Not found\n")

    do_HEAD = do_GET

    def _answer(self, status: int, text: str, kind: str = "text/plain; charset=utf-8", more: Any = None) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if len(body) > 1400 and "gzip" in self.headers.get("Accept-Encoding", ""):
            body = gzip.compress(body, 1)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        for name, value in {**self.server.site.config.headers, **(more or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Scrapes are not news."""


class WebServer:
    """Listens at once; serves in threads of its own after :meth:`start`."""

    def __init__(
        self,
        scrape: Callable[[], str],
        addresses: Sequence[tuple[str, int]],
        path: str = "/metrics",
        config: WebConfig | None = None,
    ) -> None:
        """UnusableError when an address cannot be had."""
        if not path.startswith("/") or path in ("/", "/-/healthy"):
            raise UnusableError(f"--web.telemetry-path '{path}' is no path of its own", "as in /metrics")
        site = _Site(scrape, path, config or WebConfig())
        self._servers: list[_Server] = []
        try:
            for address in addresses:
                self._servers.append(_Server(address, site))
        except BaseException:
            self.close()
            raise

    @property
    def addresses(self) -> list[tuple[str, int]]:
        """Where it listens, with the ports that were bound."""
        return [(server.server_name, server.server_port) for server in self._servers]

    def start(self) -> None:
        """Returns at once."""
        for server in self._servers:
            threading.Thread(target=server.serve_forever, args=(0.2,), daemon=True, name="web").start()

    def close(self) -> None:
        """Safe before :meth:`start`, too."""
        for server in self._servers:
            threading.Thread(target=server.shutdown, daemon=True).start()
            server.server_close()
        self._servers = []
