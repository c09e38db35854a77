"""Which connections make room when there are many, and how many fit the limit of descriptors."""

import os
import resource
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from server.rpc import connections
from server.rpc.connections import Connections, fitting


@pytest.mark.parametrize("listing", ["/dev/fd", "/as if none were left to list them with"])
def test_the_oldest_idle_ones_end_and_no_descriptor_stays_open(monkeypatch: pytest.MonkeyPatch, listing: str) -> None:
    monkeypatch.setattr(connections, "_DESCRIPTORS", Path(listing))
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        host, port = server.getsockname()
        clients = []
        for _ in range(9):
            clients.append(stack.enter_context(socket.create_connection((host, port), timeout=60)))
            stack.enter_context(server.accept()[0])
        for end in os.pipe():  # what is no socket
            stack.callback(os.close, end)
        busy = f"ipv4:{host}:{clients[0].getsockname()[1]}"
        watched = Connections(port, 10, lambda peer: peer == busy)
        before = len([*Path("/dev/fd").iterdir()])
        watched.make_room()
        assert len([*Path("/dev/fd").iterdir()]) == before
        for client in clients[1:5]:
            assert client.recv(1) == b""
        for client in [clients[0], *clients[5:]]:
            client.settimeout(0)
            with pytest.raises(BlockingIOError):
                client.recv(1)


@pytest.mark.parametrize(
    ("soft", "hard", "raised", "fit"),
    [
        (20_000, 20_000, None, 4_096),
        (1_024, 20_000, 8_448, 4_096),
        (1_024, resource.RLIM_INFINITY, 8_448, 4_096),
        (1_024, 4_096, 4_096, 1_920),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, None, 4_096),
    ],
)
def test_connections_fit_the_limit_of_descriptors(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, raised: int | None, fit: int
) -> None:
    limits = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, both: limits.append(both))
    assert fitting(4_096, listeners=2) == fit
    assert limits == ([(raised, hard)] if raised else [])
