import pytest

from pipeline.summarize.extractive.asides import SectionRole, role_of, says_nothing, stands_beside
from pipeline.summarize.extractive.read_excerpts import read_excerpts
from pipeline.summarize.steering.wishes import LengthGoal, LengthUnit, Shape
from tests.unit.pipeline.summarize.extractive.manual import count_tokens
from tests.unit.pipeline.summarize.extractive.test_forms import shaped


@pytest.mark.parametrize(
    "text",
    [
        "[![Build](https://ci.example.org/b.svg)](https://ci.example.org) ![PyPI](https://example.org/p.svg)",
        "[Install the pump](#install-the-pump)",
        "</details>",
        '<p align="center"><img src="logo.svg"/></p>',
        "Scroll down for video .",
    ],
)
def test_what_says_nothing_is_not_read(text: str) -> None:
    assert says_nothing(text)
    excerpts = read_excerpts([f"The pump moves water from the tank.\n\n{text}\n\nIt runs for years."], count_tokens)
    assert [each.text for each in excerpts] == ["The pump moves water from the tank.", "It runs for years."]


@pytest.mark.parametrize(
    "text",
    [
        "[The manual](https://example.org) describes the pump.",
        "![Flow](flow.svg) The flow is 12 l/min.",
        "Click here to start the pump of the plant.",
        "<timeout>3</timeout>",
    ],
)
def test_what_says_something_is_read(text: str) -> None:
    assert not says_nothing(text)


@pytest.mark.parametrize(
    ("text", "is_beside"),
    [
        ("Picture: The pump at night.", True),
        ("The new pump (pictured) was opened by the minister.", True),
        ("The minister (left) and the engineer (right) at the pump.", True),
        ("See the manual for the settings.", True),
        ("Pictures of the pump were taken.", False),
        ("Seen from above, the pump is red.", False),
        ("Turn the valve to the left.", False),
    ],
)
def test_captions_and_pointers_stand_beside_the_text(text: str, *, is_beside: bool) -> None:
    assert stands_beside(text) is is_beside


TITLES = [
    "# License",
    "One.",
    "## Abstract",
    "Two.",
    "## 2 Pumps",
    "Three.",
    "### Summary",
    "Four.",
    "## References",
    "Five.",
]


def test_the_title_of_a_section_says_what_it_is_for() -> None:
    excerpts = read_excerpts(["\n\n".join(TITLES)], count_tokens)
    roles = {each.text: role_of(excerpts, each.section) for each in excerpts if each.text.endswith(".")}
    body, own, frame = SectionRole.BODY, SectionRole.OWN_SUMMARY, SectionRole.FRAME
    assert roles == {"One.": body, "Two.": own, "Three.": body, "Four.": body, "Five.": frame}


PAPER = """# Lines

## Introduction

Reading on telephones is now the most common form of reading in many countries of the world.
Typographers recommend lines of fifty characters for print in books and in magazines.

## Zusammenfassung

Short lines were read faster than long lines by all adults who took part in the study of the lines.
The effect was larger for older readers, who lost a good part of their speed with the long lines.

## References

Tinker, Miles wrote about the legibility of print and of lines in books for the Iowa State Press of Ames.
"""


async def test_what_the_author_says_in_short_comes_first_and_references_last() -> None:
    text = await shaped(Shape(goal=LengthGoal(60, LengthUnit.WORDS)), text=PAPER)
    assert "Short lines were read faster" in text
    assert "The effect was larger" in text
    assert "Tinker" not in text
