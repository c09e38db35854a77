"""A claim of the summary with its evidence: label, mismatches, and features for calibrated scores."""

from dataclasses import dataclass
from enum import StrEnum

from pipeline.text.passage import TextSpan


@dataclass(frozen=True, slots=True)
class WindowScore:
    """The best that windows of one size say about a claim; each value is a maximum of its own.

    Attributes:
        entailment: greatest probability, in [0, 1]; 0 without such windows.
        contradiction: greatest probability, in [0, 1]; 0 without such windows.
    """

    sentence_count: int
    entailment: float
    contradiction: float


@dataclass(frozen=True, slots=True)
class ClaimFeatures:
    """Numbers about one claim and the source, for calibrated scores; all 0 where nobody reads them.

    Shares are in [0, 1], 1 for a literal copy.

    Attributes:
        windows: one score for each window size, small first.
        support_contradiction: contradiction by the window with the highest entailment.
        sentence_contradiction: contradiction by the single sentence with the highest entailment.
        stitched_entailment: by the premise stitched from the sentences that have the claim's words, in [0, 1].
        stitched_contradiction: likewise.
        bigram_share: of the claim's pairs of neighbouring words, those that stand in the source; of words when there
            is only one.
        trigram_share: likewise, of three words; of pairs when the claim has two words.
        longest_run_share: words of the longest run that stands in the source, of all words of the claim.
        fragment_share: runs of the source that the claim is pieced together from, of all words; near 0 for a copy.
        sequence_share: of the claim's words, those that the sentence with the highest entailment has in the same order.
        content_bigram_share: of pairs of neighbouring content words (function words left out on both sides), those that
            are neighbours in the source; `trigram_share` when there are fewer than two content words.
        content_skip_share: likewise, with up to two content words of the source between them, in order.
        containment: of the claim's distinct content words (stemmed), those that stand anywhere in the source.
        support_containment: likewise, in `Claim.support`; 0 without.
        window_containment: likewise, in the window that has most of them.
        best_cosine: with the closest window, in [-1, 1]; 0 without source.
        number_count: numbers and dates in the claim.
        unmatched_number_count: of those, the ones that stand nowhere in the source.
        name_count: names in the claim.
        unmatched_name_count: of those, the ones that stand nowhere in the source.
        unmatched_word_share: of the claim's content words, those that stand nowhere in the source.
    """

    windows: tuple[WindowScore, ...] = ()
    support_contradiction: float = 0.0
    sentence_contradiction: float = 0.0
    stitched_entailment: float = 0.0
    stitched_contradiction: float = 0.0
    bigram_share: float = 0.0
    trigram_share: float = 0.0
    longest_run_share: float = 0.0
    fragment_share: float = 0.0
    sequence_share: float = 0.0
    content_bigram_share: float = 0.0
    content_skip_share: float = 0.0
    containment: float = 0.0
    support_containment: float = 0.0
    window_containment: float = 0.0
    best_cosine: float = 0.0
    number_count: int = 0
    unmatched_number_count: int = 0
    name_count: int = 0
    unmatched_name_count: int = 0
    unmatched_word_share: float = 0.0


class ClaimLabel(StrEnum):
    """What the source says about a claim, the best first."""

    SUPPORTED = "supported"
    PARTIAL = "partial"
    UNSUPPORTED = "unsupported"


class MismatchKind(StrEnum):
    """What of a claim is compared with its evidence, because small NLI models miss it."""

    NUMBER = "number"
    DATE = "date"
    NAME = "name"
    NEGATION = "negation"


@dataclass(frozen=True, slots=True)
class ClaimMismatch:
    """Something in a claim that its evidence does not say, or says otherwise.

    Attributes:
        claim: where it stands in the summary.
        source: what stands in its place in the source; None when nothing does.
    """

    kind: MismatchKind
    claim: TextSpan
    source: TextSpan | None


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of the summary: a sentence, or a clause of one that says several things.

    Attributes:
        passage: where it stands in the summary.
        token_count: by the request's tokenizer.
        content_token_count: words that are no function words, repeats included.
        sentence_index: of the summary's sentences, the one it stands in.
        entailment: e, greatest over the source's windows that were asked about, in [0, 1].
        contradiction: c, by `opposition` alone.
        support: the window with the highest entailment, the first on a tie; None without source.
        opposition: the closest window of the smallest size; None without source.
        mismatches: what the evidence does not say, by order in the claim.
        nli_label: from entailment and contradiction alone.
        label: Supported for a literal copy, else `nli_label`; then one worse if there are mismatches.
        extraneous_token_count: content tokens that no evidence carries: all of an unsupported claim, 0 otherwise.
    """

    passage: TextSpan
    token_count: int
    content_token_count: int
    sentence_index: int
    entailment: float
    contradiction: float
    support: TextSpan | None
    opposition: TextSpan | None
    mismatches: tuple[ClaimMismatch, ...]
    nli_label: ClaimLabel
    label: ClaimLabel
    extraneous_token_count: int
    features: ClaimFeatures
