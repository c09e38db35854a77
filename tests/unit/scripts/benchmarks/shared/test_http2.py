from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import grpc
import pytest

from scripts.benchmarks.shared.http2 import Connection

METHOD = "/precis.test.Echo/Twice"
BUSY = "busy: try later"


class Twice(grpc.GenericRpcHandler):
    """Answers a message with itself, twice; refuses an empty one."""

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, Any] | None:
        return grpc.unary_unary_rpc_method_handler(self._answer) if details.method == METHOD else None

    def _answer(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        if not request:
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, BUSY)
        return request * 2


@pytest.fixture
def address() -> Iterator[str]:
    server = grpc.server(ThreadPoolExecutor(4), options=[("grpc.max_receive_message_length", -1)])
    server.add_generic_rpc_handlers((Twice(),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(None).wait()


def call_all(connection: Connection, messages: list[bytes]) -> list[bytes]:
    """Calls with all messages at once."""
    streams = [connection.start(message) for message in messages]
    answers: dict[int, bytes] = {}
    while len(answers) < len(messages):
        connection.flush()
        answers |= dict(connection.receive())
    return [answers[stream] for stream in streams]


@pytest.mark.parametrize(("size", "count"), [(1, 1), (200, 64), (16_379, 5), (16_380, 5), (70_000, 5), (3_000_000, 2)])
def test_every_call_gets_its_own_answer_whatever_its_size(address: str, size: int, count: int) -> None:
    messages = [bytes((65 + number % 26,)) * size for number in range(count)]
    with Connection(address, METHOD, 20.0) as connection:
        for _ in range(3):
            assert call_all(connection, messages) == [message * 2 for message in messages]


def test_a_refusal_is_told_with_its_status(address: str) -> None:
    with Connection(address, METHOD, 20.0) as connection, pytest.raises(RuntimeError, match=r"grpc-status.*8.*" + BUSY):
        call_all(connection, [b""])


def test_an_unknown_method_is_an_error(address: str) -> None:
    with Connection(address, "/nobody/knows", 20.0) as connection, pytest.raises(RuntimeError, match="grpc-status"):
        call_all(connection, [b"x"])


def test_a_server_that_hangs_up_is_an_error() -> None:
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        connection = stack.enter_context(Connection(address, METHOD, 20.0))
        connection.start(b"x")
        connection.flush()
        listener.accept()[0].close()
        with pytest.raises(ConnectionError):
            connection.receive()
