"""Reads both texts, and plans what the models are asked: what is embedded, and all NLI pairs of the request.

A claim is compared with a short passage of the source, and with a longer one. Several sentences may say it together;
but what else stands in a long passage leads the model astray. A fact of the source is compared with one passage of the
summary, which is made of sentences that may tell it.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log1p

import numpy as np

from pipeline.judge.config import EvidenceConfig
from pipeline.judge.result import Framework
from pipeline.model_answers import Embeddings, Pair
from pipeline.protocols import Tokenizer
from pipeline.reading.document import Capitals, ReadText
from pipeline.reading.index import Closeness, Float64, WordIndex
from pipeline.reading.names import SourceValues
from pipeline.reading.passage import TextSpan
from pipeline.reading.passages import Passage, claim_weights
from pipeline.reading.rules import Rule
from pipeline.reading.salience import (
    MainClause,
    choose_distinct,
    find_theme,
    main_clause,
    predicate_stems,
    rank_centrality,
    told_shares,
    word_centrality,
)
from pipeline.reading.summary_text import read_summary
from pipeline.reading.values import find_values
from pipeline.support.claim_support import MAX_SENTENCE_CHARS, SHORT_PASSAGE_CHARS, Hypothesis, PremiseFinder

SOURCE, SUMMARY = "source", "summary"
"""Text ids of evidence."""


FOLDING = Rule(
    "case-folding",
    "judge",
    "Texts that differ in their capitals are compared in small letters.",
    "MAYOR RESIGNS OVER BRIDGE",
    "mayor resigns over bridge",
)


REPEATS = Rule(
    "repeats",
    "judge",
    "Of sentences that say the same only one may raise a score.",
    "The bridge closed. To repeat, the bridge closed.",
    "the first one may",
)


_VALUE_WEIGHT = 2.0  # of a number or date, beside a word


def most_consequential(summary: ReadText, most: int) -> tuple[int, ...]:
    """Returns the claims that say most, in order: content words, and values as much as two more."""
    if len(summary.claims) <= most:
        return summary.claims

    def weight(at: int) -> float:
        values = find_values(summary.passages[at].text)
        return len(summary.content_stems(summary.ranges[at])) + _VALUE_WEIGHT * len(values)

    ranked = sorted(summary.claims, key=lambda at: (-weight(at), at))
    return tuple(sorted(ranked[:most]))


class ReadSource(PremiseFinder):
    """A source as read, the same for all of its summaries.

    Attributes:
        stated: its numbers, dates and names.
        capitals: of its words.
        embedded: sentences that the embedder reads, rising: all, or of a long text the most central by their words.
    """

    def __init__(self, text: str) -> None:
        """Reads a text. The CPU-heavy step of a judgement: run it off the loop. Linear in the length of the text."""
        super().__init__(ReadText.of(SOURCE, text, MAX_SENTENCE_CHARS))
        self.stated, self.capitals = SourceValues.of(self.read), Capitals.of(self.read)
        central = np.argsort(-word_centrality(self.read, self.index), kind="stable").tolist()
        self.embedded = tuple(sorted(central[: EvidenceConfig.max_embedded_sentences]))


@dataclass(frozen=True, slots=True)
class EvidenceRequest:
    """What a table is asked for."""

    source: ReadSource  # the whole article; not blank
    summary: str  # not blank
    # that will read it: what none of them reads is not made, and empty
    frameworks: frozenset[Framework] = frozenset(Framework)


@dataclass(frozen=True, slots=True, eq=False)
class ReadTexts:
    """Both texts as read, before embedding."""

    source: ReadSource  # the article
    summary: PremiseFinder  # the summary
    claims: tuple[int, ...]  # those of the summary that are checked, by sentence: all, or the most consequential
    omitted_claim_count: int  # the others
    worded: frozenset[int]  # sentences of the summary of whose words the source has enough in one place
    # claims that say no more than another one, each with that one; None where it says more
    repeats: Mapping[int, int | None]
    told_embedded: tuple[int, ...]  # sentences of the summary that the embedder reads, rising
    values: SourceValues  # numbers, dates and names of the source, with the names of the summary
    folds_case: bool  # whether they are compared in small letters
    texts: tuple[str, ...]  # to embed, without repeats
    frameworks: frozenset[Framework]  # that will read the table; all read key points
    config: EvidenceConfig  # by which it is labelled


def read_texts(request: EvidenceRequest, config: EvidenceConfig) -> ReadTexts:
    """Reads the summary beside its source. Linear in the length of the summary."""
    source = request.source
    told = read_summary(SUMMARY, request.summary, MAX_SENTENCE_CHARS, source.index)
    claims = most_consequential(told, config.max_claims)
    stems = [told.content_stems(words) for words in told.ranges]
    told_embedded = tuple(range(len(told.sentences))[: config.max_embedded_sentences])
    texts = [source.read.passages[place].text for place in source.embedded]
    texts += [told.passages[place].text for place in told_embedded]
    repeats = _find_repeats(told, claims, source.index) if REPEATS.is_on else {}
    return ReadTexts(
        source=source,
        summary=PremiseFinder(told, has_turns=False),  # a colon in it would put words before other sentences
        claims=claims,
        omitted_claim_count=len(told.claims) - len(claims),
        worded=frozenset(at for at, said in enumerate(stems) if source.index.have_together(said)),
        repeats=repeats,
        told_embedded=told_embedded,
        values=source.stated.with_names_of(told.table),
        folds_case=FOLDING.is_on and source.capitals.differ_from(told),
        texts=tuple(dict.fromkeys(texts)),
        frameworks=request.frameworks,
        config=config,
    )


_SAME = 0.8  # of the words of one: what has them says as much
_MOST_COMPARED = 64  # sentences, with one word: that keeps the work linear


def said_by(repeats: Mapping[int, int | None], sentence: int) -> int | None:
    """Returns the sentence that stands for all that say the same; None for one that says a part of another."""
    while sentence in repeats and (said := repeats[sentence]) is not None:
        sentence = said
    return None if sentence in repeats else sentence


def _find_repeats(told: ReadText, claims: Sequence[int], source: WordIndex) -> dict[int, int | None]:
    """Returns the claims that say no more than another one, with that one; with None where it says more.

    It has all of their numbers, and most of the words that they have of the source. Words count as they do for key
    points (`told_shares`). Of those that say the same the shortest stays: what announces a repeat makes it longer.
    """
    stems = {at: told.content_stems(told.ranges[at]) for at in claims}
    words = {
        at: {stem: log1p(count) for stem in said if (count := source.sentence_count(stem))}
        for at, said in stems.items()
    }
    numbers = {at: {stem for stem in said if not stem.isalpha()} for at, said in stems.items()}
    totals = {at: sum(said.values()) for at, said in words.items()}
    having, found = defaultdict[str, list[int]](list), dict[int, int | None]()
    for at in sorted(claims, key=lambda at: (-totals[at], at)):
        shared = defaultdict[int, float](float)
        for stem, weight in words[at].items():
            for other in having[stem][:_MOST_COMPARED]:
                shared[other] += weight
        for other, weight in shared.items():
            if weight < _SAME * totals[at] or not numbers[at] <= numbers[other]:
                continue
            if other in found or weight < _SAME * totals[other] or numbers[at] != numbers[other]:
                if (standing := said_by(found, other) if other in found else None) == at:
                    continue
                found[at] = standing
                break
            shorter, longer = sorted((at, other), key=lambda one: (len(told.passages[one].text), one))
            found[longer] = shorter
            if longer == at:
                break
        for stem in words[at]:
            having[stem].append(at)
    return found


# One for so many sentences, and the least and most; of five one may be told in part: recall .9.
_TWIN_KEY_POINTS, _JUDGE_KEY_POINTS = (5, 3, 7), (8, 5, 7)


@dataclass(frozen=True, slots=True, eq=False)
class ClaimPlan:
    """A claim before it is checked."""

    sentence: int  # of the summary
    passages: tuple[Passage, ...]  # of the source, that it is checked against, the longest first; empty without source
    hypothesis: Hypothesis  # what the NLI model is asked


@dataclass(frozen=True, slots=True, eq=False)
class EvidencePlan:
    """The premises of every claim and fact, before the NLI model is asked."""

    draft: ReadTexts  # what was read
    centrality: Float64  # of the source's sentences
    closeness: Closeness  # of the source's sentences
    told_closeness: Closeness  # of the summary's sentences
    claims: tuple[ClaimPlan, ...]  # one for each claim
    # distinct sentences of the source, the most central first; Twin-Lock's key points are the first of them
    facts: tuple[int, ...]
    # likewise for Judge-Lock: those that an LLM prefers come first. Without an LLM the same as `facts`.
    judge_facts: tuple[int, ...]
    theme: TextSpan  # of the source, in one short quote
    theme_sentence: int | None  # of the source, that the theme is taken from; None when it has none

    def subject_cosines(self, sentence: int) -> tuple[float, float]:
        """Returns the cosines of a sentence of the summary with the theme, and with the closest one of the source.

        Those of a sentence that was not embedded are 0.
        """
        if Framework.ULTRA not in self.draft.frameworks or self.theme_sentence is None:
            return 0.0, 0.0
        vector = self.told_closeness.vectors[sentence]
        to_theme = float(np.clip(self.closeness.vectors[self.theme_sentence] @ vector, -1, 1))
        return to_theme, float(self.closeness.cosines(vector).max())

    def salient_share(self, sentences: Sequence[int]) -> float:
        """Returns how much of what the source is about some sentences of the summary name, in [0, 1]."""
        told = self.draft.summary.read
        stems = {stem for at in sentences for stem in told.content_stems(told.ranges[at])}
        return self.draft.source.index.salient_share(stems if Framework.ULTRA in self.draft.frameworks else set())


def key_point_counts(source: ReadText) -> tuple[int, int]:
    """Returns how many key points Twin-Lock and Judge-Lock get: one for every few sentences, within their limits."""
    twin, judge = (
        min(max(ceil(len(source.sentences) / sentences), least), most)
        for sentences, least, most in (_TWIN_KEY_POINTS, _JUDGE_KEY_POINTS)
    )
    return twin, judge


def make_plan(
    draft: ReadTexts,
    embeddings: Embeddings,
    tokenizer: Tokenizer,
    preferred: Sequence[int] = (),
    *,
    calm: Callable[[str, WordIndex], str],
) -> EvidencePlan:
    """Chooses passages and facts.

    Args:
        preferred: sentences of the source that shall be Judge-Lock's key points, the most important first.
        calm: takes out of a claim, beside its source, the words that are judged elsewhere.
    """
    closeness, told_closeness = (
        Closeness(embeddings.of([read.passages[at].text for at in embedded]), embedded, len(read.sentences))
        for read, embedded in ((draft.source.read, draft.source.embedded), (draft.summary.read, draft.told_embedded))
    )
    centrality = rank_centrality(draft.source.read, draft.source.index, closeness)
    leading = draft.worded - draft.repeats.keys()  # a pronoun points back neither to filler nor to what is said again
    claims = tuple(_plan_claim(draft, at, leading, calm) for at in draft.claims)
    ranked = _facts(draft, centrality, closeness, ())
    for_judge = _facts(draft, centrality, closeness, preferred) if preferred else ranked
    judge_facts = tuple(_long_enough(draft, for_judge) or for_judge)
    theme = find_theme(draft.source.read, ranked, tokenizer, draft.config.theme_tokens)
    return EvidencePlan(draft, centrality, closeness, told_closeness, claims, tuple(ranked), judge_facts, *theme)


def _plan_claim(draft: ReadTexts, at: int, leading: frozenset[int], calm: Callable[[str, WordIndex], str]) -> ClaimPlan:
    told, words = draft.summary.read, draft.summary.read.ranges[at]
    earlier = next((index for index in range(at - 1, -1, -1) if index in leading), None)
    before = None if earlier is None else told.ranges[earlier]
    weights = claim_weights(told.table, words, draft.source.index, before)
    passages = draft.source.for_claim(weights, SHORT_PASSAGE_CHARS)
    known_share, is_copied = draft.source.index.known_share(weights), draft.values.has_words(told.table, words)
    said = calm(told.passages[at].text, draft.source.index)
    hypothesis = Hypothesis.of(said, passages, known_share, draft.values.values, is_copied=is_copied)
    return ClaimPlan(at, passages, hypothesis)


@dataclass(frozen=True, slots=True, eq=False)
class FactPlan:
    """A fact of the source before the NLI model is asked whether the summary tells it."""

    clause: MainClause  # what it says in the first place
    told_share: float  # of its words, what statements that tell it have between them, in [0, 1]
    passage: Passage | None  # of the summary, that may tell it; None without a telling sentence
    # what the model is asked; None where the passage cannot entail more than its words tell
    pair: Pair | None


def plan_facts(plan: EvidencePlan, telling: frozenset[int]) -> dict[int, FactPlan]:
    """Returns each fact with the passage of the summary that may tell it, by its sentence in the source.

    Only telling sentences tell something, whatever a model thinks of others. No facts where nobody reads them.
    """
    draft = plan.draft
    if not draft.frameworks:
        return {}
    read, summary, index, config = draft.source.read, draft.summary.read, draft.source.index, draft.config
    clauses = {at: main_clause(read, at) for at in dict.fromkeys((*plan.facts, *plan.judge_facts))}
    points = {at: (read.content_stems(one.words), predicate_stems(read, one.words)) for at, one in clauses.items()}
    shares = told_shares(index, points, [summary.content_stems(summary.ranges[at]) for at in sorted(telling)])
    facts = dict[int, FactPlan]()
    for at, clause in clauses.items():
        passage, pair = draft.summary.passage(claim_weights(read.table, clause.words, index), telling), None
        if passage:
            says_more = not set(points[at][0]).issuperset(summary.content_stems(summary.ranges[passage.best[0]]))
            pair = (passage.span.text, clause.passage.text) if says_more or shares[at] > config.fully_covered else None
        facts[at] = FactPlan(clause, shares[at], passage, pair)
    return facts


def _facts(draft: ReadTexts, centrality: Float64, closeness: Closeness, preferred: Sequence[int]) -> list[int]:
    """Returns distinct sentences: those preferred, then the most central; short ones last, and no more than needed."""
    read = draft.source.read
    most = max(key_point_counts(read)) if draft.frameworks else 1  # the theme is one
    raised = centrality.copy()
    for rank, sentence in enumerate(preferred):
        raised[sentence] = centrality.max(initial=0.0) + len(preferred) - rank
    is_short = np.array([len(words) < draft.config.min_segment_tokens for words in read.ranges], dtype=bool)
    raised[is_short] -= raised.max(initial=0.0) + 2
    chosen = choose_distinct(read, raised, closeness, most)
    return chosen[: max(_TWIN_KEY_POINTS[1], len(_long_enough(draft, chosen)))]


def _long_enough(draft: ReadTexts, sentences: Sequence[int]) -> list[int]:
    return [index for index in sentences if len(draft.source.read.ranges[index]) >= draft.config.min_segment_tokens]
