"""The HTTP server that offers all metrics, and readiness: few connections at once, none for long, and two paths."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import ThreadingHTTPServer
from typing import Any

from prometheus_client import CollectorRegistry, MetricsHandler

from pipeline.errors import needs_extra
from server.config import MetricsConfig
from server.errors import StartupError

PATH = "/metrics"
READY_PATH = "/ready"
MOST_CONNECTIONS = 16
"""At once: whoever comes next takes the place of the one that has been there longest. A scraper needs one."""
LONGEST_S = 5.0
"""That a connection may last, its request and its answer together, however many bytes it sends meanwhile."""


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # not yet accepted: from the library's 5, a crowd of slow clients would keep others out

    def __init__(self, host: str, port: int, handler: type[MetricsHandler]) -> None:
        self.address_family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        self._begun_s: dict[socket.socket, float] = {}  # the oldest first; only this server's thread adds
        super().__init__((host, port), handler)

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - of the standard library
        for connection in list(self._begun_s)[: 1 - MOST_CONNECTIONS]:
            self._end(connection)
        self._begun_s[request] = time.monotonic()
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._begun_s.pop(request, None)

    def service_actions(self) -> None:
        """Ends what has lasted too long; called twice a second, and after every connection."""
        for connection, begun_s in list(self._begun_s.items()):
            if time.monotonic() - begun_s >= LONGEST_S:
                self._end(connection)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Writes nothing: a client that leaves is no error of ours."""

    def _end(self, connection: socket.socket) -> None:
        """Wakes the thread of a connection, which then closes it."""
        self._begun_s.pop(connection, None)
        with suppress(OSError):  # it has just ended by itself
            connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def _served(config: MetricsConfig, registry: CollectorRegistry, is_ready: Callable[[], bool]) -> Iterator[int]:
    """Serves /metrics, and /ready for probes that speak no gRPC, while entered. Yields the port."""
    try:
        server = _Server(config.host, config.port, _handler(registry, is_ready))
    except OSError as error:
        raise StartupError(
            f"cannot serve metrics on {config.host}:{config.port}: {error.strerror or error}; "
            "choose another PRECIS_METRICS__PORT, or set PRECIS_METRICS__ENABLED=false"
        ) from error
    thread = threading.Thread(target=server.serve_forever, name="precis-metrics", daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def offered(config: MetricsConfig, registry: CollectorRegistry, is_ready: Callable[[], bool]) -> Iterator[int]:
    """Offers and sends metrics, as the settings say, while entered. Yields the port of the page; 0 without one.

    Raises:
        StartupError: the port cannot be had, or the extra that sends is missing.
    """
    with ExitStack() as stack:
        if config.otlp_endpoint is not None:
            try:
                from server.observe.otlp_metrics import pushed  # noqa: PLC0415 - only with the extra
            except ImportError as error:
                raise StartupError(f"metrics.otlp_endpoint {needs_extra('tracing')}") from error
            stack.enter_context(pushed(config, registry))
        yield stack.enter_context(_served(config, registry, is_ready)) if config.enabled else 0


def _handler(metrics: CollectorRegistry, is_ready: Callable[[], bool]) -> type[MetricsHandler]:
    class Handler(MetricsHandler):
        registry = metrics

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            if path == PATH:
                super().do_GET()
            elif path != READY_PATH:
                self.send_error(404, "metrics are at /metrics, readiness at /ready")
            else:
                code, text = (200, b"ready\n") if is_ready() else (503, b"not ready\n")
                self.send_response(code)
                self.send_header("Content-Type", "text/plain")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text if self.command != "HEAD" else b"")

        do_HEAD = do_POST = do_GET  # noqa: N815 - probes use either; the names are the standard library's

    return Handler
