"""Which spans are the same span."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.judge.exact import distinct_spans, duplicate_span_count, intersection_over_union
from pipeline.reading.passage import TextSpan


def span(start: int, end: int, text_id: str = "source") -> TextSpan:
    return TextSpan(text_id, start, end, "x" * (end - start), "x" * (end - start))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (span(0, 10), span(0, 10), Fraction(1)),
        (span(0, 10), span(5, 15), Fraction(1, 3)),
        (span(0, 10), span(0, 5), Fraction(1, 2)),
        (span(0, 10), span(10, 20), Fraction(0)),
        (span(0, 10), span(0, 10, "summary"), Fraction(0)),
        (span(0, 0), span(0, 0), Fraction(0)),
    ],
)
def test_intersection_over_union_by_hand(first: TextSpan, second: TextSpan, expected: Fraction) -> None:
    assert intersection_over_union(first, second) == intersection_over_union(second, first) == expected


def test_spans_are_duplicates_from_one_half_on() -> None:
    assert duplicate_span_count([span(0, 10), span(0, 5)]) == 1  # exactly one half
    assert duplicate_span_count([span(0, 100), span(0, 49)]) == 0
    assert duplicate_span_count([span(0, 10), span(0, 10), span(0, 10)]) == 2
    assert duplicate_span_count([]) == 0


def test_the_first_of_duplicates_is_kept() -> None:
    assert distinct_spans([span(0, 10), span(1, 10), span(20, 30)]) == (span(0, 10), span(20, 30))


PLACES = st.tuples(st.integers(0, 40), st.integers(0, 12), st.sampled_from(["source", "summary"]))


@given(st.lists(PLACES.map(lambda place: span(place[0], place[0] + place[1], place[2])), max_size=25))
def test_what_is_kept_is_no_duplicate_and_what_is_left_out_is_one(places: list[TextSpan]) -> None:
    kept: list[TextSpan] = []
    for place in places:
        if all(intersection_over_union(place, other) < Fraction(1, 2) for other in kept):
            kept.append(place)
    assert distinct_spans(places) == tuple(kept)


def test_a_place_is_compared_with_those_near_it_alone() -> None:
    # To compare all with all would run into the test's time limit.
    places = [span(at * 7, at * 7 + 10) for at in range(30_000)]
    assert len(distinct_spans(places)) == 30_000
