"""Scores Coverage and Relevance: what of the source the summary tells, and what of the summary the source has.

Coverage is F1 of precision and key-point recall, Relevance the word overlap of the summary's segments with the article.
In Judge-Lock each is the harmonic mean of that and the accuracy of the coverage questions.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import chain
from typing import Self

from pipeline.judge.evidence.table import Claim, EvidenceTable, KeyPoint, KeyPointCoverage, SummarySegment
from pipeline.judge.exact import exact, guarded_mean, harmonic_mean
from pipeline.judge.locks.caps import LockRules, RawScore, RelevanceMode, cap_at
from pipeline.judge.locks.hallucination import LISTED, QuestionScores, extraneous_caps, unsupported_passages
from pipeline.judge.result import Cap, Framework, Json, MetricError, MetricName, cite_first, count, sentences
from pipeline.reading.passage import TextSpan

KEY_POINT_TOKENS = 6
"""Least length of Judge-Lock's key points, unless the source has no sentence that long."""


def score_coverage(table: EvidenceTable, rules: LockRules) -> RawScore:
    """Scores precision, key-point recall and answers. Raises MetricError without key points.

    Without questions, which a language model asks, F1 stands alone.
    """
    points = table.twin_key_points if rules.framework is Framework.TWIN_LOCK else table.judge_key_points
    if not points:
        raise MetricError("no_key_points: the source states nothing that a summary could cover")
    f_score = FScore.of(points, table.claims)
    questions = QuestionScores.of(table.coverage_questions, table.question_author, rules)
    weak_caps = (cap_at(rules.weak_coverage, *weakness) for weakness in _weaknesses(f_score, questions, rules))
    covered = [point for point in points if point.coverage is not KeyPointCoverage.NOT]
    places = (place for point in covered for place in (point.passage, point.best) if place is not None)
    missed = f_score.told[KeyPointCoverage.NOT]
    shown: list[Json] = [
        {"point": point.passage.text, "label": point.coverage.value.capitalize(), "covered": point.covered_share}
        for point in points
    ]
    return RawScore(
        MetricName.COVERAGE,
        10 * questions.joined(f_score.value),
        reason=sentences((*_told_sentences(f_score, points, rules), questions.sentence("summary"))),
        evidence=(*unsupported_passages(table.claims)[:LISTED], *missed, *places, *questions.evidence),
        inputs={
            "total_keypoints": len(points),
            **{coverage.value: len(told) for coverage, told in f_score.told.items()},
            "recall": float(f_score.recall),
            "extraneous_tokens": f_score.extraneous,
            "total_summary_tokens": f_score.total,
            "precision": float(f_score.precision),
            "f1": float(f_score.value),
            **questions.inputs("question_accuracy"),
        },
        lists={"key_points": shown, **questions.lists},
        caps=(*extraneous_caps(table.claims, rules.extraneous_coverage), *chain.from_iterable(weak_caps)),
    )


@dataclass(frozen=True, slots=True)
class FScore:
    """Precision, key-point recall and their harmonic mean, each in [0, 1]."""

    told: Mapping[KeyPointCoverage, tuple[TextSpan, ...]]  # the key points by how much the summary tells of them
    extraneous: int  # content tokens of unsupported words: of all of an unsupported claim, of some of a partial one
    total: int  # content tokens of the claims that may raise a score; of others only those that have no support
    recall: Fraction  # (fully + partial / 2) / all
    precision: Fraction  # 1 - extraneous / total; 1 for a summary without any
    value: Fraction  # F1

    @classmethod
    def of(cls, points: Sequence[KeyPoint], claims: Sequence[Claim]) -> Self:
        """Counts at least one key point, and the claims."""
        told = {
            coverage: tuple(point.passage for point in points if point.coverage is coverage)
            for coverage in KeyPointCoverage
        }
        halves = 2 * len(told[KeyPointCoverage.FULLY]) + len(told[KeyPointCoverage.PARTIAL])
        extraneous = sum(claim.extraneous_token_count for claim in claims)
        total = sum(claim.content_token_count if claim.may_raise else claim.extraneous_token_count for claim in claims)
        recall = Fraction(halves, 2 * len(points))
        precision = 1 - Fraction(extraneous, total) if total else Fraction(1)
        return cls(told, extraneous, total, recall, precision, harmonic_mean(precision, recall))


def _weaknesses(f_score: FScore, questions: QuestionScores, rules: LockRules) -> Iterator[tuple[str, str]]:
    """Yields name and reason of every weakness that the lock looks for."""
    of_six, precision, recall = rules.correct_questions, rules.precision_floor, rules.recall_floor
    if of_six is not None:
        needed = -(-of_six * len(questions.questions) // 6)  # of the questions there are, rounded up
        if questions.correct < needed:
            answered = count(questions.correct, "question")
            yield "few_correct_questions", f"{answered} answered right, fewer than {needed}."
    if precision is not None and f_score.precision < precision:
        yield "low_precision", f"Precision {float(f_score.precision):.3f} is below {float(precision):.2f}."
    if recall is not None and f_score.recall < recall:
        yield "low_recall", f"Recall {float(f_score.recall):.3f} is below {float(recall):.2f}."


def _told_sentences(f_score: FScore, points: Sequence[KeyPoint], rules: LockRules) -> Iterator[str]:
    """Says how much was covered, and cites what was not; then how precise the summary is, and what F1 follows."""
    fully, partial, missed = (f_score.told[coverage] for coverage in KeyPointCoverage)
    partly = f" and {len(partial)} in part" if partial else ""
    recall, precision, f1 = float(f_score.recall), float(f_score.precision), float(f_score.value)
    yield f"The summary tells {len(fully)} of {count(len(points), 'key point')} fully{partly} (recall {recall:.2f})."
    if missed:
        yield f"It omits {cite_first(missed)}."
    is_long = all(point.token_count >= KEY_POINT_TOKENS for point in points)
    if rules.framework is Framework.JUDGE_LOCK and not is_long:
        yield f"No sentence of the source has {KEY_POINT_TOKENS} words, so its key points are shorter."
    carried = "all of its content tokens have support"
    if f_score.extraneous:
        carried = f"{f_score.extraneous} of its {count(f_score.total, 'content token')} have no support"
    yield f"Of what it says, {carried} (precision {precision:.2f}), so F1 is {f1:.2f}."


class Overlap(StrEnum):
    """How much of a segment the article has: High [.8, 1], Some [.3, .8), None below. A band holds its lower edge."""

    HIGH = "high"
    SOME = "some"
    NONE = "none"


HIGH_FROM, SOME_FROM = Fraction(4, 5), Fraction(3, 10)


def score_relevance(table: EvidenceTable, rules: LockRules) -> RawScore:
    """Scores the overlap of the segments with the article, and answers. Raises MetricError without segments.

    The overlap is the mean label value: High 1, Some as the lock has it, None 0. Segments that may not raise it can
    only lower it.
    """
    if not table.segments:
        raise MetricError("no_segments: the summary has no words to compare")
    labelled = [(segment, _overlap(segment, rules.relevance_mode)) for segment in table.segments]
    counts = Counter(overlap for _, overlap in labelled)
    raising = Counter(overlap for segment, overlap in labelled if segment.may_raise)
    irrelevant = [segment.passage for segment, overlap in labelled if overlap is Overlap.NONE]
    questions = QuestionScores.of(table.coverage_questions, table.question_author, rules)
    values = {Overlap.HIGH: Fraction(1), Overlap.SOME: rules.some_overlap, Overlap.NONE: Fraction(0)}
    section_overlap = guarded_mean([values[overlap] for _, overlap in labelled], table.segments)
    segment_caps: tuple[Cap, ...] = ()
    if irrelevant:
        said = f"{count(len(irrelevant), 'segment')} not about the article: {cite_first(irrelevant)}."
        segment_caps = cap_at(rules.irrelevant_segment, "irrelevant_segment", said)
    # The least relevant first; sorting is stable, so that position decides ties.
    ordered = sorted(labelled, key=lambda one: values[one[1]])
    return RawScore(
        MetricName.RELEVANCE,
        10 * questions.joined(section_overlap),
        reason=sentences((_overlap_sentence(counts, irrelevant), questions.sentence("summary"))),
        evidence=tuple(segment.passage for segment, _ in ordered),
        inputs={
            "total_segments": len(labelled),
            **{overlap.value: counts[overlap] for overlap in Overlap},
            **{f"raising_{overlap.value}": raising[overlap] for overlap in Overlap},
            "relevance_mode": rules.relevance_mode.value,
            "section_overlap": float(section_overlap),
            **questions.inputs("question_accuracy"),
        },
        lists={"theme": table.theme.text, "segments": [_shown_segment(*one) for one in labelled]},
        caps=(*segment_caps, *extraneous_caps(table.claims, rules.extraneous_relevance)),
    )


def _overlap(segment: SummarySegment, mode: RelevanceMode) -> Overlap:
    measure = exact(segment.jaccard if mode is RelevanceMode.JACCARD else segment.containment)
    if measure >= HIGH_FROM:
        return Overlap.HIGH
    return Overlap.SOME if measure >= SOME_FROM else Overlap.NONE


def _overlap_sentence(counts: Counter[Overlap], irrelevant: list[TextSpan]) -> str:
    """Says how many segments are how relevant, and cites the others."""
    partly = f", {counts[Overlap.SOME]} some of them" if counts[Overlap.SOME] else ""
    apart = f" Not about the article: {cite_first(irrelevant)}." if irrelevant else ""
    of_all = f"{counts[Overlap.HIGH]} of {count(counts.total(), 'segment')}"
    return f"The article has nearly all content words of {of_all}{partly}.{apart}"


def _shown_segment(segment: SummarySegment, overlap: Overlap) -> Json:
    return {
        "segment": segment.passage.text,
        "label": overlap.value.capitalize(),
        "containment": segment.containment,
        "jaccard": segment.jaccard,
    }
