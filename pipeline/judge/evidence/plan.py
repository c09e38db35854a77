"""Chooses the passage of every claim and fact, and so all NLI pairs of the request. Second step.

A claim is compared with a passage of the source and with a shorter one: several sentences may say it together, and what
else stands in a passage leads the model astray. A fact of the source is compared with one passage of the summary, which
is made of raising sentences alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.judge.config import EvidenceConfig
from pipeline.judge.evidence.claims import ClaimSpan
from pipeline.judge.evidence.draft import EvidencePart, ReadTexts, Side
from pipeline.model_answers import Embeddings, Pair
from pipeline.off_loop import stop_if_nobody_waits
from pipeline.reading.document import ReadText
from pipeline.reading.index import Closeness, Float64
from pipeline.reading.passage import TextSpan
from pipeline.reading.passages import Passage, claim_weights
from pipeline.reading.salience import choose_distinct, rank_centrality
from pipeline.support.claim_support import SHORT_PASSAGE_CHARS

_OF_FACTS = frozenset({EvidencePart.TWIN_KEY_POINTS, EvidencePart.JUDGE_KEY_POINTS, EvidencePart.QUESTIONS})
_SENTENCES_PER_KEY_POINT, _SENTENCES_PER_JUDGE_KEY_POINT = 5, 8
_TWIN_KEY_POINTS, _JUDGE_KEY_POINTS = (3, 7), (5, 7)  # of five one may be told in part: recall .9


@dataclass(frozen=True, slots=True, eq=False)
class ClaimPlan:
    """A claim before it is checked.

    Attributes:
        claim: the claim.
        passages: of the source, that it is checked against, the longest first; empty without source.
        known_share: of the weight of its content words, those that stand anywhere in the source.
    """

    claim: ClaimSpan
    passages: tuple[Passage, ...]
    known_share: float

    @property
    def passage(self) -> Passage | None:
        """The longest one."""
        return self.passages[0] if self.passages else None

    @property
    def pairs(self) -> Iterator[Pair]:
        """What the NLI model is asked."""
        return ((passage.span.text, self.claim.passage.text) for passage in self.passages)


@dataclass(frozen=True, slots=True, eq=False)
class FactPlan:
    """A fact of the source, and where the summary may tell it.

    Attributes:
        statement: the fact.
        passage: of the summary; None without a raising sentence.
    """

    statement: TextSpan
    passage: Passage | None

    @property
    def pair(self) -> Pair | None:
        """What the NLI model is asked."""
        return (self.passage.span.text, self.statement.text) if self.passage else None


@dataclass(frozen=True, slots=True, eq=False)
class EvidencePlan:
    """The premises of every claim and fact, before the NLI model is asked.

    Attributes:
        draft: what was read.
        config: by which it is labelled.
        centrality: of the source's sentences.
        closeness: of the source's sentences.
        told_closeness: of the summary's sentences.
        claims: one for each claim.
        facts: distinct sentences of the source, the most central first; Twin-Lock's key points are the first of them.
        judge_facts: likewise for Judge-Lock: those that an LLM prefers come first. Without an LLM the same as `facts`.
        pairs: to submit, without repeats.
    """

    draft: ReadTexts
    config: EvidenceConfig
    centrality: Float64
    closeness: Closeness
    told_closeness: Closeness
    claims: tuple[ClaimPlan, ...]
    facts: tuple[int, ...]
    judge_facts: tuple[int, ...]
    pairs: tuple[Pair, ...]


def key_point_counts(source: ReadText) -> tuple[int, int]:
    """Returns how many key points Twin-Lock and Judge-Lock get: one for every few sentences, within their limits."""
    count, (twin_least, twin_most), (judge_least, judge_most) = (
        len(source.sentences),
        _TWIN_KEY_POINTS,
        _JUDGE_KEY_POINTS,
    )
    twin, judge = -(-count // _SENTENCES_PER_KEY_POINT), -(-count // _SENTENCES_PER_JUDGE_KEY_POINT)
    return min(max(twin, twin_least), twin_most), min(max(judge, judge_least), judge_most)


def make_plan(
    draft: ReadTexts, embeddings: Embeddings, config: EvidenceConfig, preferred: Sequence[int] = ()
) -> EvidencePlan:
    """Chooses passages and facts.

    Args:
        draft: what was read.
        embeddings: of `draft.texts`.
        config: of the request.
        preferred: sentences of the source that shall be Judge-Lock's key points, the most important first.
    """
    closeness = _closeness(draft.source, draft.embedded, embeddings)
    centrality = rank_centrality(draft.source.read, draft.source.index, closeness)
    claims = tuple(_plan_claim(draft, claim, SHORT_PASSAGE_CHARS) for claim in draft.claims)
    ranked = _facts(draft, centrality, closeness, config, ())
    for_judge = _facts(draft, centrality, closeness, config, preferred) if preferred else ranked
    pairs = [pair for plan in claims for pair in plan.pairs]
    return EvidencePlan(
        draft,
        config,
        centrality,
        closeness,
        _closeness(draft.summary, draft.told_embedded, embeddings),
        claims,
        facts=tuple(ranked),
        judge_facts=tuple(_long_enough(draft.source.read, for_judge, config) or for_judge),
        pairs=tuple(dict.fromkeys(pairs)),
    )


def _closeness(side: Side, embedded: Sequence[int], embeddings: Embeddings) -> Closeness:
    vectors = embeddings.of([side.read.passages[place].text for place in embedded])
    return Closeness(vectors, embedded, len(side.read.sentences))


def _plan_claim(draft: ReadTexts, claim: ClaimSpan, short_chars: int) -> ClaimPlan:
    stop_if_nobody_waits()
    told, at = draft.summary.read, claim.sentence_index
    earlier = next((index for index in range(at - 1, -1, -1) if index in draft.worded), None)  # no filler between
    before = None if earlier is None else told.ranges[earlier]
    weights = claim_weights(told.table, claim.words, draft.source.index, before)
    passages = draft.source.passages.for_claim(weights, short_chars)
    return ClaimPlan(claim, passages, draft.source.index.known_share(weights))


def plan_facts(plan: EvidencePlan, raising: Sequence[int]) -> dict[int, FactPlan]:
    """Returns where each fact may be told, by its sentence in the source; none where nobody reads it.

    Args:
        raising: sentences of the summary; the others tell nothing, whatever a model thinks of them.
    """
    draft, among = plan.draft, frozenset(raising)
    if draft.parts.isdisjoint(_OF_FACTS):
        return {}
    source, facts = draft.source, dict[int, FactPlan]()
    for sentence in dict.fromkeys((*plan.facts, *plan.judge_facts)):
        weights = claim_weights(source.read.table, source.read.ranges[sentence], source.index)
        passage = draft.summary.passages.find(weights, among)
        facts[sentence] = FactPlan(source.read.passages[sentence], passage)
    return facts


def _facts(
    draft: ReadTexts, centrality: Float64, closeness: Closeness, config: EvidenceConfig, preferred: Sequence[int]
) -> list[int]:
    """Returns distinct sentences: those preferred, then the most central; short ones last, and no more than needed."""
    read, parts = draft.source.read, draft.parts
    if not parts.isdisjoint(_OF_FACTS):
        counts = key_point_counts(read)
        most = max(*counts, config.question_count) if EvidencePart.QUESTIONS in parts else max(counts)
    else:
        most = 1  # the theme
    raised = centrality.copy()
    for rank, sentence in enumerate(preferred):
        raised[sentence] = centrality.max(initial=0.0) + len(preferred) - rank
    is_short = np.array([len(words) < config.min_segment_tokens for words in read.ranges], dtype=bool)
    raised[is_short] -= raised.max(initial=0.0) + 2
    chosen = choose_distinct(read, raised, closeness, allowed=range(len(read.sentences)), most=most)
    return chosen[: max(_TWIN_KEY_POINTS[0], len(_long_enough(read, chosen, config)))]


def _long_enough(read: ReadText, sentences: Sequence[int], config: EvidenceConfig) -> list[int]:
    """Returns the sentences that can be key points of Judge-Lock."""
    return [index for index in sentences if len(read.ranges[index]) >= config.min_segment_tokens]
