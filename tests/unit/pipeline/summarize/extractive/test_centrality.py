import numpy as np
import pytest

from pipeline.reading.blocks import STRUCTURE
from pipeline.reading.rules import without
from pipeline.summarize.extractive.excerpt import read_excerpts
from pipeline.summarize.extractive.selection import Material, find_passages, rank_passages, score_focus, score_sentences
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
    with without(["length"]):
        assert list(scores("The pump runs.").values()) == [1]
    assert list(scores("The pump runs.").values()) < [1]


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
    assert headed == sorted(set(headed), reverse=True)


@pytest.mark.parametrize("page", ["", "# Manual\n\nDocument 4410, revision D.\n\n"])
def test_the_first_section_that_says_something_counts_more_than_the_next(page: str) -> None:
    same = "The two pumps of this plant move all of the cold water from one basin to the other"
    text = f"{page}# Pumps\n\n{same}.\n\n# Water\n\n{same}!"
    values = scores(text)
    assert values[f"{same}."] > values[f"{same}!"]
    values = scores(text, starts_document=False)
    assert values[f"{same}."] == values[f"{same}!"]


CHAT = """\
Ann: Did you see the long game last night, it was great?
Bob: We agreed to send the offer on Friday.
Ann: Will we have to send it by Monday?
Bob: I will call the harbour master by 14 May.
Ann: The game was long and the beer was warm.
Bob: I may have five or 5 more of them.
"""


def test_in_a_talk_what_is_decided_and_promised_counts_most_and_questions_do_not() -> None:
    values = scores(CHAT)
    ranked = sorted(values, key=lambda text: -values[text])
    assert [text.split()[1] for text in ranked[:2]] == ["agreed", "will"]
    assert all(0 <= value <= 1 for value in values.values())
    with without(["decisions"]):
        plain = scores(CHAT)
    asked = next(text for text in plain if text.endswith("Monday?"))
    assert values[ranked[1]] - values[asked] > plain[ranked[1]] - plain[asked]


@pytest.mark.parametrize("label", ["Decision", "Decision 17-2", "Action item", "Beschluss"])
def test_what_minutes_call_a_decision_counts_as_one(label: str) -> None:
    values = scores(f"The pumps were shown. Pumps move the water.\n\n{label}: the order goes to Torwerk by 14 May.")
    assert max(values, key=lambda text: values[text]).startswith(label)


def test_no_decision_is_looked_for_where_nobody_speaks() -> None:
    text = "The board agreed to it on Friday. Pumps move the water. Pumps move the water again."
    with without(["decisions"]):
        plain = scores(text)
    assert scores(text) == plain


def focused(text: str, focus: str, **chances: float) -> list[str]:
    excerpts = read_excerpts([text], count_tokens)
    positions = [at for at, excerpt in enumerate(excerpts) if excerpt.kind not in STRUCTURE]
    vectors = np.stack([bag_of_words(excerpts[at].text) for at in positions]).astype(np.float64)
    wanted = bag_of_words(focus).astype(np.float64)
    found = list(find_passages(Material(excerpts, positions, vectors, frozenset())))
    wholes = np.stack([bag_of_words(passage.text) for passage in found]).astype(np.float64)
    passages = rank_passages(found, focus, vectors @ wanted, wholes @ wanted)
    values, _ = score_focus(vectors @ wanted, passages, [chances.get(passage.text, 0.0) for passage in passages])
    return [excerpts[positions[row]].text for row in np.argsort(-values, kind="stable")]


@pytest.mark.parametrize(
    ("text", "focus", "first"),
    [
        ("# A\n\nPumps hum.\n\n# B\n\nPumps have a seal.\n\n# C\n\nA pump.", "seal of pumps", "Pumps have a seal."),
        ("Pumps hum.\n\n## First start\n\n1. Open V1.\n2. Press.\n3. Wait.\n\n## End\n\nRest.", "starting", "Open V1."),
        ("# A\n\nPumpen laufen.\n\n# B\n\nSchutzhelme helfen.", "Helmpflicht", "Schutzhelme helfen."),
        ("# A\n\nFour remain. Brakes wear.\n\n# B\n\nPumps hum.", "brakes", "Brakes wear."),
    ],
)
def test_the_closest_sentence_of_the_passage_that_answers_comes_first(text: str, focus: str, first: str) -> None:
    assert focused(text, focus)[0] == first


def test_what_the_nli_model_says_of_a_passage_counts_and_what_says_nothing_of_the_focus_comes_last() -> None:
    text = "# A\n\nBrakes wear. Four stay.\n\n# B\n\nTyres wear."
    assert focused(text, "wear", **{"A\nBrakes wear. Four stay.": 0.5}) == ["Brakes wear.", "Tyres wear.", "Four stay."]
    assert focused(text, "wear", **{"B\nTyres wear.": 0.5})[0] == "Tyres wear."


def test_what_stands_behind_the_closest_sentence_of_a_passage_counts_more_than_what_stands_before_it() -> None:
    assert focused("Four remain. Brakes wear. Tyres hold.", "brakes") == ["Brakes wear.", "Tyres hold.", "Four remain."]
