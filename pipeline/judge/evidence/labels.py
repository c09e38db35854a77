"""Labels claims (docs/concepts/evidence.md, Claims), and finds what of them the source does not say.

A mismatch is a number, date, name or negation in which a claim differs from its evidence: small NLI models miss them. A
value or name is one when the source has it nowhere.

Which claims may raise a score? Those of a sentence that says something of the source, and of claims that say the same
only one. Everything else can only lower a score, whatever a model thinks of it. Filler, praise and orders to the judge
say nothing of the source; the same truth said again adds nothing. So none of them thins out what is wrong. This is the
one defence of the scores against such texts, and `pipeline.judge.exact.guarded_mean` is where it acts. A supported
sentence that is not enough for that may still tell a key point that it entails.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pipeline.judge.evidence.plan import ClaimPlan, EvidencePlan, ReadTexts
from pipeline.judge.evidence.table import Claim, ClaimMismatch, MismatchKind
from pipeline.model_answers import PairScores, in_small_letters
from pipeline.protocols import Tokenizer, TokenMark
from pipeline.reading.document import ReadText
from pipeline.reading.names import DIRECT_CUES, SourceValues, cues, find_names
from pipeline.reading.passage import TextSpan
from pipeline.reading.passages import Passage
from pipeline.reading.rules import Rule
from pipeline.reading.values import Date, competes, find_values, is_certain
from pipeline.reading.word_lists import word_list
from pipeline.reading.word_table import WordTable
from pipeline.support.claim_support import ClaimLabel, Support, is_unsupported


def read_claim(draft: ReadTexts, plan: ClaimPlan, support: Support, scores: PairScores, tokenizer: Tokenizer) -> Claim:
    """Returns a claim with its evidence."""
    told, text = draft.summary.read, plan.hypothesis.text
    place, words = told.passages[plan.sentence], told.ranges[plan.sentence]
    passage = None if support.premise is None else plan.passages[support.premise]
    read = (passage.span.text, text) if passage else ("", "")
    mismatches = find_mismatches(told, words, draft.values, plan.passages)
    unsupported = tuple[TextSpan, ...]()
    if support.label is not ClaimLabel.SUPPORTED:
        marked = list(_marked_words(told, words, text, scores.marks(passage.span.text, text))) if passage else []
        unsupported = _unsupported(place, support.label, marked, mismatches)
    content = told.table.content_words(words)
    doubted = [told.words_passage(range(at, at + 1)) for at in content] if unsupported else []
    premise_read, claim_read = in_small_letters(read) if draft.folds_case else read
    return Claim(
        passage=place,
        token_count=len(tokenizer.offsets(place.text)),
        content_token_count=len(content),
        sentence_index=plan.sentence,
        premise=passage.span if passage else None,
        support=draft.source.read.passages[passage.best[0]] if passage else None,
        entailment=support.entailment,
        contradiction=support.contradiction,
        mismatches=mismatches,
        probability=support.probability,
        label=support.label,
        unsupported=unsupported,
        extraneous_token_count=sum(
            any(span.start <= word.start and word.end <= span.end for span in unsupported) for word in doubted
        ),
        premise_read=premise_read,
        claim_read=claim_read,
    )


def _marked_words(told: ReadText, claim: range, text: str, marks: Sequence[TokenMark]) -> Iterator[TextSpan]:
    """Yields the runs of words that the model marks; none when it reads other words than stand in the summary."""
    words = WordTable.of(text)
    if not marks or len(words) != len(claim):
        return
    run: list[int] = []
    for at, word in enumerate(claim):
        start, end = words.starts[at], words.ends[at]
        strongest = max((mark.probability for mark in marks if mark.start < end and start < mark.end), default=0.0)
        if is_unsupported(strongest):
            run.append(word)
        if run and (run[-1] != word or word == claim[-1]):
            yield told.words_passage(range(run[0], run[-1] + 1))
            run.clear()


def _unsupported(
    claim: TextSpan, label: ClaimLabel, marked: Sequence[TextSpan], mismatches: Sequence[ClaimMismatch]
) -> tuple[TextSpan, ...]:
    """Returns what of a doubtful claim is not supported, by position: words that are marked, values that differ.

    An unsupported claim of which no word is marked is not supported as a whole.
    """
    if label is ClaimLabel.UNSUPPORTED and not marked:
        return (claim,)
    places = (*(mismatch.claim for mismatch in mismatches), *marked)
    kept: list[TextSpan] = []
    for place in sorted(places, key=lambda place: (place.start, -place.end)):
        if not kept or place.end > kept[-1].end:
            kept.append(place)
    return tuple(kept)


_CLOSE_MATCH = 0.75  # of the claim's content words in one sentence: then what differs is no accident


def find_mismatches(
    summary: ReadText, words: range, source: SourceValues, passages: Sequence[Passage]
) -> tuple[ClaimMismatch, ...]:
    """Returns the mismatches of a claim, at least one word, with the longest passage about it, in order."""
    claim = _Comparison(summary, words, source, passages[:1])
    found = (*claim.values(), *claim.names(), *claim.negations())
    return tuple(sorted(found, key=lambda mismatch: (mismatch.claim.start, mismatch.kind)))


class _Comparison:
    """One claim beside its evidence, and beside the sentence of it that has nearly all of its words, if one has."""

    def __init__(self, summary: ReadText, words: range, source: SourceValues, near: Sequence[Passage]) -> None:
        self._summary, self._words, self._source = summary, words, source
        self._start = summary.table.starts[words[0]]
        self._values = find_values(summary.text.text[self._start : summary.table.ends[words[-1]]])
        read, content = source.text, summary.content_stems(words)
        closest = dict.fromkeys(at for passage in near for at in (*passage.best, *passage.sentences))
        sentences = [read.sentences[at] for at in closest]
        self._near_values = [value for one in sentences for value in source.values.between(one.start, one.end)]
        beside = next((read.ranges[at] for at in closest), range(0))
        stems = set(read.content_stems(beside))
        is_close = content and sum(stem in stems for stem in content) >= _CLOSE_MATCH * len(content)
        self._beside = beside if is_close else range(0)

    def values(self) -> Iterator[ClaimMismatch]:
        """Yields the values that the source does not have, each with one that the evidence has instead."""
        for claimed in self._values:
            if not self._source.values.states(claimed):
                kind = MismatchKind.DATE if isinstance(claimed, Date) else MismatchKind.NUMBER
                place = self._summary.passage(claimed.start + self._start, claimed.unit_end + self._start)
                near = self._near_values if self._beside or is_certain(claimed) else ()
                rivals = (value for value in near if competes(claimed, value))
                stated = (self._source.text.passage(rival.start, rival.unit_end) for rival in rivals)
                yield ClaimMismatch(kind, place, next(stated, None))

    def names(self) -> Iterator[ClaimMismatch]:
        """Yields the names that the source does not have."""
        table = self._summary.table
        said = {at for one in self._values for at in table.between(one.start + self._start, one.unit_end + self._start)}
        for name in find_names(table, self._words, self._source.known_names):
            if said.isdisjoint(name) and not self._source.has_name(table, name):  # "USD" is none
                yield ClaimMismatch(MismatchKind.NAME, self._summary.words_passage(name), None)

    def negations(self) -> Iterator[ClaimMismatch]:
        """Yields the first word that one of the claim and the sentence beside it denies, and the other states."""
        claim, read = self._summary, self._source.text
        own, stated = cues(claim.table, self._words), cues(read.table, self._beside)
        if own and not stated:
            for cue, _ in _denied(claim, own, read, self._beside):
                yield ClaimMismatch(MismatchKind.NEGATION, claim.words_passage(cue), None)
        elif stated and not own:
            direct = cues(read.table, self._beside, DIRECT_CUES)
            for cue, said in _denied(read, direct, claim, self._words):
                yield ClaimMismatch(MismatchKind.NEGATION, claim.words_passage(said), read.words_passage(cue))


def _denied(text: ReadText, negations: Sequence[int], other: ReadText, words: range) -> Iterator[tuple[range, range]]:
    """Yields the negations whose next content word another sentence has, each with that word of the other."""
    for cue in negations:
        behind = next((at for at in range(cue + 1, len(text.table)) if text.table.content[at]), cue)
        said = [at for at in words if other.table.stems[at] == text.table.stems[behind]]
        for at in said[:1]:
            yield range(cue, cue + 1), range(at, at + 1)


_ENTAILED = 0.7  # a model is half sure of anything that says nothing
_SURE = 1.3  # with the share of known words; chosen with 36 summaries in other words than their source in view


GROUNDING = Rule(
    "grounding",
    "judge",
    "A sentence that says nothing of the source can raise no score.",
    "This is a topic that many people care about.",
    "may_raise: false",
)


@dataclass(frozen=True, slots=True)
class RaisingSentences:
    """The sentences of a summary by whether they may raise a score; indices, rising."""

    raising: tuple[int, ...]  # say something of the source, rightly or wrongly, and not only what another one says
    others: tuple[int, ...]  # can only lower a score
    telling: frozenset[int]  # may tell a key point: raising ones, and supported ones in other words than the source


def mark_raising(plan: EvidencePlan, claims: Sequence[Claim]) -> tuple[tuple[Claim, ...], RaisingSentences]:
    """Returns the claims as checked, each with whether it may raise a score, and the same of the sentences."""
    draft = plan.draft
    grounded, supported = (found - draft.repeats.keys() for found in _grounded(plan, claims))
    marked = tuple(replace(claim, may_raise=claim.sentence_index in grounded) for claim in claims)
    others = set(range(len(draft.summary.read.sentences))) - grounded
    return marked, RaisingSentences(tuple(sorted(grounded)), tuple(sorted(others)), frozenset(grounded | supported))


def _grounded(plan: EvidencePlan, claims: Sequence[Claim]) -> tuple[set[int], set[int]]:
    """Returns the sentences that say something of the source: their words say so, or a model's entailment.

    The second ones are supported, with half as many of its words. They raise nothing, but may tell a key point.
    """
    draft, summary = plan.draft, plan.draft.summary.read
    everything = set(range(len(summary.sentences)))
    finished = {at for at in everything if not UNFINISHED.is_on or _is_finished(summary.table, summary.ranges[at])}
    if not GROUNDING.is_on:
        return everything, everything
    found, supported = set(draft.worded), set[int]()
    for one, claim in zip(plan.claims, claims, strict=True):
        stems = summary.content_stems(summary.ranges[one.sentence])
        about = partial(draft.source.index.is_about, stems, one.passages[0].sentences if one.passages else ())
        if claim.entailment >= _ENTAILED and about(_SURE - claim.entailment):
            found.add(claim.sentence_index)
        if claim.label is ClaimLabel.SUPPORTED and about((_SURE - claim.entailment) / 2):
            supported.add(claim.sentence_index)
    return found & finished, supported & finished


UNFINISHED = Rule(
    "unfinished",
    "judge",
    "A sentence that ends in its first verb, one that another word must follow, says nothing.",
    "The mayor of the old town was.",
    "may_raise: false",
)


def _is_finished(table: WordTable, words: range) -> bool:
    """Tells whether a sentence says something of its subject."""
    verb = next((at for at in words if table.is_verb(at)), None)
    return verb is None or verb != words[-1] or table.words[verb] not in word_list("words_before_others")
