"""Where sentences end in German, and in quotations in Japanese."""

import pytest

from pipeline.reading.sentences import split_sentences


def quotes(text: str) -> list[str]:
    return [text[sentence.start : sentence.end] for sentence in split_sentences(text, 700)]


OPENING = "Die Pumpe ist alt und wird nicht mehr mit Öl befüllt."


@pytest.mark.parametrize(
    "sentence",
    [
        "Die Sitzung fand am 3. Mai 2024 und am 15. Nov. 2026 statt.",
        "Im 19. Jahrhundert stand sie im 2. Stock.",
        "Die 2. Stufe startet nach 4 Sekunden.",
        "Der Druck beträgt z. B. 4 bar, d. h. 400 kPa, ggf. auch mehr.",
        "Siehe Abb. 4 und Tab. 5 sowie Kap. Wartung.",
        "Die Fa. Meier GmbH & Co. KG liefert bzw. montiert die Anlage.",
        "Max. 40 bar und ca. 3,5 Mio. Euro sind erlaubt.",
        "Vgl. S. 12 ff. des Handbuchs, gem. § 5 Abs. 2 S. 1 BGB.",
        "Ludwig XIV. starb 1715.",
    ],
)
def test_a_german_sentence_goes_on_behind_ordinals_and_abbreviations(sentence: str) -> None:
    assert quotes(f"{OPENING} {sentence} Dann folgt Neues.") == [OPENING, sentence, "Dann folgt Neues."]


@pytest.mark.parametrize(
    "sentence",
    ["Danach folgt Kapitel 3.", "Sie steht im 2. Stock.", "Das gilt für Ventile, Rohre usw.", "Es geschah am 3."],
)
def test_a_german_sentence_ends_before_a_word_that_opens_the_next(sentence: str) -> None:
    assert quotes(f"{OPENING} {sentence} Der Motor läuft.") == [OPENING, sentence, "Der Motor läuft."]


def test_english_is_cut_as_before() -> None:
    text = "It was founded on 3. May we go? Dr. Smith of Fa. Meier will do it for the plant."
    assert quotes(text)[:2] == ["It was founded on 3.", "May we go?"]


def test_a_quotation_that_a_japanese_sentence_goes_on_from_does_not_end_it() -> None:
    assert quotes("「止めて。」と言った。次へ。") == ["「止めて。」と言った。", "次へ。"]
