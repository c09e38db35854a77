"""The metrics' HTTP server under clients that say nothing."""

import select
import socket
import urllib.error
import urllib.request
from contextlib import suppress

import pytest

from server.config import MetricsConfig
from server.observe import metrics_server
from server.observe.metrics import new_registry
from server.observe.metrics_server import offered


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
        probe = urllib.request.Request(f"http://127.0.0.1:{port}/ready", method="HEAD")
        with urllib.request.urlopen(probe) as answer:  # noqa: S310 - of this server
            assert (answer.headers["Content-Length"], answer.read()) == ("6", b"")
        assert "process_cpu_seconds_total" in read(port)
        with pytest.raises(urllib.error.HTTPError, match="404"):
            read(port, "/other")


def test_slow_clients_close_the_port_to_nobody() -> None:
    with offered(MetricsConfig(port=0), new_registry(), lambda: True) as port:
        slow = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(300)]
        for connection in slow:
            with suppress(OSError):  # it has given its place away
                connection.sendall(b"G")
        assert read(port, "/ready") == "ready\n"
        assert "process_cpu_seconds_total" in read(port)
        for connection in slow:
            connection.close()


def test_a_connection_ends_whatever_it_sends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics_server, "LONGEST_S", 0.0)
    with (
        offered(MetricsConfig(port=0), new_registry(), lambda: True) as port,
        socket.create_connection(("127.0.0.1", port), timeout=60) as slow,
    ):
        slow.sendall(b"GET /ready HTTP/1.0\r\nx-slow: ")
        rounds = iter(range(1_000))
        while not select.select([slow], [], [], 0.05)[0]:
            next(rounds)
            slow.sendall(b"x")
        with suppress(ConnectionResetError):
            assert slow.recv(1) == b""  # it is closed, without an answer
