"""The HTTP client below the `openai` package: which headers leave the process, and how much comes back.

There is one connection for each request in flight, without a pool that looks at all of them for every request. The
environment may name a proxy between us and an endpoint.
"""

import ipaddress
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextvars import ContextVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2
from pydantic import SecretStr

from pipeline.llm.config import LlmConfig
from pipeline.llm.errors import EndlessAnswerError, UnreadableAnswerError

most_answer_bytes: ContextVar[int | None] = ContextVar("most_answer_bytes", default=None)
"""What the request that is made in this context allows its answer; None: the endpoint's own bound alone."""

on_stream_part: ContextVar[Callable[[bytes], None] | None] = ContextVar("on_stream_part", default=None)
"""Who is told the parts of an answer in pieces to the request that is made in this context, as they come."""


class ConnectionSlots(httpx2.AsyncBaseTransport):
    """Sends each request through a transport that nobody else uses at the time, the one that was free last.

    httpcore2's pool walks through all its connections when a request begins and again when it ends, and asks the
    kernel about each idle one. With 64 in flight that was a third of the CPU time of a call. Here the pools hold
    one connection each. How many there are is bounded by whoever limits the requests in flight.

    Args:
        make: a transport that holds one connection at most.
        keepalive_s: a transport that was not needed for so long is closed with the next request.
    """

    def __init__(self, make: Callable[[], httpx2.AsyncBaseTransport], *, keepalive_s: float) -> None:
        self._make = make
        self._keepalive_s = keepalive_s
        self._idle: deque[tuple[float, httpx2.AsyncBaseTransport]] = deque()  # longest idle first
        self._busy: set[httpx2.AsyncBaseTransport] = set()

    @property
    def count(self) -> int:
        """Transports that are open."""
        return len(self._idle) + len(self._busy)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends a request. The slot is free again when the answer's body is closed."""
        await self._close_unused()
        slot = self._idle.pop()[1] if self._idle else self._make()
        self._busy.add(slot)
        try:
            response = await slot.handle_async_request(request)
        except BaseException:
            self._release(slot)
            raise
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _HeldBody(response.stream, lambda: self._release(slot))
        return response

    async def aclose(self) -> None:
        """Closes all connections."""
        slots = [*self._busy, *(slot for _, slot in self._idle)]
        self._busy.clear()
        self._idle.clear()
        for slot in slots:
            await slot.aclose()

    def _release(self, slot: httpx2.AsyncBaseTransport) -> None:
        if slot in self._busy:  # else all were closed meanwhile
            self._busy.remove(slot)
            self._idle.append((time.monotonic(), slot))

    async def _close_unused(self) -> None:
        since_s = time.monotonic() - self._keepalive_s
        while self._idle and self._idle[0][0] < since_s:
            await self._idle.popleft()[1].aclose()


class _HeldBody(httpx2.AsyncByteStream):
    """A body that tells when it is closed."""

    def __init__(self, stream: httpx2.AsyncByteStream, release: Callable[[], None]) -> None:
        self._stream = stream
        self._release = release

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            yield part

    async def aclose(self) -> None:
        try:
            await self._stream.aclose()
        finally:
            self._release()


# The openai package adds others: the organisation, project, admin key and custom headers that the environment
# describes for OpenAI itself, and the host's system and Python version. An endpoint gets none of these.
_SENT_HEADERS = {b"host", b"content-length", b"content-type", b"accept", b"connection", b"user-agent"}
_KEEPALIVE_S = 5.0  # as httpx does by default; servers close idle connections after 5 s (uvicorn, gunicorn) or more


def make_http_client(config: LlmConfig, api_key: Callable[[], SecretStr | None]) -> httpx2.AsyncClient:
    """Makes a client for one endpoint, with a connection for each request that may be in flight.

    Redirects are not followed: they would turn the POST into a GET, or take the key to another host.

    Args:
        api_key: asked before every request.
    """

    async def keep_own_headers(request: httpx2.Request) -> None:
        headers = [(name, value) for name, value in request.headers.raw if name.lower() in _SENT_HEADERS]
        headers.append((b"accept-encoding", b"identity"))  # the bytes that are counted are the bytes that are kept
        if (key := api_key()) is not None:
            headers.append((b"authorization", b"Bearer " + key.get_secret_value().encode("ascii")))
        request.headers = httpx2.Headers(headers)  # at once: each change of one header copies all of them

    async def bound_body(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await response.aclose()  # what it unpacks to is not known before it is there
            raise UnreadableAnswerError("the endpoint compresses its answer, although it was asked not to")
        if isinstance(response.stream, httpx2.AsyncByteStream):
            limit = min(config.max_answer_bytes, most_answer_bytes.get() or config.max_answer_bytes)
            is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
            tell = on_stream_part.get() if is_stream and response.is_success else None
            response.stream = _BoundedStream(response.stream, limit, tell)

    return httpx2.AsyncClient(
        transport=_slots(config),
        timeout=httpx2.Timeout(config.silence_s, connect=config.timeouts.connect_s),
        event_hooks={"request": [keep_own_headers], "response": [bound_body]},
    )


def _slots(config: LlmConfig) -> ConnectionSlots:
    """Makes the connections: HTTP/1.1, so that a cancelled request can close its own and nobody else's."""
    certificates = httpx2.create_ssl_context()  # takes 20 ms and is the same for all
    proxy = proxy_for(config.base_url)
    one = httpx2.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=_KEEPALIVE_S)
    return ConnectionSlots(
        lambda: httpx2.AsyncHTTPTransport(verify=certificates, limits=one, proxy=proxy), keepalive_s=_KEEPALIVE_S
    )


class _BoundedStream(httpx2.AsyncByteStream):
    """A body that ends with EndlessAnswerError when it is longer than `limit_bytes`; `tell` gets its parts too."""

    def __init__(self, stream: httpx2.AsyncByteStream, limit_bytes: int, tell: Callable[[bytes], None] | None) -> None:
        self._stream = stream
        self._limit_bytes = limit_bytes
        self._tell = tell

    async def __aiter__(self) -> AsyncIterator[bytes]:
        count = 0
        async for part in self._stream:
            count += len(part)
            if count > self._limit_bytes:
                raise EndlessAnswerError(
                    f"the endpoint's answer has more than {self._limit_bytes} bytes; it ignores max_tokens, or is no "
                    "chat endpoint"
                )
            if self._tell is not None:
                self._tell(part)
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


def proxy_for(base_url: str) -> str | None:
    """Returns a proxy's address from HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, unless NO_PROXY names the host.

    None for this machine: a proxy would look for the endpoint on its own host.
    """
    address = urlsplit(base_url)
    if _is_this_machine(address.hostname or "") or proxy_bypass(address.netloc):
        return None
    proxies = getproxies()
    proxy = proxies.get(address.scheme) or proxies.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name
        return False
