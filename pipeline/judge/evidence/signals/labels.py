"""Labels claims (docs/concepts/evidence.md, Claims)."""

from collections.abc import Iterator, Sequence

from pipeline.judge.evidence.claim import Claim, ClaimMismatch
from pipeline.judge.evidence.claims import ClaimSpan
from pipeline.judge.evidence.draft import ReadTexts
from pipeline.judge.evidence.plan import ClaimPlan
from pipeline.judge.evidence.signals.mismatches import find_mismatches
from pipeline.model_answers import CheckedScores
from pipeline.off_loop import stop_if_nobody_waits
from pipeline.protocols import Tokenizer, TokenMark
from pipeline.reading.document import ReadText
from pipeline.reading.passage import TextSpan
from pipeline.reading.word_table import WordTable
from pipeline.support.claim_support import ClaimLabel, Hypothesis, SupportConfig, is_unsupported, read_support


def read_claim(
    draft: ReadTexts, plan: ClaimPlan, scores: CheckedScores, tokenizer: Tokenizer, config: SupportConfig
) -> Claim:
    """Returns a claim with its evidence."""
    stop_if_nobody_waits()
    claim, told, text = plan.claim, draft.summary.read, plan.claim.passage.text
    premises, is_copied = tuple(one.span.text for one in plan.passages), draft.values.has_words(told.table, claim.words)
    support = read_support(Hypothesis(text, premises, plan.known_share, is_copied), scores, config)
    passage = None if support.premise is None else plan.passages[support.premise]
    mismatches = find_mismatches(told, claim.words, draft.values, plan.passage)
    unsupported = tuple[TextSpan, ...]()
    if support.label is not ClaimLabel.SUPPORTED:
        marked = list(_marked_words(told, claim, scores.marks(passage.span.text, text))) if passage else []
        unsupported = _unsupported(claim.passage, support.label, marked, mismatches)
    return Claim(
        passage=claim.passage,
        token_count=len(tokenizer.offsets(text)),
        content_token_count=claim.content_count,
        sentence_index=claim.sentence_index,
        premise=passage.span if passage else None,
        support=draft.source.read.passages[passage.best[0]] if passage else None,
        entailment=support.entailment,
        contradiction=support.contradiction,
        mismatches=mismatches,
        probability=support.probability,
        label=support.label,
        unsupported=unsupported,
        extraneous_token_count=_content_tokens(draft, claim.words, unsupported),
    )


def _marked_words(told: ReadText, claim: ClaimSpan, marks: Sequence[TokenMark]) -> Iterator[TextSpan]:
    """Yields the runs of words that the model marks; none when it reads other words than stand in the summary."""
    words = WordTable.of(claim.passage.text)
    if not marks or len(words) != len(claim.words):
        return
    run: list[int] = []
    for at, word in enumerate(claim.words):
        start, end = words.starts[at], words.ends[at]
        strongest = max((mark.probability for mark in marks if mark.start < end and start < mark.end), default=0.0)
        if is_unsupported(strongest):
            run.append(word)
        elif run:
            yield told.words_passage(range(run[0], run[-1] + 1))
            run.clear()
    if run:
        yield told.words_passage(range(run[0], run[-1] + 1))


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


def _content_tokens(draft: ReadTexts, words: range, spans: Sequence[TextSpan]) -> int:
    """Counts the content words of a claim that stand in some places."""
    told = draft.summary.read
    if not spans:
        return 0
    places = (told.words_passage(range(at, at + 1)) for at in words if told.table.content[at])
    return sum(any(span.start <= place.start and place.end <= span.end for span in spans) for place in places)
