"""The metrics' HTTP server under clients that say nothing."""

import socket
import threading
import urllib.error
import urllib.request

import pytest

from server.config import MetricsConfig
from server.observe.metrics import new_registry
from server.observe.metrics_server import MOST_CONNECTIONS, MetricsHandler, offered


def read(port: int, path: str = "/metrics", host: str = "127.0.0.1") -> str:
    with urllib.request.urlopen(f"http://{host}:{port}{path}", timeout=60) as answer:
        return str(answer.read().decode())


def test_metrics_and_readiness_have_a_path_each() -> None:
    ready = [False]
    with offered(MetricsConfig(port=0), new_registry(), lambda: ready[0]) as port:
        with pytest.raises(urllib.error.HTTPError, match="503"):
            read(port, "/ready")
        ready[0] = True
        assert read(port, "/ready") == "ready\n"
        assert "process_cpu_seconds_total" in read(port)
        with pytest.raises(urllib.error.HTTPError, match="404"):
            read(port, "/other")


def test_silent_connections_are_few_and_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MetricsHandler, "timeout", 0.05)
    threads = threading.active_count()
    with offered(MetricsConfig(port=0), new_registry(), lambda: True) as port:
        silent = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(4 * MOST_CONNECTIONS)]
        assert threading.active_count() <= threads + 1 + MOST_CONNECTIONS
        for connection in silent:
            assert connection.recv(1) == b""  # ended by the server, without an answer
            connection.close()
        assert "process_cpu_seconds_total" in read(port)
