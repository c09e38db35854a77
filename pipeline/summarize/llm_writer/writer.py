"""Abstractive summaries: the writer behind which a chat model stands. It reads the model's critique and key topics.

An answer that the output limit cut is continued until it is whole. A prompt, a file of `pipeline/prompts`, names
neither the document nor the place of its texts. So the answer holds for these texts wherever they stand.
"""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain, zip_longest
from typing import TypeVar

from pipeline.llm.ask import object_schema
from pipeline.llm.chat_model import ChatMessage, ChatModel, ChatRequest, Completion, LlmUsage
from pipeline.llm.config import NO_PRICES, LlmRole, PriceConfig
from pipeline.llm.conversation import Fence, author_of, conversation
from pipeline.llm.errors import BadAnswerError, ContextOverflowError, RequestRefusedError, SchemaMismatchError
from pipeline.prompts.prompts import Prompts
from pipeline.reading.terms import Term
from pipeline.reading.words import count_words, fold_case
from pipeline.summarize.document import SummaryType
from pipeline.summarize.llm_writer.config import LlmWriterConfig
from pipeline.summarize.packing import split_by_tokens
from pipeline.summarize.retention import Mentions, Retention
from pipeline.summarize.steering.budget import complete
from pipeline.summarize.steering.json_form import parse_schema
from pipeline.summarize.steering.wishes import LengthUnit, SummaryForm, Wishes
from pipeline.summarize.writer import (
    CriticVerdict,
    Critique,
    CritiqueTask,
    DraftListener,
    ExtractTask,
    MergeStage,
    MergeTask,
    TextTask,
    TopicList,
    TopicsTask,
    WriterLimits,
    Written,
)

Messages = tuple[ChatMessage, ...]
Answered = TypeVar("Answered")

_VERSION = "llm-4"
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
        self._chat, self._critic = chat, critic or chat
        self._config, self._prompts = config, chat.prompts
        settings = hashlib.sha256(config.model_dump_json().encode()).hexdigest()[:8]
        self.identity = f"{author_of(chat, LlmRole.WRITER, LlmRole.CRITIC)}, {_VERSION}-{settings}"
        if self._critic.identity != chat.identity:
            self.identity += f", critic {self._critic.identity}"
        self.limits = replace(_limits(chat, config), prices=prices, concurrency=concurrency)
        self.count_tokens = chat.count_tokens

    async def extract(self, task: ExtractTask) -> Written:
        """Map. What is left whole is taken as it is: a model makes short texts longer and long ones poorer."""
        if task.least_share == 1:
            return Written("\n\n".join(chunk.text for chunk in task.chunks), "stop", LlmUsage())
        return await self._write(_extract_messages(self._prompts, task), self.limits.output_tokens, task.on_draft)

    async def merge(self, task: MergeTask) -> Written:
        """Reduce. Raises SchemaMismatchError if an answer does not fit its schema, also when it is asked for again."""
        if task.json_schema:
            return await self._fill_form(task)
        messages = _merge_messages(self._prompts, task)
        # What is compressed on the way to a text is no draft of it.
        on_draft = None if task.stage is MergeStage.COMPRESS else task.on_draft
        most = min(task.target_tokens, self.limits.output_tokens)
        # What is cut beyond the length that was asked for would only become longer.
        is_too_long = task.shape.goal is not None and most < self.limits.output_tokens
        return await self._write(messages, most, on_draft, continues=not is_too_long)

    async def critique(self, task: CritiqueTask) -> Critique:
        """Reflect. A summary that is too long to be read at once is judged in parts, and FAILs if one of them does."""
        if task.passages:
            most = self._critic.context_tokens // 4
            task = replace(task, passages=split_by_tokens(task.passages, most, self._critic.count_tokens)[0])
        verdicts = await self._each_part(partial(self._critique_part, task), task.summary, self._critic, task.passages)
        order = CriticVerdict.PASS, CriticVerdict.UNPARSEABLE, CriticVerdict.FAIL
        worst = max((verdict.critic_verdict for verdict in verdicts), key=order.index)
        same = [verdict for verdict in verdicts if verdict.critic_verdict is worst]
        usage, reasons = sum((one.usage for one in verdicts), LlmUsage()), "\n\n".join(one.text for one in same)
        return Critique(worst, reasons, usage, all(one.is_general for one in same))

    async def topics(self, task: TopicsTask) -> TopicList:
        """Topics. A summary that is too long gives the best topics of each of its parts in turn."""
        parts = await self._each_part(partial(self._topics_of_part, task), task.summary, self._chat)
        in_turn = filter(None, chain.from_iterable(zip_longest(*(topics for topics, _ in parts))))
        usage = sum((cost for _, cost in parts), LlmUsage())
        return TopicList(clean_topics(in_turn, task.max_topics, task.summary), usage)

    async def _write(
        self, messages: Messages, max_tokens: int, on_draft: DraftListener | None, *, continues: bool = True
    ) -> Written:
        """Returns the answer with all its continuations.

        It ends early, still cut, when the model runs in a circle or its context is full.
        """
        request = ChatRequest(messages, max_tokens, self._config.extraction_temperature, on_draft=on_draft)
        completion = await complete(self._chat, request)
        answer = Written(completion.text, completion.finish_reason, completion.usage)
        for _ in range(self._config.max_continuations if continues else 0):
            is_endless = answer.text.count(answer.text[-_LOOP_CHARS:]) >= _LOOP_REPEATS
            is_cut = answer.finish_reason == _CUT and not is_endless
            more = _continuation(self._chat, request, answer.text) if is_cut else None
            if more is None:
                break
            try:
                completion = await complete(self._chat, more)
            except (BadAnswerError, RequestRefusedError, ContextOverflowError):  # the beginning is paid for
                break
            text = join_overlapping(answer.text, completion.text)
            if text == answer.text:
                break
            answer = Written(text, completion.finish_reason, answer.usage + completion.usage)
        return replace(answer, text=answer.text.strip())

    async def _fill_form(self, task: MergeTask, *, is_last: bool = False) -> Written:
        """Returns a text as JSON; asks once more, and says what was wrong with the first answer."""
        messages, schema = _merge_messages(self._prompts, task), parse_schema(task.json_schema)
        try:
            completion = await self._ask(messages, self.limits.output_tokens, schema)
        except SchemaMismatchError as error:
            if is_last:
                raise
            critique = "\n".join(filter(None, (str(error), task.critique)))
            again = await self._fill_form(replace(task, critique=critique), is_last=True)
            return replace(again, usage=again.usage + error.usage)
        return Written(completion.text, completion.finish_reason, completion.usage)

    async def _ask(self, messages: Messages, max_tokens: int, schema: Mapping[str, object] | None = None) -> Completion:
        temperature = self._config.extraction_temperature
        return await complete(self._chat, ChatRequest(messages, max_tokens, temperature, json_schema=schema))

    async def _critique_part(self, task: CritiqueTask, part: str) -> Critique:
        missing = (term for kind in task.retention.kinds for term in kind.missing)
        fence, critic = Fence([part, task.passages, *task.wishes.texts, *missing]), self._prompts["critic"]
        words = {
            "wishes": _wishes(self._prompts, fence, task.wishes),
            "length": critic.fill("length", words=str(_words(task.target_tokens))) if task.target_tokens else "",
            "readers": critic.fill(task.summary_type.value),
            "retention": "" if task.target_tokens else critic.fill("measured", data=_measured(fence, task.retention)),
            "passages": critic.fill("passages", data=fence.mark(task.passages)) if task.passages else "",
            "material": fence.mark(part),
        }
        max_tokens = min(self._config.critique_tokens, self.limits.output_tokens)
        request = ChatRequest(conversation(critic, fence, words), max_tokens, self._config.critique_temperature)
        completion = await complete(self._critic, request)
        text, verdict = completion.text.strip(), parse_verdict(completion.text)
        return Critique(verdict, text, completion.usage, verdict is CriticVerdict.FAIL and not _names_fault(text, task))

    async def _topics_of_part(self, task: TopicsTask, part: str) -> tuple[list[str], LlmUsage]:
        """Asks for JSON, and if the model cannot write it, for lines."""
        max_tokens = min(self._config.topics_tokens, self.limits.output_tokens)
        # A model that insists on more is cut to the best: a list of 15 is no reason to have none.
        bounds = {"minItems": task.min_topics, "maxItems": 4 * task.max_topics}
        schema = object_schema({"topics": {"type": "array", "items": {"type": "string"}, **bounds}})
        fence, counts = Fence([part]), {"min_topics": str(task.min_topics), "max_topics": str(task.max_topics)}
        messages_of = partial(conversation, self._prompts["topics"], fence, {"material": fence.mark(part), **counts})
        try:
            completion = await self._ask(messages_of(), max_tokens, schema)
        except SchemaMismatchError as error:
            completion = await self._ask(messages_of("lines"), max_tokens)
            return parse_topic_lines(completion.text), completion.usage + error.usage
        return [str(topic) for topic in json.loads(completion.text)["topics"]], completion.usage

    async def _each_part(
        self, ask: Callable[[str], Awaitable[Answered]], text: str, reader: ChatModel, beside: str = ""
    ) -> list[Answered]:
        """Asks about parts of a text that its reader's context has room for, beside examples of missing terms.

        A part that does not fit after all is asked in halves. Raises ContextOverflowError when not even a scrap fits.
        """
        room = reader.context_tokens - self.limits.output_tokens - self.limits.overhead_tokens - 400
        room -= reader.count_tokens(beside)
        parts = split_by_tokens(text, max(room, _LEAST_PROMPT_TOKENS), reader.count_tokens)
        answers: list[Answered] = []
        while parts:
            try:
                answers.append(await ask(parts[0]))
            except ContextOverflowError:
                half = reader.count_tokens(parts[0]) // 2
                if half < _LEAST_PROMPT_TOKENS:
                    raise
                parts[:1] = split_by_tokens(parts[0], half, reader.count_tokens)
            else:
                del parts[0]
        return answers


def _limits(chat: ChatModel, config: LlmWriterConfig) -> WriterLimits:
    """Fits the budgets into the model's context: a third of a small one is for the answer."""
    output = min(config.extraction_tokens, chat.context_tokens // 3)
    overhead = _overhead_tokens(chat)
    room = max(_LEAST_PROMPT_TOKENS, chat.context_tokens - output - overhead)
    prompt = min(config.prompt_budget_tokens, room)
    rooms = (("prompts", prompt, config.prompt_budget_tokens), ("answers", output, config.extraction_tokens))
    short = " and ".join(f"{what} of {has:,} tokens, not {most:,}" for what, has, most in rooms if has < most)
    shortfall = f"the context of {chat.context_tokens:,} tokens has room for {short}: more calls, shorter texts; set "
    return WriterLimits(
        prompt_budget_tokens=prompt,
        context_limit_tokens=min(config.context_limit_tokens, prompt // 2),
        model_context_tokens=chat.context_tokens,
        output_tokens=output,
        overhead_tokens=overhead,
        text_overhead_tokens=_TAG_TOKENS,
        once_tokens=config.prompt_budget_tokens,
        shortfall=f"{shortfall}llm.context_tokens to what the endpoint holds" if short else "",
    )


def _overhead_tokens(chat: ChatModel) -> int:
    """Returns the tokens of texts that together are longer than the words of ours in any prompt of map and reduce."""
    shared, of_map = chat.prompts["shared"].sections, chat.prompts["map"].sections
    longest = max((*of_map.values(), *chat.prompts["merge"].sections.values()), key=len)
    audience = max((shared[kind.value] for kind in SummaryType), key=len)
    texts = (longest, of_map["user"], audience, shared["critique"], shared["focus"])
    return _TAG_TOKENS + sum(map(chat.count_tokens, texts))


def _extract_messages(prompts: Prompts, task: ExtractTask) -> Messages:
    texts = [chunk.text for chunk in task.chunks]
    fence = Fence([*texts, *task.context, task.critique or "", *task.wishes.texts], shared=texts)
    seen = "before" if task.context_is_source else "extracted"
    context = prompts["map"].fill(seen, data="".join(map(fence.mark, task.context))) if task.context else ""
    words = {"context": context, "material": "".join(map(fence.mark, texts)), **_shared(prompts, fence, task)}
    if not task.least_share:
        return conversation(prompts["map"], fence, words)
    most = round(task.least_share * sum(map(count_words, texts)))
    return conversation(prompts["map"], fence, words | {"words": str(most)}, "share")


def _merge_messages(prompts: Prompts, task: MergeTask) -> Messages:
    texts = [extraction.text for extraction in task.extractions]
    fence = Fence([*texts, task.critique or "", *task.wishes.texts, task.shape.language], shared=texts)
    words = _shared(prompts, fence, task) | {"material": "".join(map(fence.mark, texts))}
    if task.stage is MergeStage.JSON:
        return conversation(prompts["form"], fence, words)
    if task.stage is MergeStage.SHAPE or not task.shape.is_plain:  # a final merge may have a shape as well
        return conversation(prompts["shape"], fence, words | _shape(prompts, fence, task))
    return conversation(prompts["merge"], fence, words | {"words": str(_words(task.target_tokens))}, task.stage.value)


def _shared(prompts: Prompts, fence: Fence, task: TextTask) -> dict[str, str]:
    """Returns what map and reduce are told of readers, wishes and an earlier attempt."""
    shared = prompts["shared"]
    return {
        "audience": shared.fill(task.summary_type.value),
        "wishes": _wishes(prompts, fence, task.wishes),
        "critique": shared.fill("critique", data=fence.mark(task.critique)) if task.critique else "",
    }


def _wishes(prompts: Prompts, fence: Fence, wishes: Wishes) -> str:
    """Returns what the caller wants of every text: his words are data as the document's are."""
    wanted = {"focus": wishes.focus, "instructions": wishes.instructions}
    return "\n".join(prompts["shared"].fill(name, data=fence.mark(own)) for name, own in wanted.items() if own)


def _shape(prompts: Prompts, fence: Fence, task: MergeTask) -> dict[str, str]:
    """Says how long the text shall be, in which form and language."""
    template, goal, language = prompts["shape"], task.shape.goal, task.shape.language
    form = template.fill(task.shape.form.value)
    found = {"language": template.fill("language", data=fence.mark_in_line(language)) if language else ""}
    if goal is None:
        return found | {"shape": template.fill("whole", form=form)}
    words = str(goal.amount if goal.unit is LengthUnit.WORDS else _words(goal.amount))
    form = "" if task.shape.form is SummaryForm.MARKDOWN else form  # who is asked for headings copies a document's
    kind = task.summary_type.value
    shape = template.fill("length", words=words, matters=template.fill(f"{kind} matters"), form=form)
    return found | {"shape": shape, "audience": template.fill(kind)}  # who shall keep all cannot keep a length


def _words(tokens: int) -> int:
    return max(1, int(tokens * 0.6))


def _measured(fence: Fence, retention: Retention) -> str:
    """Says in one line for each kind what share was kept, with examples of what was not."""
    lines = []
    for kind in retention.kinds:
        if kind.input_count:
            line = f"{kind.kind.value.replace('_', ' ')}: {kind.share:.0%} of {kind.input_count}"
            examples = ", ".join(kind.missing[:5])
            lines.append(f"{line}, missing for example {fence.mark_in_line(examples)}" if examples else line)
    return "\n" + "\n".join(lines) if lines else "none"


_CUT = "length"
_LOOP_CHARS = 80
_LOOP_REPEATS = 4


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


def _names_fault(text: str, task: CritiqueTask) -> bool:
    """Tells whether a FAIL quotes words of the summary, or names a term that a summary of any length lacks."""
    summary, said = fold_case(" ".join(task.summary.split())), fold_case(" ".join(text.split()))
    quotes = said.translate(str.maketrans("“”„«»`", '""""""')).split('"')[1::2]
    has_place = any(len(quote) > 1 and quote.strip(" .…") in summary for quote in quotes)
    mentions = Mentions.of("\n".join(_MARK.sub("", line) for line in text.splitlines()))  # "2." of a list is no term
    kinds = () if task.target_tokens else task.retention.kinds
    return has_place or any(mentions.has(Term(kind.kind, term)) for kind in kinds for term in kind.missing)


_MARK = re.compile(r"^\s*(?:[-*+•]|#{1,6}|\(?\d{1,2}[.)])(?!\d)\s*")
_SECTION_NUMBER = re.compile(r"^\d{1,3}(?:\.\d{1,3})*\.?\s+(?=\w)")
_MAX_TOPIC_CHARS = 100
_EDGES = " \t\"'“”‘’`*_.,;:"


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
