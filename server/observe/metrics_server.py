"""The HTTP server that offers all metrics, and readiness: few connections at once, none for long, and two paths."""

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, make_wsgi_app

from pipeline.errors import needs_extra
from server.config import MetricsConfig
from server.errors import StartupError

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

PATH = "/metrics"
READY_PATH = "/ready"
MOST_CONNECTIONS = 16
"""At once; more are closed unread. A scraper needs one."""


class MetricsHandler(WSGIRequestHandler):
    """One connection; `timeout` ends it after so many seconds of silence."""

    timeout = 5.0

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the standard library
        """Writes nothing: scrapes come every few seconds."""


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True

    def __init__(self, host: str, port: int) -> None:
        self.address_family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        self._places = threading.BoundedSemaphore(MOST_CONNECTIONS)
        super().__init__((host, port), MetricsHandler)

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - of the standard library
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Writes nothing: a client that leaves is no error of ours."""


@contextmanager
def _served(config: MetricsConfig, registry: CollectorRegistry, is_ready: Callable[[], bool]) -> Iterator[int]:
    """Serves /metrics, and /ready for probes that speak no gRPC, while entered. Yields the port."""
    try:
        server = _Server(config.host, config.port)
    except OSError as error:
        raise StartupError(
            f"cannot serve metrics on {config.host}:{config.port}: {error.strerror or error}; "
            "choose another PRECIS_METRICS__PORT, or set PRECIS_METRICS__ENABLED=false"
        ) from error
    server.set_app(_at_paths(make_wsgi_app(registry), is_ready))
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


def _at_paths(app: Callable[..., Iterable[bytes]], is_ready: Callable[[], bool]) -> Callable[..., Iterable[bytes]]:
    def answer(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        if environ["PATH_INFO"] == PATH:
            return app(environ, start_response)
        status, text = "404 Not Found", b"metrics are at /metrics, readiness at /ready\n"
        if environ["PATH_INFO"] == READY_PATH:
            status, text = ("200 OK", b"ready\n") if is_ready() else ("503 Service Unavailable", b"not ready\n")
        start_response(status, [("Content-Type", "text/plain")])
        return [text]

    return answer
