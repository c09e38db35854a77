"""Abstractive summaries: the writer behind which a chat model stands. It reads the model's critique and key topics.

An answer that the output limit cut is continued until it is whole.
"""

import hashlib
import json
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from pipeline.llm.ask import object_schema
from pipeline.llm.chat_model import ChatMessage, ChatModel, ChatRequest, LlmUsage
from pipeline.llm.config import NO_PRICES, LlmRole, PriceConfig
from pipeline.llm.conversation import author_of
from pipeline.llm.errors import BadAnswerError, ContextOverflowError, RequestRefusedError, SchemaMismatchError
from pipeline.reading.words import fold_case
from pipeline.summarize.llm_writer import messages as prompted
from pipeline.summarize.llm_writer.config import LlmWriterConfig
from pipeline.summarize.packing import split_by_tokens
from pipeline.summarize.steering.budget import BudgetedChatModel
from pipeline.summarize.steering.json_form import parse_schema
from pipeline.summarize.writer import (
    CriticVerdict,
    Critique,
    CritiqueTask,
    DraftListener,
    ExtractTask,
    MergeStage,
    MergeTask,
    TopicList,
    TopicsTask,
    WriterLimits,
    Written,
    draft_listener,
)

_log = logging.getLogger(__name__)
_VERSION = "llm-3"
_TAG_TOKENS = 24  # <data-0123abcd> and its end, in the tokenizer that likes them least
_LEAST_PROMPT_TOKENS = 256


class LlmWriter:
    """Asks a chat model; `pipeline.summarize.writer.Writer`.

    Args:
        chat: any model; a small context makes batches, answers and groups smaller.
        critic: reads the summary and judges it; None: the same.
        prices: of both.
        concurrency: calls in flight that make sense: the endpoint's limit.
    """

    def __init__(
        self,
        chat: ChatModel,
        config: LlmWriterConfig,
        *,
        critic: ChatModel | None = None,
        prices: PriceConfig = NO_PRICES,
        concurrency: int = 8,
    ) -> None:
        self._chat = BudgetedChatModel(chat)
        self._critic = BudgetedChatModel(critic or chat)
        self._config = config
        self._prompts = chat.prompts
        settings = hashlib.sha256(config.model_dump_json().encode()).hexdigest()[:8]
        self.identity = f"{author_of(chat, LlmRole.WRITER, LlmRole.CRITIC)}, {_VERSION}-{settings}"
        if self._critic.identity != chat.identity:
            self.identity += f", critic {self._critic.identity}"
        self.limits = replace(_limits(chat, config), prices=prices, concurrency=concurrency)
        if self.limits.shortfall:
            _log.warning("%s", self.limits.shortfall)

    def count_tokens(self, text: str) -> int:
        """Counts as the chat model does."""
        return self._chat.count_tokens(text)

    async def extract(self, task: ExtractTask) -> Written:
        """Map. What is left whole is taken as it is: a model makes short texts longer and long ones poorer."""
        if task.least_share == 1:
            return Written("\n\n".join(chunk.text for chunk in task.chunks), "stop", LlmUsage())
        messages = prompted.extract_messages(self._prompts, task)
        return await self._write(messages, self.limits.output_tokens, draft_listener())

    async def merge(self, task: MergeTask) -> Written:
        """Reduce."""
        if task.json_schema:
            return await self._write_json(task)
        # What is compressed on the way to a text is no draft of it.
        on_draft = None if task.stage is MergeStage.COMPRESS else draft_listener()
        messages = prompted.merge_messages(self._prompts, task)
        return await self._write(messages, min(task.target_tokens, self.limits.output_tokens), on_draft)

    async def critique(self, task: CritiqueTask) -> Critique:
        """Reflect. A summary that is too long to be read at once is judged in parts, and FAILs if one of them does."""
        verdicts = [await self._critique_part(task, part) for part in self._parts(task.summary, self._critic)]
        order = CriticVerdict.PASS, CriticVerdict.UNPARSEABLE, CriticVerdict.FAIL
        worst = max((verdict.critic_verdict for verdict in verdicts), key=order.index)
        same = [verdict for verdict in verdicts if verdict.critic_verdict is worst]
        usage, reasons = sum((one.usage for one in verdicts), LlmUsage()), "\n\n".join(one.text for one in same)
        return Critique(worst, reasons, usage, all(one.is_general for one in same))

    async def topics(self, task: TopicsTask) -> TopicList:
        """Topics. A summary that is too long gives the best topics of each of its parts in turn."""
        lists: list[Sequence[str]] = []
        usage = LlmUsage()
        for part in self._parts(task.summary, self._chat):
            topics, cost = await self._topics_of_part(task, part)
            lists.append(topics)
            usage += cost
        in_turn = (topic for topic in chain.from_iterable(zip_longest(*lists)) if topic)
        return TopicList(clean_topics(in_turn, task.max_topics, task.summary), usage)

    async def _write(self, messages: prompted.Messages, max_tokens: int, on_draft: DraftListener | None) -> Written:
        request = ChatRequest(messages, max_tokens, self._config.extraction_temperature, on_draft=on_draft)
        answer = await complete_whole(self._chat, request, self._config.max_continuations)
        return replace(answer, text=answer.text.strip())

    async def _write_json(self, task: MergeTask) -> Written:
        """Asks for an answer that fits a schema. Raises SchemaMismatchError if it does not, also after the repair."""
        max_tokens, temperature = self.limits.output_tokens, self._config.extraction_temperature
        schema = parse_schema(task.json_schema)
        request = ChatRequest(prompted.merge_messages(self._prompts, task), max_tokens, temperature, json_schema=schema)
        completion = await self._chat.complete(request)
        return Written(completion.text, completion.finish_reason, completion.usage)

    async def _critique_part(self, task: CritiqueTask, part: str) -> Critique:
        max_tokens = min(self._config.critique_tokens, self.limits.output_tokens)
        messages = prompted.critique_messages(self._prompts, task, part)
        request = ChatRequest(messages, max_tokens, self._config.critique_temperature)
        completion = await self._critic.complete(request)
        text, verdict = completion.text.strip(), parse_verdict(completion.text)
        return Critique(verdict, text, completion.usage, verdict is CriticVerdict.FAIL and not names_fault(text, task))

    async def _topics_of_part(self, task: TopicsTask, part: str) -> tuple[list[str], LlmUsage]:
        """Asks for JSON, and if the model cannot write it, for lines."""
        max_tokens = min(self._config.topics_tokens, self.limits.output_tokens)
        request = ChatRequest(
            prompted.topics_messages(self._prompts, task, part, as_lines=False),
            max_tokens,
            self._config.extraction_temperature,
            # A model that insists on more is cut to the best: a list of 15 is no reason to have none.
            json_schema=topics_schema(task.min_topics, 4 * task.max_topics),
        )
        try:
            completion = await self._chat.complete(request)
        except SchemaMismatchError:
            messages = prompted.topics_messages(self._prompts, task, part, as_lines=True)
            completion = await self._chat.complete(
                ChatRequest(messages, max_tokens, self._config.extraction_temperature)
            )
            return parse_topic_lines(completion.text), completion.usage
        return [str(topic) for topic in json.loads(completion.text)["topics"]], completion.usage

    def _parts(self, text: str, reader: ChatModel) -> list[str]:
        """Cuts a text into parts that its reader's context has room for, beside examples of missing terms."""
        room = reader.context_tokens - self.limits.output_tokens - self.limits.overhead_tokens - 400
        return split_by_tokens(text, max(room, _LEAST_PROMPT_TOKENS), reader.count_tokens)


def _limits(chat: ChatModel, config: LlmWriterConfig) -> WriterLimits:
    """Fits the budgets into the model's context: a third of a small one is for the answer."""
    output = min(config.extraction_tokens, chat.context_tokens // 3)
    overhead = _TAG_TOKENS + sum(map(chat.count_tokens, prompted.overhead_of(chat.prompts)))
    room = max(_LEAST_PROMPT_TOKENS, chat.context_tokens - output - overhead)
    prompt = min(config.prompt_budget_tokens, room)
    return WriterLimits(
        prompt_budget_tokens=prompt,
        context_limit_tokens=min(config.context_limit_tokens, prompt // 2),
        model_context_tokens=chat.context_tokens,
        output_tokens=output,
        overhead_tokens=overhead,
        text_overhead_tokens=_TAG_TOKENS,
        shapes_merges=True,
        shortfall=_shortfall(chat, config, prompt, output),
    )


def _shortfall(chat: ChatModel, config: LlmWriterConfig, prompt_tokens: int, output_tokens: int) -> str:
    """Says what a small context cannot hold; empty if it holds the budgets."""
    if prompt_tokens >= config.prompt_budget_tokens and output_tokens >= config.extraction_tokens:
        return ""
    return (
        f"the context of {chat.context_tokens:,} tokens has room for prompts of {prompt_tokens:,} tokens, not "
        f"{config.prompt_budget_tokens:,}, and answers of {output_tokens:,}, not {config.extraction_tokens:,}: "
        "more calls, shorter texts; set llm.context_tokens to what the endpoint holds"
    )


_CUT = "length"
_LOOP_CHARS = 80
_LOOP_REPEATS = 4


async def complete_whole(chat: ChatModel, request: ChatRequest, max_continuations: int) -> Written:
    """Returns the answer with all its continuations.

    It ends early, still cut, when the model runs in a circle or its context is full.
    """
    completion = await chat.complete(request)
    answer = Written(completion.text, completion.finish_reason, completion.usage)
    for _ in range(max_continuations):
        if answer.finish_reason != _CUT or _runs_in_circle(answer.text):
            break
        more = _continuation(chat, request, answer.text)
        if more is None:
            break
        try:
            completion = await chat.complete(more)
        except (BadAnswerError, RequestRefusedError, ContextOverflowError):  # the beginning is paid for
            break
        text = join_overlapping(answer.text, completion.text)
        if text == answer.text:
            break
        answer = Written(text, completion.finish_reason, answer.usage + completion.usage)
    return answer


def join_overlapping(text: str, continuation: str) -> str:
    """Joins two texts. Models like to begin with the last words again, and those stand only once in the result."""
    shortest = 12  # shorter ones happen by chance: "\n- The "
    for size in range(min(len(text), len(continuation), 300), shortest - 1, -1):
        if text.endswith(continuation[:size]):
            return text + continuation[size:]
    return text + continuation


def _continuation(chat: ChatModel, request: ChatRequest, text: str) -> ChatRequest | None:
    """Returns the request for more; None if the context has no room for it."""
    go_on = ChatMessage("user", chat.prompts["shared"].fill("continue"))
    messages = (*request.messages, ChatMessage("assistant", text), go_on)
    room = chat.context_tokens - sum(chat.count_tokens(message.content) for message in messages)
    if room < request.max_tokens // 4:
        return None
    more = replace(request, messages=messages, max_tokens=min(request.max_tokens, room))
    if (on_draft := request.on_draft) is not None:
        more = replace(more, on_draft=lambda continuation: on_draft(join_overlapping(text, continuation)))
    return more


def _runs_in_circle(text: str) -> bool:
    """Tells whether a text ends in the same words again and again: an endless answer."""
    return text.count(text[-_LOOP_CHARS:]) >= _LOOP_REPEATS


# The first word, whatever stands around it: "PASS", "**FAIL**", "Verdict: PASS". "PASS or FAIL" is no verdict.
_VERDICT = re.compile(
    r"[\W_]*(?:(?:final\s+)?(?:verdict|evaluation|decision|result|answer)[\W_]+)?(PASS|FAIL)(?:ED)?(?![^\W_])"
    r"(?![\W_]*+(?:(?:or|and)[\W_]*+)?(?:PASS|FAIL)(?![^\W_]))",
    re.IGNORECASE,
)


def parse_verdict(text: str) -> CriticVerdict:
    """Returns PASS or FAIL if the answer begins with it, else UNPARSEABLE."""
    match = _VERDICT.match(text)
    if match is None:
        return CriticVerdict.UNPARSEABLE
    return CriticVerdict.PASS if match.group(1).upper() == "PASS" else CriticVerdict.FAIL


def names_fault(text: str, task: CritiqueTask) -> bool:
    """Tells whether a FAIL quotes words of the summary, or names a term that the summary lacks."""
    summary, said = fold_case(" ".join(task.summary.split())), fold_case(" ".join(text.split()))
    quotes = said.translate(str.maketrans("“”„«»`", '""""""')).split('"')[1::2]
    missing = (fold_case(term) for kind in task.retention.kinds for term in kind.missing)
    has_place = any(len(quote) > 1 and quote.strip(" .…") in summary for quote in quotes)
    return has_place or any(term in said for term in missing)


_MARK = re.compile(r"^\s*(?:[-*+•]|#{1,6}|\(?\d{1,2}[.)])(?!\d)\s*")
_SECTION_NUMBER = re.compile(r"^\d{1,3}(?:\.\d{1,3})*\.?\s+(?=\w)")
_MAX_TOPIC_CHARS = 100
_EDGES = " \t\"'“”‘’`*_.,;:"


def topics_schema(min_topics: int, max_topics: int) -> Mapping[str, object]:
    """Returns the JSON schema of the answer."""
    item = {"type": "string", "minLength": 2, "maxLength": _MAX_TOPIC_CHARS}
    array = {"type": "array", "items": item, "minItems": min_topics, "maxItems": max_topics}
    return object_schema({"topics": array})


def parse_topic_lines(text: str) -> list[str]:
    """Returns the topics of an answer with one on each line."""
    return [_MARK.sub("", line) for line in text.splitlines() if line.strip() and not line.rstrip().endswith(":")]


def clean_topics(topics: Iterable[str], max_topics: int, summary: str = "") -> tuple[str, ...]:
    """Returns the first topics that have words, without repeats, quotes, list marks and the numbers of headings."""
    headings = {fold_case(line.lstrip("# ")) for line in summary.splitlines() if line.startswith("#")}
    kept: dict[str, str] = {}
    for topic in topics:
        clean = _MARK.sub("", " ".join(topic.split())).strip(_EDGES)
        if fold_case(clean) in headings:
            clean = _SECTION_NUMBER.sub("", clean)
        if len(clean) <= _MAX_TOPIC_CHARS and any(map(str.isalpha, clean)):
            kept.setdefault(fold_case(clean), clean)
    return tuple(kept.values())[:max_topics]
