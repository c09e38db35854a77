"""Sends prepared requests from a process of its own and times every call.

The client shares the machine with the server, so it must be cheap. Messages are serialized before the clock starts and
parsed after it has stopped.
"""

import multiprocessing
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Self

from scripts.benchmarks.shared.http2 import Connection as Http2Connection

CALL_TIMEOUT_S = 120.0
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

        A server that computes batches begins and ends with some workers idle. Over a short run that is a large part,
        and says nothing of the load.
        """
        steady = self.finished_s[self.in_flight - 1 : len(self.finished_s) - self.in_flight + 1]
        if len(steady) < 2:  # noqa: PLR2004 - a rate needs two points in time
            return len(self.finished_s) / self.seconds
        return (len(steady) - 1) / (steady[-1] - steady[0])


class LoadClient:
    """A client process, with one connection a run. Enter it to start the process, leave it to stop it."""

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
    with suppress(EOFError):
        while True:
            method, requests, in_flight = pipe.recv()
            try:
                with Http2Connection(address, method, CALL_TIMEOUT_S) as connection:
                    pipe.send(_closed_loop(connection, requests, in_flight))
            except (OSError, RuntimeError) as error:
                pipe.send(str(error))


def _closed_loop(connection: Http2Connection, requests: list[bytes], in_flight: int) -> LoadResult:
    """Keeps a fixed number of calls in flight until all requests are answered."""
    latencies_s, responses = [0.0] * len(requests), [b""] * len(requests)
    finished_s: list[float] = []
    waiting = iter(enumerate(requests))
    open_calls: dict[int, tuple[int, float]] = {}  # index of the request and when it was sent, by stream
    started, cpu_before = time.perf_counter(), time.process_time()
    free = in_flight
    while free or open_calls:
        for index, request in islice(waiting, free):
            open_calls[connection.start(request)] = index, time.perf_counter()
        connection.flush()
        answers = connection.receive() if open_calls else []
        now = time.perf_counter()
        for stream, response in answers:
            index, sent = open_calls.pop(stream)
            latencies_s[index], responses[index] = now - sent, response
            finished_s.append(now - started)
        free = len(answers)
    seconds, cpu_s = time.perf_counter() - started, time.process_time() - cpu_before
    return LoadResult(in_flight, seconds, cpu_s, latencies_s, finished_s, responses)
