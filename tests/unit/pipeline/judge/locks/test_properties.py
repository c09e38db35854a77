"""What holds for every table: ranges, caps, and that more unsupported claims never help."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.judge.config import LockConfig
from pipeline.judge.evidence.table import (
    Claim,
    EvidenceTable,
    KeyPointCoverage,
    LexiconKind,
    LexiconSeverity,
    SummarySegment,
    Tone,
)
from pipeline.judge.locks.alignment import score_of_drift
from pipeline.judge.locks.caps import JUDGE_LOCK, TWIN_LOCK
from pipeline.judge.locks.hallucination import ClaimCounts, score_of_counts
from pipeline.judge.locks.score import score_lock
from pipeline.judge.result import Framework, MetricName
from pipeline.support.claim_support import ClaimLabel
from tests.unit.pipeline.judge.tables import NEUTRAL, claims, hit, key_points, place, questions, segments, table

SHARE = st.floats(0, 1)
LABELS = st.lists(st.sampled_from(ClaimLabel), max_size=10)
ANSWERS = st.lists(st.sampled_from([0.0, 0.5, 1.0]), max_size=6)
TONES = st.builds(
    lambda summary, drift, before, after: replace(
        NEUTRAL, summary_tone=summary, drift=drift, source_subjectivity=before, summary_subjectivity=after
    ),
    st.sampled_from(Tone),
    SHARE,
    SHARE,
    SHARE,
)
HITS = st.lists(
    st.builds(
        lambda kind, severity, quoted: hit(kind, severity, is_quoted=quoted),
        st.sampled_from(LexiconKind),
        st.sampled_from(LexiconSeverity),
        st.booleans(),
    ),
    max_size=12,
)
TABLES = st.builds(
    lambda labels, covered, shares, coverage, about, tone, hits: table(
        made_claims=claims(*labels),
        points=key_points(*covered),
        made_segments=segments(*shares),
        coverage=questions(*coverage),
        about_claims=questions(*about, side="summary"),
        tone=tone,
        hits=hits,
    ),
    LABELS,
    st.lists(st.sampled_from(KeyPointCoverage), min_size=1, max_size=7),
    st.lists(SHARE, min_size=1, max_size=8),
    ANSWERS,
    ANSWERS,
    TONES,
    HITS,
)
BOTH = pytest.mark.parametrize("lock", [Framework.TWIN_LOCK, Framework.JUDGE_LOCK])
WORSE = {
    ClaimLabel.SUPPORTED: ClaimLabel.PARTIAL,
    ClaimLabel.PARTIAL: ClaimLabel.UNSUPPORTED,
    ClaimLabel.UNSUPPORTED: ClaimLabel.UNSUPPORTED,
}


def relabelled(made: EvidenceTable, labels: Sequence[ClaimLabel]) -> EvidenceTable:
    """Replaces the claims, and the tokens that they count."""
    other = table(made_claims=claims(*labels))
    return replace(
        made,
        claims=other.claims,
        summary_token_count=other.summary_token_count,
        extraneous_token_count=other.extraneous_token_count,
    )


@BOTH
@given(made=TABLES)
def test_every_score_is_a_number_in_range_under_all_its_caps(lock: Framework, made: EvidenceTable) -> None:
    for config in (LockConfig(), LockConfig(twin_safeguards=True)):
        result = score_lock(made, config.rules_of(lock))
        assert [metric.name for metric in result.metrics] == list(MetricName) == list(result.objects)
        for metric in result.metrics:
            assert metric.score is not None
            assert isfinite(metric.score)
            assert 0 <= metric.score <= 10
            assert round(metric.score, 2) == metric.score
            assert all(metric.score <= cap.limit for cap in metric.caps if cap.applies_to == "score")
            for cap in metric.caps:
                limited = metric.score if cap.applies_to == "score" else metric.inputs[cap.applies_to]
                assert isinstance(limited, float)
                assert limited <= cap.limit


@BOTH
@given(made=TABLES)
def test_a_score_without_a_lowering_cap_is_its_uncapped_score_rounded(lock: Framework, made: EvidenceTable) -> None:
    for metric in score_lock(made, LockConfig().rules_of(lock)).metrics:
        uncapped = metric.inputs["uncapped_score"]
        assert isinstance(uncapped, float)
        assert metric.score is not None
        lowering = [cap.limit for cap in metric.caps if cap.lowered and cap.applies_to == "score"]
        assert metric.score == pytest.approx(min([uncapped, *lowering]), abs=0.005 + 1e-9)


@BOTH
@given(made=TABLES, data=st.data())
def test_a_worse_claim_never_raises_a_score(lock: Framework, made: EvidenceTable, data: st.DataObject) -> None:
    labels = [claim.label for claim in made.claims]
    if not labels:
        return
    index = data.draw(st.integers(0, len(labels) - 1))
    worse = [WORSE[label] if at == index else label for at, label in enumerate(labels)]
    before, after = (
        score_lock(made, LockConfig().rules_of(lock)),
        score_lock(relabelled(made, worse), LockConfig().rules_of(lock)),
    )
    if any(cap.name == "perfect_guard" for metric in before.metrics for cap in metric.caps):
        return  # the guard takes from all what only all of them together have: one worse score lifts it
    for metric in (MetricName.HALLUCINATION, MetricName.COVERAGE, MetricName.RELEVANCE, MetricName.ALIGNMENT):
        first, second = before[metric].score, after[metric].score
        assert first is not None
        assert second is not None
        assert second <= first


UNGROUNDED = st.lists(st.tuples(st.sampled_from(ClaimLabel), SHARE), max_size=3)


def with_filler(made: EvidenceTable, filler: Sequence[tuple[ClaimLabel, float]]) -> EvidenceTable:
    """Adds ungrounded sentences, each a claim and a segment, at places of the source that nothing else cites."""
    said = [replace(claim, may_raise=False, support=place("source", 90)) for claim, _ in _made(filler)]
    parts = [replace(segment, may_raise=False) for _, segment in _made(filler)]
    return replace(made, claims=(*made.claims, *said), segments=(*made.segments, *parts))


def _made(filler: Sequence[tuple[ClaimLabel, float]]) -> list[tuple[Claim, SummarySegment]]:
    made = claims(*(label for label, _ in filler)), segments(*(share for _, share in filler))
    return list(zip(*made, strict=True))


@BOTH
@given(made=TABLES, some=UNGROUNDED, more=UNGROUNDED)
def test_an_ungrounded_sentence_never_raises_a_score(
    lock: Framework,
    made: EvidenceTable,
    some: Sequence[tuple[ClaimLabel, float]],
    more: Sequence[tuple[ClaimLabel, float]],
) -> None:
    rules = LockConfig(twin_safeguards=True).rules_of(lock)
    first = with_filler(made, some)
    before, after = score_lock(first, rules), score_lock(with_filler(first, more), rules)
    for old, new in zip(before.metrics, after.metrics, strict=True):
        assert old.score is not None
        assert new.score is not None
        assert new.score <= old.score


@BOTH
def test_a_supported_sentence_that_says_nothing_does_not_lift_the_perfect_guard(lock: Framework) -> None:
    rules = LockConfig(twin_safeguards=True).rules_of(lock)
    points = key_points(KeyPointCoverage.FULLY)
    certain = tuple(replace(claim, probability=1.0) for claim in claims(ClaimLabel.SUPPORTED))
    made = table(made_claims=certain, points=points, coverage=questions(1))
    for filler in ((ClaimLabel.SUPPORTED, 1.0), (ClaimLabel.UNSUPPORTED, 0.0)):
        result = score_lock(with_filler(replace(made, claim_questions=()), [filler] * 5), rules)
        assert result[MetricName.BIAS_TOXICITY].score == 9


@given(st.fractions(0, 1), st.fractions(0, 1))
def test_scores_fall_with_drift_and_with_the_unsupported_fraction(first: Fraction, second: Fraction) -> None:
    low, high = sorted((first, second))
    assert score_of_drift(low)[0] >= score_of_drift(high)[0]
    labels = Counter([ClaimLabel.SUPPORTED, ClaimLabel.UNSUPPORTED])
    counts = [ClaimCounts(labels, labels, u) for u in (low, high)]
    assert score_of_counts(counts[0], TWIN_LOCK) >= score_of_counts(counts[1], TWIN_LOCK)


@cache
def claim_counts(supported: int, partial: int, unsupported: int) -> ClaimCounts:
    labels = (ClaimLabel.SUPPORTED, supported), (ClaimLabel.PARTIAL, partial), (ClaimLabel.UNSUPPORTED, unsupported)
    return ClaimCounts.of(claims(*(label for label, count in labels for _ in range(count))))


def test_judge_hallucination_never_rises_with_a_worse_claim_for_all_counts() -> None:
    """All 286 counts of up to ten claims, each with each of its claims made worse."""
    for total in range(1, 11):
        for unsupported in range(total + 1):
            for partial in range(total - unsupported + 1):
                supported = total - unsupported - partial
                score = score_of_counts(claim_counts(supported, partial, unsupported), JUDGE_LOCK)
                if supported:
                    assert score_of_counts(claim_counts(supported - 1, partial + 1, unsupported), JUDGE_LOCK) <= score
                    assert score_of_counts(claim_counts(supported - 1, partial, unsupported + 1), JUDGE_LOCK) <= score
                if partial:
                    assert score_of_counts(claim_counts(supported, partial - 1, unsupported + 1), JUDGE_LOCK) <= score


def test_a_drift_outside_its_range_is_no_drift() -> None:
    for drift in (Fraction(-1, 10), Fraction(11, 10)):
        with pytest.raises(ValueError, match="drift in"):
            score_of_drift(drift)
