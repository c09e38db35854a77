"""One passage of the source for one claim."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.reading.document import ReadText
from pipeline.reading.index import WordIndex
from pipeline.reading.passage import LEFT_OUT
from pipeline.reading.passages import Passage, PassageFinder, claim_weights
from pipeline.reading.word_table import WordTable

MOST = 700
VILLAGES = [f"Village number {n} has {n * 7} goats and {n * 3} wells beside its old road." for n in range(60)]


def read(text: str) -> tuple[ReadText, WordIndex]:
    source = ReadText.of("source", text, 700)
    return source, WordIndex(source)


def find(text: str, claim: str, most_chars: int = MOST, among: frozenset[int] | None = None) -> Passage:
    source, index = read(text)
    table = WordTable.of(claim)
    weights = claim_weights(table, range(len(table)), index)
    passage = PassageFinder(source, most_chars).passage(weights, among)
    assert passage is not None
    return passage


def with_sentences(*placed: tuple[int, str]) -> str:
    """Puts sentences among many others."""
    sentences = list(VILLAGES)
    for place, sentence in placed:
        sentences[place] = sentence
    return " ".join(sentences)


BRIDGE, COST = "The mayor opened a bridge in Leeds.", "In the end the bridge cost four million pounds."
APART = with_sentences((50, BRIDGE), (10, COST))


def test_the_sentences_that_have_the_words_are_read_in_their_order() -> None:
    passage = find(APART, "The bridge that the mayor opened cost four million pounds.")
    assert passage.span.text.index(COST) < passage.span.text.index(BRIDGE)
    assert passage.best == (10, 50)
    assert list(passage.sentences) == sorted(passage.sentences)


def test_the_text_is_the_chosen_sentences_and_the_span_reaches_from_the_first_to_the_last() -> None:
    source, _ = read(APART)
    passage = find(APART, "The mayor opened a bridge.")
    assert passage.span.text == " ".join(source.passages[at].text for at in passage.sentences)
    first, last = source.passages[passage.sentences[0]], source.passages[passage.sentences[-1]]
    assert (passage.span.start, passage.span.end) == (first.start, last.end)


def test_sentences_that_stand_apart_are_quoted_alone() -> None:
    passage = find(APART, "The bridge that the mayor opened cost four million pounds.", 100)
    assert passage.sentences == (10, 50)
    assert passage.span.quote == f"{COST}{LEFT_OUT}{BRIDGE}"
    assert APART[passage.span.start : passage.span.end].count("Village") == 39


def test_neighbours_are_quoted_with_what_stands_between_them_unless_that_is_long() -> None:
    near, far = f"{COST}\n\n- {BRIDGE}", f"{COST}{' ' * 10_000}{BRIDGE}"
    assert find(near, "The bridge cost four million pounds.").span.quote == near
    assert find(far, "The bridge cost four million pounds.").span.quote == f"{COST}{LEFT_OUT}{BRIDGE}"


def test_a_quote_has_the_callers_characters() -> None:
    source = with_sentences((10, "The ﬁrm sold  a mill in Leeds."), (50, "The ﬁrm bought ２ mills in Hull."))
    passage = find(source, "The firm bought and sold mills in Hull and Leeds.", among=frozenset((10, 50)))
    assert passage.span.quote == f"The ﬁrm sold  a mill in Leeds.{LEFT_OUT}The ﬁrm bought ２ mills in Hull."
    assert passage.span.text == "The firm sold a mill in Leeds. The firm bought 2 mills in Hull."


@pytest.mark.parametrize("most_chars", [100, 300, 700, 2_000])
def test_a_passage_is_full_and_not_longer_than_its_bound(most_chars: int) -> None:
    passage = find(APART, "Villages have goats and wells beside the road.", most_chars)
    assert most_chars - max(map(len, VILLAGES)) - 1 <= len(passage.span.text) <= most_chars


def test_a_sentence_longer_than_the_bound_is_read_whole_and_alone() -> None:
    long = "The inquiry found " + ", ".join(f"fault {n} in pillar {n}" for n in range(20)) + "."
    passage = find(with_sentences((30, long)), "The inquiry found a fault in a pillar.", 100)
    assert (passage.sentences, passage.span.text) == ((30,), long)


def test_a_short_source_is_read_whole() -> None:
    text = "The mayor opened a bridge. Rain fell for hours. Nobody was hurt."
    passage = find(text, "The rain went on.")
    assert (passage.span.text, passage.sentences, passage.best) == (text, (0, 1, 2), (1, 0))


def test_a_claim_of_foreign_words_gets_the_beginning() -> None:
    assert find(APART, "Elephants migrate southwards.").best == (0, 1)


def test_a_source_without_sentences_has_no_passage() -> None:
    source, _ = read("...")
    assert PassageFinder(source, MOST).passage({"bridge": 1.0}) is None


TRAINED = "Anna Holt trained as a dancer in Paris."
SOLD = "{} sold the bakery for nine million francs."
TAXED = "Nine days ago somebody taxed all bakeries at the border."


@pytest.mark.parametrize(
    ("opening", "brings_antecedent"), [("She", True), ("The owner", True), ("Dora", False), ("The owner Bob", False)]
)
def test_a_sentence_that_points_back_brings_the_one_before_it(opening: str, *, brings_antecedent: bool) -> None:
    text = with_sentences((20, TRAINED), (21, SOLD.format(opening)), (40, TAXED))
    passage = find(text, "The bakery was sold for nine million francs.", len(TAXED) + len(SOLD) + 20)
    assert (20 in passage.sentences) is brings_antecedent
    assert (40 in passage.sentences) is not brings_antecedent
    assert 21 in passage.sentences


DIALOGUE = "\n".join(
    [
        "Ann: I baked a cake. It is for grandmother.",
        "Bob: Lovely!",
        "Ann: Will you bring the candles? They are in the cupboard.",
        *(f"Bob: Number {n} is a number that I like. Carl likes {n + 1}." for n in range(40)),
    ]
)


def test_a_sentence_inside_a_turn_names_its_speaker() -> None:
    passage = find(DIALOGUE, "The cake is for grandmother.", 150)
    assert "Ann: I baked a cake. Ann: It is for grandmother." in passage.span.text
    assert len(passage.span.text) <= 150
    assert "Bob: Carl likes 21." in find(DIALOGUE, "Carl likes 21.", 150).span.text


def test_prose_with_a_colon_or_two_has_no_speakers() -> None:
    text = with_sentences((7, "Warning: the ice is thin. Stay away from the lake."), (8, "Result: nobody came."))
    assert "Stay away from the lake." in find(text, "They stay away from the lake.").span.text
    assert "Warning: Stay" not in find(text, "They stay away from the lake.").span.text


def test_the_same_words_get_the_same_passage() -> None:
    one, other = find(APART, "The mayor opened a bridge in Leeds."), find(APART, "In Leeds a bridge opened the mayor.")
    assert one == other == find(APART, "Leeds opened the mayor: a bridge!")


def test_a_passage_can_be_made_of_some_sentences_alone() -> None:
    passage = find(APART, "The bridge that the mayor opened cost four million pounds.", among=frozenset({3, 10, 11}))
    assert (passage.sentences, passage.best) == ((3, 10, 11), (10, 3))
    many = frozenset(range(40))
    assert many.issuperset(find(APART, "The mayor opened a bridge in Leeds.", among=many).sentences)
    source, _ = read(APART)
    assert PassageFinder(source, MOST).passage({"bridge": 1.0}, frozenset()) is None


def weights_of(claim: str, before: str = "") -> dict[str, float]:
    text = f"{before} {claim}".strip()
    table, at = WordTable.of(text), len(WordTable.of(before))
    _, index = read(APART)
    return claim_weights(table, range(at, len(table)), index, range(at))


def test_rare_words_names_and_numbers_count_more() -> None:
    weights = weights_of("Goats crossed the bridge in Leeds 49 times.")
    assert weights["goat"] < weights["bridg"] < weights["leed"]
    assert weights["49"] > weights["bridg"]
    assert set(weights) == {"goat", "cross", "bridg", "leed", "49", "time"}


def test_a_claim_that_points_back_looks_for_words_of_the_sentence_before_it_too() -> None:
    alone = weights_of("It cost four million pounds.")
    led = weights_of("It cost four million pounds.", "The mayor opened a bridge.")
    assert {stem: led[stem] for stem in alone} == alone
    assert {"mayor", "open", "bridg"} == set(led) - set(alone)
    assert 0 < led["bridg"] < weights_of("A bridge.")["bridg"] / 2
    assert weights_of("Work cost four million pounds.", "The mayor opened a bridge.").keys().isdisjoint({"bridg"})


WORDS = st.sampled_from(
    [
        *("the", "mayor", "She", "It", "bridge", "12", "Leeds", "Ann:", "Bob:"),
        *(".", "!", "\n", "\n\n", "费", "ﬁ", "🙂", "- "),
    ]
)


@given(st.lists(WORDS, max_size=120), st.lists(WORDS, max_size=12), st.integers(20, 200))
def test_a_passage_lies_inside_its_source(source_words: list[str], claim_words: list[str], most_chars: int) -> None:
    source, index = read(" ".join(source_words))
    table = WordTable.of(" ".join(claim_words))
    passage = PassageFinder(source, most_chars).passage(claim_weights(table, range(len(table)), index))
    assert (passage is None) == (not source.sentences)
    if passage:
        assert list(passage.sentences) == sorted(set(passage.sentences))
        assert set(passage.best) <= set(passage.sentences)
        assert 0 <= passage.span.start < passage.span.end <= len(source.text.original)
        quotes = [source.passages[at].quote for at in passage.sentences]
        assert all(quote in passage.span.quote for quote in quotes)
        assert len(passage.span.quote) <= len("".join(quotes)) + 80 * (len(quotes) - 1)
        if passage.sentences[-1] - passage.sentences[0] < len(quotes) and LEFT_OUT not in passage.span.quote:
            assert passage.span.quote == source.text.original[passage.span.start : passage.span.end]
        assert len(passage.span.text) <= most_chars or len(passage.sentences) == 1


def test_a_claim_has_a_shorter_passage_too_unless_it_is_the_same() -> None:
    source, index = read(APART)
    table = WordTable.of("The bridge that the mayor opened cost four million pounds.")
    weights = claim_weights(table, range(len(table)), index)
    finder = PassageFinder(source, MOST)
    long, short = finder.for_claim(weights, len(BRIDGE) + len(COST) + 2)
    assert long == finder.passage(weights)
    assert set(short.sentences) < set(long.sentences)
    assert short.span.text in (f"{COST} {BRIDGE}", BRIDGE, COST)
    assert finder.for_claim(weights, MOST) == (long,)
    assert PassageFinder(read("")[0], MOST).for_claim(weights, 100) == ()
