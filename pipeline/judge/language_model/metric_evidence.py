"""What a model sees of the evidence table for one metric, and where its quotes stand.

It sees texts and places only: no probability, label or tool score. Its opinion is fused with the tools afterwards, and
would count them twice if it had read them.
"""

from collections.abc import Iterable, Sequence

from pipeline.judge.evidence.proposals import QUOTE_EDGES, find_quote
from pipeline.judge.evidence.table import EvidenceTable, Question
from pipeline.judge.result import MetricName
from pipeline.model_answers import small_letters
from pipeline.reading.characters import NormalizedText
from pipeline.reading.passage import TextSpan

Json = dict[str, object]

_MAX_SEGMENTS = 20
_MAX_CLAIMS = 20  # the least supported ones
_MAX_PASSAGE_CHARS = 1_500


def metric_evidence(metric: MetricName, table: EvidenceTable, max_summary_chars: int) -> Json:
    """Returns what `json.dumps` takes: the summary, and the parts of the table that matter for a metric.

    What several metrics are shown comes first: a provider's cache of prefixes has read it.
    """
    return {"summary": table.summary[:max_summary_chars], **_parts(metric, table)}


def _parts(metric: MetricName, table: EvidenceTable) -> Json:
    key_points: Json = {"key_points_of_the_article": [_text(point.passage) for point in table.judge_key_points]}
    match metric:
        case MetricName.COVERAGE:
            points = [
                {
                    "key_point_of_the_article": _text(point.passage),
                    "closest_part_of_the_summary": point.best and _text(point.best),
                }
                for point in table.judge_key_points
            ]
            return {"key_points": points, "questions": _asked(table.coverage_questions, "article", "summary")}
        case MetricName.ALIGNMENT:
            return {**_claims(table), "intent_of_the_article": table.intent, **key_points}
        case MetricName.HALLUCINATION:
            return {**_claims(table), "questions": _asked(table.claim_questions, "summary", "article")}
        case MetricName.RELEVANCE:
            parts = [_text(segment.passage) for segment in table.segments[:_MAX_SEGMENTS]]
            return {**key_points, "subject_of_the_article": _text(table.theme), "parts_of_the_summary": parts}
        case MetricName.BIAS_TOXICITY:
            words = [
                {"words": _text(hit.passage), "kind": hit.kind.value, "is_quoted_from_the_article": hit.is_quoted}
                for hit in table.lexicon_hits
            ]
            return {**key_points, "words_that_a_list_names": words}


def _asked(questions: Sequence[Question], of: str, to: str) -> list[Json]:
    return [
        {"question": one.question, f"answer_in_the_{of}": one.answer, f"answer_in_the_{to}": one.given}
        for one in questions
    ]


def _claims(table: EvidenceTable) -> Json:
    worst = sorted(table.claims, key=lambda claim: claim.probability)[:_MAX_CLAIMS]
    shown: list[Json] = []
    for claim in sorted(worst, key=lambda claim: claim.passage.start):
        shown.append({"claim": _text(claim.passage)})
        if claim.premise is not None:
            shown[-1]["closest_part_of_the_article"] = _text(claim.premise)
        if claim.mismatches:
            shown[-1]["not_found_there"] = [_text(mismatch.claim) for mismatch in claim.mismatches]
    return {"claims_of_the_summary": shown, "claims_not_shown": len(table.claims) - len(shown)}


def _text(passage: TextSpan) -> str:
    """Returns what models read of a passage; text without a full stop can be one endless segment."""
    return passage.text[:_MAX_PASSAGE_CHARS]


_LEAST_CHARS = 8  # less stands in almost any text


class QuoteFinder:
    """Looks quotes up, in the same texts any number of times; the first text that has one counts."""

    def __init__(self, *texts: NormalizedText) -> None:
        self._texts = [(text, small_letters(text.text)) for text in texts]

    def find(self, quotes: Iterable[str]) -> tuple[TextSpan, ...]:
        """Returns the places of those quotes that stand in one of the texts, in order, each place once.

        A quote of less than eight characters proves nothing.
        """
        long = [quote for quote in quotes if sum(map(len, quote.strip(QUOTE_EDGES).split())) >= _LEAST_CHARS]
        return tuple(dict.fromkeys(place for quote in long if (place := self._find(quote))))

    def _find(self, quote: str) -> TextSpan | None:
        found = ((text, find_quote(small, quote)) for text, small in self._texts)
        return next((text.passage(*place) for text, place in found if place), None)
