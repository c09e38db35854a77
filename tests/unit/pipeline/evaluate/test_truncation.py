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


@pytest.mark.parametrize("text", FINISHED)
def test_a_finished_text_has_no_open_ending(text: str) -> None:
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
