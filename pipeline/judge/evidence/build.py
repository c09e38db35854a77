"""Builds the evidence table: read the texts, embed once, ask the NLI model of claims and then of facts, assemble."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import NamedTuple, Self

from pipeline.judge.config import EvidenceConfig
from pipeline.judge.evidence.labels import RaisingSentences, mark_raising, read_claim
from pipeline.judge.evidence.plan import (
    EvidencePlan,
    EvidenceRequest,
    FactPlan,
    key_point_counts,
    make_plan,
    plan_facts,
    read_texts,
    said_by,
)
from pipeline.judge.evidence.proposals import Propose, apply_proposals, make_task, preferred_facts
from pipeline.judge.evidence.table import (
    Claim,
    EvidenceTable,
    EvidenceTimings,
    KeyPoint,
    KeyPointCoverage,
    SummarySegment,
)
from pipeline.judge.evidence.tone import (
    describe_intent,
    find_lexicon_hits,
    read_drift,
    without_heat,
)
from pipeline.judge.result import Framework
from pipeline.judge.second_reader import ReadAgain, SecondReadings
from pipeline.model_answers import Embeddings, Pair, PairScores
from pipeline.off_loop import OffLoop, Stopwatch
from pipeline.protocols import Models, Tokenizer
from pipeline.reading.document import ReadText
from pipeline.reading.passage import TextSpan
from pipeline.support.claim_support import ClaimLabel, ask_support, read_support


class Assistant(NamedTuple):
    """What an LLM does for the evidence. None: that is not done."""

    propose: Propose | None = None  # writes questions and chooses key points; asked once
    read_again: ReadAgain | None = None  # reads the claims that the NLI model leaves open


async def build_evidence(
    request: EvidenceRequest,
    models: Models,
    config: EvidenceConfig | None = None,
    *,
    assistant: Assistant = Assistant(),  # noqa: B008 - it cannot be changed
    off_loop: OffLoop | None = None,
) -> EvidenceTable:
    """Returns the evidence about a summary. The same input gives the same table to the last bit, timings aside.

    The embedder is asked once, the NLI model first about claims, then about key points. A claim has two pairs at most,
    a key point one, however long the source is. Raises ModelOutputError: a model's answer is unusable.
    """
    config, off_loop, stopwatch = config or EvidenceConfig(), off_loop or OffLoop(), Stopwatch()
    draft = await off_loop(partial(read_texts, request, config))
    stopwatch.lap("reading_ms")
    embeddings = await Embeddings.ask(models.embedder, draft.texts)
    stopwatch.lap("embedding_ms")
    make = partial(make_plan, draft, embeddings, models.tokenizer, calm=without_heat)
    plan = await off_loop(make)
    proposed = None
    if assistant.propose is not None:
        proposed = await assistant.propose(make_task(plan))
        if preferred := preferred_facts(plan, proposed):
            plan = await off_loop(partial(make, preferred))
    stopwatch.lap("proposals_ms")
    ask = partial(PairScores.ask, models.entailment, fold_case=draft.folds_case, with_marks=True)
    hypotheses = [claim.hypothesis for claim in plan.claims]
    said = await ask_support(ask, hypotheses)
    supports = await off_loop(lambda: [read_support(one, said, config) for one in hypotheses])
    second = await assistant.read_again(hypotheses, supports) if assistant.read_again else SecondReadings(supports)
    checked = await off_loop(partial(CheckedClaims.of, plan, said, second, models.tokenizer))
    scores = await PairScores.ask(models.entailment, checked.pairs, fold_case=draft.folds_case)
    stopwatch.lap("nli_ms")
    table = await off_loop(partial(assemble, checked, scores, models))
    if proposed is not None:
        table = await off_loop(partial(apply_proposals, table, plan, proposed))
    stopwatch.lap("assembly_ms")
    return replace(
        table,
        notes=(*table.notes, *second.notes),
        proposals_failed=table.proposals_failed or bool(second.notes),
        timings=EvidenceTimings(stopwatch.total_ms, **stopwatch.laps),
    )


@dataclass(frozen=True, slots=True, eq=False)
class CheckedClaims:
    """What is known when the claims have been checked, and the facts have not."""

    plan: EvidencePlan  # what was compared
    pair_count: int  # what the NLI model was asked about them
    claims: tuple[Claim, ...]  # with their labels
    sentences: RaisingSentences  # of the summary, by whether they may raise a score
    # where they may be told, by their sentence in the source; twice where the summary says something again
    facts: Sequence[Mapping[int, FactPlan]]

    @classmethod
    def of(cls, plan: EvidencePlan, scores: PairScores, second: SecondReadings, tokenizer: Tokenizer) -> Self:
        """Labels the claims, and plans what tells key points: no sentence that says the opposite, or whose repeat does.

        A point is told no better than by the repeats in their place: other words for the same tell no more.
        """
        claims = tuple(
            replace(read_claim(plan.draft, claim, support, scores, tokenizer), second_reading=second.readings.get(at))
            for at, (claim, support) in enumerate(zip(plan.claims, second.supports, strict=True))
        )
        marked, sentences = mark_raising(plan, claims)
        opposite = {
            said_by(plan.draft.repeats, claim.sentence_index)
            for claim in claims
            if claim.label is ClaimLabel.UNSUPPORTED and (claim.contradiction >= _OPPOSITE or claim.mismatches)
        }
        telling = sentences.telling - opposite
        again = {said_by(plan.draft.repeats, at): at for at in plan.draft.repeats}
        readings = dict.fromkeys((telling, frozenset(again.get(at, at) for at in telling)))
        return cls(plan, len(scores), marked, sentences, [plan_facts(plan, reading) for reading in readings])

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Those of the facts that words leave open, without repeats."""
        return tuple(dict.fromkeys(fact.pair for facts in self.facts for fact in facts.values() if fact.pair))


_OPPOSITE = 0.95
"""Contradiction from which an unsupported claim says the opposite: below, it often says what the source has not."""


_UNTOLD, _LIKELY = 0.05, 0.5
"""Entailment below which words tell no point fully, and from which it tells one in part that words do not."""


def assemble(checked: CheckedClaims, scores: PairScores, models: Models) -> EvidenceTable:
    """Returns the table, with timings of zero and no proposals. Parts that nobody reads are empty."""
    plan, claims, sentences = checked.plan, checked.claims, checked.sentences
    draft, tokenizer, config, readers = plan.draft, models.tokenizer, plan.draft.config, plan.draft.frameworks
    source, summary = draft.source.read, draft.summary.read
    points = _key_points(checked, scores, tokenizer)
    twin_count, judge_count = key_point_counts(source)
    tone = read_drift(plan, claims, sentences)
    twin_facts = plan.facts[:twin_count] if Framework.TWIN_LOCK in readers else ()
    judge_facts = plan.judge_facts[:judge_count] if readers - {Framework.TWIN_LOCK} else ()
    has_intent = bool(models.chat or readers - {Framework.ULTRA})  # a language model grades by it
    left_out = {"framing": (summary.framing_count, "sentence"), "heading": (summary.heading_count, "line")}
    return EvidenceTable(
        source=source.text.original,
        summary=summary.text.original,
        claims=claims,
        omitted_claim_count=draft.omitted_claim_count,
        twin_key_points=tuple(points[at] for at in sorted(twin_facts)),
        judge_key_points=tuple(points[at] for at in sorted(judge_facts)),
        segments=_segments(checked, tokenizer),
        theme=plan.theme,
        intent=describe_intent(source, tone.source_tone, tokenizer, config.intent_tokens) if has_intent else "",
        tone=tone,
        lexicon_hits=find_lexicon_hits(summary, source),
        salient_share=plan.salient_share(sentences.raising),
        summary_token_count=sum(len(summary.content_stems(words)) for words in summary.ranges),
        extraneous_token_count=sum(claim.extraneous_token_count for claim in claims),
        pair_count=checked.pair_count + len(scores),
        models=models.identities,
        notes=tuple(
            f"{name}: {count} {what}{'s' * (count > 1)} left out" for name, (count, what) in left_out.items() if count
        ),
    )


def _key_points(checked: CheckedClaims, scores: PairScores, tokenizer: Tokenizer) -> dict[int, KeyPoint]:
    """Measures how far each fact is told, by its sentence in the source (docs/concepts/evidence.md).

    A share on the edge of two coverage labels takes the lower one.
    """
    passages, config = checked.plan.draft.summary.read.passages, checked.plan.draft.config
    points = dict[int, KeyPoint]()
    for at, fact in chain.from_iterable(facts.items() for facts in checked.facts):
        clause, pair = fact.clause.passage, fact.pair
        entailment = scores.entailment(*pair) if pair else 0.0
        covered = max(entailment, fact.told_share)
        if at in points and points[at].covered_share <= covered:
            continue
        is_full = covered > config.fully_covered and entailment >= _UNTOLD
        is_open = fact.told_share < config.partly_covered and entailment < _LIKELY
        part = KeyPointCoverage.NOT if is_open else KeyPointCoverage.PARTIAL
        points[at] = KeyPoint(
            passage=clause,
            token_count=len(tokenizer.offsets(clause.text)),
            entailment=entailment,
            content_share=fact.told_share,
            covered_share=covered,
            coverage=KeyPointCoverage.FULLY if is_full else part,
            best=passages[fact.passage.best[0]] if fact.passage else None,
        )
    return points


_SEGMENT_END = re.compile(r"[;；\n\v\f\r\x85\u2028\u2029]+")


def _segments(checked: CheckedClaims, tokenizer: Tokenizer) -> tuple[SummarySegment, ...]:
    """Returns the segments that are long enough; with the short ones as one where else nothing raising is left."""
    plan, raising = checked.plan, frozenset(checked.sentences.raising)
    summary, least = plan.draft.summary.read, plan.draft.config.min_segment_tokens
    article = frozenset(plan.draft.source.read.content_stems())

    def segment(place: TextSpan, words: Iterable[int], sentence: int) -> SummarySegment:
        stems = frozenset(summary.content_stems(words))
        shared, either = len(stems & article), len(stems | article)
        to_theme, to_source = plan.subject_cosines(sentence)
        return SummarySegment(
            passage=place,
            token_count=len(tokenizer.offsets(place.text)),
            content_token_count=len(stems),
            containment=shared / len(stems) if stems else 1.0,
            jaccard=shared / either if either else 0.0,
            theme_cosine=to_theme,
            source_cosine=to_source,
            may_raise=sentence in raising,
        )

    parts = list(_parts(summary))
    made = [segment(*part) for part in parts]
    kept = [one for one in made if one.token_count >= least]
    short = [
        part
        for part, one in zip(parts, made, strict=True)
        if one.token_count < least and (one.may_raise or not raising)
    ]
    if short and not any(one.may_raise for one in kept):
        first, last = (summary.sentences[short[end][2]] for end in (0, -1))
        whole = summary.passage(first.start, last.end) if len(short) > 1 else short[0][0]
        kept.insert(0, segment(whole, [at for _, words, _ in short for at in words], short[0][2]))
    return tuple(kept)


def _parts(summary: ReadText) -> Iterator[tuple[TextSpan, Sequence[int], int]]:
    """Yields sentences, cut at semicolons and line ends, each with its words and the sentence that it is a part of."""
    text = summary.text.text
    for index, sentence in enumerate(summary.sentences):
        cuts = [cut.span() for cut in _SEGMENT_END.finditer(text, sentence.start, sentence.end)]
        starts, ends = (sentence.start, *(end for _, end in cuts)), (*(start for start, _ in cuts), sentence.end)
        for first, last in zip(starts, ends, strict=True):
            if part := text[first:last].strip():
                start = text.index(part, first)
                words = [at for at in summary.ranges[index] if start <= summary.table.starts[at] < start + len(part)]
                yield summary.passage(start, start + len(part)), words, index
