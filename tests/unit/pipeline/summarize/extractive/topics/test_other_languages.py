import pytest

from pipeline.summarize.extractive.topics.other_languages import (
    chinese_terms,
    german_phrases,
    is_chinese,
    is_german,
)
from tests.unit.pipeline.summarize.extractive.topics.test_key_phrases import topics

GERMAN = (
    "Heute liefert der elektrische Heizstab die Wärme, und das alte Kältemittel wird nicht ersetzt. "
    "In den Häusern ist der Einbau des Verdichters mit geringem Aufwand von einer Person zu leisten. "
    "Gemessen wurde die mittlere Jahresarbeitszahl im März 2021 von der Prüfstelle Sonnenhof GmbH."
)
CHINESE = "工程更换了离心鼓风机，新的离心鼓风机可以调节风量。系统通过溶解氧浓度控制风量，溶解氧浓度每五分钟测量一次。"


@pytest.mark.parametrize(
    ("text", "german", "chinese"),
    [
        (GERMAN, True, False),
        (CHINESE, False, True),
        ("The pump of the plant moves water.", False, False),
        ("", False, False),
    ],
)
def test_a_language_is_known_by_its_small_words_or_its_script(text: str, *, german: bool, chinese: bool) -> None:
    assert (is_german([text]), is_chinese([text])) == (german, chinese)


def test_a_german_noun_takes_its_adjective_in_the_form_of_a_dictionary() -> None:
    found = {" ".join(phrase) for phrase in german_phrases([GERMAN])}
    assert {"elektrischer Heizstab", "altes Kältemittel", "mittlere Jahresarbeitszahl", "Aufwand"} <= found
    assert "Prüfstelle Sonnenhof GmbH" in found


def test_a_german_sentence_opening_a_genitive_and_a_month_are_no_topics() -> None:
    found = {word for phrase in german_phrases([GERMAN]) for word in phrase}
    assert not {"Heute", "In", "Gemessen", "Verdichters", "März"} & found


def test_a_chinese_term_is_what_comes_twice_and_no_part_of_it() -> None:
    found = {term for (term,) in chinese_terms([CHINESE])}
    assert {"离心鼓风机", "溶解氧浓度"} <= found
    assert not {"离心鼓风", "鼓风机", "溶解氧浓"} & found


def test_german_topics_hold_no_verbs() -> None:
    found = topics(f"# Heizung im Altbau\n\n{GERMAN} {GERMAN}")
    assert "Mittlere Jahresarbeitszahl" in found
    assert all(topic[0].isupper() and not {"wird", "liefert", "wurde"} & set(topic.split()) for topic in found)
