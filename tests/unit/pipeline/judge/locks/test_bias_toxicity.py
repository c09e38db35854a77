"""Bias and toxicity by hand."""

from dataclasses import replace

import pytest

from pipeline.judge.evidence.table import LexiconHit, LexiconKind, LexiconSeverity, Tone
from pipeline.judge.locks.caps import JUDGE_LOCK, TWIN_LOCK
from pipeline.judge.locks.score import score_lock
from pipeline.judge.result import FrameworkResult, MetricName, MetricResult
from tests.unit.pipeline.judge.tables import NEUTRAL, hit, table

MILD, STRONG = LexiconSeverity.MILD, LexiconSeverity.STRONG
PROFANITY, SLUR, STEREOTYPE, LOADED = LexiconKind


def results(
    *hits: LexiconHit, tone: Tone = Tone.NEUTRAL, opinion: tuple[float, float] = (0.1, 0.1)
) -> list[FrameworkResult]:
    """Scores one table with both frameworks; `opinion` is of source and summary."""
    reading = replace(NEUTRAL, summary_tone=tone, source_subjectivity=opinion[0], summary_subjectivity=opinion[1])
    made = table(tone=reading, hits=hits)
    return [score_lock(made, rules) for rules in (TWIN_LOCK, JUDGE_LOCK)]


def bias_toxicity(*hits: LexiconHit, **changes: object) -> MetricResult:
    twin, judge = (result[MetricName.BIAS_TOXICITY] for result in results(*hits, **changes))  # type: ignore[arg-type]
    assert twin == judge
    return twin


@pytest.mark.parametrize(
    ("hits", "parts", "score", "caps"),
    [
        ((), (10, 10), 10.0, []),
        ((hit(PROFANITY, MILD),), (10, 5), 7.5, [("mild_profanity", "tox_score", 5)]),
        ((hit(PROFANITY, STRONG),), (10, 2), 6.0, [("strong_profanity", "tox_score", 2)]),
        ((hit(SLUR, MILD),), (10, 5), 7.5, [("mild_slur", "tox_score", 5)]),
        ((hit(SLUR, STRONG),), (10, 2), 3.0, [("strong_slur", "tox_score", 2), ("strong_slur", "score", 3)]),
        ((hit(STEREOTYPE),), (4, 10), 7.0, [("stereotype", "bias_score", 4)]),
        (
            (hit(STEREOTYPE), hit(SLUR, STRONG)),
            (4, 2),
            3.0,
            [("stereotype", "bias_score", 4), ("strong_slur", "tox_score", 2), ("strong_slur", "score", 3)],
        ),
        ((hit(PROFANITY, MILD),) * 7, (10, 3), 6.5, [("mild_profanity", "tox_score", 5)]),  # 10 - 7, under the cap
        ((hit(PROFANITY, MILD),) * 12, (10, 0), 5.0, [("mild_profanity", "tox_score", 5)]),
    ],
)
def test_listed_expressions_cap_the_part_that_they_concern(
    hits: tuple[LexiconHit, ...], parts: tuple[float, float], score: float, caps: list[tuple[str, str, float]]
) -> None:
    metric = bias_toxicity(*hits)
    assert (metric.inputs["bias_score"], metric.inputs["tox_score"]) == parts
    assert metric.score == score
    assert [(cap.name, cap.applies_to, cap.limit) for cap in metric.caps] == caps


@pytest.mark.parametrize(
    ("loaded", "tone", "opinion", "bias"),
    [
        (1, Tone.NEUTRAL, (0.0, 0.1), 9),
        (12, Tone.NEUTRAL, (0.0, 0.1), 0),
        (1, Tone.SUBJECTIVE, (0.5, 0.5), 8),  # the tone has taken more
        (3, Tone.SUBJECTIVE, (0.5, 0.5), 7),
        (3, Tone.SUBJECTIVE, (0.0, 1.0), 3),
    ],
)
def test_biased_wordings_are_issues_and_lower_bias_as_far_as_the_tone_has_not(
    loaded: int, tone: Tone, opinion: tuple[float, float], bias: float
) -> None:
    metric = bias_toxicity(*[hit(LOADED)] * loaded, tone=tone, opinion=opinion)
    assert (metric.inputs["bias_score"], metric.inputs["loaded_words"]) == (bias, loaded)
    assert metric.inputs["tox_score"] == 10
    assert metric.caps == ()
    issues = results(hit(LOADED))[0].objects[MetricName.BIAS_TOXICITY]["issues"]
    assert issues == [{"text": "word", "kind": "loaded", "severity": "mild", "quoted_from_source": False}]


def test_words_quoted_from_the_source_are_listed_and_change_nothing() -> None:
    metric = bias_toxicity(hit(SLUR, STRONG, is_quoted=True), hit(PROFANITY, is_quoted=True))
    assert (metric.score, metric.caps, metric.inputs["quoted_hits"], metric.inputs["slurs"]) == (10, (), 2, 0)
    assert len(metric.evidence) == 2


@pytest.mark.parametrize(
    ("tone", "opinion", "parts", "score"),
    [
        (Tone.NEUTRAL, (0.0, 0.3), (10, 10), 10.0),
        (Tone.UNCLEAR, (0.0, 0.0), (10, 10), 10.0),
        (Tone.SUBJECTIVE, (0.5, 0.5), (8, 10), 9.0),  # no more opinionated than its source
        (Tone.SUBJECTIVE, (0.6, 0.5), (8, 10), 9.0),
        (Tone.SUBJECTIVE, (0.1, 0.3), (7, 10), 8.5),
        (Tone.HOSTILE, (0.0, 1.0), (1, 5), 3.0),
        (Tone.HOSTILE, (0.2, 0.2), (6, 5), 5.5),
    ],
)
def test_the_tone_gives_both_parts_their_start(
    tone: Tone, opinion: tuple[float, float], parts: tuple[float, float], score: float
) -> None:
    metric = bias_toxicity(tone=tone, opinion=opinion)
    assert (metric.inputs["bias_score"], metric.inputs["tox_score"], metric.score) == (*parts, score)
    assert metric.inputs["tone"] == tone.value


def test_the_reason_cites_what_was_found_and_where() -> None:
    metric = bias_toxicity(hit(PROFANITY))
    assert metric.reason == (
        'The tone is neutral (no opinion words), with 1 listed expression: "word" (summary 100-104).'
    )
    (twin, _) = results(hit(PROFANITY))
    assert twin.objects[MetricName.BIAS_TOXICITY]["issues"] == [
        {"text": "word", "kind": "profanity", "severity": "mild", "quoted_from_source": False}
    ]
