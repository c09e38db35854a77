"""Headings that state something are read, in both texts; those that only name what follows are not."""

import pytest

from pipeline.reading.document import ReadText
from pipeline.reading.headings import statements
from pipeline.reading.index import WordIndex
from pipeline.reading.sentences import split_sentences
from tests.unit.pipeline.judge.evidence.tables_by_fakes import ARTICLE, build

SOURCE = WordIndex(ReadText.of("source", ARTICLE, 700))


def is_read(heading: str) -> bool:
    text = f"{heading}\n\nThe bridge closed."
    return len(statements(text, split_sentences(text, 700), SOURCE)) > 1


@pytest.mark.parametrize(
    "heading",
    [
        "# Bridge kills four divers",
        "**Council sacks Mayor Holt over bribery**",
        "## The council steals millions of pounds",
        "## Why Mayor Holt was arrested for stealing the money of the bridge",
        "# Council resigned",
        "## The mayor is corrupt",
        "## Nine divers died",
        "## Council stole millions",
        "# How the mayor stole 3 million pounds",
        "# What killed nine divers in May 2017",
        "# Three workers dead after a crash on the bridge",
        "**The bridge of Brookfield is safe.**",
        "### 6.3 The bridge was closed in May",
    ],
)
def test_a_statement_is_read(heading: str) -> None:
    assert is_read(heading)


@pytest.mark.parametrize(
    "heading",
    [
        "# Overview",
        "## Key Findings",
        "**Community Response:**",
        "## Leadership Changes at Novira",
        "### 6.3 Stopping the skid",
        "### 5.3 Settings of the controller",
        "## Lessons Learned",
        "# How the bridge was closed",
        "# What happened",
        "## What changed for residents",
        "## What it means for residents",
        "## Timeline of the Project",
        "# Bridge Costs",
    ],
)
def test_a_title_is_not(heading: str) -> None:
    assert not is_read(heading)


def test_what_a_heading_of_the_source_states_is_evidence() -> None:
    text = "# Mayor arrested for fraud\n\n## Overview\n\n**The bridge closed in May.**\n\nIt rained."
    read = ReadText.of("source", text, 700)
    assert [passage.text.strip("*") for passage in read.passages] == [
        "Mayor arrested for fraud",
        "The bridge closed in May.",
        "It rained.",
    ]


def test_headings_left_out_are_counted() -> None:
    table = build(summary="# Overview\n\nThe council voted on Tuesday.\n\n## Next Steps\n\nThe bridge closed.")
    assert table.notes == ("heading: 2 lines left out",)
