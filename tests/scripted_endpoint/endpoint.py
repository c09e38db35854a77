"""An OpenAI-compatible chat endpoint that does what a script says, over real HTTP."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, Self

from tests.scripted_endpoint.completions import send_completion
from tests.scripted_endpoint.faults import Fault
from tests.scripted_endpoint.faulty_answers import send_faulty
from tests.scripted_endpoint.http import Exchange, HttpConnection
from tests.scripted_endpoint.refusals import refusal
from tests.scripted_endpoint.request_log import RequestLog
from tests.scripted_endpoint.script import Script


class ScriptedEndpoint:
    """Listens inside `async with`.

    Attributes:
        log: what it saw.
        gate: cleared, completions are held back until it is set again; set at first.
        piece_gate: likewise for the second half of those that are sent in pieces.
        held_from: number of the request that clears the gate, from 1, and so is held itself; None for none.
    """

    def __init__(self, script: Script | None = None) -> None:
        self.log = RequestLog()
        self.gate = asyncio.Event()
        self.gate.set()
        self.held_from: int | None = None
        self.piece_gate = asyncio.Event()
        self.piece_gate.set()
        self._script = script or Script()
        self._first_faults = list(self._script.first_faults)
        self._connections: set[HttpConnection] = set()

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Listens; port 0 lets the system choose."""
        make: Callable[[], HttpConnection] = lambda: HttpConnection(self._handle, self._connections)  # noqa: E731
        self._server = await asyncio.get_running_loop().create_server(make, host, port, backlog=1024)
        self._address = self._server.sockets[0].getsockname()

    async def stop(self) -> None:
        """Closes the port and every connection."""
        self._server.close()
        for connection in list(self._connections):
            connection.close()
            await connection.lost.wait()
        await self._server.wait_closed()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.stop()

    @property
    def base_url(self) -> str:
        """What a client is configured with."""
        return f"http://{self._address[0]}:{self._address[1]}/v1"

    @property
    def connection_count(self) -> int:
        """Connections that are open."""
        return len(self._connections)

    async def _handle(self, exchange: Exchange) -> None:
        match exchange.request.method, exchange.request.path:
            case "POST", "/v1/chat/completions":
                await self._complete(exchange)
            case "GET", path if path in self._script.tells:
                await exchange.send_json(200, self._script.tells[path])
            case "GET", "/v1/models":
                data = [{"id": model, "object": "model"} for model in self._script.models]
                await exchange.send_json(200, {"object": "list", "data": data})
            case _:
                await exchange.send(404, b"not found", content_type="text/plain")

    async def _complete(self, exchange: Exchange) -> None:
        """Answers one attempt, and writes down how it ended even when the client leaves."""
        body = json.loads(exchange.request.body)
        content = content_hash(body)
        attempt = self.log.begin(content, body, keep_body=self._script.keep_bodies)
        if self.log.requests.total() == self.held_from:
            self.gate.clear()
        outcome = "left"
        try:
            outcome = await self._answer(exchange, body, fault=self._next_fault(content, attempt))
        finally:
            self.log.end(content, outcome)

    async def _answer(self, exchange: Exchange, body: Mapping[str, Any], *, fault: Fault | None) -> str:
        if (refused := refusal(self._script, exchange.request.headers, body)) is not None:
            await exchange.send_json(refused.status, refused.body)
            return refused.code
        limit = self._script.max_concurrency
        if limit is not None and self.log.in_flight > limit:
            fault = Fault.RATE_LIMIT
        await self.gate.wait()
        if fault is not None:
            await send_faulty(exchange, fault, self._script, body, self.piece_gate)
            return fault.value
        await send_completion(exchange, self._script, body, self.piece_gate)
        return "answered"

    def _next_fault(self, content: str, attempt: int) -> Fault | None:
        if self._first_faults:
            return self._first_faults.pop(0)
        return self._script.faults.draw(content, attempt)


def content_hash(body: Mapping[str, Any]) -> str:
    """Tells requests apart by what they ask, whatever the way of the answer."""
    asked = {name: value for name, value in body.items() if name not in {"stream", "stream_options"}}
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]
