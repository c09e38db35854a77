"""The HTTP listener: paths, the methods behind them, and the sockets.

A listener of its own beside gRPC's, off by default. It starts after the servicers and ends before them.

The page of `precis ui` is static files: nothing is loaded from elsewhere, and no markup that got into the page could
run.
"""

import asyncio
import contextlib
import ipaddress
from collections.abc import Callable, Collection, Iterator
from functools import cache, partial
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

import h11
import uvicorn
from precis.calls import INFERENCE
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol

from server.config import HttpConfig, ListenConfig
from server.errors import NotOfferedError, refusal
from server.http.endpoint import TIMEOUT_HEADER, CallEndpoint
from server.http.json_messages import dumps
from server.http.openapi import to_openapi
from server.http.paths import PATHS, OpenAiExchange, Path, TeiExchange
from server.http.problem import MEDIA_TYPE, Problem, to_problem
from server.rpc.admission import MIB
from server.rpc.handlers import HandlerTable
from server.rpc.listener import CertificateStore, bound
from server.rpc.record import new_call_id
from server.rpc.status import to_status


class HttpServer:
    """HTTP on one port.

    Attributes:
        port: that it listens on.
    """

    def __init__(self, config: HttpConfig, listen: ListenConfig, certificates: CertificateStore | None) -> None:
        """Binds the port. Raises StartupError when that cannot be done."""
        self._config = config
        self._socket = bound(config)
        self.port: int = self._socket.getsockname()[1]
        self._listen = listen
        self._certificates = certificates
        self._server: _Server | None = None
        self._serving: asyncio.Task[None] | None = None

    async def start(self, table: HandlerTable, is_serving: Callable[[], bool], *, has_keys: bool) -> None:
        """Begins to accept requests, which become calls of the table's methods."""
        options = uvicorn.Config(
            to_asgi(table, self._config, self._listen, is_serving, has_keys=has_keys),
            log_config=None,
            access_log=False,
            proxy_headers=False,  # a peer is who it is, not who it says
            lifespan="off",
            ws="none",
            h11_max_incomplete_event_size=_Connection.header_bytes,
            http=partial(_Connection, self._listen, {}),  # type: ignore[arg-type]  # it is called, and nothing else
            server_header=False,
            timeout_graceful_shutdown=max(1, round(self._listen.grace_s)),
        )
        options.load()
        options.ssl = self._certificates.context() if self._certificates else None
        self._socket.listen(options.backlog)  # now: the task begins later, and whoever came before it were refused
        self._server = _Server(options)
        self._serving = asyncio.create_task(self._server.serve([self._socket]), name="precis-http")

    async def close(self) -> None:
        """Gives the port back; ends what `drain` did not: a start that failed."""
        at_once = asyncio.Event()
        at_once.set()
        await self.drain(at_once)
        self._socket.close()

    async def drain(self, cut_short: asyncio.Event) -> None:
        """Refuses new connections and lets requests in flight finish, within the grace or until `cut_short`."""
        if self._serving is None or self._server is None:
            return
        self._server.should_exit = True
        cut = asyncio.ensure_future(cut_short.wait())
        await asyncio.wait({self._serving, cut}, return_when=asyncio.FIRST_COMPLETED)
        self._server.force_exit = cut.done()
        cut.cancel()
        await self._serving
        if self._server.force_exit:
            for task in self._server.server_state.tasks:
                task.cancel()


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leaves signals to the process, which has one way to stop."""
        yield


class _Flow(FlowControl):
    """Reads on when all that was read before has been taken in."""

    rest = b""

    def resume_reading(self) -> None:
        if not self.rest:
            super().resume_reading()


class _Connection(H11Protocol):
    """Closes itself when its client is too slow, or waits longest for a request while there are too many.

    Uvicorn's own limit refuses everybody while it is reached. Its only timer begins behind an answer and lets an answer
    wait for ever. It takes in megabytes in one piece: in chunks of one byte, for ten seconds.
    """

    piece_bytes = 1 << 12  # of a request: some 700 chunks of one byte, 10 ms
    header_bytes = 1 << 14  # as gRPC has it
    flow: _Flow

    def __init__(
        self,
        listen: ListenConfig,
        waiting: "dict[_Connection, asyncio.TimerHandle]",
        **parts: Any,  # noqa: ANN401 - as uvicorn hands them over
    ) -> None:
        super().__init__(**parts)
        self._listen = listen
        self._waiting = waiting  # for headers, of all connections; the one that waits longest first
        self._unread: asyncio.TimerHandle | None = None  # while the client takes nothing of an answer

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self.flow = _Flow(transport)
        self._watch()
        if len(self.connections) > self._listen.max_connections:
            next(iter(self._waiting)).end()

    def data_received(self, data: bytes) -> None:
        before, self.flow.rest = self.flow.rest, self.flow.rest + data
        if not before:
            self._take_piece()

    def _take_piece(self) -> None:
        piece, self.flow.rest = self.flow.rest[: self.piece_bytes], self.flow.rest[self.piece_bytes :]
        super().data_received(piece)
        self._watch()
        is_whole = self.conn.their_state not in {h11.IDLE, h11.SEND_BODY}  # also of one that asks for an upgrade
        if self.transport.is_closing():
            self.flow.rest = b""
        elif self.flow.rest:
            self.flow.pause_reading()
            self.loop.call_soon(self._take_piece)
        elif is_whole and len(self.conn.trailing_data[0]) > HIGH_WATER_LIMIT:
            self.end()  # so many requests behind the one that is answered
        elif is_whole or len(getattr(self.cycle, "body", b"")) <= HIGH_WATER_LIMIT:
            self.flow.resume_reading()  # also behind a request: uvicorn would not hear that the client leaves

    def send_400_response(self, msg: str) -> None:
        if self.conn.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:  # of a body whose request has its answer
            self.end()
            return
        most = f"{self.header_bytes >> 10} KiB"
        super().send_400_response(f"{msg} Expected HTTP/1.1, one host, and headers of at most {most}.")

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._unwatch()
        self.resume_writing()

    def on_response_complete(self) -> None:
        names = dict(self.headers)
        if b"transfer-encoding" in names and (self.conn.their_state is h11.SEND_BODY or b"content-length" in names):
            self.transport.close()  # chunks that nobody wants; or two lengths, of which a proxy may take the other one
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(self._listen.body_timeout_s, self.end)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()

    def end(self) -> None:
        """Closes it without an answer."""
        self._unwatch()
        self.transport.abort()

    def _watch(self) -> None:
        """Gives the headers of the next request their time, which more bytes do not lengthen."""
        is_answering = not getattr(self.cycle, "response_complete", True)  # None before the first request
        if is_answering:
            self._unwatch()
        elif self not in self._waiting:
            self._waiting[self] = self.loop.call_later(self._listen.body_timeout_s, self.end)

    def _unwatch(self) -> None:
        timer = self._waiting.pop(self, None)
        if timer is not None:
            timer.cancel()


def to_asgi(
    table: HandlerTable, config: HttpConfig, listen: ListenConfig, is_serving: Callable[[], bool], *, has_keys: bool
) -> Starlette:
    """Builds the application: the paths, `/health` and `/openapi.json`."""
    routes = [Route(one.path, _endpoint(one, table, config, listen), methods=[one.method]) for one in PATHS]
    routes.append(Route("/health", partial(_health, is_serving), methods=["GET"]))
    routes.append(Route("/openapi.json", _document, methods=["GET"]))
    guards: list[Middleware] = []
    if config.origins:
        headers, methods = ["authorization", "content-type", TIMEOUT_HEADER], ["GET", "POST"]
        guards.append(
            Middleware(CORSMiddleware, allow_origins=config.origins, allow_headers=headers, allow_methods=methods)
        )
    if config.page or not has_keys:
        guards.append(Middleware(_OwnHosts, ("localhost", config.host.strip("[]"), *config.hosts)))
    if config.page:
        routes += [Route(path, _page_file, methods=["GET"]) for path in _PAGE_FILES]  # no key, nothing of the server
    app = Starlette(routes=routes, middleware=guards, exception_handlers={HTTPException: _refused})
    app.state.config = config
    return app


class _OwnHosts:
    """Refuses requests by a name that could be a web site's (DNS rebinding); an address could not."""

    def __init__(self, app: ASGIApp, names: Collection[str]) -> None:
        self._app = app
        self._names = {name.lower() for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
        if scope["path"] == "/health" or self._is_own(host):  # a probe calls the server as it likes
            await self._app(scope, receive, send)
            return
        wrong = refusal("host", "expected an address, localhost, or a name of the setting http.hosts")
        await _response(to_problem(to_status(wrong, new_call_id()), str), scope)(scope, receive, send)

    def _is_own(self, host: str) -> bool:
        with contextlib.suppress(ValueError):
            name = urlsplit(f"//{host}").hostname or ""
            return name in self._names or bool(ipaddress.ip_address(name))
        return False


def _endpoint(path: Path, table: HandlerTable, config: HttpConfig, listen: ListenConfig) -> CallEndpoint:
    max_mib = listen.max_receive_mib
    if path.rpc.containing_service.full_name == INFERENCE.full_name:  # whose requests are lists of texts
        max_mib = min(listen.max_list_mib, max_mib)
    behavior = table.behavior(path.full_name)
    return CallEndpoint(path, behavior, max_body_bytes=max_mib * MIB, max_timeout_s=config.max_timeout_s)


async def _health(is_serving: Callable[[], bool], _request: Request) -> Response:
    """Answers without a key, as gRPC's health checks do."""
    status = "SERVING" if is_serving() else "NOT_SERVING"
    return JSONResponse({"status": status}, 200 if is_serving() else 503)


async def _document(_request: Request) -> Response:
    """Describes the paths."""
    return Response(_openapi(), media_type="application/json")


@cache
def _openapi() -> bytes:
    return dumps(to_openapi(PATHS))


async def _refused(request: Request, error: Exception) -> Response:
    """Tells a path or method that is not there."""
    code = error.status_code if isinstance(error, HTTPException) else 500
    names = ", ".join(f"{path.method} {path.path.replace(':path', '')}" for path in PATHS)
    wrong = NotOfferedError(f"no such path or method: expected one of {names}, GET /health")
    problem = to_problem(to_status(wrong, ""), str)
    problem.body["status"] = code
    headers = getattr(error, "headers", None) or {}  # Allow
    return _response(Problem(code, problem.body, {**problem.headers, **headers}), request.scope)


def _response(problem: Problem, scope: Scope) -> Response:
    """Answers what is no call, with the error that clients of OpenAI's or TEI's protocol look for at such a path."""
    exchange = OpenAiExchange(scope) if scope["path"].startswith("/v1/") else TeiExchange(scope)
    body = problem.body | exchange.explained(problem)
    return Response(dumps(body), problem.http_code, problem.headers, MEDIA_TYPE)


# None needs a key, and none says anything of the server.
_OWN, _REPORT = "server.http", "server.cli.page"
_PAGE_FILES = {
    "/": (_OWN, "page/index.html", "text/html"),
    "/ui": (_OWN, "page/index.html", "text/html"),
    "/ui/page.js": (_OWN, "page/page.js", "text/javascript"),
    "/ui/page.css": (_OWN, "page/page.css", "text/css"),
    "/ui/style.css": (_REPORT, "style.css", "text/css"),  # the same as that of the reports
}
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_PAGE_HEADERS = {
    "content-security-policy": _PAGE_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-cache",
}


async def _page_file(request: Request) -> Response:
    """Sends one file."""
    content, media_type = _read_page(request.url.path)
    return Response(content, headers=_PAGE_HEADERS, media_type=media_type)


@cache
def _read_page(path: str) -> tuple[bytes, str]:
    package, name, media_type = _PAGE_FILES[path]
    return files(package).joinpath(name).read_bytes(), media_type
