import numpy as np

from pipeline.summarize.extractive.read_excerpts import read_excerpts
from pipeline.summarize.extractive.selection import centrality
from tests.fakes_pipeline import bag_of_words
from tests.unit.pipeline.summarize.extractive.manual import count_tokens


def scores(text: str) -> dict[str, float]:
    excerpts = read_excerpts([text], count_tokens)
    vectors = np.stack([bag_of_words(excerpt.text) for excerpt in excerpts]).astype(np.float64)
    positions = range(len(excerpts))
    return dict(zip([each.text for each in excerpts], centrality(excerpts, positions, vectors).tolist(), strict=True))


PUMPS = (
    "Water pumps move the cold water from one basin of the plant to another. "
    "The water pumps of the plant move the cold water in both directions. "
    "Cold water is what the pumps of the plant move from basin to basin. "
    "Yesterday my aunt baked three excellent apple pies with a lot of sugar."
)


def test_what_the_text_is_about_counts_more_than_what_it_is_not() -> None:
    values = scores(PUMPS)
    assert min(values, key=lambda text: values[text]).startswith("Yesterday")
    assert all(0 <= value <= 1 for value in values.values())


def test_the_first_sentence_of_a_paragraph_counts_more_than_the_same_later() -> None:
    twice = "The cold water of the plant is moved by pumps that never stop."
    values = scores(f"{twice}\n\n{PUMPS} {twice[:-1]}!")
    assert values[twice] > values[twice[:-1] + "!"]


def test_a_short_sentence_counts_less() -> None:
    values = scores(
        f"{PUMPS}\n\nWater pumps move.\n\nCold pumps of the plant move the water from one basin to another."
    )
    assert values["Water pumps move."] < values["Cold pumps of the plant move the water from one basin to another."]


def test_one_sentence_alone_has_a_score() -> None:
    assert list(scores("The pump runs.").values()) == [0.25]
