"""A chat model behind an OpenAI-compatible endpoint: one request is made until it is answered.

Each attempt goes through the limiter; failures are retried.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace

from pipeline.llm.chat_model import ChatMessage, ChatRequest, Completion, LlmUsage
from pipeline.llm.completion import (
    DraftReader,
    JsonProblemError,
    extract_json,
    parse_completion,
    repair_messages,
    with_schema_prompt,
)
from pipeline.llm.config import LlmConfig
from pipeline.llm.dialect import Dialect, request_body
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.errors import (
    AuthenticationFailedError,
    EndlessAnswerError,
    LlmError,
    RequestRefusedError,
    SchemaMismatchError,
    UnknownModelError,
)
from pipeline.llm.limiter import Permit
from pipeline.llm.retry import MAX_BAD_ANSWERS, Retries
from pipeline.llm.token_count import TokenCount, estimate_tokens, load_token_count
from pipeline.llm.tracing import chat_span, note_answer, note_retry

_log = logging.getLogger(__name__)

_MAX_REPAIRS = 1  # further calls to have an answer made the JSON asked for


class OpenAiChatModel:
    """One model of an endpoint; a `ChatModel`. Several may share the endpoint and then share its limits.

    What the endpoint refuses of the optional fields is found out by the first call that needs it and remembered.
    """

    def __init__(self, endpoint: Endpoint, config: LlmConfig | None = None) -> None:
        """Takes the endpoint's own settings by default. Raises LlmSettingsError for an unreadable tokenizer_file."""
        self._endpoint = endpoint
        self._config = config or endpoint.config
        self._dialect = Dialect(frozenset({"json_schema"} if self._config.structured_output == "prompt" else ()))
        self._settled: set[str] = set()
        self._settling = asyncio.Lock()
        self.count_tokens = load_token_count(self._config.tokenizer_file)
        self.identity = self._config.identity
        self.context_tokens = self._config.context_tokens

    async def complete(self, request: ChatRequest) -> Completion:
        """Returns an answer; with a `json_schema`, its text is JSON that fits. Raises LlmError after all retries."""
        if self._config.temperature is not None:
            request = replace(request, temperature=self._config.temperature)
        with chat_span(self._config, request) as span:
            try:
                completion = await self._structured(request) if request.json_schema else await self._ask(request)
            except UnknownModelError:
                raise await self._unknown_model() from None
            note_answer(span, completion)
            return completion

    async def _structured(self, request: ChatRequest) -> Completion:
        """Asks for JSON until it fits the schema; an error tells what the answers before it cost."""
        spent: list[Completion] = []
        try:
            return await self._ask_until_it_fits(request, spent)
        except LlmError as error:
            error.usage += _usage(spent)
            raise

    async def _ask_until_it_fits(self, request: ChatRequest, spent: list[Completion]) -> Completion:
        """Asks once, and again for each repair. Appends every answer to `spent`."""
        schema = request.json_schema or {}
        max_repairs = 0 if request.asks_once else _MAX_REPAIRS
        asked = request
        while True:
            spent.append(completion := await self._ask(asked))
            try:
                return _sum(replace(completion, text=extract_json(completion.text, schema)), spent[:-1])
            except JsonProblemError as error:
                problem = str(error)
            if len(spent) > max_repairs or completion.finish_reason == "length":
                advice = "; allow more max_tokens" if completion.finish_reason == "length" else ""
                raise SchemaMismatchError(f"the answer is not the JSON asked for: {problem}{advice}")
            asked = replace(request, messages=repair_messages(request.messages, completion.text, problem))

    async def _ask(self, request: ChatRequest) -> Completion:
        """Calls, and calls again without a field that the endpoint turns out not to take."""
        wanted = {name for name in ("json_schema", "top_logprobs") if getattr(request, name)}
        async with self._first_of_its_kind(wanted):
            while True:
                dialect = self._dialect
                try:
                    completion = await self._call(self._worded(request, dialect), dialect)
                except RequestRefusedError as error:
                    self._learn(dialect, error)
                else:
                    self._settled |= wanted
                    return completion

    @asynccontextmanager
    async def _first_of_its_kind(self, wanted: set[str]) -> AsyncIterator[None]:
        """Lets one call find out what the endpoint takes, while the others that need to know wait."""
        if not wanted <= self._settled:
            async with self._settling:
                if not wanted <= self._settled:
                    yield
                    return
        yield

    def _worded(self, request: ChatRequest, dialect: Dialect) -> ChatRequest:
        if request.json_schema is None or dialect.has_schemas:
            return request
        return replace(request, messages=with_schema_prompt(request.messages, request.json_schema))

    def _learn(self, sent: Dialect, error: RequestRefusedError) -> None:
        """Drops what was refused; raises the error if that is nothing, or a schema that the settings insist on."""
        learned = sent.without(error)
        insists = self._config.structured_output == "json_schema" and not learned.has_schemas
        if learned == sent or insists:
            raise error
        known, self._dialect = self._dialect, self._dialect.without(error)
        if known != self._dialect:
            fields = ",".join(sorted(error.refused_fields))
            _log.warning("endpoint_refuses model=%s fields=%s", self._config.model, fields)

    async def _unknown_model(self) -> UnknownModelError:
        served = ", ".join(await self._endpoint.served_models()) or "which models, it does not say"
        return UnknownModelError(
            f"the endpoint {self._config.base_url} does not serve the model {self._config.model!r}; it serves: {served}"
        )

    async def _call(self, request: ChatRequest, dialect: Dialect) -> Completion:
        """Returns the first good answer. Raises LlmError when there will be none."""
        endpoint = self._endpoint
        body = request_body(request, dialect, model=self._config.model, stream=self._config.stream)
        retries = Retries(
            self._config.retries,
            was_ever_connected=lambda: endpoint.was_ever_connected,
            max_bad_answers=1 if request.asks_once else MAX_BAD_ANSWERS,
        )
        number = endpoint.limiter.take_number()
        most_tokens = self._most_tokens(request)
        while True:
            try:
                async with endpoint.limiter.attempt(number, most_tokens) as permit:
                    completion = await self._attempt(request, body, permit)
                    return replace(completion, retries=retries.failed_attempts)
            except LlmError as error:
                if isinstance(error, AuthenticationFailedError) and endpoint.reload_key():
                    continue  # the key was changed under us, as it should be now and then
                delay_s = retries.delay_after(error)
                if delay_s is None:
                    raise
                if request.on_draft is not None:
                    request.on_draft("")
                endpoint.usage.count_retry()
                note_retry(error, attempt=retries.failed_attempts, delay_s=delay_s)
            await endpoint.clock.sleep(delay_s)

    def _most_tokens(self, request: ChatRequest) -> int:
        """Estimates what a request may cost; not worth the time when nobody counts."""
        if self._endpoint.config.rates.tokens_per_minute is None:
            return 0
        return sum(_tokens(message, estimate_tokens) for message in request.messages) + request.max_tokens

    async def _attempt(self, request: ChatRequest, body: dict[str, object], permit: Permit) -> Completion:
        usage = self._endpoint.usage
        usage.count_attempt()
        try:
            answer, content_type = await self._endpoint.post(
                body,
                private_texts=[one.content for one in request.messages],
                most_bytes=_most_bytes(request),
                on_part=DraftReader(request.on_draft, _most_chars(request)).feed if request.on_draft else None,
            )
            completion = parse_completion(answer, content_type)
            _check_length(completion.text, request)
        except LlmError as error:
            usage.count_failure(error)
            raise
        completion = self._with_counts(completion, request)
        usage.count_answer(completion)
        permit.used_tokens = completion.prompt_tokens + completion.completion_tokens
        return completion

    def _with_counts(self, completion: Completion, request: ChatRequest) -> Completion:
        """Fills in what the endpoint left out."""
        if completion.prompt_tokens and completion.model:
            return completion
        prompt = sum(_tokens(message, self.count_tokens) for message in request.messages)
        return replace(
            completion,
            prompt_tokens=completion.prompt_tokens or prompt,
            completion_tokens=completion.completion_tokens or self.count_tokens(completion.text),
            model=completion.model or self._config.model,
        )


# More than any token has: 16 characters of text; an event of a stream of its own; an alternative with its bytes.
_CHARS_PER_TOKEN, _BYTES_PER_TOKEN, _BYTES_PER_ALTERNATIVE = 16, 512, 256
_LEAST_BYTES, _LEAST_CHARS = 1 << 16, 1_024


def _most_bytes(request: ChatRequest) -> int:
    """Returns how long the answer to a request may be as it is sent."""
    return _LEAST_BYTES + request.max_tokens * (_BYTES_PER_TOKEN + request.top_logprobs * _BYTES_PER_ALTERNATIVE)


def _most_chars(request: ChatRequest) -> int:
    """Returns how long the text of an answer may be."""
    return _LEAST_CHARS + request.max_tokens * _CHARS_PER_TOKEN


def _check_length(text: str, request: ChatRequest) -> None:
    """Raises EndlessAnswerError for a text that cannot have as few tokens as were asked for."""
    if len(text) > _most_chars(request):
        raise EndlessAnswerError(f"an answer of {len(text)} characters ignores max_tokens, {request.max_tokens}")


def _sum(last: Completion, others: list[Completion]) -> Completion:
    total = _usage([*others, last])
    return replace(
        last,
        prompt_tokens=total.prompt_tokens,
        completion_tokens=total.completion_tokens,
        calls=total.calls,
        retries=total.retries,
    )


def _usage(completions: Iterable[Completion]) -> LlmUsage:
    return sum((one.usage for one in completions), LlmUsage())


_IMAGE_TOKENS = 1_500  # 1024 x 1024: 765 at GPT-4o, 1,369 at Qwen2-VL (28 x 28 pixels a token)


def _tokens(message: ChatMessage, count_tokens: TokenCount) -> int:
    return count_tokens(message.content) + _IMAGE_TOKENS * len(message.images)
