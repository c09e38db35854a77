"""Texts are cut where marks begin and end, whatever the script and however they overlap."""

from hypothesis import given
from hypothesis import strategies as st
from precis.v1 import common_pb2, evidence_pb2

from server.cli.page.marks import DECIDING, ClaimRun, Mark, MarkedSource, Role, claim_pieces, claim_runs, cut
from tests.judgements import PARTIAL, SUPPORTED, UNSUPPORTED

marks = st.builds(Mark, st.sampled_from(Role), st.integers(1, 4), st.integers(-2, 12), st.integers(-2, 12))


@given(st.text(max_size=10), st.lists(marks, max_size=8))
def test_pieces_make_up_the_text_and_know_what_covers_them(text: str, made: list[Mark]) -> None:
    pieces = cut(text, made)
    assert "".join(piece.text for piece in pieces) == text
    assert all(piece.text for piece in pieces)
    start = 0
    for piece in pieces:
        covering = {m for m in made if 0 <= m.start <= start < min(m.end, len(text))}
        assert set(piece.marks) == covering
        assert set(piece.begun) == {m for m in covering if m.start == start}
        start += len(piece.text)


def claim(
    start: int, end: int, label: evidence_pb2.ClaimLabel.ValueType = SUPPORTED, **fields: object
) -> evidence_pb2.Claim:
    made = evidence_pb2.Claim(passage=common_pb2.TextSpan(start=start, end=end), label=label, probability=0.9)
    made.MergeFrom(evidence_pb2.Claim(**fields))  # type: ignore[arg-type] # the fields of one message
    return made


def span(text: str, words: str, start: int = 0) -> common_pb2.TextSpan:
    at = text.index(words, start)
    return common_pb2.TextSpan(start=at, end=at + len(words), text=words)


def said(run: ClaimRun) -> tuple[int | None, tuple[int, ...], str]:
    return run.claim, run.begun, "".join(piece.text for piece in run.pieces)


def test_of_claims_that_overlap_each_is_seen_where_it_is_the_shortest() -> None:
    text = "It grew, and it shrank. End."
    claims = [claim(0, 23), claim(9, 22, UNSUPPORTED)]
    assert [said(run) for run in claim_runs(text, claims)] == [
        (1, (1,), "It grew, "),
        (2, (2,), "and it shrank"),
        (1, (), "."),
        (None, (), " End."),
    ]


def test_of_claims_that_say_the_same_stretch_the_worst_is_seen_and_both_are_named() -> None:
    claims = [claim(0, 5), claim(0, 5, UNSUPPORTED, probability=0.1)]
    assert [said(run) for run in claim_runs("It is", claims)] == [(2, (1, 2), "It is")]


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=6), st.text(max_size=10))
def test_every_claim_begins_once_and_no_character_is_lost(spans: list[tuple[int, int]], text: str) -> None:
    claims = [claim(start, end) for start, end in spans]
    runs = claim_runs(text, claims)
    assert "".join(piece.text for run in runs for piece in run.pieces) == text
    inside = [number for number, (start, end) in enumerate(spans, start=1) if start < min(end, len(text))]
    assert sorted(number for run in runs for number in run.begun) == inside


def test_offsets_count_characters_in_emoji_and_in_text_from_right_to_left() -> None:
    text = "👩‍🚒🔥 fire! בית גדול נבנה ב-1999. Ende."
    hebrew = "בית גדול נבנה ב-1999."
    words = span(text, "1999")
    made = claim(text.index(hebrew), text.index(hebrew) + len(hebrew), PARTIAL, unsupported=[words])
    runs = claim_runs(text, [claim(0, text.index(" בית")), made])
    assert [said(run)[2] for run in runs] == ["👩‍🚒🔥 fire!", " ", hebrew, " Ende."]
    made.passage.text = hebrew
    doubted = [piece.text for piece in claim_pieces(made) if piece.has(Role.DOUBT)]
    assert doubted == ["1999"]


def test_a_claim_that_is_unsupported_as_a_whole_has_no_single_words_marked() -> None:
    text = "It is late."
    made = claim(0, len(text), UNSUPPORTED, unsupported=[span(text, text)])
    made.passage.text = text
    assert [piece.has(Role.DOUBT) for piece in claim_pieces(made)] == [False]


def test_passages_that_overlap_are_found_piece_by_piece() -> None:
    source = "One. Two. Three. Four."
    claims = [
        claim(0, 1, premise=span(source, "One. Two."), support=span(source, "Two.")),
        claim(1, 2, premise=span(source, "Two. Three."), support=span(source, "Two.")),
        claim(2, 3, premise=span(source, "One. Two. Three."), support=span(source, "One.")),
    ]
    found = MarkedSource(source, claims)
    marked = [piece.text for piece in found.pieces if piece.marks]

    def at(number: int, *roles: Role) -> str:
        first, last = map(int, found.at(number, *roles).split())
        return "".join(marked[first : last + 1])

    assert [at(number, Role.PREMISE) for number in (1, 2, 3)] == ["One. Two.", "Two. Three.", "One. Two. Three."]
    assert [at(number, *DECIDING) for number in (1, 2, 3)] == ["Two.", "Two.", "One."]
    assert found.at(1, Role.INSTEAD) == ""
    assert "".join(piece.text for piece in found.pieces) == source


def test_cutting_takes_time_that_grows_with_the_marks_alone() -> None:
    made = [Mark(Role.SUPPORT, at, 10 * at, 10 * at + 12) for at in range(2_000)]
    pieces = cut("x" * 20_000, made)
    assert max(len(piece.marks) for piece in pieces) == 2
    assert sum(len(piece.begun) for piece in pieces) == len(made)
