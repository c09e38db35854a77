import numpy as np

from pipeline.summarize.extractive.centrality import score_sentences
from pipeline.summarize.extractive.read_excerpts import read_excerpts
from tests.fakes_pipeline import bag_of_words
from tests.unit.pipeline.summarize.extractive.manual import count_tokens


def scores(text: str, *, starts_document: bool = True) -> dict[str, float]:
    excerpts = read_excerpts([text], count_tokens)
    vectors = np.stack([bag_of_words(excerpt.text) for excerpt in excerpts]).astype(np.float64)
    positions = range(len(excerpts))
    values = score_sentences(excerpts, positions, vectors, starts_document=starts_document)
    return dict(zip([each.text for each in excerpts], values.tolist(), strict=True))


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
    assert list(scores("The pump runs.").values()) == [1]


def test_the_first_sentence_of_a_paragraph_counts_more_than_the_same_later() -> None:
    twice = "The cold water of the plant is moved by pumps that never stop."
    values = scores(f"{twice}\n\n{PUMPS} {twice[:-1]}!")
    assert values[twice] > values[twice[:-1] + "!"]


def test_the_first_sentences_of_a_section_count_more_and_the_prior_fades() -> None:
    text = "\n\n".join(f"The pump number {number} moves the cold water of the plant." for number in range(20))
    values = list(scores(text).values())
    assert values == sorted(values, reverse=True)
    assert values[0] - values[5] > 3 * (values[14] - values[19])


def test_a_text_that_begins_in_the_middle_has_no_first_sentence() -> None:
    text = "\n\n".join(f"The pump number {word} moves the cold water." for word in ("one", "two", "three"))
    assert len(set(np.round(list(scores(text, starts_document=False).values()), 6))) == 1
    headed = list(scores(f"# Pumps\n\n{text}", starts_document=False).values())[1:]
    assert headed == sorted(headed, reverse=True)
    assert headed[0] > headed[2]
