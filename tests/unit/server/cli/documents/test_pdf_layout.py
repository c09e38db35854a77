"""What stands in a PDF: text in order, without what repeats the page."""

import pytest

from server.cli.documents.pdf import read_pages
from server.cli.errors import InputError
from tests.pdf import Placed, column, make_layout, make_streams

BODY = ("The pump holds 40 bar and must be", "opened with care by two people.")


def test_words_that_a_line_cuts_become_whole() -> None:
    lines = ("Grease the instal-", "lation before the first start and read the informa-", "tion on the plate.")
    assert read_pages(make_layout([column(50, 700, *lines)])) == [
        "Grease the installation before the first start and read the information on the plate."
    ]


def test_a_compound_keeps_its_hyphen_where_the_document_writes_it_so() -> None:
    lines = ("A high-pressure pump.", "Every high-", "pressure line, two-", "and three-phase motors.")
    (page,) = read_pages(make_layout([column(50, 700, *lines)]))
    assert "Every high-pressure line" in page
    assert "two- and three-phase" in page


def test_a_form_whose_answers_are_larger_is_a_list() -> None:
    rows = [
        Placed(x, 700 - 20 * at, text, size=size)
        for at, pair in enumerate((("Claim:", "KL-20418"), ("Amount:", "3,281.25")))
        for x, text, size in zip((50, 200), pair, (9, 12), strict=True)
    ]
    assert read_pages(make_layout([[*rows, *column(50, 600, *BODY)]]))[0].startswith(
        "- Claim: KL-20418\n- Amount: 3,281.25\n\n"
    )


def test_running_heads_and_page_numbers_are_left_out() -> None:
    pages = [
        [
            Placed(50, 780, "Pump manual"),
            *column(50, 700, f"Bolt B-{number} takes {number}0 Nm.", *BODY),
            Placed(300, 20, f"Page {number} of 6"),
        ]
        for number in range(1, 7)
    ]
    text = read_pages(make_layout(pages))
    assert not any("Pump manual" in page or "Page" in page for page in text)
    assert all(f"Bolt B-{number} takes {number}0 Nm." in page for number, page in enumerate(text, 1))


def test_a_line_that_opens_three_far_pages_is_no_running_head() -> None:
    pages = [column(50, 700, "Close the valve." if number in {0, 9, 19} else f"Word {chr(65 + number)}.", *BODY, "End.")
             for number in range(20)]  # fmt: skip
    assert sum(page.startswith("Close the valve.") for page in read_pages(make_layout(pages))) == 3


def test_a_chapter_head_with_the_page_number_is_left_out_on_its_only_page() -> None:
    pages = [
        [Placed(50, 780, f"{name} {number}/14"), *column(50, 700, *BODY), *column(50, 300, "The end of it.")]
        for number, name in enumerate(("Safety", "Start", "Stop", "Repair"), 11)
    ]
    assert not any(word in page for page in read_pages(make_layout(pages)) for word in ("Safety", "Start", "Repair 14"))


def test_two_columns_are_read_one_after_the_other() -> None:
    left, right = column(50, 700, *BODY, "It is heavy."), column(320, 700, "Filters are changed after", "500 h.")
    assert read_pages(make_layout([[*left, *right]]))[0].split("\n\n") == [
        "The pump holds 40 bar and must be opened with care by two people. It is heavy.",
        "Filters are changed after 500 h.",
    ]


def test_a_sentence_goes_on_in_the_next_column_and_on_the_next_page() -> None:
    first = [*column(50, 100, "The pump holds"), *column(320, 700, "forty bar when the valve")]
    pages = read_pages(make_layout([first, column(50, 700, "is closed. Then it stops.")]))
    assert pages == ["The pump holds forty bar when the valve is closed.", "Then it stops."]


def test_large_and_bold_lines_are_headings_and_bold_sentences_are_not() -> None:
    page = [
        Placed(50, 760, "Pump skid", 18),
        Placed(50, 720, "Start", 10, "F2"),
        *column(50, 700, *BODY),
        Placed(50, 650, "Never open the valve under", 10, "F2"),
        Placed(50, 638, "pressure.", 10, "F2"),
    ]
    (text,) = read_pages(make_layout([page]))
    assert text.split("\n\n") == [
        "# Pump skid",
        "## Start",
        "The pump holds 40 bar and must be opened with care by two people.",
        "Never open the valve under pressure.",
    ]


def test_code_keeps_its_lines() -> None:
    code = [Placed(50, 600, "if open:", 10, "F3"), Placed(74, 588, "close()", 10, "F3")]
    (text,) = read_pages(make_layout([[*column(50, 700, *BODY), *code]]))
    assert text.endswith("```\nif open:\n    close()\n```")


def test_a_table_of_contents_is_left_out_and_a_list_of_prices_is_not() -> None:
    contents = column(50, 700, *(f"{number} Chapter . . . . . . . . . {number * 7}" for number in range(1, 6)))
    prices = column(50, 700, *(f"Bolt M{number} . . . . . . . . . {number}.20 EUR" for number in range(1, 6)))
    first, second = read_pages(make_layout([contents, prices]))
    assert first == ""
    assert "3.20 EUR" in second


ROWS = [("Item", "Place", "Expected", "Status"), ("SKU-11", "A-1", "100", "short"), ("SKU-12", "A-2", "", "missing")]
UNKNOWN_FONT = "/Type /Font /Subtype /Type1 /BaseFont /Own /FirstChar 32 /LastChar 126 /Widths [" + "500 " * 95 + "]"


def test_words_are_told_by_their_places() -> None:
    text = "[(The)-222(board)-222(met)-222(on)-222(Tuesday)] TJ"
    (page,) = read_pages(make_streams(f"BT /F1 10 Tf 60 780 Td {text} ET", font=UNKNOWN_FONT))
    assert page == "The board met on Tuesday"


@pytest.mark.parametrize("is_one_object", [True, False])
def test_a_cell_stays_in_its_column_when_another_is_empty(*, is_one_object: bool) -> None:
    rows = [
        [f"1 0 0 1 {60 + 90 * x} {700 - 14 * y} Tm ({cell}) Tj" for x, cell in enumerate(row) if cell]
        for y, row in enumerate(ROWS)
    ]
    objects = ["\n".join(row) for row in rows] if is_one_object else [cell for row in rows for cell in row]
    (page,) = read_pages(make_streams("\n".join(f"BT /F1 10 Tf {text} ET" for text in objects)))
    assert page.splitlines() == [
        "| Item | Place | Expected | Status |",
        "| --- | --- | --- | --- |",
        "| SKU-11 | A-1 | 100 | short |",
        "| SKU-12 | A-2 |  | missing |",
    ]


@pytest.mark.parametrize("top", [660, 672])
def test_a_cell_of_several_lines_stays_in_its_row(top: int) -> None:
    rows = [
        Placed(60 + 120 * x, 700 - 40 * y, cell) for y, row in enumerate(ROWS) for x, cell in enumerate(row) if cell
    ]
    cell = column(420, top, "short", "since the first re-", "call of May")
    (page,) = read_pages(make_layout([[*rows[:7], *cell, *rows[8:]]]))
    assert page.endswith("| SKU-11 | A-1 | 100 | short since the first recall of May |\n| SKU-12 | A-2 |  | missing |")


def test_entries_of_a_form_stand_beside_their_names() -> None:
    entries = [*column(60, 700, "Plot:", "Rent:"), *column(160, 701, "17 B", "84.50 euros")]
    assert read_pages(make_layout([entries])) == ["- Plot: 17 B\n- Rent: 84.50 euros"]


def test_items_without_a_gap_behind_their_marks_are_a_list() -> None:
    (page,) = read_pages(
        make_layout([column(60, 700, "1.Drain it.", "b)Open it.", "2. Refill it.", "2.5 l are enough.")])
    )
    assert page == "1. Drain it.\nb) Open it.\n2. Refill it. 2.5 l are enough."


def test_large_lines_that_are_most_of_a_form_are_its_text() -> None:
    form = ("REPAIR ESTIMATE", "Customer: Ann Lee", "Labour 14 h 1,400.00", "GRAND TOTAL 3,281.25")
    small = "This estimate is valid for thirty days and covers only what was seen at the time."
    lines = [Placed(60, 700 - 16 * row, text, 12) for row, text in enumerate(form)]
    (page,) = read_pages(make_layout([[*lines, *(Placed(60, 300 - 10 * row, small, 8) for row in range(6))]]))
    assert "#" not in page
    assert all(text in page for text in form)


def test_powers_and_raised_words_are_kept_and_note_marks_are_left_out() -> None:
    pieces = [
        ("Fees rose", 0, 10),
        ("5", 4, 6),
        (" to 10", 0, 10),
        ("-3", 4, 6),
        (" of the sum in 2021", 0, 10),
        ("12", 4, 6),
        (" by ", 0, 10),
        ("init", 4, 6),
    ]
    text = " ".join(f"/F1 {size} Tf {rise} Ts ({piece}) Tj" for piece, rise, size in pieces)
    assert read_pages(make_streams(f"BT 60 700 Td {text} ET")) == ["Fees rose to 10^-3 of the sum in 2021 by init"]


def test_columns_that_the_file_writes_in_turns_are_read_one_after_the_other() -> None:
    left = ("The board met on the first", "of May and decided to close", "the mill at the river for", "two winters.")
    right = ("Visitors from the valley", "came to the fair and bought", "bread and honey from the", "farmers there.")
    lines = [Placed(x, 700 - 12 * row, text) for row, pair in enumerate(zip(left, right, strict=True))
             for x, text in zip((50, 220), pair, strict=True)]  # fmt: skip
    (page,) = read_pages(make_layout([lines]))
    assert " ".join(page.split()) == " ".join([*left, *right])


def test_a_font_that_does_not_say_its_letters_is_refused_with_its_page() -> None:
    system = "<< /Registry (Adobe) /Ordering (Identity) /Supplement 0 >>"
    descendant = f"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Own /CIDSystemInfo {system} /DW 1000 >>"
    font = f"/Type /Font /Subtype /Type0 /BaseFont /Own /Encoding /Identity-H /DescendantFonts [{descendant}]"
    with pytest.raises(InputError, match="page 1: its font does not say which letters it shows"):
        read_pages(make_streams("BT /F1 10 Tf 60 700 Td <002400250026002700280029> Tj ET", font=font))
