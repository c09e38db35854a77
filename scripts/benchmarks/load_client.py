"""Sends prepared requests from a process of its own and times every call.

The client shares the machine with the server, so it must be cheap. Measured against a server that does nothing, per
call: this one (futures with callbacks, bytes in and out) 0.11 ms of CPU, grpc.aio on uvloop 0.15 ms, 64 blocking
threads more than either. Messages are serialized before the clock starts and parsed after it has stopped.
"""

from __future__ import annotations  # grpc's classes take type arguments in stubs only

import multiprocessing
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Self

import grpc

CALL_TIMEOUT_S = 120.0
MAX_MESSAGE_BYTES = 64 * 1024 * 1024
_SPAWN = multiprocessing.get_context("spawn")  # gRPC does not survive a fork


@dataclass(frozen=True)
class LoadResult:
    """One closed-loop run.

    Attributes:
        in_flight: how many calls were kept in flight.
        seconds: from the first request sent to the last answer received.
        cpu_s: CPU time of the client process meanwhile.
        latencies_s: one per request, in the order of the requests.
        finished_s: when each answer came, since the first request was sent; in the order of arrival.
        responses: serialized answers, in the order of the requests.
    """

    in_flight: int
    seconds: float
    cpu_s: float
    latencies_s: list[float]
    finished_s: list[float]
    responses: list[bytes]

    @property
    def calls_per_s(self) -> float:
        """Rate while all calls were in flight: without the answers to the first and to the last of them.

        A server that computes batches begins with some workers idle and ends so; over a short run that is a
        large part, and says nothing of the load.
        """
        steady = self.finished_s[self.in_flight - 1 : len(self.finished_s) - self.in_flight + 1]
        if len(steady) < 2:  # noqa: PLR2004 - a rate needs two points in time
            return len(self.finished_s) / self.seconds
        return (len(steady) - 1) / (steady[-1] - steady[0])


class LoadClient:
    """A client process with one channel to one server. Enter it to start the process, leave it to stop it."""

    def __init__(self, address: str) -> None:
        self._pipe, self._their_end = _SPAWN.Pipe()
        self._process = _SPAWN.Process(target=_client_main, args=(address, self._their_end), daemon=True)

    def __enter__(self) -> Self:
        """Starts the process."""
        self._process.start()
        self._their_end.close()  # or we would wait for ever for the answer of a dead process
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stops the process."""
        self._pipe.close()  # the process sees the end of its commands
        self._process.join()

    def run(self, method: str, requests: Sequence[bytes], *, in_flight: int) -> LoadResult:
        """Sends all requests, `in_flight` at a time.

        Raises:
            RuntimeError: a call failed; the message holds its status.
        """
        self._pipe.send((method, list(requests), in_flight))
        result: LoadResult | str = self._pipe.recv()
        if isinstance(result, str):
            raise RuntimeError(f"{method} failed: {result}")  # noqa: TRY004 - the peer's failure, not a wrong type
        return result


def _client_main(address: str, pipe: Connection) -> None:
    options = [("grpc.max_receive_message_length", MAX_MESSAGE_BYTES)]
    with grpc.insecure_channel(address, options=options) as channel, suppress(EOFError):
        while True:
            method, requests, in_flight = pipe.recv()
            try:
                pipe.send(_ClosedLoop(channel.unary_unary(method), requests).run(in_flight))
            except grpc.RpcError as error:
                pipe.send(repr(error))


class _ClosedLoop:
    """Keeps a fixed number of calls in flight until all requests are answered."""

    def __init__(self, call: grpc.UnaryUnaryMultiCallable[bytes, bytes], requests: list[bytes]) -> None:
        self._call = call
        self._requests = requests
        self._next = iter(range(len(requests)))
        self._latencies_s = [0.0] * len(requests)
        self._finished: list[float] = []
        self._responses = [b""] * len(requests)
        self._left = len(requests)
        self._error: grpc.RpcError | None = None
        self._lock = threading.Lock()
        self._done = threading.Event()

    def run(self, in_flight: int) -> LoadResult:
        started, cpu_before = time.perf_counter(), time.process_time()
        for _ in range(min(in_flight, len(self._requests))):
            self._send_next()
        self._done.wait()
        if self._error is not None:
            raise self._error
        seconds, cpu_s = time.perf_counter() - started, time.process_time() - cpu_before
        finished_s = sorted(finished - started for finished in self._finished)
        return LoadResult(in_flight, seconds, cpu_s, self._latencies_s, finished_s, self._responses)

    def _send_next(self) -> None:
        index = next(self._next, None)
        if index is None:
            return
        sent = time.perf_counter()
        future = self._call.future(self._requests[index], timeout=CALL_TIMEOUT_S)
        future.add_done_callback(lambda done: self._receive(index, sent, done))

    def _receive(self, index: int, sent: float, future: grpc.Future[bytes]) -> None:
        now = time.perf_counter()
        self._latencies_s[index] = now - sent
        self._finished.append(now)
        try:
            self._responses[index] = future.result()
        except grpc.RpcError as error:
            self._error = error
            self._done.set()
            return
        with self._lock:  # a call that is done before its callback is set runs it on the sender's thread
            self._left -= 1
            is_last = self._left == 0
        if is_last:
            self._done.set()
        else:
            self._send_next()
