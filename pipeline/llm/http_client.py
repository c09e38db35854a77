"""The HTTP client below the `openai` package: which headers leave the process, and how much comes back."""

from collections.abc import AsyncIterator, Callable

import httpx2
from pydantic import SecretStr

from pipeline.llm.config import LlmConfig
from pipeline.llm.connection_slots import ConnectionSlots
from pipeline.llm.errors import EndlessAnswerError
from pipeline.llm.proxy import proxy_for

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
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _BoundedStream(response.stream, config.max_answer_bytes)

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
    """A body that ends with EndlessAnswerError when it is longer than `limit_bytes`."""

    def __init__(self, stream: httpx2.AsyncByteStream, limit_bytes: int) -> None:
        self._stream = stream
        self._limit_bytes = limit_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        count = 0
        async for part in self._stream:
            count += len(part)
            if count > self._limit_bytes:
                raise EndlessAnswerError(
                    f"the endpoint's answer has more than {self._limit_bytes} bytes; it ignores max_tokens, or is no "
                    "chat endpoint",
                    limit_bytes=self._limit_bytes,
                )
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()
