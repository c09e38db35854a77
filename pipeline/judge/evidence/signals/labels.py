"""Labels claims (README, Claim labels)."""

from collections.abc import Iterator, Sequence

from pipeline.judge.evidence.claim import Claim, ClaimLabel, ClaimMismatch
from pipeline.judge.evidence.config import EvidenceConfig
from pipeline.judge.evidence.draft import ReadTexts
from pipeline.judge.evidence.plan import ClaimPlan
from pipeline.judge.evidence.signals.claim_support import claim_support, signals
from pipeline.judge.evidence.signals.mismatches import find_mismatches
from pipeline.model_answers import PairScores
from pipeline.off_loop import stop_if_nobody_waits
from pipeline.protocols import Tokenizer
from pipeline.text.passage import TextSpan


def label_of(probability: float, config: EvidenceConfig, *, is_contradicted: bool) -> ClaimLabel:
    """Returns the label of a claim; thresholds are inclusive (README, Claim labels)."""
    if probability < config.partly_supported or is_contradicted:
        return ClaimLabel.UNSUPPORTED
    return ClaimLabel.SUPPORTED if probability >= config.supported else ClaimLabel.PARTIAL


def read_claim(
    draft: ReadTexts, plan: ClaimPlan, scores: PairScores, tokenizer: Tokenizer, config: EvidenceConfig
) -> Claim:
    """Returns a claim with its evidence."""
    stop_if_nobody_waits()
    claim, passage, told = plan.claim, plan.passage, draft.summary.read
    text = claim.passage.text
    entailment = scores.entailment(passage.span.text, text) if passage else 0.0
    contradiction = scores.contradiction(passage.span.text, text) if passage else 0.0
    if draft.values.has_words(told.table, claim.words):
        contradiction = 0.0  # a copied sentence contradicts nothing
    mismatches = find_mismatches(told, claim.words, draft.values, passage)
    probability = claim_support(signals(entailment, plan.known_share))
    is_contradicted = contradiction >= config.contradicted and contradiction > entailment
    label = label_of(probability, config, is_contradicted=is_contradicted)
    unsupported = tuple(_unsupported(claim.passage, label, mismatches))
    return Claim(
        passage=claim.passage,
        token_count=len(tokenizer.offsets(text)),
        content_token_count=claim.content_count,
        sentence_index=claim.sentence_index,
        premise=passage.span if passage else None,
        support=draft.source.read.passages[passage.best[0]] if passage else None,
        entailment=entailment,
        contradiction=contradiction,
        mismatches=mismatches,
        probability=probability,
        label=label,
        unsupported=unsupported,
        extraneous_token_count=_content_tokens(draft, claim.words, unsupported),
    )


def _unsupported(claim: TextSpan, label: ClaimLabel, mismatches: Sequence[ClaimMismatch]) -> Iterator[TextSpan]:
    """Yields what of a claim is not supported: the values that differ, or all of it."""
    if label is ClaimLabel.PARTIAL:
        yield from dict.fromkeys(mismatch.claim for mismatch in mismatches)
    elif label is ClaimLabel.UNSUPPORTED:
        yield claim


def _content_tokens(draft: ReadTexts, words: range, spans: Sequence[TextSpan]) -> int:
    """Counts the content words of a claim that stand in some places."""
    told = draft.summary.read
    if not spans:
        return 0
    places = (told.words_passage(range(at, at + 1)) for at in words if told.table.content[at])
    return sum(any(span.start <= place.start and place.end <= span.end for span in spans) for place in places)
