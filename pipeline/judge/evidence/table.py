"""The evidence table: everything that the frameworks read, built once for a source and its summary.

Text ids of passages are `source` and `summary`. Probabilities, shares and cosines are of the models and texts alone:
a reader who has the table can recompute every label by hand.
"""

from dataclasses import dataclass
from enum import StrEnum

from pipeline.judge.second_reader import SecondReading
from pipeline.protocols import ModelIdentities
from pipeline.reading.passage import TextSpan
from pipeline.support.claim_support import ClaimLabel


@dataclass(frozen=True, slots=True)
class EvidenceTimings:
    """Where the time went, in milliseconds; waiting for the models included. Not part of what must be reproducible."""

    total_ms: float = 0
    reading_ms: float = 0
    embedding_ms: float = 0
    proposals_ms: float = 0
    nli_ms: float = 0
    assembly_ms: float = 0


class MismatchKind(StrEnum):
    """What of a claim is compared with its evidence, because small NLI models miss it."""

    NUMBER = "number"
    DATE = "date"
    NAME = "name"
    NEGATION = "negation"


@dataclass(frozen=True, slots=True)
class ClaimMismatch:
    """Something in a claim that its evidence does not say, or says otherwise."""

    kind: MismatchKind
    claim: TextSpan  # where it stands in the summary
    source: TextSpan | None  # what stands in its place in the source; None when nothing does


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of the summary: a sentence."""

    passage: TextSpan  # where it stands in the summary
    token_count: int  # by the request's tokenizer
    content_token_count: int  # words that are no function words, repeats included
    sentence_index: int  # of the summary's sentences
    # the passage of the source that the NLI model read; its text and its quote are the chosen sentences alone. None
    # without source.
    premise: TextSpan | None
    # the sentence of it that has most of the claim's words, the first on a tie; None without source
    support: TextSpan | None
    entailment: float  # by the premise, in [0, 1]
    # the greatest of its passages, in [0, 1]; 0 for a claim that stands in the source word for word
    contradiction: float
    mismatches: tuple[ClaimMismatch, ...]  # what the evidence does not say, by order in the claim
    # that the source supports the claim, in (0, 1), calibrated: of claims at .5 readers object to half
    probability: float
    label: ClaimLabel  # by the probability
    unsupported: tuple[TextSpan, ...]  # the words that are not supported, by position; empty for a supported claim
    extraneous_token_count: int  # content tokens in those
    # its sentence says something of the source, and no other claim says all of it; else it can only lower a score
    may_raise: bool = True
    second_reading: SecondReading | None = None  # by a language model; None without one
    premise_read: str = ""  # the premise, as the NLI model read it to find `entailment`; empty without source
    claim_read: str = ""  # likewise the claim, its values as the premise writes them


class KeyPointCoverage(StrEnum):
    """How much of a key point the summary tells."""

    FULLY = "fully"
    PARTIAL = "partial"
    NOT = "not"


class Tone(StrEnum):
    """How a text speaks. UNCLEAR: too little text in a language that the lexicon knows."""

    NEUTRAL = "neutral"
    SUBJECTIVE = "subjective"
    HOSTILE = "hostile"
    UNCLEAR = "unclear"


class LexiconKind(StrEnum):
    """Which word list a passage was found by. LOADED: words of opinion or contempt, biased wordings."""

    PROFANITY = "profanity"
    SLUR = "slur"
    STEREOTYPE = "stereotype"
    LOADED = "loaded"


class LexiconSeverity(StrEnum):
    """How grave a hit is: `strong` brings down the whole metric, `mild` a part of it."""

    MILD = "mild"
    STRONG = "strong"


@dataclass(frozen=True, slots=True)
class KeyPoint:
    """A point of the source that a summary should tell."""

    passage: TextSpan  # where it stands in the source: the main clause of a sentence
    token_count: int  # by the request's tokenizer
    entailment: float  # of the point by a passage of the summary, in [0, 1]; 0 where words leave nothing open
    # of its content words, weighted by how many sentences of the source have them, those that claims which tell it
    # have, in [0, 1]. A claim that says the opposite tells nothing.
    content_share: float
    covered_share: float  # u, the greater of the two, in [0, 1]
    coverage: KeyPointCoverage  # FULLY above 0.75, NOT below 0.25 of its words and 0.5 of entailment
    best: TextSpan | None  # the sentence of the passage that has most of its words; None when none says anything of it


@dataclass(frozen=True, slots=True)
class SummarySegment:
    """A sentence of the summary, cut at semicolons and line ends."""

    passage: TextSpan  # where it stands in the summary
    token_count: int  # by the request's tokenizer
    content_token_count: int  # distinct content words, stemmed
    containment: float  # of those, the ones that the article has, in [0, 1]; 1 for a segment without content words
    jaccard: float  # of the distinct content words of segment and article, in [0, 1]
    theme_cosine: float  # in [-1, 1]
    source_cosine: float  # with the closest sentence of the source, in [-1, 1]
    may_raise: bool = True  # its sentence says something of the source; else it can only lower a score


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the answer that one text expects and the answer that the other gives."""

    question: str  # as a language model wrote it
    answer: str  # what the question was made from; always a quote of `fact`
    answer_span: TextSpan  # where it stands
    fact: TextSpan  # the statement asked about: of the source for coverage, of the summary for hallucination
    given: str | None  # the answer found in the other text; None when it has none
    given_span: TextSpan | None  # where it stands; None with `given`
    score: float  # 1 right, 0.5 partly, 0 wrong or none


@dataclass(frozen=True, slots=True)
class ToneReading:
    """How source and summary speak, and how far the summary drifts from what the source means."""

    source_tone: Tone
    summary_tone: Tone
    summary_reason: str  # what decided it, in a few words
    source_subjectivity: float  # share of opinion in [0, 1]
    summary_subjectivity: float  # likewise
    source_sentiment: float  # of the parts that the summary tells, in [-1, 1]
    summary_sentiment: float  # in [-1, 1]
    stance_distance: float  # of the two sentiments, in [0, 1]
    tone_distance: float  # 0 when the summary is no more heated than the source, 1 when a neutral text turns hostile
    meaning_distance: float  # share of the summary's claims that the source contradicts, by tokens, in [0, 1]
    focus_distance: float  # how far the summary's subject is from the source's, in [0, 1]
    drift: float  # d of the Alignment metric, in [0, 1]; exactly 0 when every part is within its tolerance


@dataclass(frozen=True, slots=True)
class LexiconHit:
    """Words of the summary that a list names."""

    kind: LexiconKind
    passage: TextSpan  # where they stand in the summary
    severity: LexiconSeverity
    is_quoted: bool  # they stand in quotation marks and the source has them too: reported, not said by the summary


@dataclass(frozen=True, slots=True)
class EvidenceTable:
    """All evidence of one request."""

    source: str  # as the caller sent it
    summary: str  # as the caller sent it
    # all that were checked, by position in the summary; empty when the summary states nothing
    claims: tuple[Claim, ...]
    omitted_claim_count: int  # less consequential ones that a bound left unchecked
    # 3 to 7, by position in the source; fewer when the source has fewer statements
    twin_key_points: tuple[KeyPoint, ...]
    # 5 to 7 of at least 6 words, fewer when the source has fewer statements of that length; shorter ones when it has
    # none
    judge_key_points: tuple[KeyPoint, ...]
    # of at least 6 tokens; all of the summary as one when every segment is shorter
    segments: tuple[SummarySegment, ...]
    theme: TextSpan  # the source's subject, at most 20 tokens, which keeps Twin-Lock's limit (25) and Judge-Lock's (20)
    intent: str  # intent, stance and tone of the source, at most 35 tokens, which keeps both limits (40 and 35)
    tone: ToneReading
    lexicon_hits: tuple[LexiconHit, ...]  # by position in the summary
    # of the weight of the source's 50 most widespread content words, what the summary has, in [0, 1]
    salient_share: float
    summary_token_count: int  # content tokens of all of the summary's claims, the base of `extraneous_token_count`
    extraneous_token_count: int  # content tokens of what is not supported
    pair_count: int  # NLI pairs that were scored
    models: ModelIdentities
    notes: tuple[str, ...] = ()  # what was left out or refused, in a few words each
    # of a language model, at most 6, from facts of the source, answered from the summary alone
    coverage_questions: tuple[Question, ...] = ()
    claim_questions: tuple[Question, ...] = ()  # likewise from claims, answered from the source alone
    question_author: str = "deterministic"  # or the name of the chat model that proposed questions or key points
    proposals_failed: bool = False  # proposals were asked for, and a part of them cannot be used
    timings: EvidenceTimings = EvidenceTimings()  # where the time went; differs from run to run
