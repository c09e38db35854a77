import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.reading.blocks import BlockKind
from pipeline.reading.characters import normalize
from pipeline.reading.sentences import claims, split_sentences

MAX_CHARS = 700


def quotes(text: str, max_chars: int = MAX_CHARS) -> list[str]:
    """Splits a text as sent and returns the sentences as sent."""
    source = normalize("t", text)
    return [source.passage(s.start, s.end).quote for s in split_sentences(source.text, max_chars)]


@pytest.mark.parametrize(
    "sentences",
    [
        [
            "Dr. J. P. Smith et al. reported a 3.5% rise (see Fig. 2).",
            "The U.S. Senate, e.g. Sen. Jones, cited 42 U.S.C. § 1320d et seq. of Pub. L. No. 104-191.",
        ],
        ['He said "Stop it."', "She left.", "(An aside.)", "And more... but still."],
        ["Great 🎉!", "See https://example.com/a.b?c=d.", "A note.[1][^2]", "Another."],
        ["Sitzung ist am 14. April um 9 Uhr.", "Schluss war am 3.", "Pumpe P-3 steht."],  # too short for its language
        ["This line is wrapped\nat a column.", "Next\none."],
        ["It stands in the hall.", "Its motor was set by hand.", "For Prof. Will and Capt. May it stays."],
    ],
    ids=["abbreviations, numbers and initials", "quotes", "emoji and footnotes", "dates", "a wrap", "plain words"],
)
def test_a_sentence_is_whole_whatever_stands_in_it(sentences: list[str]) -> None:
    assert quotes(" ".join(sentences)) == sentences
    assert quotes(" ".join([*sentences, "👨‍👩‍👧"])) == sentences
    assert quotes(" ".join(sentences) + "\r\n\r\nOther") == [*sentences, "Other"]


def test_markdown_blocks_end_sentences_and_their_marks_are_left_out() -> None:
    text = (
        "# Title\n\nIntro text here.\n- first item\n- second. Really.\n1. Numbered\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    )
    rows = ["| a | b |", "| 1 | 2 |"]
    assert quotes(text) == ["Title", "Intro text here.", "first item", "second.", "Really.", "Numbered", *rows]


def test_turns_of_a_dialogue_are_blocks_of_their_own() -> None:
    turns = ["Ann: shall we go", "#Person2#: Never. Not today", "Ann : why not"]
    assert quotes("\n".join(turns)) == [turns[0], "#Person2#: Never.", "Not today", turns[2]]
    wrapped = "Ann: I baked a cake, and it\nis for you.\nBob: Thanks.\nAnn: There is\none problem: no candles."
    assert quotes(wrapped) == [
        "Ann: I baked a cake, and it\nis for you.",
        "Bob: Thanks.",
        "Ann: There is\none problem: no candles.",
    ]


@pytest.mark.parametrize(
    "prose",
    [
        "The council votes on\nTuesday: the fees rise.",
        "It has three parts: a pump,\nMotor: the drive, and\na hose.",
        "She opened at 9:30 and closed at\n10:15.",
        "One thing is clear\nto all of us who were there: nobody came.",
        "Ann Holt bought the mill in the north of the\nTown by the river in the year of\nOur Lord.",
        "The old mill of the valley was bought by Ann\nHolt and by her sister, who came from Lund\nCity.",
        "The council votes,\nAnn Holt says,\nOn Monday",
        "The director was seen\nin London\nOn Monday",
    ],
)
def test_wrapped_prose_is_one_sentence_whatever_its_lines_begin_with(prose: str) -> None:
    assert quotes(prose) == [prose]


def test_headings_are_no_claims_unless_there_is_nothing_else() -> None:
    sentences = split_sentences("## Findings\nFees rose.\n**Outlook**\nThey may fall.", MAX_CHARS)
    assert [s.kind for s in sentences] == [BlockKind.HEADING, BlockKind.PROSE, BlockKind.HEADING, BlockKind.PROSE]
    assert [s.kind for s in claims(sentences)] == [BlockKind.PROSE, BlockKind.PROSE]
    only_headings = split_sentences("# One\n# Two", MAX_CHARS)
    assert list(claims(only_headings)) == only_headings


def test_cjk_stops_end_sentences_without_a_space() -> None:
    sentences = ["今天很好。", "我们去吧！", "你来吗？", "好的。", "“他说。”", "然后走了。"]
    assert quotes("".join(sentences)) == sentences


def test_an_overlong_sentence_is_cut_at_a_space_or_else_anywhere() -> None:
    assert quotes("aaaa bbbb cccc dddd", max_chars=10) == ["aaaa bbbb", "cccc dddd"]
    assert quotes("a" * 25, max_chars=10) == ["a" * 10, "a" * 10, "a" * 5]


def test_a_text_that_is_asked_about_in_parts_has_the_sentences_of_the_whole() -> None:
    sentences = [f"In hall {n} Dr. J. Smith opened valve {n}." for n in range(8_000)]
    endless = "pump, " * 50_000
    assert quotes(" ".join(sentences)) == sentences
    assert quotes(endless + sentences[0])[-1].endswith(sentences[0])
    assert sum(quote.endswith("ran.") for quote in quotes(f"The {'pump ' * 11_000}ran. " * 6)) == 6


@pytest.mark.parametrize("text", ["", " \n\n ", "...", "---\n***", "|---|---|", "🎉"])
def test_a_text_without_letters_or_digits_has_no_sentences(text: str) -> None:
    assert quotes(text) == []


@given(
    st.lists(
        st.sampled_from(["Fees rose", ". ", "! ", "\n\n", "- ", "# ", "。", '"', "(", "U.S. ", "| x |\n", "x" * 30])
    )
)
def test_sentences_lie_in_order_and_hold_every_letter(parts: list[str]) -> None:
    text = normalize("t", "".join(parts)).text
    sentences = split_sentences(text, 50)
    edges = [edge for s in sentences for edge in (s.start, s.end)]
    assert edges == sorted(edges)
    inside = "".join(text[s.start : s.end] for s in sentences)
    assert [c for c in inside if c.isalnum()] == [c for c in text if c.isalnum()]
    assert all(0 < s.end - s.start <= 50 for s in sentences)
    assert all(text[s.start : s.end].strip() == text[s.start : s.end] for s in sentences)


@pytest.mark.parametrize(
    "lines",
    [
        ["Novira makes pumps", "Novira employs 300 people", "Ana Silva died"],
        ["The council met.", "It closed the bridge", "Ana Silva died"],
        ["Novira makes pumps", "51 people left", "“Novira” died"],
        ["– Novira makes pumps", "– Ana Silva died"],
        ["The news:", "– Novira makes pumps", "— Ana Silva died"],
        ["★ Novira makes pumps", "★ Ana Silva died"],
        ["1️⃣ Novira makes pumps", "2️⃣ Ana Silva died"],
        ["✅ Novira makes pumps", "✅ Ana Silva died"],
        ["● Novira makes pumps", "● Ana Silva died"],
    ],
)
def test_lines_that_are_no_wrapped_prose_are_sentences_each(lines: list[str]) -> None:
    assert quotes("\n".join(lines)) == [line.strip("–—✅●★12\ufe0f\u20e3 ") for line in lines]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It lists them.\n\n# apt list\n", ["It lists them.", "# apt list"]),
        ("## Fees\nrevenue 5 m\nprofit 2 m", ["Fees", "revenue 5 m\nprofit 2 m"]),
        ("### Ana Silva\nana@example.org", ["Ana Silva", "ana@example.org"]),
        ("It is short.\n\n4.1 Dosing unit\n\nIt doses.", ["It is short.", "4.1 Dosing unit", "It doses."]),
        ("```sh\n# a\nls. Cd\n```", ["# a", "ls. Cd"]),
        ("These include:\n* fees\n* wages", ["These include:", "fees", "wages"]),
        ("Table 1\n| a | b |\n|---|---|\n| 1 | 2 |", ["Table 1", "| a | b |", "| 1 | 2 |"]),
        ("a. It opens.\nA. Smith left.", ["It opens.", "A. Smith left."]),
        ("- - # Preface", ["Preface"]),
        ("2) ...", []),
    ],
)
def test_a_sentence_stands_in_a_block_as_the_excerpts_of_a_summary_do(text: str, sentences: list[str]) -> None:
    assert quotes(text) == sentences


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("4.1 Dosing unit", BlockKind.HEADING),
        ("**Dosing unit**", BlockKind.HEADING),
        ("Dosing unit", BlockKind.PROSE),  # may be a statement
        ("$ reboot", BlockKind.PROSE),
    ],
)
def test_what_states_something_is_no_heading(line: str, kind: BlockKind) -> None:
    assert [one.kind for one in split_sentences(f"It doses.\n\n{line}", 700)][1:] == [kind]
