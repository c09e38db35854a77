"""Evidence tables made by hand, for formulas whose every input a test wants to choose."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypedDict, Unpack

from pipeline.judge.evidence.table import (
    Claim,
    EvidenceTable,
    KeyPoint,
    KeyPointCoverage,
    LexiconHit,
    LexiconKind,
    LexiconSeverity,
    Question,
    SummarySegment,
    Tone,
    ToneReading,
)
from pipeline.judge.result import MetricResult
from pipeline.protocols import ModelIdentities, ModelIdentity
from pipeline.reading.passage import TextSpan
from pipeline.support.claim_support import ClaimLabel

CLAIM_TOKENS = 10
PLACE_CHARS = 100

S, P, U = ClaimLabel.SUPPORTED, ClaimLabel.PARTIAL, ClaimLabel.UNSUPPORTED
FULLY, PARTLY, NOT = KeyPointCoverage.FULLY, KeyPointCoverage.PARTIAL, KeyPointCoverage.NOT

NEUTRAL = ToneReading(
    source_tone=Tone.NEUTRAL,
    summary_tone=Tone.NEUTRAL,
    summary_reason="no opinion words",
    source_subjectivity=0.1,
    summary_subjectivity=0.1,
    source_sentiment=0.0,
    summary_sentiment=0.0,
    stance_distance=0.0,
    tone_distance=0.0,
    meaning_distance=0.0,
    focus_distance=0.0,
    drift=0.0,
)
_MODEL = ModelIdentity("none", "1", "0" * 64)


def place(text_id: str, index: int, text: str = "some words") -> TextSpan:
    """Makes the passage number `index` of a text; passages with different numbers do not overlap."""
    start = index * PLACE_CHARS
    return TextSpan(text_id, start, start + len(text), text, text)


def claims(*labels: ClaimLabel) -> tuple[Claim, ...]:
    """Makes claims of 10 content tokens; each is backed by a place of its own."""
    probabilities = {S: 0.9, P: 0.4, U: 0.1}
    places = [place("summary", index, f"claim {index}") for index in range(len(labels))]
    return tuple(
        Claim(
            passage=places[index],
            token_count=CLAIM_TOKENS + 2,
            content_token_count=CLAIM_TOKENS,
            sentence_index=index,
            premise=place("source", index, f"support {index} and more"),
            support=place("source", index, f"support {index}"),
            entailment=probabilities[label],
            contradiction=0.05,
            mismatches=(),
            probability=probabilities[label],
            label=label,
            unsupported=(places[index],) if label is U else (),
            extraneous_token_count=CLAIM_TOKENS if label is U else 0,
        )
        for index, label in enumerate(labels)
    )


def key_points(*covered: KeyPointCoverage) -> tuple[KeyPoint, ...]:
    """Makes key points, each told at a place of its own."""
    shares = {FULLY: 0.9, PARTLY: 0.5, NOT: 0.1}
    return tuple(
        KeyPoint(place("source", index), 8, shares[one], shares[one], shares[one], one, place("summary", index))
        for index, one in enumerate(covered)
    )


def segments(*containments: float, jaccard: float = 0.05) -> tuple[SummarySegment, ...]:
    """Makes segments that share a part of their words with the article."""
    return tuple(
        SummarySegment(place("summary", index, f"segment {index}"), 9, 5, containment, jaccard, 0.5, 0.5)
        for index, containment in enumerate(containments)
    )


def questions(*scores: float, side: str = "source") -> tuple[Question, ...]:
    """Makes questions about distinct places of one text."""
    return tuple(
        Question(
            question=f"question {index} ____",
            answer="12",
            answer_span=place(side, index, "12"),
            fact=place(side, index, f"fact {index} is 12"),
            given="12" if score else None,
            given_span=place("summary", index, "12") if score else None,
            score=score,
        )
        for index, score in enumerate(scores)
    )


def hit(kind: LexiconKind, severity: LexiconSeverity = LexiconSeverity.MILD, *, is_quoted: bool = False) -> LexiconHit:
    """Makes a listed expression."""
    return LexiconHit(kind, place("summary", 1, "word"), severity, is_quoted)


def cap_names(metric: MetricResult) -> list[str]:
    """Lists the caps whose conditions hold."""
    return [cap.name for cap in metric.caps]


def drifting(drift: float) -> ToneReading:
    """Makes a tone reading with a drift."""
    return replace(NEUTRAL, drift=drift, stance_distance=drift)


class Parts(TypedDict, total=False):
    """Parts of a table that a test chooses; the rest is that of a perfect summary."""

    made_claims: Sequence[Claim]
    points: Sequence[KeyPoint]
    made_segments: Sequence[SummarySegment]
    coverage: Sequence[Question]
    about_claims: Sequence[Question]
    tone: ToneReading
    hits: Sequence[LexiconHit]


def table(**parts: Unpack[Parts]) -> EvidenceTable:
    """Makes a table; both kinds of key points are the same ones."""
    made_claims = tuple(parts.get("made_claims", claims(S, S, S)))
    points = tuple(parts.get("points", key_points(FULLY, FULLY, FULLY, FULLY, FULLY)))
    return EvidenceTable(
        source="the source",
        summary="the summary",
        claims=made_claims,
        omitted_claim_count=0,
        twin_key_points=points,
        judge_key_points=points,
        segments=tuple(parts.get("made_segments", segments(1.0, 0.9))),
        theme=place("source", 0, "the theme"),
        intent="reports on fees; neutral",
        coverage_questions=tuple(parts.get("coverage", questions(1, 1, 1, 1, 1, 1))),
        claim_questions=tuple(parts.get("about_claims", questions(1, 1, 1, 1, 1, 1, side="summary"))),
        tone=parts.get("tone", NEUTRAL),
        lexicon_hits=tuple(parts.get("hits", ())),
        salient_share=0.5,
        summary_token_count=sum(claim.content_token_count for claim in made_claims),
        extraneous_token_count=sum(claim.extraneous_token_count for claim in made_claims),
        pair_count=0,
        models=ModelIdentities(_MODEL, _MODEL, "words"),
    )
