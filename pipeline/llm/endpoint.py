"""One OpenAI-compatible endpoint: its key, its connections, its limits, its totals. The only file that calls `openai`.

The key is read from its file or setting, and checked that a header can carry it.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Self

import httpx2
import openai
from pydantic import SecretStr

from pipeline.llm.config import LlmConfig
from pipeline.llm.errors import AnswerTimeoutError, ConnectionFailedError, LlmError, LlmSettingsError
from pipeline.llm.http import make_http_client, most_answer_bytes, on_stream_part
from pipeline.llm.limiter import Clock, EndpointLimiter, SystemClock
from pipeline.llm.metering import UsageTotals
from pipeline.llm.refusal import read_complaint, refusal, safe_quote

_MODELS_SHOWN = 10


class Endpoint:
    """Whoever calls the endpoint does it through one object of this class; inside `async with`.

    Attributes:
        was_ever_connected: True after the first answer of any kind.
    """

    def __init__(self, config: LlmConfig, *, clock: Clock | None = None) -> None:
        """Raises LlmSettingsError when the key cannot be used."""
        self.config = config
        self.clock = clock or SystemClock()
        self.limiter = EndpointLimiter(config.rates, self.clock, max_quiet_s=config.retries.max_retry_after_s)
        self.usage = UsageTotals(config.prices)
        self.was_ever_connected = False
        self._key = read_api_key(config)

    async def __aenter__(self) -> Self:
        self._client = openai.AsyncOpenAI(
            base_url=self.config.base_url,
            api_key="-",  # the real one is added below, request by request
            max_retries=0,
            http_client=make_http_client(self.config, lambda: self._key),
        )
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._client.close()

    async def post(
        self,
        body: Mapping[str, Any],
        *,
        private_texts: Iterable[str] = (),
        most_bytes: int | None = None,
        on_part: Callable[[bytes], None] | None = None,
    ) -> httpx2.Response:
        """Asks for a completion once. Cancelling closes the connection at once.

        Args:
            private_texts: what an error's message must not repeat.
            most_bytes: of the answer; None: `max_answer_bytes`, which bounds it in any case.
            on_part: is told the bytes of an answer in pieces as they come. Never raises.

        Returns:
            The answer, read whole, with status 200.

        Raises:
            LlmError: anything else.
        """
        bound, heard = most_answer_bytes.set(most_bytes), on_stream_part.set(on_part)
        try:
            async with asyncio.timeout(self.config.timeouts.attempt_s):
                response = await self._client.post("/chat/completions", cast_to=httpx2.Response, body=body)
        except TimeoutError:
            raise AnswerTimeoutError(
                f"no whole answer within {self.config.timeouts.attempt_s:g} s (timeouts.attempt_s)"
            ) from None
        except openai.OpenAIError as error:
            # `from None`: the causes hold the request and the endpoint's words.
            raise self._to_llm_error(error, private_texts) from None
        finally:
            most_answer_bytes.reset(bound)
            on_stream_part.reset(heard)
        self.was_ever_connected = True
        return response

    async def served_models(self) -> tuple[str, ...]:
        """Returns the first few names of models that the endpoint serves; empty if it does not say."""
        try:
            async with asyncio.timeout(self.config.timeouts.connect_s):
                listing = await self._client.get("/models", cast_to=httpx2.Response)
            names = (str(model["id"]) for model in listing.json()["data"])
            return tuple(name.encode("utf-8", "replace").decode() for name in names)[:_MODELS_SHOWN]
        except (openai.OpenAIError, LlmError, TimeoutError, ValueError, KeyError, TypeError):
            return ()

    def reload_key(self) -> bool:
        """Reads the key again and tells whether it is another one."""
        before, self._key = self._key, read_api_key(self.config)
        return before != self._key

    def _to_llm_error(self, error: openai.OpenAIError, private_texts: Iterable[str]) -> LlmError:
        match error:
            case openai.APIStatusError():
                self.was_ever_connected = True
                quote = partial(safe_quote, key=self._key, private_texts=private_texts)
                complaint = read_complaint(error.response.content)
                return refusal(error.status_code, error.response.headers, complaint, quote=quote)
            case openai.APITimeoutError() if not isinstance(error.__cause__, httpx2.ConnectTimeout):
                return AnswerTimeoutError(
                    f"the endpoint was silent for {self.config.silence_s:g} s (timeouts.silence_s)"
                )
        return self._to_connection_error(error.__cause__)

    def _to_connection_error(self, cause: BaseException | None) -> LlmError:
        if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout):
            where = self.config.base_url
            why = str(cause) or "no answer in time"  # of the system or of TLS; knows nothing of the request
            return ConnectionFailedError(f"cannot connect to {where} ({why}): is it running, and base_url right?")
        self.was_ever_connected = True
        return ConnectionFailedError("the connection ended before the answer did")


def read_api_key(config: LlmConfig) -> SecretStr | None:
    """Returns the key from the settings or the key file; None when there is neither.

    Raises:
        LlmSettingsError: the file cannot be read, or the key is no single printable word.
    """
    if config.api_key_file is None:
        return None if config.api_key is None else _checked(config.api_key.get_secret_value(), "api_key")
    try:
        text = config.api_key_file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) else "it is no text"
        raise LlmSettingsError(f"cannot read the key file {config.api_key_file}: {problem}") from None
    return _checked(text, str(config.api_key_file))


def _checked(text: str, source: str) -> SecretStr:
    key = text.strip()
    if not key:
        raise LlmSettingsError(f"{source} holds no key: put the endpoint's key there and nothing else")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise LlmSettingsError(f"{source} holds something else than one key: put the endpoint's key there alone")
    return SecretStr(key)
