"""Chooses the premises of every claim and fact, and so all NLI pairs of the request. Second step.

One premise of a claim is stitched: the source sentences that between them have the claim's words. Summarizers join what
stands apart, so that no single sentence entails such a claim, and long windows lead a small NLI model astray. The two
to four sentences that a claim was made from are short enough to be read, and hold all there is.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.judge.evidence.claims import ClaimSpan
from pipeline.judge.evidence.config import EvidenceConfig
from pipeline.judge.evidence.draft import EvidencePart, ReadTexts, Side
from pipeline.judge.evidence.text.read import ReadText
from pipeline.judge.evidence.text.subject import choose_distinct, rank_centrality
from pipeline.judge.evidence.text.windows import Closeness, Float64, Region, Window, WordIndex, most_relevant
from pipeline.model_answers import Embeddings, Pair

_SENTENCES_PER_KEY_POINT, _SENTENCES_PER_JUDGE_KEY_POINT = 5, 8
_TWIN_KEY_POINTS, _JUDGE_KEY_POINTS = (3, 7), (5, 7)  # of five one may be told in part: recall .9


@dataclass(frozen=True, slots=True, eq=False)
class ClaimPlan:
    """The premises of one claim.

    Attributes:
        claim: the claim.
        windows: of the source that the NLI model reads.
        place: the one sentence where the source speaks about the same; None without source.
        region: around it, for numbers, dates, names and negations.
        stitched: the sentences that between them have the claim's words; None without source or calibration.
        best_cosine: with a window, in [-1, 1].
        best_share: of the claim's content words, by weight, that one window has.
    """

    claim: ClaimSpan
    windows: tuple[Window, ...]
    place: Window | None
    region: Region
    stitched: Window | None
    best_cosine: float
    best_share: float

    @property
    def premises(self) -> tuple[Window, ...]:
        """All that the claim's NLI pairs are made of."""
        return (*self.windows, self.stitched) if self.stitched else self.windows


@dataclass(frozen=True, slots=True, eq=False)
class FactPlan:
    """The premises of one fact of the source.

    Attributes:
        sentence: its index in the source.
        windows: of the summary that the NLI model reads.
    """

    sentence: int
    windows: tuple[Window, ...]

    def within(self, sentences: Collection[int]) -> "FactPlan":
        """Returns the same with those windows only that are made of some sentences of the summary."""
        inside = tuple(window for window in self.windows if all(index in sentences for index in window.sentences))
        return FactPlan(self.sentence, inside)


@dataclass(frozen=True, slots=True, eq=False)
class EvidencePlan:
    """The premises of every claim and fact, before the NLI model is asked.

    Attributes:
        draft: what was read.
        embeddings: the vectors.
        centrality: of the source's sentences.
        closeness: of the source's sentences.
        told_closeness: of the summary's sentences.
        claims: one for each claim.
        facts: distinct sentences of the source, the most central first; Twin-Lock's key points are the first of them.
        judge_facts: likewise for Judge-Lock: those that an LLM prefers come first. Without an LLM the same as `facts`.
        pairs: to submit, without repeats.
    """

    draft: ReadTexts
    embeddings: Embeddings
    centrality: Float64
    closeness: Closeness
    told_closeness: Closeness
    claims: tuple[ClaimPlan, ...]
    facts: tuple[FactPlan, ...]
    judge_facts: tuple[FactPlan, ...]
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
    """Chooses windows and facts.

    Args:
        draft: what was read.
        embeddings: of `draft.texts`.
        config: how many windows.
        preferred: sentences of the source that shall be Judge-Lock's key points, the most important first.
    """
    closeness = _closeness(draft.source, embeddings)
    told_closeness = _closeness(draft.summary, embeddings)
    centrality = rank_centrality(draft.source.read, draft.source.index, closeness)
    claims = tuple(_plan_claim(draft, claim, closeness, embeddings, config) for claim in draft.claims)
    ranked = _facts(draft, centrality, closeness, config, ())
    for_judge = _facts(draft, centrality, closeness, config, preferred) if preferred else ranked
    planned = {
        sentence: FactPlan(sentence, _summary_windows(draft, sentence, closeness, told_closeness, config))
        for sentence in dict.fromkeys([*ranked, *for_judge])
    }
    pairs = [(window.passage.text, plan.claim.passage.text) for plan in claims for window in plan.premises]
    for fact in planned.values():
        text = draft.source.read.passages[fact.sentence].text
        pairs += [(window.passage.text, text) for window in fact.windows]
    return EvidencePlan(
        draft,
        embeddings,
        centrality,
        closeness,
        told_closeness,
        claims,
        facts=tuple(planned[sentence] for sentence in ranked),
        judge_facts=tuple(planned[s] for s in _long_enough(draft.source.read, for_judge, config) or for_judge),
        pairs=tuple(dict.fromkeys(pairs)),
    )


def exact_pair_count(plan: EvidencePlan) -> int:
    """Returns how many pairs all windows would make."""
    source_windows = sum(len(windows) for windows in plan.draft.source.windows.values())
    summary_windows = sum(len(windows) for windows in plan.draft.summary.windows.values())
    facts = {fact.sentence for fact in (*plan.facts, *plan.judge_facts)}
    return len(plan.claims) * source_windows + len(facts) * summary_windows


def _closeness(side: Side, embeddings: Embeddings) -> Closeness:
    vectors = embeddings.of([side.read.passages[place].text for place in side.embedded])
    return Closeness(vectors, side.embedded, len(side.read.sentences))


def _plan_claim(
    draft: ReadTexts, claim: ClaimSpan, closeness: Closeness, embeddings: Embeddings, config: EvidenceConfig
) -> ClaimPlan:
    stems = draft.summary.read.table.content_stems(claim.words)
    vector = embeddings.of([claim.passage.text])[0]
    windows: list[Window] = []
    place, best_cosine, best_share = None, 0.0, 0.0
    for size, candidates in draft.source.windows.items():
        shares, cosines = draft.source.index.shares(stems, size), closeness.cosines(vector, size)
        best = most_relevant(candidates, shares + cosines, config.windows_per_claim)
        windows += best
        place = best[0] if place is None else place
        best_cosine, best_share = max(best_cosine, float(cosines.max())), max(best_share, float(shares.max()))
    is_calibrated = EvidencePart.CALIBRATION in draft.parts
    stitched = stitch(draft.source.read, draft.source.index, stems) if is_calibrated else None
    region = _region(draft.source, windows, place)
    return ClaimPlan(claim, tuple(windows), place, region, stitched, best_cosine, best_share)


def _region(source: Side, windows: Sequence[Window], place: Window | None) -> Region:
    """Returns the two best windows of the smallest size, the place among them, with one sentence around them."""
    count = len(source.read.sentences)
    best = [place, *windows[:2]] if place is not None else []
    near = sorted(
        {
            index
            for window in best
            for index in range(max(0, window.first - 1), min(count, window.first + window.size + 1))
        }
    )
    spans = tuple((source.read.sentences[index].start, source.read.sentences[index].end) for index in near)
    beside = tuple(dict.fromkeys(source.read.ranges[window.first] for window in best))
    return Region(spans, beside)


def _facts(
    draft: ReadTexts, centrality: Float64, closeness: Closeness, config: EvidenceConfig, preferred: Sequence[int]
) -> list[int]:
    """Returns distinct sentences: those preferred, then the most central; short ones last, and no more than needed."""
    read = draft.source.read
    most = max(_TWIN_KEY_POINTS[1], _JUDGE_KEY_POINTS[1], config.question_count)
    if EvidencePart.QUESTIONS not in draft.parts:
        most = key_point_counts(read)[0]
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


def _summary_windows(
    draft: ReadTexts, sentence: int, closeness: Closeness, told: Closeness, config: EvidenceConfig
) -> tuple[Window, ...]:
    stems = draft.source.read.table.content_stems(draft.source.read.ranges[sentence])
    vector = closeness.vectors[sentence]
    windows: list[Window] = []
    for size, candidates in draft.summary.windows.items():
        relevance = draft.summary.index.shares(stems, size) + told.cosines(vector, size)
        windows += most_relevant(candidates, relevance, config.windows_per_key_point)
    return tuple(windows)


_MOST_SENTENCES = 4


def stitch(source: ReadText, index: WordIndex, stems: Sequence[str]) -> Window | None:
    """Returns the sentences that a claim's words were taken from, joined in their order; None for an empty source.

    Each time the sentence is taken that has most of the words not found yet, the first one on a tie, until there is no
    more to find. The passage reaches from the first to the last, its text is the sentences alone.

    Args:
        source: the text.
        index: its words.
        stems: of the claim's content words.
    """
    if not source.sentences:
        return None
    missing, chosen = dict.fromkeys(stems), list[int]()
    while missing and len(chosen) < _MOST_SENTENCES:
        found = index.counts(missing)
        best = int(found.argmax())
        if not found[best]:
            break
        chosen.append(best)
        missing = {stem: None for stem in missing if not index.has(best, stem)}
    places = sorted(chosen) or [0]
    first, last = source.sentences[places[0]], source.sentences[places[-1]]
    text = " ".join(source.passages[place].text for place in places)
    return Window(source.text.passage(first.start, last.end, text), places[0], places[-1] - places[0] + 1)
