"""One OpenAI-compatible endpoint: its key, its connections, its limits, its totals. The only file that sends anything.

A request has the headers of ours that are written here and no others, goes to the address of the settings and follows
no redirect. An answer has a bound, in bytes and in time. The environment may name a proxy between us and an endpoint.
"""

import asyncio
import ipaddress
import json
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Self
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2
from pydantic import SecretStr

from pipeline.llm import errors
from pipeline.llm.chat_model import Completion
from pipeline.llm.completion import UNREADABLE, ErrorObjectError, Json, parse_completion
from pipeline.llm.config import LlmConfig
from pipeline.llm.limiter import Clock, EndpointLimiter
from pipeline.llm.metering import UsageTotals
from pipeline.llm.refusal import read_complaint, refusal, safe_quote, status_of, to_complaint, without_request


class Endpoint:
    """Whoever calls the endpoint does it through one object of this class; inside `async with`.

    Attributes:
        is_silent: it gave no sign of life when that was last asked.
    """

    def __init__(self, config: LlmConfig, *, clock: Clock | None = None) -> None:
        """Raises LlmSettingsError when the key cannot be used."""
        self.config = config
        self.clock = clock or Clock()
        self.limiter = EndpointLimiter(config.rates, self.clock, max_quiet_s=config.retries.max_retry_after_s)
        self.usage = UsageTotals(config.prices)
        self.is_silent = False
        self._key = read_api_key(config)
        self._contexts: dict[str, int | None] = {}
        self._refusals = 0  # of connections, when it was asked for that
        self._asking = asyncio.Lock()

    async def __aenter__(self) -> Self:
        # Servers close idle connections after 5 s (uvicorn, gunicorn) or more.
        self._keepalive_s, tls, proxy = 5.0, httpx2.create_ssl_context(), proxy_for(self.config.base_url)
        limits = httpx2.Limits(keepalive_expiry=self._keepalive_s)
        self._connect = partial(httpx2.AsyncHTTPTransport, verify=tls, limits=limits, proxy=proxy)
        self._idle: deque[tuple[float, httpx2.AsyncHTTPTransport]] = deque()  # since when; the last one used is last
        return self

    async def __aexit__(self, *error: object) -> None:
        for _, connection in self._idle:
            await connection.aclose()

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[httpx2.AsyncHTTPTransport]:
        """Lends a connection, the last one used first; the limiter bounds them.

        Each is a pool by itself: a common one polls all that are idle before and after every request. HTTP/1.1, so that
        a cancelled request can close its own connection and nobody else's.
        """
        while self._idle and time.monotonic() - self._idle[0][0] > self._keepalive_s:
            await self._idle.popleft()[1].aclose()
        lent = self._idle.pop()[1] if self._idle else self._connect()
        try:
            yield lent
        finally:
            self._idle.append((time.monotonic(), lent))

    async def post(
        self,
        body: Mapping[str, Any],
        *,
        private_texts: Iterable[str] = (),
        most_bytes: int | None = None,
        headers: Mapping[str, str] = {},
        on_part: Callable[[bytes], None] | None = None,
    ) -> Completion:
        """Asks for a completion once. Cancelling closes the connection at once.

        Args:
            private_texts: what an error's message must not repeat.
            most_bytes: of the answer; None: `max_answer_bytes`, which bounds it in any case.
            headers: that the settings add.
            on_part: is told the bytes of an answer in pieces as they come. Never raises.

        Raises LlmError: there is none.
        """
        most_bytes = min(self.config.max_answer_bytes, most_bytes or self.config.max_answer_bytes)
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        try:
            async with asyncio.timeout(self.config.timeouts.attempt_s):
                response, answer = await self._exchange(
                    f"{self.config.base_url}/chat/completions", data, most_bytes, headers, on_part
                )
        except TimeoutError:
            raise errors.AnswerTimeoutError(
                f"no whole answer within {self.config.timeouts.attempt_s:g} s (timeouts.attempt_s)"
            ) from None
        status, words = response.status_code, None
        if response.is_success:
            try:
                return parse_completion(answer, response.headers.get("content-type", ""))
            except ErrorObjectError as error:
                status, words = status_of(*error.args), to_complaint(*error.args)
        words, texts = words or read_complaint(answer), tuple(private_texts)
        quote = safe_quote(words.message, key=self._key, private_texts=texts)
        raise refusal(status, response.headers, without_request(words, texts), quote)

    async def served_models(self) -> tuple[str, ...]:
        """Returns the first few names of models that the endpoint serves; empty if it does not say."""
        try:
            names = (str(model["id"]) for model in (await self._told(f"{self.config.base_url}/models"))["data"])
            return tuple(name.encode("utf-8", "replace").decode() for name in names)[:10]
        except _UNTOLD:
            return ()

    async def context_of(self, model: str) -> int | None:
        """Returns how many tokens a model holds here, as the endpoint said when it was first asked; None if it did not.

        It is asked for its models, and a server that says more elsewhere for that. Who waits while it refuses
        connections does not ask again: it may be starting.
        """
        refusals = self._refusals
        async with self._asking:
            if model not in self._contexts and self._refusals == refusals:
                try:
                    self._contexts[model] = await self._ask_context(self.config.base_url, model)
                except errors.ConnectionFailedError:
                    self._refusals += 1
                except _UNTOLD:
                    self._contexts[model] = None
            return self._contexts.get(model)

    async def _ask_context(self, base_url: str, model: str) -> int | None:
        told = await self._told(f"{base_url}/models")
        found = _context_in(told, model)
        if found is None and (path := _TELLS_MORE.get(told["data"][0]["owned_by"])):
            found = _context_in(await self._told(base_url.removesuffix("/v1") + path), model)
        return found

    async def _told(self, url: str) -> Json:
        """Returns what an endpoint says of itself. Raises one of _UNTOLD."""
        async with asyncio.timeout(min(2.0, self.config.timeouts.connect_s)):
            _, answer = await self._exchange(url, None, 1 << 21)  # bytes: reading more would hold up all others
        told: Json = json.loads(answer)
        return told

    async def lives(self) -> bool:
        """Tells whether the endpoint answers at all, within a second: a model may take minutes for an answer."""
        try:
            async with asyncio.timeout(min(1.0, self.config.timeouts.connect_s)):
                await self._exchange(f"{self.config.base_url}/models", None, self.config.max_answer_bytes)
            self.is_silent = False
        except (errors.LlmError, TimeoutError):
            self.is_silent = True
        return not self.is_silent

    def reload_key(self) -> bool:
        """Reads the key again and tells whether it is another one."""
        before, self._key = self._key, read_api_key(self.config)
        return before != self._key

    async def _exchange(
        self,
        url: str,
        body: bytes | None,
        most_bytes: int,
        headers: Mapping[str, str] = {},
        on_part: Callable[[bytes], None] | None = None,
    ) -> tuple[httpx2.Response, bytes]:
        """Sends a request and reads its answer, whatever its status. Raises LlmError; `from None`: no texts in it."""
        timeout = httpx2.Timeout(self.config.silence_s, connect=self.config.timeouts.connect_s)
        request = httpx2.Request(
            "GET" if body is None else "POST",
            url,
            headers=self._headers(headers),
            content=body,
            extensions={"timeout": timeout.as_dict()},
        )
        try:
            async with self._connection() as connection:
                response = await connection.handle_async_request(request)
                self.usage.was_ever_connected = True
                try:
                    return response, await _read(response, most_bytes, on_part)
                finally:
                    await response.aclose()
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            why = str(error) or "no answer in time"  # of the system or of TLS; knows nothing of the request
            where = self.config.base_url
            raise errors.ConnectionFailedError(
                f"cannot connect to {where} ({why}): is it running, and base_url right?"
            ) from None
        except httpx2.TimeoutException:
            raise errors.AnswerTimeoutError(
                f"the endpoint was silent for {self.config.silence_s:g} s (timeouts.silence_s)"
            ) from None
        except httpx2.TransportError:
            self.usage.was_ever_connected = True
            raise errors.ConnectionFailedError("the connection ended before the answer did") from None

    def _headers(self, extra: Mapping[str, str]) -> dict[str, str]:
        """Returns all that leaves beside the body, and what a request cannot do without: host, length."""
        headers = {
            "accept": "application/json",
            "accept-encoding": "identity",  # the bytes that are counted are the bytes that are kept
            "content-type": "application/json",
            "user-agent": "precis",
            **extra,
        }
        return headers if self._key is None else {**headers, "authorization": f"Bearer {self._key.get_secret_value()}"}


_UNTOLD = (errors.LlmError, TimeoutError, *UNREADABLE)
_TELLS_MORE = {"llamacpp": "/props", "library": "/api/ps", "organization_owner": "/api/v0/models"}
"""Where llama.cpp, Ollama and LM Studio say what a model holds, by the owner that they name for their models."""
_CONTEXT_FIELDS = ("max_model_len", "loaded_context_length", "context_length", "context_window", "n_ctx")


def _context_in(told: Json, model: str) -> int | None:
    """Finds what a model holds. One that is the only one there may have any name."""
    listed = told.get("data") or told.get("models") or [told.get("default_generation_settings") or {}]
    named = [one for one in listed if model in (one.get("id"), one.get("model"))]
    numbers = (int(one.get(name) or 0) for one in named or listed[: len(listed) == 1] for name in _CONTEXT_FIELDS)
    return next((number for number in numbers if number > 0), None)


async def _read(response: httpx2.Response, most_bytes: int, on_part: Callable[[bytes], None] | None) -> bytes:
    """Reads a body and tells its parts as they come. Raises what a broken connection raises.

    Raises UnreadableAnswerError: it is packed; EndlessAnswerError: it is longer than `most_bytes`.
    """
    if (packing := response.headers.get("content-encoding", "identity").lower()) != "identity":
        # What it unpacks to is not known before it is there.
        raise errors.UnreadableAnswerError(
            f"the endpoint compresses its answer ({packing[:16]}), although it was asked not to: turn that off there"
        )
    tell = on_part if response.is_success else None
    answer = bytearray()
    async for part in response.aiter_raw():
        answer += part
        if len(answer) > most_bytes:
            raise errors.EndlessAnswerError(
                f"the endpoint's answer has more than {most_bytes} bytes; it ignores max_tokens, or is no chat endpoint"
            )
        if tell is not None:
            tell(part)
    return bytes(answer)


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


def read_api_key(config: LlmConfig) -> SecretStr | None:
    """Returns the key from the settings or the key file; None when there is neither.

    Raises LlmSettingsError: the file cannot be read, or the key is no single printable word.
    """
    if config.api_key_file is None:
        return None if config.api_key is None else _checked(config.api_key.get_secret_value(), "api_key")
    try:
        text = config.api_key_file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) else "it is no text"
        raise errors.LlmSettingsError(f"cannot read the key file {config.api_key_file}: {problem}") from None
    return _checked(text, str(config.api_key_file))


def _checked(text: str, source: str) -> SecretStr:
    key = text.strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise errors.LlmSettingsError(f"{source} does not hold one key: put the endpoint's key there and nothing else")
    return SecretStr(key)
