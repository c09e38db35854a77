import pytest

from pipeline.evaluate.truncation import open_ending

FINISHED = [
    "Fees rose.",
    "Fees rose!",
    "Did fees rose?",
    "Fees rose…",
    "Fees rose...",
    "He said “fees rose.”",
    'He said "fees rose."',
    "He said 'fees rose.'",
    "(Fees rose.)",
    "**Fees rose.**",
    "_Fees rose._ ",
    "`Fees rose.`\n\n",
    "«Les prix montent.»",
    "费用上涨。",
    "费用上涨！",
    "费用上涨吗？",
    "他说：“费用上涨。”",
    "「料金が上がった。」",
    "क़ीमतें बढ़ीं।",
    "ارتفعت الرسوم؟",
    "Fees rose.[1]",
    "Fees rose.[^note][2]",
    "Fees rose.²",
    "Fees rose. (2)",
    "Fees rose. [Source](https://example.com/a?b=c)",
    "See [the report](https://example.com/a).",
    "The report is at https://example.com/a.",
    "Fees rose.[1]\n\n[1]: https://example.com/a\n[2]: Annual report, 2020",
    "Fees rose! 🎉",
    "Fees rose. 👨‍👩‍👧",
    "<p>Fees rose.</p>",
    "It was signed in the U.S.",
    "> Fees rose.",
    "- Fees rose.\n- Costs fell.",
    "```\nFees rose.\n```",
]
OPEN = [
    "Fees rose by",
    "Fees rose,",
    "Fees rose:",
    "Fees rose;",
    "Fees rose —",
    "Fees rose (by 3",
    "He said “fees rose",
    "**Fees rose",
    "Fees rose. Then the council",
    "费用上涨，",
    "费用上涨",
    "Fees rose by [1]",
    "Fees rose by 3 percent [Source](https://example.com/a)",
    "More at https://example.com/a",
    "Fees rose. 1. Costs 2",
    "Fees rose 🎉",
    "Fees rose.\n\n- Costs fell",
    "Fees rose.\n\n| a | b |",
]


LABELS = [
    "Fees rose.\n\n## Key topics\n\n- fees\n- council votes\n- bridge repairs\n",
    "Fees rose.\n\n## Key topics\n\n- pump P-12\n- oil pressure (bar)\n- `max_wait_ms`",
    "Fees rose.\n\n**Topics**\n1. How to log in\n2. Grid tie-ins",
    "# Topics\n* 费用\n* 工资",
    "## Key topics\n\n- Yahoo!\n- search\n- mail\n- maps",
    "Rates:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n## Key topics\n\n- fees\n- rates",
    "Fees rose.\n\n## Steps\n\n- open\n- close\n\n## Key topics\n\n- fees\n- rates",
    "```\nmax_wait_ms = 5\n```\n\n## Key topics\n\n- fees\n- rates",
]
CUT_LISTS = [
    "Fees rose.\n\n## Key topics\n\n- fees\n- council votes\n- the repair of",
    "Fees rose.\n\n## Key topics\n\n- fees\n- council votes,",
    "Fees rose.\n\n## Key topics\n\n- fees\n- oil pressure (ba",
    "Fees rose.\n\n## Key topics\n\n- fees\n- `max_wait",
    "Fees rose.\n\n## Key topics\n\n- fees\n- **council vo",
    "Fees rose.\n\n## Key topics\n\n- fees",  # of one item alone nobody can tell
    "Fees rose.\n\n## Key topics",
    "Fees rose.\n\n## Changes\n\n- Fees rose by 3 percent.\n- Costs fell.\n- Wages went",
    "## Changes\n\n- Fees rose by 3 percent in the spring" + " and again in the summer" * 4 + "\n- Wages went up",
    "## Changes\n\n- Fees rose\n- Wages went up\n\nThe council then",
    "Fees rose by\n\n## Key topics\n\n- fees\n- council votes",  # cut before the topics were written
    "- fees\n- council votes\n- bridge repairs",  # no section of its own: the setting decides
    "Fees rose:\n- fees\n- council votes",
]


@pytest.mark.parametrize("text", CUT_LISTS)
def test_a_list_that_was_cut_is_not(text: str) -> None:
    assert open_ending(text, lists_exempt=False) is not None


@pytest.mark.parametrize("text", [*FINISHED, *LABELS])
def test_a_finished_text_and_a_list_of_labels_below_a_heading_have_no_open_ending(text: str) -> None:
    assert open_ending(text, lists_exempt=False) is None


@pytest.mark.parametrize("text", OPEN)
def test_an_unfinished_text_is_pointed_at(text: str) -> None:
    ending = open_ending(text, lists_exempt=False)
    assert ending is not None
    start, end = ending
    assert end == len(text)
    assert text[start:end] == text.splitlines()[-1]


@pytest.mark.parametrize(
    "text", ["- Costs fell", "1) Costs fell", "Intro.\n* Costs fell\n", "| a | b |", "Rates: \n| a |\n|--|\n| 1 |"]
)
def test_final_list_items_and_table_rows_can_be_exempt(text: str) -> None:
    assert open_ending(text, lists_exempt=False) is not None
    assert open_ending(text, lists_exempt=True) is None


def test_prose_is_never_exempt() -> None:
    assert open_ending("- Costs fell.\n\nFees rose by", lists_exempt=True) is not None


def test_the_evidence_is_the_end_of_a_long_line() -> None:
    text = "word " * 5_000 + "by"
    assert open_ending(text, lists_exempt=False) == (len(text) - 80, len(text))
