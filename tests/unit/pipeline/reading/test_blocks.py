import pytest

from pipeline.reading.blocks import BlockKind, is_listing, is_prompt, is_sentence_end, read_blocks
from pipeline.reading.rules import without


def blocks(text: str) -> list[tuple[str, str]]:
    return [(block.kind.name, text[block.start : block.end]) for block in read_blocks(text)]


@pytest.mark.parametrize(
    ("line", "kind", "content"),
    [
        ("## 4.1. Dosing unit", "HEADING", "4.1. Dosing unit"),
        ("- - - # Preface", "HEADING", "Preface"),
        ("4.1 Dosing unit", "HEADING", "4.1 Dosing unit"),
        ("# Chapter 8. Network, Printing...", "HEADING", "Chapter 8. Network, Printing..."),
        ("**Hot surfaces**", "LABEL", "Hot surfaces"),
        ("Section 5 of the act was amended.", "PROSE", "Section 5 of the act was amended."),
        ("- [x] wash the filter", "BULLET", "wash the filter"),
        ("b) wash the filter", "STEP", "wash the filter"),
        ("→ https://example.org/manual", "BULLET", "https://example.org/manual"),
        ("The pump is on.", "PROSE", "The pump is on."),
        ("$ reboot", "LISTING", "$ reboot"),
    ],
)
def test_a_line_is_what_it_looks_like(line: str, kind: str, content: str) -> None:
    assert blocks(f"Something first.\n\n{line}\n")[1:] == [(kind, content)]


@pytest.mark.parametrize("line", ["# reboot", "# apt install pump", "# PORT = 80", "# NAME   VALUE"])
def test_prompts_and_comments_are_no_headings(line: str) -> None:
    assert "HEADING" not in [kind for kind, _ in blocks(f"Something first.\n\n{line}\n")]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("# precis\n\nIt summarizes.", [("HEADING", "precis"), ("PROSE", "It summarizes.")]),
        ("# Pumps\nThe pumps move water.", [("HEADING", "Pumps"), ("PROSE", "The pumps move water.")]),
        ("```\na = 1", [("CODE", "a = 1")]),
        ("```\n```\nThe text goes on here.", [("PROSE", "The text goes on here.")]),
        (
            "The pump (§\n15) moves it.\n- a\n  b\n- c",
            [("PROSE", "The pump (§\n15) moves it."), ("BULLET", "a\n  b"), ("BULLET", "c")],
        ),
        ("| a | b |\n|---|---|\n| 1 | 2 |", [("TABLE_HEAD", "| a | b |\n|---|---|"), ("TABLE_ROW", "| 1 | 2 |")]),
        ("- - - -\n\n----\n\n***", []),
        ("# Pumps\r\n\r\n- one\r\n- two\r\n", [("HEADING", "Pumps"), ("BULLET", "one"), ("BULLET", "two")]),
    ],
)
def test_blocks_are_read_in_order(text: str, read: list[tuple[str, str]]) -> None:
    assert blocks(text) == read


def test_commented_settings_are_one_listing() -> None:
    for text in (
        "# Stable\ndeb https://example.org/ stable main\n# Testing\ndeb https://example.org/ testing main",
        "# Restart the proxy after each reboot\n@reboot /usr/bin/dircproxy",
        "# Create the route to the network\nip route add 192.168.0.0/24 dev $1",
        '# Create the route\nif [ "$6" = "falcot" ]; then\n  # It is the remote network\n  ip route add dev $1\nfi',
    ):
        assert blocks(text) == [("LISTING", text)]


def test_a_heading_may_stand_above_a_listing_and_below_a_fence() -> None:
    text = "```\nmake\n```\n\n## Use\n\n$ ls\n\nIt lists all the files of a folder.\n\n# More\n\n$ cat"
    assert [content for kind, content in blocks(text) if kind == "HEADING"] == ["Use", "More"]


def test_a_fence_holds_whatever_stands_in_it() -> None:
    text = "~~~ini\n# A\n\n- b\n```\n~~~\nThe text goes on here."
    assert blocks(text) == [("CODE", "# A\n\n- b\n```"), ("PROSE", "The text goes on here.")]
    assert read_blocks(text)[0].mark == "ini"


def test_levels_of_headings_and_list_items_are_kept() -> None:
    text = "# A\n\n### B\n\n4.1.2 Unit\n\n- c\n    - d"
    assert [block.level for block in read_blocks(text)] == [1, 3, 3, 0, 4]
    assert read_blocks(text)[0].kind is BlockKind.HEADING


@pytest.mark.parametrize(
    "line",
    ["$ ls -l", "# exportfs -ra", "% make", "root@host:~# reboot", ">>> import os", r"C:\Users\me> dir"],
)
def test_a_prompt_is_recognized(line: str) -> None:
    assert is_prompt(line)
    assert is_listing([line])


@pytest.mark.parametrize(
    "line", ["#1 of the list", "# Title", "The price is $5.", "$20,000 were paid", "50 % of the water"]
)
def test_other_lines_are_no_prompt(line: str) -> None:
    assert not is_prompt(line)


@pytest.mark.parametrize(
    "lines",
    [
        ["workgroup = FALCOTNET"],
        ["Package: perl", "Pin: version 5.28*", "Pin-Priority: 1001"],
        ["total 0", "lrwxrwxrwx 1 root root 7 Mar  1 00:19 lv_base"],
        ["[global]"],
        ["LATIN6\tISO 8859-10\tNordic\tYes"],
        ["interface {", "    address 10.0.0.1;", "}"],
        ["./configure", "make", "su", "make install", "adduser postgres"],
        ["FATAL: could not create semaphores: No space left on device", "DETAIL: Failed system call"],
    ],
)
def test_lines_that_must_stay_lines(lines: list[str]) -> None:
    assert is_listing(lines)


@pytest.mark.parametrize(
    "lines",
    [
        ["The pump runs at 5 bar."],
        ["Set the option --verbose to see what the daemon does with /etc/pump.conf"],
        [
            "The server is found at https://example.org and it answers on the port 80",
            "of all the machines in the plant.",
        ],
        [
            "Pumps move water from one basin to another and are found in all plants",
            "that use cooling water, because nothing else is as cheap or as simple to",
            "keep in good order over many years.",
        ],
        [
            "Die Pumpe fördert Wasser aus einem Becken zum anderen und wird täglich",
            "gereinigt, weil Schmutz ihre Dichtungen angreift und Rohre verstopft; danach",
            "läuft alles weiter.",
        ],
    ],
)
def test_wrapped_prose_is_no_listing(lines: list[str]) -> None:
    assert not is_listing(lines)


def test_the_end_of_a_sentence_may_have_closing_marks() -> None:
    assert is_sentence_end("He said “stop.”)")
    assert is_sentence_end("完了しました。")
    assert not is_sentence_end("The following steps:")


FEES = "The fee is due within thirty days of receipt, and a reminder costs eight pounds each time it has to be sent."


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        (f"1. Fees\n\n1.1 {FEES}\n\n2. Term\n\n2.1 {FEES}", ["1. Fees", "2. Term"]),
        (f"1. Fees\n{FEES}\n2. Any other business\n{FEES}", ["1. Fees", "2. Any other business"]),
        (f"1. Fees\n\n- {FEES}\n\n2. Term\n\n{FEES}", ["1. Fees", "2. Term"]),
        (f"  1. Fees of Office.\n\n  {FEES}\n\n  2. Term.\n\n  {FEES}", ["1. Fees of Office.", "2. Term."]),
        (f"1. Close the valve.\n\n{FEES}\n\n2. Open the box.\n\n{FEES}", []),  # steps
        (f"11. Term\n\n{FEES}", []),  # one alone may be an item
        ("1. Fees\n2. Term\n3. Liability\n\n" + FEES, []),  # a list of contents
        ("1. Take the key\n\n2. Open the box\n\n" + FEES, []),
        ("1. Take the key\n\nIt is red.\n\n2. Open it\n\nIt is blue.", []),  # too little stands below
        (f"1. Take the key and all that\nlies beside it. {FEES}\n2. Open the box of\nthe fuses. {FEES}", []),
        (f"1. Parties. {FEES}\n\n2. Premises. {FEES}", []),
    ],
)
def test_a_numbered_line_with_a_text_below_it_is_a_heading(text: str, headings: list[str]) -> None:
    assert [content for kind, content in blocks(text) if kind == "HEADING"] == headings
    with without(["numbered-titles"]):
        assert "HEADING" not in [kind for kind, _ in blocks(text)]
