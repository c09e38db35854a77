import re
import unicodedata
from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipeline.reading.characters import OffsetMap, nfkc, normalize, normalize_decoded

# Where normalisation has something to do: marks, jamo, Indic vowels, ligatures, full-width, half-width kana.
TRICKY = st.text(
    st.sampled_from("ae\u0301\u0327\u0323각\u1100\u1161\u11a8\u09c7\u09be\u09d7ﬁ２Å½…ｶﾞカ゛\u037a ㎏x"), max_size=30
)
ANY = st.text(st.characters(codec="utf-8"), max_size=60)


@given(st.one_of(TRICKY, ANY))
def test_the_text_is_what_unicodedata_makes_of_the_whole(text: str) -> None:
    marked = re.sub(r"(?<=\d)(?=[⁰¹²³⁴-⁹⁻])", "^", text)
    assert nfkc(text)[0] == unicodedata.normalize("NFKC", marked)


@given(st.one_of(TRICKY, ANY).filter(bool))
def test_every_character_leads_back_to_the_characters_it_was_made_of(text: str) -> None:
    normalized, offsets = nfkc(text)
    spans = [offsets.to_original(index, index + 1) for index in range(len(normalized))]
    for start, end in spans:
        made_of = unicodedata.normalize("NFKC", text[start:end])
        first = next(index for index, span in enumerate(spans) if span == (start, end))
        assert normalized[first:].removeprefix("^").startswith(made_of.removeprefix("^"))


@given(st.one_of(TRICKY, ANY).filter(bool))
def test_original_positions_never_fall(text: str) -> None:
    normalized, offsets = nfkc(text)
    starts = [offsets.to_original(index, index + 1)[0] for index in range(len(normalized))]
    assert starts == sorted(starts)
    assert offsets.to_original(0, len(normalized)) == (0, len(text))


def test_a_ligature_is_two_letters_that_lead_back_to_one() -> None:
    text = normalize("t", "A ﬁne cafe\u0301, 10⁶ m²")  # the é is two code points
    assert text.text == "A fine café, 10^6 m2"
    assert text.passage(2, 6).quote == "ﬁne"
    assert text.passage(7, 11).quote == "cafe\u0301"
    assert text.passage(3, 4).quote == "ﬁ"  # half a ligature is quoted whole


def test_a_text_that_is_normal_already_has_the_identity() -> None:
    assert nfkc("plain 今天 é")[1].starts is None


def test_a_passage_is_read_with_single_spaces_and_quoted_as_sent() -> None:
    passage = normalize("t", "one\n  two\tthree").whole()
    assert (passage.text, passage.quote) == ("one two three", "one\n  two\tthree")


def test_two_steps_of_decoding_lead_back_through_both() -> None:
    original = r"x\ufb01y"  # JSON's spelling of a ligature: six characters, one, then two letters
    decoded = OffsetMap(np.array([0, 1, 7], dtype=np.int32), np.array([1, 7, 8], dtype=np.int32))
    text = normalize_decoded("t", original, "xﬁy", decoded)
    assert text.text == "xfiy"
    assert text.passage(1, 3).quote == r"\ufb01"
    assert text.passage(3, 4).quote == "y"


def test_no_letter_has_so_many_marks_sorted_at_once_that_it_takes_long() -> None:
    text = "a" + "\u0301\u0323" * 1_000  # out of order: `normalize` sorts by insertion
    with mock.patch("pipeline.reading.characters.unicodedata.normalize", wraps=unicodedata.normalize) as asked:
        assert len(nfkc(text)[0]) >= len(text) - 2
    assert max(len(call.args[1]) for call in asked.call_args_list) == 64
