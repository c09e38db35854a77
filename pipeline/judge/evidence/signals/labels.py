"""Labels claims (README, Claim labels)."""

from collections.abc import Sequence

from rapidfuzz.distance import LCSseq

from pipeline.judge.evidence.claim import Claim, ClaimFeatures, ClaimLabel, WindowScore
from pipeline.judge.evidence.config import EvidenceConfig
from pipeline.judge.evidence.draft import EvidencePart, ReadTexts
from pipeline.judge.evidence.plan import ClaimPlan
from pipeline.judge.evidence.signals.mismatches import ClaimValues, find_mismatches
from pipeline.judge.evidence.text.windows import Window
from pipeline.model_answers import PairScores
from pipeline.protocols import Tokenizer


def label_of(entailment: float, contradiction: float, config: EvidenceConfig) -> ClaimLabel:
    """Returns the label of a claim from the probabilities; thresholds are inclusive (README, Claim labels)."""
    is_contradicted = contradiction >= config.contradicted and contradiction > entailment
    if entailment < config.partial_entailment or is_contradicted:
        return ClaimLabel.UNSUPPORTED
    if entailment >= config.supported_entailment and contradiction < config.supported_contradiction:
        return ClaimLabel.SUPPORTED
    return ClaimLabel.PARTIAL


_LEAST_COPIED_WORDS = 5


def read_claim(
    draft: ReadTexts, plan: ClaimPlan, scores: PairScores, tokenizer: Tokenizer, config: EvidenceConfig
) -> Claim:
    """Returns a claim with its evidence."""
    claim = plan.claim
    text = claim.passage.text
    entailment, support = _best(scores, plan.windows, text)
    contradiction = scores.contradiction(plan.place.passage.text, text) if plan.place else 0.0
    mismatches, values = find_mismatches(draft.summary.read, claim.words, draft.values, plan.region)
    copied = draft.sequences.trigram_share(draft.summary.read.table, claim.words)
    is_calibrated = EvidencePart.CALIBRATION in draft.parts
    nli_label = label_of(entailment, contradiction, config)
    label = nli_label
    if len(claim.words) >= _LEAST_COPIED_WORDS and copied >= config.copied_trigram_share:
        label = ClaimLabel.SUPPORTED
    if mismatches:  # one worse
        label = ClaimLabel.PARTIAL if label is ClaimLabel.SUPPORTED else ClaimLabel.UNSUPPORTED
    return Claim(
        passage=claim.passage,
        token_count=len(tokenizer.offsets(text)),
        content_token_count=claim.content_count,
        sentence_index=claim.sentence_index,
        entailment=entailment,
        contradiction=contradiction,
        support=support.passage if support else None,
        opposition=plan.place.passage if plan.place else None,
        mismatches=mismatches,
        nli_label=nli_label,
        label=label,
        extraneous_token_count=claim.content_count if label is ClaimLabel.UNSUPPORTED else 0,
        features=_features(draft, plan, scores, values, support) if is_calibrated else ClaimFeatures(),
    )


def _features(
    draft: ReadTexts, plan: ClaimPlan, scores: PairScores, values: ClaimValues, support: Window | None
) -> ClaimFeatures:
    text = plan.claim.passage.text
    content = draft.summary.read.table.content_stems(plan.claim.words)
    stems = frozenset(content)
    known = draft.values.stems
    _, sentence = _best(scores, [window for window in plan.windows if window.size == 1], text)
    by_size = {size: [window for window in plan.windows if window.size == size] for size in draft.source.windows}
    return ClaimFeatures(
        windows=tuple(
            WindowScore(
                size,
                max((scores.entailment(window.passage.text, text) for window in windows), default=0.0),
                max((scores.contradiction(window.passage.text, text) for window in windows), default=0.0),
            )
            for size, windows in by_size.items()
        ),
        support_contradiction=scores.contradiction(support.passage.text, text) if support else 0.0,
        sentence_contradiction=scores.contradiction(sentence.passage.text, text) if sentence else 0.0,
        stitched_entailment=scores.entailment(plan.stitched.passage.text, text) if plan.stitched else 0.0,
        stitched_contradiction=scores.contradiction(plan.stitched.passage.text, text) if plan.stitched else 0.0,
        **draft.sequences.copying(draft.summary.read.table, plan.claim.words),
        sequence_share=_sequence_share(draft, plan, sentence),
        containment=len(stems & known) / len(stems) if stems else 0.0,
        support_containment=_containment(draft, stems, support),
        window_containment=plan.best_share,
        best_cosine=plan.best_cosine,
        number_count=values.number_count,
        unmatched_number_count=values.unmatched_number_count,
        name_count=values.name_count,
        unmatched_name_count=values.unmatched_name_count,
        unmatched_word_share=sum(stem not in known for stem in content) / len(content) if content else 0.0,
    )


def _best(scores: PairScores, windows: Sequence[Window], text: str) -> tuple[float, Window | None]:
    """Returns the greatest entailment with its window: of equal ones the shortest, then the first."""
    ordered = sorted(windows, key=lambda window: (window.size, window.first))
    best = scores.best([window.passage.text for window in ordered], text)
    return (0.0, None) if best is None else (scores.entailment(ordered[best].passage.text, text), ordered[best])


def _sequence_share(draft: ReadTexts, plan: ClaimPlan, sentence: Window | None) -> float:
    """Returns the longest common subsequence of the claim and a sentence, as a share of the claim's words."""
    if sentence is None:
        return 0.0
    claim, source = draft.summary.read.table, draft.source.read
    words = [claim.stems[index] for index in plan.claim.words]
    said = [source.table.stems[index] for index in source.ranges[sentence.first]]
    return float(LCSseq.similarity(words, said)) / len(words)


def _containment(draft: ReadTexts, stems: frozenset[str], window: Window | None) -> float:
    if window is None or not stems:
        return 0.0
    read = draft.source.read
    said = {stem for sentence in window.sentences for stem in read.table.content_stems(read.ranges[sentence])}
    return len(stems & said) / len(stems)
