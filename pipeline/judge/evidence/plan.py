"""Chooses the passage of every claim and fact, and so all NLI pairs of the request. Second step.

One pair for each: a claim against a passage of the source, a fact of the source against a passage of the summary.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pipeline.judge.evidence.claims import ClaimSpan
from pipeline.judge.evidence.config import EvidenceConfig
from pipeline.judge.evidence.draft import EvidencePart, ReadTexts, Side
from pipeline.judge.evidence.text.closeness import Closeness, Float64
from pipeline.judge.evidence.text.passages import Passage, claim_weights
from pipeline.judge.evidence.text.read import ReadText
from pipeline.judge.evidence.text.subject import choose_distinct, rank_centrality
from pipeline.model_answers import Embeddings, Pair
from pipeline.off_loop import stop_if_nobody_waits

_SENTENCES_PER_KEY_POINT = 5
_OF_FACTS = frozenset({EvidencePart.TWIN_KEY_POINTS, EvidencePart.JUDGE_KEY_POINTS, EvidencePart.QUESTIONS})
_TWIN_KEY_POINTS, _JUDGE_KEY_POINTS = (3, 7), (4, 7)


@dataclass(frozen=True, slots=True, eq=False)
class ClaimPlan:
    """A claim, and the passage of the source that it is checked against; None without source."""

    claim: ClaimSpan
    passage: Passage | None


@dataclass(frozen=True, slots=True, eq=False)
class FactPlan:
    """A fact of the source, and where the summary may tell it.

    Attributes:
        sentence: its index in the source.
        weights: of its content stems.
        passage: of the summary; None without one.
    """

    sentence: int
    weights: Mapping[str, float]
    passage: Passage | None

    def told_by(self, sentences: Collection[int]) -> tuple[int, ...]:
        """Returns those sentences of its passage that are among some."""
        return tuple(at for at in self.passage.sentences if at in sentences) if self.passage else ()


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
    facts: tuple[FactPlan, ...]
    judge_facts: tuple[FactPlan, ...]
    pairs: tuple[Pair, ...]

    @property
    def reads_facts(self) -> bool:
        """Whether somebody reads how facts are covered; else they serve to find the theme."""
        return not self.draft.parts.isdisjoint(_OF_FACTS)


def key_point_counts(source: ReadText) -> tuple[int, int]:
    """Returns how many key points Twin-Lock and Judge-Lock get: one for every five sentences, within their limits."""
    wanted = -(-len(source.sentences) // _SENTENCES_PER_KEY_POINT)
    (twin_least, twin_most), (judge_least, judge_most) = _TWIN_KEY_POINTS, _JUDGE_KEY_POINTS
    return min(max(wanted, twin_least), twin_most), min(max(wanted, judge_least), judge_most)


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
    claims = tuple(_plan_claim(draft, claim) for claim in draft.claims)
    ranked = _facts(draft, centrality, closeness, config, ())
    for_judge = _facts(draft, centrality, closeness, config, preferred) if preferred else ranked
    planned = {sentence: _plan_fact(draft, sentence) for sentence in dict.fromkeys([*ranked, *for_judge])}
    pairs = [(plan.passage.span.text, plan.claim.passage.text) for plan in claims if plan.passage]
    if not draft.parts.isdisjoint(_OF_FACTS):
        texts = draft.source.read.passages
        pairs += [(fact.passage.span.text, texts[fact.sentence].text) for fact in planned.values() if fact.passage]
    return EvidencePlan(
        draft,
        config,
        centrality,
        closeness,
        _closeness(draft.summary, draft.told_embedded, embeddings),
        claims,
        facts=tuple(planned[sentence] for sentence in ranked),
        judge_facts=tuple(planned[sentence] for sentence in for_judge),
        pairs=tuple(dict.fromkeys(pairs)),
    )


def _closeness(side: Side, embedded: Sequence[int], embeddings: Embeddings) -> Closeness:
    vectors = embeddings.of([side.read.passages[place].text for place in embedded])
    return Closeness(vectors, embedded, len(side.read.sentences))


def _plan_claim(draft: ReadTexts, claim: ClaimSpan) -> ClaimPlan:
    stop_if_nobody_waits()
    told, at = draft.summary.read, claim.sentence_index
    before = told.ranges[at - 1] if at else None
    weights = claim_weights(told.table, claim.words, draft.source.index, before)
    return ClaimPlan(claim, draft.source.passages.find(weights))


def _plan_fact(draft: ReadTexts, sentence: int) -> FactPlan:
    source = draft.source
    weights = claim_weights(source.read.table, source.read.ranges[sentence], source.index)
    return FactPlan(sentence, weights, draft.summary.passages.find(weights))


def _facts(
    draft: ReadTexts, centrality: Float64, closeness: Closeness, config: EvidenceConfig, preferred: Sequence[int]
) -> list[int]:
    """Returns distinct sentences: those preferred, then the most central; short ones only if there are no others."""
    read, parts = draft.source.read, draft.parts
    if parts.isdisjoint(_OF_FACTS):
        most = 1  # the theme
    elif EvidencePart.QUESTIONS in parts:
        most = max(_TWIN_KEY_POINTS[1], _JUDGE_KEY_POINTS[1], config.question_count)
    else:
        most = max(key_point_counts(read))
    long_enough = [index for index, words in enumerate(read.ranges) if len(words) >= config.min_segment_tokens]
    allowed = long_enough if len(long_enough) >= _TWIN_KEY_POINTS[0] else range(len(read.sentences))
    raised = centrality.copy()
    for rank, sentence in enumerate(preferred):
        raised[sentence] = centrality.max(initial=0.0) + len(preferred) - rank
    return choose_distinct(read, raised, closeness, allowed=allowed, most=most)
