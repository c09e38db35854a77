import numpy as np
import pytest

from pipeline.summarize.document import SummaryType
from pipeline.summarize.extractive.abridge import comparable
from pipeline.summarize.extractive.centrality import score_sentences
from pipeline.summarize.extractive.excerpt import Excerpt, ExcerptKind
from pipeline.summarize.extractive.read_excerpts import read_excerpts
from pipeline.summarize.extractive.selection import Budget, Candidates, select
from pipeline.summarize.extractive.values import ExcerptValues
from tests.fakes_pipeline import bag_of_words
from tests.unit.pipeline.summarize.extractive.manual import MANUAL, count_tokens


def choose(  # noqa: PLR0913 - one keyword for each thing that a test varies
    text: str,
    budget: Budget,
    *,
    dropped: frozenset[int] = frozenset(),
    summary_type: SummaryType = SummaryType.TECHNICAL,
    critique: str | None = None,
    relevance_weight: float = 0.7,
) -> tuple[list[Excerpt], list[int]]:
    excerpts = read_excerpts([text], count_tokens)
    sentences = [position for position in comparable(excerpts) if position not in dropped]
    vectors = np.stack([bag_of_words(excerpts[position].text) for position in sentences]).astype(np.float64)
    candidates = Candidates(
        excerpts=excerpts,
        dropped=dropped,
        values=ExcerptValues(excerpts, summary_type, critique),
        sentences=sentences,
        centrality=score_sentences(excerpts, sentences, vectors, starts_document=True),
        vectors=vectors,
        relevance_weight=relevance_weight,
    )
    return excerpts, select(candidates, budget)


def texts(excerpts: list[Excerpt], chosen: list[int]) -> str:
    return "\n".join(excerpts[position].text for position in chosen)


@pytest.mark.parametrize("limit", [0, 10, 30, 60, 100, 150, 200, 10_000])
def test_a_budget_is_never_exceeded_and_nothing_dangles(limit: int) -> None:
    excerpts, chosen = choose(MANUAL, Budget(limit, limit, limit))
    assert sum(excerpts[position].token_count for position in chosen) <= limit
    assert chosen == sorted(chosen)
    for position in chosen:
        assert set(excerpts[position].needs) <= set(chosen)


def test_values_warnings_steps_and_commands_come_before_the_rest() -> None:
    excerpts, chosen = choose(MANUAL, Budget(0, 0, 10_000))
    kept = texts(excerpts, chosen)
    for value in ("16 A at 400 V", "95 °C", "V-17", "5.5 bar", "4.2.1", "pumpctl", "XK-4411-B", "Never open", "FAT32"):
        assert value in kept
    for chatter in ("friendly blue", "Visitors", "easy to learn", "weekdays"):
        assert chatter not in kept


def test_more_budget_keeps_no_fewer_values() -> None:
    counts = []
    for limit in (80, 120, 160, 200, 240):
        excerpts, chosen = choose(MANUAL, Budget(limit, limit, limit))
        values = ExcerptValues(excerpts, SummaryType.TECHNICAL, None)
        counts.append(len({term for position in chosen for term in values.terms[position]}))
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def test_every_section_gets_a_sentence_where_not_all_get_two() -> None:
    sections = "".join(
        f"# Part {letter}\n\nThe {word} of this machine is made of very hard and shiny steel. "
        f"The {word} of this machine is cleaned with a soft cloth by the staff.\n\n"
        for letter, word in zip("ABCD", ("cover", "wheel", "handle", "frame"), strict=True)
    )
    excerpts, chosen = choose(sections, Budget(110, 110, 110))
    said = [position for position in chosen if excerpts[position].kind is ExcerptKind.SENTENCE]
    assert len(said) < 8
    assert len({excerpts[position].section for position in said}) == 4


def test_what_was_dropped_as_a_duplicate_is_not_chosen() -> None:
    _, chosen = choose(MANUAL, Budget(10_000, 10_000, 10_000), dropped=frozenset({1}))
    assert 1 not in chosen
    assert len(chosen) > 20


def test_the_second_sentence_is_unlike_the_first() -> None:
    text = (
        "Big red pumps move cold water through long pipes of chemical plants every single day. "
        "Big red pumps move cold water through long pipes of chemical plants every single night. "
        "Filters keep sand away from red pumps, since sand would damage their seals and bearings."
    )
    assert texts(*choose(text, Budget(40, 40, 40), relevance_weight=1.0)).count("Big red") == 2
    excerpts, chosen = choose(text, Budget(40, 40, 40), relevance_weight=0.5)
    assert [excerpts[position].text.split()[0] for position in chosen] == ["Big", "Filters"]


def test_a_critique_brings_back_what_it_names() -> None:
    budget = Budget(0, 0, 40)
    excerpts, chosen = choose(MANUAL, budget)
    assert "Kiel" not in texts(excerpts, chosen)
    excerpts, chosen = choose(MANUAL, budget, critique="FAIL: entities missing, for example: kiel")
    assert "Kiel" in texts(excerpts, chosen)


def test_operators_get_steps_before_figures() -> None:
    text = (
        "The motor draws 16 A, 400 V, 7.5 kW and 50 Hz at 1450 rpm.\n\n"
        "1. Open the big valve of the pump completely.\n2. Press the green button of the panel."
    )
    budget = Budget(0, 0, 24)
    assert "16 A" in texts(*choose(text, budget))
    assert "Open the big valve" in texts(*choose(text, budget, summary_type=SummaryType.OPERATOR))


def test_chapters_come_before_their_parts() -> None:
    body = "The {} of this machine is made of very hard and shiny steel by people who know how."
    long_body = " ".join(body.format(word) for word in ("wheel", "handle", "frame", "cover"))
    first, last = (
        "Green doors hang near some quiet river all year long.",
        "Two lamps burn above old tables every winter night.",
    )
    text = f"# One\n\n{first}\n\n## Part\n\n{long_body}\n\n# Two\n\n{last}"
    kept = texts(*choose(text, Budget(45, 45, 45)))
    assert first in kept
    assert last in kept


def test_each_sentence_is_unlike_all_that_were_taken_before() -> None:
    letters = ("Alpha", "Beta", "Bravo", "Gamma")
    excerpts = read_excerpts([" ".join(f"{letter} is what this sentence says." for letter in letters)], count_tokens)
    candidates = Candidates(
        excerpts=excerpts,
        dropped=frozenset(),
        values=ExcerptValues(excerpts, SummaryType.TECHNICAL, None),
        sentences=range(4),
        centrality=np.array([1.0, 0.9, 0.8, 0.5]),
        vectors=np.eye(3)[[0, 1, 1, 2]],
        relevance_weight=0.5,
    )
    three = sum(excerpt.token_count for excerpt in excerpts[:3])
    assert select(candidates, Budget(three, three, three)) == [0, 1, 3]


@pytest.mark.parametrize(("lead", "taken"), [(0.1, "speed"), (0.6, "sound")])
def test_of_two_sentences_about_as_central_the_one_with_a_new_value_fills_the_space(lead: float, taken: str) -> None:
    text = (
        "The sound of this pump is what its makers are proud of. The speed of this pump is held at 1450 rpm by a drive."
    )
    excerpts = read_excerpts([text], count_tokens)
    candidates = Candidates(
        excerpts=excerpts,
        dropped=frozenset(),
        values=ExcerptValues(excerpts, SummaryType.TECHNICAL, None),
        sentences=range(2),
        centrality=np.array([0.2 + lead, 0.2]),
        vectors=np.eye(2),
        relevance_weight=0.7,
    )
    room = max(excerpt.token_count for excerpt in excerpts)
    assert taken in texts(excerpts, select(candidates, Budget(room, room, room)))


def test_a_text_of_nothing_but_a_list_is_not_left_out() -> None:
    text = "\n".join(f"- 60-22{number}, gasket of stainless steel for pump {number}." for number in range(10, 22))
    every = sum(excerpt.token_count for excerpt in read_excerpts([text], count_tokens))
    excerpts, chosen = choose(text, Budget(every, every, every))
    assert len(chosen) == len(excerpts)
