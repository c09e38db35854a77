"""How a summary is cut into claims."""

from hypothesis import given
from hypothesis import strategies as st

from pipeline.judge.evidence.plan import most_consequential
from pipeline.reading.document import ReadText
from pipeline.reading.summary_text import find_claims


def claims(text: str) -> list[str]:
    return [claim.passage.quote for claim in find_claims(ReadText.of("summary", text, 700))]


def test_clauses_with_their_own_subject_are_claims_of_their_own() -> None:
    assert claims("The mayor resigned on Monday, but the council kept its plan. It rained.") == [
        "The mayor resigned on Monday",
        "the council kept its plan.",
        "It rained.",
    ]
    assert claims("The court fined him; she was released without charge.") == [
        "The court fined him",
        "she was released without charge.",
    ]
    assert claims("The rice was well cooked, while the restaurant's curries are often praised.") == [
        "The rice was well cooked",
        "the restaurant's curries are often praised.",
    ]


def test_lists_and_shared_subjects_are_not_cut() -> None:
    for text in (
        "The mayor and the council voted.",
        "He surrendered his licence and admitted the fraud.",
        "Ann met Bob and Carl in Rome and Paris.",
        'She said "we lost the game and they won the cup" later.',
    ):
        assert claims(text) == [text]


def test_lists_of_nouns_are_not_cut() -> None:
    for text in (
        "Homer is named as author of the Iliad and Odyssey in most lists.",
        "The board shows the goals, the cards, and the Yellow Team on top.",
        "Apple was founded by Steve Jobs, Steve Wozniak, and Ronald Wayne and was later incorporated.",
        "Other diets, such as the Atkins Diet, South Beach Diet, and the Paleo Diet, are not covered at all.",
        "She was the third woman to win a Nobel Prize, and the first woman to be awarded the medal.",
        "Nothing is known about a company formed by Apple, and Microsoft designers from Seattle.",
    ):
        assert claims(text) == [text]


def test_a_clause_stays_where_it_means_something() -> None:
    for text in (
        "The moai are stone statues on Easter Island, but they are often moved.",  # what a pronoun means
        "The reviews mention that the food was good, and the service was great.",  # who says so
        "If the bridge was closed on Monday, and the road was open, all would be well.",  # on which condition
        "After the mayor resigned on Monday, and the council met, the bridge was closed.",
    ):
        assert claims(text) == [text]


def test_a_run_on_sentence_is_cut_at_bare_commas_and_a_shorter_one_is_not() -> None:
    clauses = [
        f"The {name} of the old town was closed on Monday by order of the council"
        for name in ("bridge", "mill", "bank")
    ]
    assert claims(f"{', '.join(clauses)}.") == [*clauses[:2], f"{clauses[2]}."]
    assert len(claims(f"{', '.join(clauses[:2])}.")) == 1
    subordinate = f"Overall, while {', '.join(clauses)}."
    assert claims(subordinate)[0].startswith("Overall, while The bridge of the old town was closed on Monday by order")
    assert len(claims(subordinate)) == 1


def test_headings_are_no_claims() -> None:
    assert claims("# The old bridge\n\nThe bridge was closed.") == ["The bridge was closed."]


def test_the_claims_that_say_most_are_kept_in_order() -> None:
    summary = ReadText.of(
        "summary", "It was so. In 1931 Anna Holt paid 40 dollars. And then. The court fined Bob Ray.", 700
    )
    kept = most_consequential(find_claims(summary), summary, 2)
    assert [claim.passage.quote for claim in kept] == ["In 1931 Anna Holt paid 40 dollars.", "The court fined Bob Ray."]


def test_text_without_words_has_no_claims() -> None:
    assert claims("🙂🙂") == []
    assert claims("費用が上がりました。公聴会が開かれます。") == ["費用が上がりました。", "公聴会が開かれます。"]


@given(st.lists(st.sampled_from(["the", "mayor", "won", "and", "but", ",", ".", ";", "she", "was", '"', "Ann", "\n"])))
def test_every_content_word_is_in_one_claim(words: list[str]) -> None:
    summary = ReadText.of("summary", " ".join(words), 700)
    found = find_claims(summary)
    content = [index for span in summary.ranges for index in span if summary.table.content[index]]
    claimed = [index for claim in found for index in claim.words if summary.table.content[index]]
    assert claimed == content
    assert all(summary.text.original[c.passage.start : c.passage.end] == c.passage.quote for c in found)
