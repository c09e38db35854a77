"""A claim of the summary with its evidence: the passage of the source that entails it most, and the label."""

from dataclasses import dataclass
from enum import StrEnum

from pipeline.reading.passage import TextSpan
from pipeline.support.claim_support import ClaimLabel


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
        premise: the passage of the source that the NLI model read; its text and its quote are the chosen sentences
            alone. None without source.
        support: the sentence of it that has most of the claim's words, the first on a tie; None without source.
        entailment: by the premise, in [0, 1].
        contradiction: the greatest of its passages, in [0, 1]; 0 for a claim that stands in the source word for word.
        mismatches: what the evidence does not say, by order in the claim.
        probability: that the source supports the claim, in (0, 1), calibrated: of claims at .5 readers object to half.
        label: by the probability and the contradiction.
        unsupported: the words that are not supported, by position; empty for a supported claim.
        extraneous_token_count: content tokens in those.
        may_raise: its sentence says something of the source, and no other claim says all of it; else it can only lower
            a score.
    """

    passage: TextSpan
    token_count: int
    content_token_count: int
    sentence_index: int
    premise: TextSpan | None
    support: TextSpan | None
    entailment: float
    contradiction: float
    mismatches: tuple[ClaimMismatch, ...]
    probability: float
    label: ClaimLabel
    unsupported: tuple[TextSpan, ...]
    extraneous_token_count: int
    may_raise: bool = True
