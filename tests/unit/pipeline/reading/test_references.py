import pytest

from pipeline.reading.sentences import Antecedent, points_back, starts_inside


@pytest.mark.parametrize(
    "text",
    [
        "It is read at start.",
        "However, the pump runs.",
        "If this is not set, the pump stops.",
        "To do this, open the valve.",
        "After that, close the valve.",
        "“They are red,” he said.",
        "For example, a pump is red.",
        "As a consequence, nothing is said.",
        "In both of these cases, wait.",
        "Those are red.",
        "Thirdly, the pump is red.",
        "Secondly, the pump is red.",
        "10.2 It renews for a year.",
        "To install it, type apt.",
        "Store it in a dry place.",
    ],
)
def test_a_sentence_that_points_back_needs_the_one_before(text: str) -> None:
    assert points_back(text) is Antecedent.SENTENCE


@pytest.mark.parametrize("text", ["The default is 8 MB.", "This option is on.", "When setting this parameter, wait."])
def test_what_belongs_to_an_entry_needs_its_name(text: str) -> None:
    assert points_back(text) is Antecedent.ENTRY


@pytest.mark.parametrize(
    "text",
    [
        "The pump runs.",
        "There are two pumps.",
        "This chapter is about pumps.",
        "In this section, pumps are described.",
        "Those who know pumps like them.",
        "Pumps like it cold.",
        "Filters have covers: remove them.",
        "Fans love them.",
        "Oil and water spoil them.",
        "To make it short, pumps run.",
        "",
        "...",
    ],
)
def test_a_sentence_that_names_its_subject_stands_alone(text: str) -> None:
    assert points_back(text) is None


def test_a_text_may_start_in_the_middle_of_a_sentence() -> None:
    assert starts_inside("(note that it runs).")
    assert starts_inside(") and more")
    assert not starts_inside("(Note that it runs.)")
