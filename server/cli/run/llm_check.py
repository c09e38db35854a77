"""Asks language models some small questions, each of which shows whether one thing can be had of them."""

import logging
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from pipeline.llm import errors
from pipeline.llm.ask import object_schema
from pipeline.llm.chat_model import ChatMessage, ChatRequest, Completion, LlmUsage
from pipeline.llm.config import LlmConfig, LlmRole, ModelConfig
from pipeline.llm.dialect import takes_schemas
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.openai import OpenAiChatModel
from pipeline.summarize.document import SourceChunk, SummarizeOptions, make_document
from pipeline.summarize.llm_writer.writer import LlmWriter
from pipeline.summarize.plan import Planner
from server.cli.commands.summarize import EndpointOptions
from server.cli.console import Grid, print_note, print_result
from server.cli.errors import InputError, NegativeAnswer
from server.errors import SettingsError
from server.settings import Settings, load_settings

PARROT = (
    ChatMessage("system", "You are the parrot Polly. Whatever you are asked, say your name and nothing else."),
    ChatMessage("user", "What is the capital of France?"),
)
GREETING = (ChatMessage("user", "Greet Ann, who comes home late."),)
SCHEMA = object_schema({"greeting": {"type": "string"}, "warmth": {"type": "integer"}})
LETTER = (ChatMessage("user", "Is Paris the capital of France? Answer with one letter: A for yes, B for no."),)
COUNTING = (ChatMessage("user", "Count from one to sixty, in words with commas between them."),)
REFUSED = "refused"
FLAGS = {"base_url": "--endpoint", "model": "--model", "api_key_file": "--api-key-file"}
Fields = dict[str, Any]


async def check_models(
    named: EndpointOptions | None, settings_file: Path | None, *, words: int, as_json: bool, timeout_s: float
) -> None:
    """Asks every model and prints what was found. Raises InputError, and NegativeAnswer where one cannot be used."""
    logging.getLogger().addHandler(logging.NullHandler())  # else warnings of the client stand between the tables
    settings = _read_settings(named, settings_file)
    llm = settings.llm
    if llm is None:
        raise InputError("no endpoint is set: set llm.base_url and llm.model, or name --endpoint and --model")
    uses: dict[ModelConfig, list[str]] = {}
    for use, config in _uses(llm):
        uses.setdefault(config, []).append(use)
    all_found = []
    for config, names in uses.items():
        print_note(f"{', '.join(names)}: asking {config.model} at {config.base_url}")
        check = _Check(config, timeout_s)
        await check.ask_all()
        if check.told and LlmRole.WRITER in names:
            check.told["most_cost"] = check.cost_of(words, settings)
        problems = [
            f"{problem}: change {(named and FLAGS.get(name)) or setting_of(llm, names[0], name)}"
            for name, problem in check.problems
        ]
        who = {"roles": names, "model": config.model, "base_url": config.base_url}
        all_found.append({**who, "problems": problems, **check.told})
    print_result(all_found, list, _show, as_json=as_json)
    if all_problems := [f"{', '.join(one['roles'])}: {what}" for one in all_found for what in one["problems"]]:
        raise NegativeAnswer("; ".join(all_problems))


def _read_settings(named: EndpointOptions | None, file: Path | None) -> Settings:
    try:
        settings = load_settings(file, overrides={"llm": named.overrides} if named else {})
    except SettingsError as error:
        raise InputError(str(error)) from error
    if named is None or settings.llm is None:
        return settings
    return settings.model_copy(update={"llm": settings.llm.model_copy(update={"roles": {}})})


def _uses(llm: LlmConfig) -> Iterator[tuple[str, ModelConfig]]:
    """Yields who asks which model: each role, and where it fails its fallback. What changes no answer is left out."""
    for role in LlmRole:
        use, config = role.value, llm.of_role(role)
        while True:
            yield use, config.model_copy(update={"fallback": None, "temperature": None, "max_tokens": None})
            if config.fallback is None:
                break
            use, config = f"{use}.fallback", config.fallback


def setting_of(llm: LlmConfig, use: str, name: str) -> str:
    """Returns where a field of a model is set: for its role, for all roles, or for all."""
    role, *rest = (*use.split("."), name)
    own = {str(one): config.model_fields_set for one, config in llm.roles.items()}
    set_by = next((f"roles.{one}." for one in (role, "all") if rest[0] in own.get(one, ())), "")
    return f"llm.{set_by}{'.'.join(rest)}"


class _Check:
    """The questions to one model.

    Attributes:
        told: what is known after them, by names of ours; True and False for what it can and cannot.
        problems: why it cannot be used, each behind the field of the settings to change.
    """

    def __init__(self, config: ModelConfig, timeout_s: float) -> None:
        self.told: Fields = {}
        self.problems: list[tuple[str, str]] = []
        self._set = config.structured_output
        limits = config.timeouts.model_copy(update={"attempt_s": timeout_s})
        self._config = config.model_copy(update={"timeouts": limits, "structured_output": "auto"})

    async def ask_all(self) -> None:
        """Asks; nothing more where there is no first answer."""
        try:
            async with Endpoint(self._config) as endpoint:
                self._model = OpenAiChatModel(endpoint, self._config)
                await self._ask_first()
                await self._ask_for_json(endpoint)
                await self._ask_for_more()
                held = await endpoint.context_of(self._config.model)
        except (errors.AuthenticationFailedError, errors.QuotaExhaustedError, errors.LlmSettingsError) as error:
            self.problems.append(("api_key_file", str(error)))
        except errors.LlmError as error:
            self.problems.append(("model" if isinstance(error, errors.UnknownModelError) else "base_url", str(error)))
        else:
            tokens, dialect = self._config.context_tokens, self._model.dialect
            if held and held < tokens:
                self.problems.append(("context_tokens", f"{tokens:,} tokens are set, and the endpoint holds {held:,}"))
            self.told |= {"context_tokens": tokens, "held_tokens": held, "thinking_tokens": dialect.thinking_tokens}
            self.told["left_out"] = sorted(dialect.refused)

    async def _ask_first(self) -> None:
        started_s = time.monotonic()
        first = await self._model.complete(ChatRequest(PARROT, 64, 0.0, asks_once=True))
        self.told |= {"first_answer_s": round(time.monotonic() - started_s, 2), "tokens_per_s": None}
        self.told["system_role"] = self._unless_refused("system", is_kept="polly" in first.text.lower())

    async def _ask_for_json(self, endpoint: Endpoint) -> None:
        """Asks for JSON by a schema, and in words alone. Notes what of the settings makes none of it."""
        request = ChatRequest(GREETING, 128, 0.0, SCHEMA, asks_once=True)
        kept = await _answer(self._model, request) is not None
        by_schema = kept if takes_schemas(self._model.dialect.refused) else REFUSED
        in_words = self._config.model_copy(update={"structured_output": "prompt"})
        by_words = await _answer(OpenAiChatModel(endpoint, in_words), request) is not None
        self.told |= {"json_by_schema": by_schema, "json_by_words": by_words}
        if not (kept or by_words):
            self.problems.append(("model", "it writes no JSON that fits a schema"))
        elif self._set == "json_schema" and by_schema is not True:
            self.problems.append(("structured_output", "no schema is kept"))
        elif self._set != "prompt" and by_schema is False:
            self.problems.append(("structured_output", "JSON is written as words ask for it, not as a schema does"))

    async def _ask_for_more(self) -> None:
        letter = await _answer(self._model, ChatRequest(LETTER, 16, 0.0, top_logprobs=5, asks_once=True))
        self.told["logprobs"] = self._unless_refused("logprobs", is_kept=bool(letter and letter.top_logprobs))
        drafts: list[str] = []
        counting = ChatRequest(COUNTING, 256, 0.0, seed=0, asks_once=True, on_draft=drafts.append)
        started_s = time.monotonic()
        counted = await _answer(self._model, counting)
        rate = round(counted.completion_tokens / (time.monotonic() - started_s), 1) if counted else None
        self.told |= {"stream": self._unless_refused("stream", is_kept=len(drafts) > 1), "tokens_per_s": rate}

    def _unless_refused(self, name: str, *, is_kept: bool) -> bool | str:
        return REFUSED if name in self._model.dialect.refused else is_kept

    def cost_of(self, words: int, settings: Settings) -> float | None:
        """Returns what a summary of so many words costs at most, thoughts included."""
        texts = ["word " * min(500, words - at) for at in range(0, words, 500)]
        chunks = [SourceChunk(number, number + 1, text) for number, text in enumerate(texts)]
        document = make_document("check", "", chunks, limits=settings.summarize.limits)
        planner = Planner(document, LlmWriter(self._model, settings.llm_writer), settings.summarize, SummarizeOptions())
        plan = planner.plan(list(planner.packer.cuts()), [""] * len(planner.parts))
        answers = plan.max_completion_tokens() + plan.calls() * self.told["thinking_tokens"]
        cost = self._config.prices.cost_if_priced(LlmUsage(plan.calls(), plan.max_prompt_tokens(), answers))
        return None if cost is None else round(cost, 4)


async def _answer(model: OpenAiChatModel, request: ChatRequest) -> Completion | None:
    """Returns an answer; None where what was asked for cannot be had. Raises LlmError where nothing can."""
    try:
        return await model.complete(request)
    except (errors.BadAnswerError, errors.RequestRefusedError):
        return None


def _show(console: Console, all_found: Sequence[Fields]) -> None:
    for found in all_found:
        rows = [(name.replace("_", " "), _in_words(value)) for name, value in found.items()]
        console.print(Grid(("", "found"), rows, limit=0).to_table())


def _in_words(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(value) or "none"
    if isinstance(value, bool | None):
        return {True: "yes", False: "no", None: "not told"}[value]
    return value if isinstance(value, str) else f"{value:,}"
