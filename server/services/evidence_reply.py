"""An evidence table as a message."""

from precis.v1 import evidence_pb2 as pb

from pipeline.judge.evidence.claim import Claim, ClaimFeatures, ClaimLabel, ClaimMismatch, MismatchKind
from pipeline.judge.evidence.table import (
    EvidenceTable,
    EvidenceTimings,
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
from server.rpc.fields import to_span
from server.rpc.status import to_duration

LABELS = {
    ClaimLabel.SUPPORTED: pb.CLAIM_LABEL_SUPPORTED,
    ClaimLabel.PARTIAL: pb.CLAIM_LABEL_PARTIAL,
    ClaimLabel.UNSUPPORTED: pb.CLAIM_LABEL_UNSUPPORTED,
}
COVERED = {
    KeyPointCoverage.FULLY: pb.KEY_POINT_COVERAGE_FULLY,
    KeyPointCoverage.PARTIAL: pb.KEY_POINT_COVERAGE_PARTIAL,
    KeyPointCoverage.NOT: pb.KEY_POINT_COVERAGE_NOT,
}
TONES = {
    Tone.NEUTRAL: pb.TONE_NEUTRAL,
    Tone.SUBJECTIVE: pb.TONE_SUBJECTIVE,
    Tone.HOSTILE: pb.TONE_HOSTILE,
    Tone.UNCLEAR: pb.TONE_UNCLEAR,
}
MISMATCH_KINDS = {
    MismatchKind.NUMBER: pb.MISMATCH_KIND_NUMBER,
    MismatchKind.DATE: pb.MISMATCH_KIND_DATE,
    MismatchKind.NAME: pb.MISMATCH_KIND_NAME,
    MismatchKind.NEGATION: pb.MISMATCH_KIND_NEGATION,
}
LEXICON_KINDS = {
    LexiconKind.PROFANITY: pb.LEXICON_KIND_PROFANITY,
    LexiconKind.SLUR: pb.LEXICON_KIND_SLUR,
    LexiconKind.STEREOTYPE: pb.LEXICON_KIND_STEREOTYPE,
}
SEVERITIES = {LexiconSeverity.MILD: pb.LEXICON_SEVERITY_MILD, LexiconSeverity.STRONG: pb.LEXICON_SEVERITY_STRONG}


def to_evidence(table: EvidenceTable) -> pb.EvidenceTable:
    """Gives the table without the caller's two texts."""
    return pb.EvidenceTable(
        claims=map(to_claim, table.claims),
        omitted_claim_count=table.omitted_claim_count,
        twin_key_points=map(to_key_point, table.twin_key_points),
        judge_key_points=map(to_key_point, table.judge_key_points),
        segments=map(to_segment, table.segments),
        theme=to_span(table.theme),
        intent=table.intent,
        coverage_questions=map(to_question, table.coverage_questions),
        claim_questions=map(to_question, table.claim_questions),
        tone=to_tone(table.tone),
        lexicon_hits=map(to_lexicon_hit, table.lexicon_hits),
        window_count=table.window_count,
        summary_token_count=table.summary_token_count,
        extraneous_token_count=table.extraneous_token_count,
        question_author=table.question_author,
        scored_pair_count=table.pairs.scored_pair_count,
        exact_pair_count=table.pairs.exact_pair_count,
        tokenizer=table.models.tokenizer,
        notes=table.notes,
        timings=to_evidence_timings(table.timings),
        salient_share=table.salient_share,
    )


def to_claim(claim: Claim) -> pb.Claim:
    """Gives a statement of the summary with all that is known of it."""
    return pb.Claim(
        passage=to_span(claim.passage),
        token_count=claim.token_count,
        content_token_count=claim.content_token_count,
        sentence_index=claim.sentence_index,
        entailment=claim.entailment,
        contradiction=claim.contradiction,
        support=to_span(claim.support),
        opposition=to_span(claim.opposition),
        mismatches=map(to_mismatch, claim.mismatches),
        nli_label=LABELS[claim.label_by_nli],
        label=LABELS[claim.label],
        extraneous_token_count=claim.extraneous_token_count,
        features=to_features(claim.features),
    )


def to_features(features: ClaimFeatures) -> pb.ClaimFeatures:
    """Gives the measures of a claim. Fields have the same names on both sides."""
    names = (field.name for field in pb.ClaimFeatures.DESCRIPTOR.fields if field.name != "windows")
    message = pb.ClaimFeatures(**{name: getattr(features, name) for name in names})
    for window in features.windows:
        message.windows.add(
            sentence_count=window.sentence_count, entailment=window.entailment, contradiction=window.contradiction
        )
    return message


def to_mismatch(mismatch: ClaimMismatch) -> pb.ClaimMismatch:
    """Gives what of a claim its evidence does not say."""
    return pb.ClaimMismatch(
        kind=MISMATCH_KINDS[mismatch.kind], claim=to_span(mismatch.claim), source=to_span(mismatch.source)
    )


def to_key_point(point: KeyPoint) -> pb.KeyPoint:
    """Gives a point of the source and how much of it the summary tells."""
    return pb.KeyPoint(
        passage=to_span(point.passage),
        token_count=point.token_count,
        entailment=point.entailment,
        content_share=point.content_share,
        covered_share=point.covered_share,
        coverage=COVERED[point.covered],
        best=to_span(point.best),
    )


def to_segment(segment: SummarySegment) -> pb.SummarySegment:
    """Gives a part of the summary and how much of it the source has."""
    return pb.SummarySegment(
        passage=to_span(segment.passage),
        token_count=segment.token_count,
        content_token_count=segment.content_token_count,
        containment=segment.containment,
        jaccard=segment.jaccard,
        theme_cosine=segment.cosine_to_theme,
        source_cosine=segment.source_cosine,
        is_grounded=segment.is_grounded,
    )


def to_question(question: Question) -> pb.Question:
    """Gives a question with both answers."""
    return pb.Question(
        question=question.question,
        answer=question.answer,
        answer_span=to_span(question.answer_span),
        fact=to_span(question.fact),
        given=question.given,
        given_span=to_span(question.given_span),
        score=question.score,
    )


def to_tone(reading: ToneReading) -> pb.ToneReading:
    """Gives how the texts sound."""
    return pb.ToneReading(
        source_tone=TONES[reading.source],
        summary_tone=TONES[reading.summary],
        summary_reason=reading.summary_reason,
        source_subjectivity=reading.subjectivity_source,
        summary_subjectivity=reading.subjectivity_summary,
        source_sentiment=reading.sentiment_source,
        summary_sentiment=reading.sentiment_summary,
        stance_distance=reading.stance_distance,
        tone_distance=reading.tone_distance,
        meaning_distance=reading.meaning_distance,
        focus_distance=reading.focus_distance,
        drift=reading.drift,
    )


def to_lexicon_hit(hit: LexiconHit) -> pb.LexiconHit:
    """Gives words that a list names."""
    return pb.LexiconHit(
        kind=LEXICON_KINDS[hit.kind],
        passage=to_span(hit.passage),
        severity=SEVERITIES[hit.severity],
        is_quoted=hit.is_quoted,
    )


def to_evidence_timings(timings: EvidenceTimings) -> pb.EvidenceTimings:
    """Gives the time of each step."""
    return pb.EvidenceTimings(
        total=to_duration(timings.total_ms / 1000),
        reading=to_duration(timings.reading_ms / 1000),
        embedding=to_duration(timings.embedding_ms / 1000),
        proposals=to_duration(timings.proposals_ms / 1000),
        nli=to_duration(timings.nli_ms / 1000),
        assembly=to_duration(timings.assembly_ms / 1000),
    )
