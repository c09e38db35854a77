"""Labels claims (docs/concepts/evidence.md, Claims), and finds what of them the source does not say.

A mismatch is a number, date, name or negation in which a claim differs from its evidence: small NLI models miss them. A
value is looked for near the claim's evidence first, then in the whole source. It is a mismatch when the words beside it
say that the evidence has another value in its place, or when the source has it nowhere.

Which claims may raise a score? Those of a sentence that says something of the source, and of claims that say the same
only one. Everything else can only lower a score, whatever a model thinks of it. Filler, praise and orders to the judge
say nothing of the source; the same truth said again adds nothing. So none of them thins out what is wrong. This is the
one defence of the scores against such texts, and `pipeline.judge.exact.guarded_mean` is where it acts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pipeline.judge.evidence.plan import ClaimPlan, EvidencePlan, ReadTexts
from pipeline.judge.evidence.table import Claim, ClaimMismatch, MismatchKind
from pipeline.model_answers import CheckedScores
from pipeline.protocols import Tokenizer, TokenMark
from pipeline.reading.document import ReadText
from pipeline.reading.names import DIRECT_CUES, SourceValues, cues, find_names
from pipeline.reading.passage import TextSpan
from pipeline.reading.passages import Passage
from pipeline.reading.rules import Rule
from pipeline.reading.values import Date, Value, agree, competes, find_values, is_certain
from pipeline.reading.word_table import WordTable, align
from pipeline.support.claim_support import ClaimLabel, Support, is_unsupported


def read_claim(
    draft: ReadTexts, plan: ClaimPlan, support: Support, scores: CheckedScores, tokenizer: Tokenizer
) -> Claim:
    """Returns a claim with its evidence."""
    told, text = draft.summary.read, plan.hypothesis.text
    place, words = told.passages[plan.sentence], told.ranges[plan.sentence]
    passage = None if support.premise is None else plan.passages[support.premise]
    mismatches = find_mismatches(told, words, draft.values, plan.passages)
    unsupported = tuple[TextSpan, ...]()
    if support.label is not ClaimLabel.SUPPORTED:
        marked = list(_marked_words(told, words, text, scores.marks(passage.span.text, text))) if passage else []
        unsupported = _unsupported(place, support.label, marked, mismatches)
    content = told.table.content_words(words)
    doubted = [told.words_passage(range(at, at + 1)) for at in content] if unsupported else []
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


_CLOSE_MATCH = 0.75  # of the claim's content words in one sentence: then a missing negation is no accident


def find_mismatches(
    summary: ReadText, words: range, source: SourceValues, passages: Sequence[Passage]
) -> tuple[ClaimMismatch, ...]:
    """Returns the mismatches of a claim, at least one word, with the longest passage about it, in order."""
    claim = _Comparison(summary, words, source, passages[:1])
    stated = filter(None, (*map(claim.value, claim.values), *map(claim.name, claim.names)))
    return tuple(sorted((*stated, *claim.negations()), key=lambda mismatch: (mismatch.claim.start, mismatch.kind)))


class _Comparison:
    """One claim beside its evidence."""

    def __init__(self, summary: ReadText, words: range, source: SourceValues, near: Sequence[Passage]) -> None:
        self._summary, self._words, self._source = summary, words, source
        table = summary.table
        self._span = table.starts[words[0]], table.ends[words[-1]]
        self.values = find_values(summary.text.text[self._span[0] : self._span[1]])
        start = self._span[0]
        said = {at for one in self.values for at in table.between(one.start + start, one.unit_end + start)}
        names = find_names(table, words, source.known_names)
        self.names = [name for name in names if said.isdisjoint(name)]  # "USD" is none
        read = source.text
        self._beside = [read.ranges[at] for passage in near for at in passage.best]
        sentences = [read.sentences[at] for passage in near for at in passage.sentences]
        self._near_values = [
            value for sentence in sentences for value in source.values.between(sentence.start, sentence.end)
        ]
        self._alignments = [align(table, words, read.table, beside) for beside in self._beside]

    def value(self, claimed: Value) -> ClaimMismatch | None:
        """Compares a value with what stands in its place, else with what the source says near, else with all of it."""
        in_place = self._in_place(claimed)
        near = [value for value in self._near_values if competes(claimed, value)]
        if in_place is None or any(agree(claimed, value) for value in in_place or near):
            return None
        rivals = in_place or (near if is_certain(claimed) else [])
        if not rivals and self._source.values.states(claimed):
            return None
        kind = MismatchKind.DATE if isinstance(claimed, Date) else MismatchKind.NUMBER
        place = self._summary.passage(claimed.start + self._span[0], claimed.unit_end + self._span[0])
        stated = [self._source.text.passage(rival.start, rival.unit_end) for rival in rivals[:1]]
        return ClaimMismatch(kind, place, next(iter(stated), None))

    def name(self, claimed: range) -> ClaimMismatch | None:
        """Returns a name that the source does not have."""
        if self._source.has_name(self._summary.table, claimed):
            return None
        return ClaimMismatch(MismatchKind.NAME, self._summary.words_passage(claimed), None)

    def negations(self) -> Iterator[ClaimMismatch]:
        """Compares negations: first word by word, then, when the claim copies a sentence, as a whole."""
        table, source = self._summary.table, self._source.text.table
        content = sum(table.content[index] for index in self._words)
        own = cues(table, self._words)
        for alignment, beside in zip(self._alignments[:1], self._beside, strict=False):
            matched = sum(table.content[index] for index in alignment.matched)
            if not content or matched < _CLOSE_MATCH * content:
                continue
            stated, direct = set(cues(source, beside)), set(cues(source, beside, DIRECT_CUES))
            for replacement in alignment.replacements:
                ours = [index for index in replacement.claim if index in own]
                theirs = [index for index in replacement.passage if index in stated]
                if ours and not stated:
                    yield ClaimMismatch(
                        MismatchKind.NEGATION, self._summary.words_passage(range(ours[0], ours[0] + 1)), None
                    )
                elif theirs and not own and replacement.is_inside and set(theirs) & direct:
                    before = max(replacement.claim.start - 1, self._words[0])
                    place = self._summary.words_passage(replacement.claim or range(before, before + 1))
                    cue = self._source.text.words_passage(range(theirs[0], theirs[0] + 1))
                    yield ClaimMismatch(MismatchKind.NEGATION, place, cue)

    def _in_place(self, claimed: Value) -> list[Value] | None:
        """Returns the values that stand in the claimed one's place where claim and evidence read the same around it.

        None: the evidence has the very words there.
        """
        table, source = self._summary.table, self._source.text.table
        words = table.between(claimed.start + self._span[0], claimed.unit_end + self._span[0])
        for alignment in self._alignments:
            if words and alignment.matched.issuperset(words):
                return None
            for replacement in alignment.replacements:
                if replacement.passage and not set(words).isdisjoint(replacement.claim):
                    first, last = source.starts[replacement.passage[0]], source.ends[replacement.passage[-1]]
                    rivals = [
                        value
                        for value in self._near_values
                        if value.start < last and first < value.unit_end and competes(claimed, value)
                    ]
                    if rivals:
                        return rivals
        return []


_ENTAILED = 0.7  # a model is half sure of anything that says nothing


GROUNDING = Rule(
    "grounding",
    "judge",
    "A sentence that says nothing of the source can raise no score.",
    "This is a topic that many people care about.",
    "may_raise: false",
)


Reading = tuple[tuple[int, ...], tuple[int, ...]]
"""Sentences of a summary that may raise a score, and others, as far as their tone is read; indices, rising."""


@dataclass(frozen=True, slots=True)
class RaisingSentences:
    """The sentences of a summary by whether they may raise a score; indices, rising."""

    raising: tuple[int, ...]  # say something of the source, rightly or wrongly, and not only what another one says
    others: tuple[int, ...]  # can only lower a score

    def readings(self, most: int) -> list[Reading]:
        """Returns the first of both; where none may raise, each sentence in turn as if it alone might."""
        if self.raising:
            return [(self.raising[:most], self.others[:most])]
        first = self.others[: most + 1]
        return [((one,), tuple(other for other in first if other != one)[:most]) for one in self.others]


def mark_raising(plan: EvidencePlan, claims: Sequence[Claim]) -> tuple[tuple[Claim, ...], RaisingSentences]:
    """Returns the claims as checked, each with whether it may raise a score, and the same of the sentences."""
    draft = plan.draft
    own = _grounded(plan, claims) - draft.repeats.keys()
    marked = tuple(replace(claim, may_raise=claim.sentence_index in own) for claim in claims)
    others = set(range(len(draft.summary.read.sentences))) - own
    return marked, RaisingSentences(tuple(sorted(own)), tuple(sorted(others)))


def _grounded(plan: EvidencePlan, claims: Sequence[Claim]) -> set[int]:
    """Returns the sentences that say something of the source: their words say so, or a model's entailment."""
    draft, summary = plan.draft, plan.draft.summary.read
    if not GROUNDING.is_on:
        return set(range(len(summary.sentences)))
    found = set(draft.worded)
    for one, claim in zip(plan.claims, claims, strict=True):
        stems = summary.content_stems(summary.ranges[one.sentence])
        among = one.passages[0].sentences if one.passages else ()
        if claim.entailment >= _ENTAILED and draft.source.index.is_about(stems, among):
            found.add(claim.sentence_index)
    return found
