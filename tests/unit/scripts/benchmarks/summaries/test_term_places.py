from pipeline.reading.terms import TermKind
from scripts.benchmarks.summaries.term_places import PlaceShares, shares_by_place

DOCUMENT = """\
# 7.1 Pressures

The valve V-12 opens at 16 bar and closes again at 12 bar.

    $ pumpctl --status
    pressure=14
    sensor: XK-99
"""
KINDS = (TermKind.NUMBER, TermKind.PART_NUMBER, TermKind.VERSION)


def test_terms_in_sentences_are_told_from_those_in_listings_only() -> None:
    shares = shares_by_place(DOCUMENT, "V-12 opens at 16 bar.", KINDS)
    assert shares[TermKind.NUMBER].prose == 1 / 2
    assert shares[TermKind.NUMBER].elsewhere == 0
    assert shares[TermKind.PART_NUMBER] == PlaceShares(prose=1.0, elsewhere=0.0)


def test_what_a_document_does_not_have_has_no_share() -> None:
    assert shares_by_place(DOCUMENT, "", KINDS)[TermKind.VERSION] == PlaceShares(None, None)
