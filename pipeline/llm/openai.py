"""A chat model behind an OpenAI-compatible endpoint: one request is made until it is answered.

Each attempt goes through the limiter; failures are retried.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from urllib.parse import urlsplit

from opentelemetry import trace
from opentelemetry.trace import SpanKind

from pipeline.llm.chat_model import ChatMessage, ChatRequest, Completion, LlmUsage
from pipeline.llm.completion import DraftReader, JsonProblemError, extract_json, parse_completion, repair_messages
from pipeline.llm.config import LlmConfig
from pipeline.llm.dialect import OPTIONAL_FIELDS, request_body, takes_schemas, with_schema_prompt
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
from pipeline.llm.refusal import MAX_BAD_ANSWERS, Retries
from pipeline.llm.token_count import TokenCount, estimate_tokens, load_token_count
from pipeline.tracing import open_span

_log = logging.getLogger(__name__)
_tracer = trace.get_tracer("precis.llm")


class OpenAiChatModel:
    """One model of an endpoint; a `ChatModel`. Several may share the endpoint and then share its limits.

    What the endpoint refuses of the optional fields is found out by the first call that needs it and remembered.
    """

    def __init__(self, endpoint: Endpoint, config: LlmConfig | None = None) -> None:
        """Takes the endpoint's own settings by default. Raises LlmSettingsError for an unreadable tokenizer_file."""
        self._endpoint = endpoint
        self._config = config or endpoint.config
        self._refused = frozenset({"json_schema"} if self._config.structured_output == "prompt" else ())
        self._settled: set[str] = set()
        self._settling = asyncio.Lock()
        self.count_tokens = load_token_count(self._config.tokenizer_file)
        self.identity = self._config.identity
        self.context_tokens = self._config.context_tokens
        self.prompts = self._config.prompts

    async def complete(self, request: ChatRequest) -> Completion:
        """Returns an answer; with a `json_schema`, its text is JSON that fits. Raises LlmError after all retries."""
        if self._config.temperature is not None:
            request = replace(request, temperature=self._config.temperature)
        attributes = _span_attributes(self._config, request)
        with open_span(_tracer, f"chat {self._config.model}", attributes, kind=SpanKind.CLIENT) as span:
            try:
                completion = await self._structured(request) if request.json_schema else await self._ask(request)
            except UnknownModelError:
                raise await self._unknown_model() from None
            span.set_attributes(
                {
                    "gen_ai.response.model": completion.model,
                    "gen_ai.response.finish_reasons": (completion.finish_reason,),
                    "gen_ai.usage.input_tokens": completion.prompt_tokens,
                    "gen_ai.usage.output_tokens": completion.completion_tokens,
                }
            )
            return completion

    async def _structured(self, request: ChatRequest) -> Completion:
        """Asks for JSON that fits the schema, and once more where it does not; an error tells what answers cost."""
        asked, spent = request, LlmUsage()
        while True:
            try:
                completion = await self._ask(asked)
            except LlmError as error:
                error.usage += spent
                raise
            spent += completion.usage
            try:
                text = extract_json(completion.text, request.json_schema or {})
                return replace(completion, text=text, **asdict(spent))
            except JsonProblemError as error:
                problem = str(error)
            is_cut = completion.finish_reason == "length"
            if asked is not request or request.asks_once or is_cut:
                advice = "; allow more max_tokens" if is_cut else ""
                failure = SchemaMismatchError(f"the answer is not the JSON asked for: {problem}{advice}")
                failure.usage = spent
                raise failure
            asked = replace(request, messages=repair_messages(request.messages, completion.text, problem))

    async def _ask(self, request: ChatRequest) -> Completion:
        """Calls, and calls again without a field that the endpoint turns out not to take."""
        wanted = {name for name in ("json_schema", "top_logprobs") if getattr(request, name)}
        async with self._first_of_its_kind(wanted):
            while True:
                refused = self._refused
                try:
                    completion = await self._call(request, refused)
                except RequestRefusedError as error:
                    self._learn(refused, error)
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

    def _learn(self, left_out: frozenset[str], error: RequestRefusedError) -> None:
        """Drops what was refused; raises the error if that is nothing, or a schema that the settings insist on."""
        learned = error.refused_fields & OPTIONAL_FIELDS
        insists = self._config.structured_output == "json_schema" and not takes_schemas(left_out | learned)
        if learned <= left_out or insists:
            raise error
        if not learned <= self._refused:
            self._refused |= learned
            fields = ",".join(sorted(error.refused_fields))
            _log.warning("endpoint_refuses model=%s fields=%s", self._config.model, fields)

    async def _unknown_model(self) -> UnknownModelError:
        served = ", ".join(await self._endpoint.served_models()) or "which models, it does not say"
        return UnknownModelError(
            f"the endpoint {self._config.base_url} does not serve the model {self._config.model!r}; it serves: {served}"
        )

    async def _call(self, request: ChatRequest, refused: frozenset[str]) -> Completion:
        """Returns the first good answer. Raises LlmError when there will be none."""
        endpoint = self._endpoint
        if request.json_schema is not None and not takes_schemas(refused):
            request = replace(request, messages=with_schema_prompt(request.messages, request.json_schema))
        body = request_body(request, refused, model=self._config.model, stream=self._config.stream)
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
                endpoint.usage.retries += 1
                trace.get_current_span().add_event(
                    "retry",
                    {
                        "error.type": type(error).__name__,
                        "attempt": retries.failed_attempts,
                        "delay_s": round(delay_s, 3),
                    },
                )
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
            if (length := len(completion.text)) > _most_chars(request):  # no text of so few tokens
                raise EndlessAnswerError(f"an answer of {length} characters ignores max_tokens, {request.max_tokens}")
        except LlmError as error:
            usage.failures[type(error).__name__] += 1
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


def _most_bytes(request: ChatRequest) -> int:
    """Returns how long an answer may be as it is sent: each token is an event of a stream of its own."""
    return (1 << 16) + request.max_tokens * (512 + request.top_logprobs * 256)


def _most_chars(request: ChatRequest) -> int:
    """Returns how long the text of an answer may be: no token has as many characters."""
    return 1_024 + request.max_tokens * 16


def _tokens(message: ChatMessage, count_tokens: TokenCount) -> int:
    image_tokens = 1_500  # 1024 x 1024: 765 at GPT-4o, 1,369 at Qwen2-VL (28 x 28 pixels a token)
    return count_tokens(message.content) + image_tokens * len(message.images)


def _span_attributes(config: LlmConfig, request: ChatRequest) -> dict[str, str | int | float]:
    """Describes a call after the GenAI conventions; no attribute holds a prompt, an answer or a key.

    https://github.com/open-telemetry/semantic-conventions-genai: one client span for each call, its retries as events.
    """
    address = urlsplit(config.base_url)
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",  # the convention's name for what speaks OpenAI's protocol
        "gen_ai.request.model": config.model,
        "gen_ai.request.max_tokens": request.max_tokens,
        "gen_ai.request.temperature": request.temperature,
        "gen_ai.output.type": "text" if request.json_schema is None else "json",
        "server.address": address.hostname or "",
        "server.port": address.port or (443 if address.scheme == "https" else 80),
    }
