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
from weakref import WeakValueDictionary

from pipeline.model_answers import Pair, PairScores
from pipeline.off_loop import OffLoop
from pipeline.protocols import Entailment
from pipeline.reading.word_table import WordTable
from pipeline.reading.words import count_words
from pipeline.summarize.gate.config import TrustConfig
from pipeline.summarize.gate.findings import Checked, FaultKind, Remedy, Trust, TrustFinding
from pipeline.summarize.gate.inspect import Inspection, SourceText, inspect, repair, riskiest, with_lost_values
from pipeline.summarize.retention import Kept, measure_recall
from pipeline.summarize.writer import ExtractTask, TextTask, TopicList, TopicsTask, Writer
from pipeline.support.claim_support import (
    DEFAULT_SUPPORT,
    Hypothesis,
    Support,
    SupportConfig,
    ask_support,
    read_support,
)

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
        own = self._callers.setdefault(caller, asyncio.Semaphore(self._most_at_once))
        async with own:
            scores = await ask_support(self._ask, claims)
        return [read_support(claim, scores, self._config) for claim in claims]

    async def _ask(self, pairs: Sequence[Pair]) -> PairScores:
        scores = await PairScores.ask(self._entailment, ())
        for first in range(0, len(pairs), _SHARE):
            async with self._places:
                scores.add(await PairScores.ask(self._entailment, pairs[first : first + _SHARE]))
        return scores


VERSION = "gate-14"
"""Changes whenever the same answer may come out otherwise, so that no stored outcome stands for it."""

_FEWEST_VALUES = 8  # of an input whose answer must keep some
_LEAST_LENGTH = 0.02  # of an input that has values, or of texts that are merged, in words


@dataclass(frozen=True, slots=True)
class Case:
    """A task as the gate sees it."""

    source: SourceText  # its texts
    least_recall: float  # share of their values that an answer must keep with their subjects
    # share of its room that an answer must fill, in words; where no value is stated only in a merge, whose texts may
    # not vanish
    least_length: float
    room: float  # share of the texts that an answer has room for
    is_merge: bool
    caller: str  # in whose turn a model reads
    keeps_values: bool = False  # whether values that an answer of full room loses are added, in sentences of the texts


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

    async def read(self, task: TextTask, *, room: float, caller: str, keeps_values: bool = False) -> Case:
        """Reads a task's texts, while its answer is on the way. Arguments as in `Case`; room in (0, 1]."""
        name, orders, config = task.document_name, task.wishes.instructions, self.config
        if isinstance(task, ExtractTask):
            source = SourceText([chunk.text for chunk in task.chunks], task.context, name, orders=orders)
            least, least_length = config.min_map_recall * room, _LEAST_LENGTH
        else:
            source = SourceText([one.text for one in task.extractions], (), name, task.shape.language, orders)
            # What a text leaves out whose length, form or subject the caller chose is as he wants it.
            least = config.min_merge_recall * room if task.shape.is_plain and not task.wishes.focus else 0.0
            least_length = 0.0 if task.shape.goal else _LEAST_LENGTH  # what is short of a goal is mended
        keeps_values = keeps_values and room == 1 and least > 0 and not source.is_translated
        case = Case(source, least, least_length, room, not isinstance(task, ExtractTask), caller, keeps_values)
        await self._off_loop(lambda: (source.stated, source.word_count, source.sentences))
        return case

    async def inspect(self, answer: str, case: Case) -> Inspection:
        """Returns what it sees in an answer without a model."""
        return await self._off_loop(lambda: inspect(answer, case.source))

    async def check(self, found: Inspection, case: Case) -> Checked:
        """Has the model read what must be read, and repairs the answer."""
        source, read = case.source, list[int]()
        if self.reader is not None and source.is_english and found.whole is None:
            chosen = riskiest([found.words_of(number) for number in found.to_read], self.config.max_claims)
            read = [found.to_read[at] for at in chosen]
        if self.reader is not None and read:
            claims = await self._off_loop(lambda: [source.finder.find(found.words_of(at)).hypothesis for at in read])
            for number, support in zip(read, await self.reader.read(claims, caller=case.caller), strict=True):
                if not support.is_supported:
                    found.faults[number] = FaultKind.UNSUPPORTED
        return await self._off_loop(lambda: self._conclude(found, case, len(read)))

    async def instead(self, text: str, case: Case, why: TrustFinding) -> Checked:
        """Returns a text that was chosen from the input in place of an answer."""
        recall = await self._off_loop(lambda: measure_recall(case.source.stated, [text, *case.source.context]))
        return Checked(text, Trust((why,)), None, recall, 0.0)

    def _conclude(self, found: Inspection, case: Case, read_count: int) -> Checked:
        """Repairs an answer and judges what is left of it."""
        text, findings = repair(found, case.source)
        recall = measure_recall(case.source.stated, [text, *case.source.context])
        is_sound = found.whole is None and 2 * len(found.faults) <= len(found.parts)
        if recall.missing and is_sound and case.keeps_values:
            text = with_lost_values(text, case.source)
            recall = measure_recall(case.source.stated, [text, *case.source.context])
        unread_count = len(found.to_read) - read_count
        findings = [*found.removed, *findings]
        trust = Trust(tuple(findings), len(found.parts), found.verbatim_count, read_count, unread_count)
        lost = sum(one.remedy is Remedy.DROPPED for one in findings) / max(1, len(found.parts))
        whole = found.whole or _too_little(text, recall, case)
        is_emptied = lost > self.config.max_dropped or whole is FaultKind.EMPTY or (whole and not is_sound)
        if found.whole is None and is_emptied:
            whole = next(iter(found.faults.values()), FaultKind.EMPTY)
        return Checked(text, trust, whole, recall, lost)


def _too_little(text: str, recall: Kept, case: Case) -> FaultKind | None:
    """Returns what an answer says too little of; None if it says enough."""
    if not any(map(str.isalnum, text)):
        return FaultKind.EMPTY
    has_values = recall.input_count >= _FEWEST_VALUES
    length = count_words(text) / max(1.0, case.source.word_count * case.room)
    if (has_values or case.is_merge) and length < case.least_length:
        return FaultKind.TOO_SHORT
    return FaultKind.LOST_VALUES if has_values and recall.share < case.least_recall else None


_MOST_WORDS = 8  # more are no phrase, but the beginning of a sentence


class GatedWriter:
    """A `pipeline.summarize.writer.Writer` whose texts must pass a gate before they become part of a summary."""

    def __init__(self, inner: Writer, gate: TrustGate) -> None:
        self.inner, self.trust_gate = inner, gate
        self.identity = f"{inner.identity}, {gate.identity}"
        self.limits = replace(inner.limits, repeats=int(gate.asks_again))
        self.count_tokens, self.critique = inner.count_tokens, inner.critique  # becomes no part of a summary
        self.extract, self.merge = inner.extract, inner.merge  # unchecked

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
