from pipeline.summarize.extractive.read_excerpts import read_excerpts
from pipeline.summarize.extractive.section_roles import SectionRole, role_of
from pipeline.summarize.steering.wishes import LengthGoal, LengthUnit, Shape
from tests.unit.pipeline.summarize.extractive.manual import count_tokens
from tests.unit.pipeline.summarize.extractive.test_forms import shaped

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
