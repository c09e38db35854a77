"""The gate behind every answer that becomes part of a summary, whoever wrote it.

An answer is unwrapped, inspected and, where sentences are not the input's own, read by a model; what is wrong is
repaired by place. What is then still no extraction is asked for again, once, with the faults; what stays unusable is
replaced by sentences of the input. All of it is a function of task and answer, so that a stored outcome stays true.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from weakref import WeakValueDictionary

from pipeline.model_answers import PairScores
from pipeline.off_loop import OffLoop
from pipeline.protocols import Entailment
from pipeline.reading.word_table import WordTable
from pipeline.reading.words import count_words
from pipeline.summarize.gate.config import TrustConfig
from pipeline.summarize.gate.findings import Checked, FaultKind, Remedy, Trust, TrustFinding
from pipeline.summarize.gate.inspect import Inspection, inspect, repair, riskiest
from pipeline.summarize.gate.source import SourceText
from pipeline.summarize.retention import Stated, find_stated, measure_recall
from pipeline.summarize.writer import (
    Critique,
    CritiqueTask,
    ExtractTask,
    MergeTask,
    TopicList,
    TopicsTask,
    Writer,
    Written,
)
from pipeline.support.claim_support import DEFAULT_SUPPORT, Hypothesis, Support, SupportConfig, read_support

_SHARE = 32  # pairs that one caller may have read before the next one's turn: about a second


class ClaimReader:
    """Has sentences read, so many answers at once, in turns of the callers: nobody waits for all work of another.

    Args:
        most_at_once: calls of the model at the same time.
        config: what the labels mean.
    """

    def __init__(self, entailment: Entailment, most_at_once: int, config: SupportConfig) -> None:
        self.identity = str(entailment.identity)
        self._entailment, self._config = entailment, config
        self._most_at_once = most_at_once
        self._places = asyncio.Semaphore(most_at_once)  # first come, first served; a caller stands there but so often
        self._callers: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def read(self, claims: Sequence[Hypothesis], *, caller: str = "") -> list[Support]:
        """Returns what the model says of each sentence."""
        pairs = list(dict.fromkeys(pair for claim in claims for pair in claim.pairs))
        scores = await PairScores.ask(self._entailment, ())
        own = self._callers.setdefault(caller, asyncio.Semaphore(self._most_at_once))
        async with own:
            for first in range(0, len(pairs), _SHARE):
                async with self._places:
                    scores.add(await PairScores.ask(self._entailment, pairs[first : first + _SHARE]))
        return [read_support(claim, scores, self._config) for claim in claims]


VERSION = "gate-7"
"""Changes whenever the same answer may come out otherwise, so that no stored outcome stands for it."""

_FEWEST_VALUES = 8  # of an input whose answer must keep some
_LEAST_LENGTH = 0.02  # of an input that has values, or of texts that are merged, in words
_LEAST_SHAPED = 0.15  # of the room of a text whose length was asked for; the room is half as much again as that length


@dataclass(frozen=True, eq=False)
class Case:
    """A task as the gate sees it.

    Attributes:
        source: its texts.
        least_recall: share of their values that an answer must keep with their subjects.
        room: share of the texts that an answer has room for.
        is_merge: the texts were checked already, and none of them may vanish.
        least_length: share of its room that an answer must fill.
        caller: in whose turn a model reads.
    """

    source: SourceText
    least_recall: float
    room: float
    is_merge: bool
    least_length: float = _LEAST_LENGTH
    caller: str = ""

    @property
    def text(self) -> str:
        """The texts."""
        return self.source.text

    @cached_property
    def stated(self) -> list[Stated]:
        """The values of the texts."""
        return find_stated(self.source.text)

    def read(self) -> "Case":
        """Reads what every answer is compared with. Linear in the length of the texts."""
        _ = self.stated, self.word_count, self.source.sentences
        return self

    @cached_property
    def word_count(self) -> int:
        """Words of the texts."""
        return count_words(self.source.text)


class TrustGate:
    """Checks answers. One object serves all summaries of a process.

    Args:
        entailment: reads sentences; None: only what needs no model is checked.
        fallback: writes what stays unusable, from the input's own sentences; None: the input itself is kept, cut.
        executor: threads for reading texts. None: in the loop's own thread, for scripts and tests.

    Attributes:
        reader: has sentences read; None without a model.
    """

    def __init__(
        self,
        config: TrustConfig,
        entailment: Entailment | None = None,
        fallback: Writer | None = None,
        *,
        support: SupportConfig = DEFAULT_SUPPORT,
        executor: Executor | None = None,
    ) -> None:
        self.config, self.support = config, support
        self.asks_again, self.max_cited_claims = config.asks_again, config.max_cited_claims
        self.fallback = fallback if config.rewrites else None
        self.reader = ClaimReader(entailment, config.max_checks, support) if entailment and config.claims else None
        self._off_loop = OffLoop(executor)
        model = self.reader.identity if self.reader else ""
        writer = self.fallback.identity if self.fallback else ""
        settings = config.model_dump_json(exclude={"max_checks", "max_cited_claims"})
        digest = hashlib.sha256(f"{settings}\n{support.support_settings()}\n{model}\n{writer}".encode())
        self.identity = f"{VERSION}-{digest.hexdigest()[:12]}"

    async def read(self, task: ExtractTask | MergeTask, *, room: float, caller: str) -> Case:
        """Reads a task's texts, while its answer is on the way.

        Args:
            room: share of the texts that an answer has room for, in (0, 1].
            caller: in whose turn a model will read the answer.
        """
        return await self._off_loop(lambda: replace(self._case(task, room), caller=caller).read())

    def _case(self, task: ExtractTask | MergeTask, room: float) -> Case:
        orders = task.wishes.instructions
        if isinstance(task, ExtractTask):
            texts = [chunk.text for chunk in task.chunks]
            source = SourceText(texts, task.context, task.document_name, orders=orders)
            return Case(source, self.config.min_map_recall * room, room, is_merge=False)
        texts = [one.text for one in task.extractions]
        source = SourceText(texts, (), task.document_name, task.shape.language, orders)
        # What a text leaves out whose length, form or subject the caller chose is as he wants it.
        least = self.config.min_merge_recall * room if task.shape.is_plain and not task.wishes.focus else 0.0
        least_length = _LEAST_SHAPED if task.shape.goal else _LEAST_LENGTH
        return Case(source, least, room, is_merge=True, least_length=least_length)

    async def if_clean(self, answer: str, case: Case) -> Checked | None:
        """Returns what it says of an answer that needs neither model nor repair; None of any other."""
        return await self._off_loop(lambda: self._if_clean(answer, case))

    def _if_clean(self, answer: str, case: Case) -> Checked | None:
        found = inspect(answer, case.source)
        if found.whole or found.faults or found.removed or found.to_read:
            return None
        checked = _conclude(found, case, 0, self.config.max_dropped)
        return checked if checked.whole is None and checked.text == answer else None

    async def check(self, answer: str, case: Case) -> Checked:
        """Has the model read what must be read, and repairs the answer."""
        found = await self._off_loop(lambda: inspect(answer, case.source))
        is_read = self.reader is not None and case.source.is_english and found.whole is None
        to_read = found.to_read if is_read else []
        chosen = riskiest([found.words_of(number) for number in to_read], self.config.max_claims)
        numbers = [to_read[at] for at in chosen]
        if numbers:
            await self._read_claims(found, case, numbers)
        return await self._off_loop(lambda: _conclude(found, case, len(numbers), self.config.max_dropped))

    async def instead(self, text: str, case: Case, why: TrustFinding) -> Checked:
        """Returns a text that was chosen from the input in place of an answer."""
        recall = await self._off_loop(lambda: measure_recall(case.stated, [text, *case.source.context]))
        return Checked(text, Trust((why,)), None, recall, 0.0)

    async def _read_claims(self, found: Inspection, case: Case, numbers: Sequence[int]) -> None:
        """Adds the parts that the passage which speaks of them does not support to the faults."""
        assert self.reader is not None  # noqa: S101 - the caller asks for it
        claims = await self._off_loop(lambda: [case.source.claim(found.words_of(number)) for number in numbers])
        supports = await self.reader.read(claims, caller=case.caller)
        for number, support in zip(numbers, supports, strict=True):
            if not support.is_supported:
                found.faults[number] = FaultKind.UNSUPPORTED


def _conclude(found: Inspection, case: Case, read_count: int, max_dropped: float) -> Checked:
    """Repairs an answer and judges what is left of it."""
    text, findings = repair(found, case.source)
    recall = measure_recall(case.stated, [text, *case.source.context])
    trust = Trust(
        (*found.removed, *findings), len(found.parts), found.verbatim_count, read_count, len(found.to_read) - read_count
    )
    lost = sum(one.remedy is Remedy.DROPPED for one in findings)
    checked = Checked(text, trust, found.whole, recall, lost_share=lost / max(1, len(found.parts)))
    if found.whole is None:
        checked = replace(checked, whole=_whole_fault(checked, found, case, max_dropped))
    return checked


def _whole_fault(checked: Checked, found: Inspection, case: Case, max_dropped: float) -> FaultKind | None:
    first = next(iter(found.faults.values()), FaultKind.EMPTY)
    if not any(map(str.isalnum, checked.text)) or checked.lost_share > max_dropped:
        return first
    has_values = checked.recall.input_count >= _FEWEST_VALUES
    length = count_words(checked.text) / max(1.0, case.word_count * case.room)
    is_short = (has_values or case.is_merge) and length < case.least_length
    is_lossy = has_values and checked.recall.share < case.least_recall
    if (is_short or is_lossy) and 2 * len(found.faults) > len(found.parts):
        return first
    if is_short:
        return FaultKind.TOO_SHORT
    return FaultKind.LOST_VALUES if is_lossy else None


_MOST_WORDS = 8  # more are no phrase, but the beginning of a sentence


class GatedWriter:
    """A `pipeline.summarize.writer.Writer` whose texts must pass a gate before they become part of a summary.

    Attributes:
        inner: who writes.
        trust_gate: what checks.
    """

    def __init__(self, inner: Writer, gate: TrustGate) -> None:
        self.inner, self.trust_gate = inner, gate
        self.identity = f"{inner.identity}, {gate.identity}"
        self.limits = replace(inner.limits, repeats=int(gate.config.asks_again))

    def count_tokens(self, text: str) -> int:
        """Counts as the inner writer does."""
        return self.inner.count_tokens(text)

    async def extract(self, task: ExtractTask) -> Written:
        """Map, unchecked."""
        return await self.inner.extract(task)

    async def merge(self, task: MergeTask) -> Written:
        """Reduce, unchecked."""
        return await self.inner.merge(task)

    async def critique(self, task: CritiqueTask) -> Critique:
        """Reflect: becomes no part of the summary."""
        return await self.inner.critique(task)

    async def topics(self, task: TopicsTask) -> TopicList:
        """Topics that the summary mentions; where these are too few, phrases of the summary."""
        answer = await self.inner.topics(task)
        known = set(WordTable.of(task.summary).stems)
        kept = tuple(topic for topic in answer.topics if _is_known(topic, known))
        left_out = tuple(topic for topic in answer.topics if topic not in kept)
        if left_out and len(kept) < task.min_topics and self.trust_gate.fallback:
            more = await self.trust_gate.fallback.topics(replace(task, max_topics=task.min_topics))
            said = {topic.lower() for topic in kept}
            kept = (*kept, *(topic for topic in more.topics if topic.lower() not in said))[: task.min_topics]
        return replace(answer, topics=kept, left_out=left_out)


def _is_known(topic: str, known: set[str]) -> bool:
    """Tells whether a topic is a phrase of which the summary has at least half of the words, and no tag."""
    table = WordTable.of(topic)
    stems = table.content_stems(range(len(table)))
    is_plain = not any(mark in topic for mark in "<>{}[]")
    return is_plain and 0 < len(stems) <= _MOST_WORDS and 2 * len(known.intersection(stems)) >= len(set(stems))
