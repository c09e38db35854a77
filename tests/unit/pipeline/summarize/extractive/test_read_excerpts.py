import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.reading.blocks import BlockKind
from pipeline.summarize.extractive.excerpt import Excerpt, read_excerpts, write_markdown
from pipeline.summarize.retention import find_stated
from tests.unit.pipeline.summarize.extractive.manual import MANUAL, count_tokens, flat


def read(*texts: str) -> list[Excerpt]:
    return read_excerpts(texts, count_tokens)


def find(excerpts: list[Excerpt], start: str) -> int:
    return next(position for position, excerpt in enumerate(excerpts) if excerpt.text.startswith(start))


def needed_by(excerpts: list[Excerpt], start: str) -> set[str]:
    """Returns the texts that an excerpt needs, with all that those need."""
    found, waiting = set[int](), [find(excerpts, start)]
    while waiting:
        new = set(excerpts[waiting.pop()].needs) - found
        found |= new
        waiting.extend(new)
    return {excerpts[position].text for position in found} - {excerpts[find(excerpts, start)].text}


def test_every_excerpt_is_verbatim_in_the_characters_of_the_document() -> None:
    assert all(flat(excerpt.text) in flat(MANUAL) for excerpt in read(MANUAL))
    excerpts = read("The area is 5 m² in all. The ﬁlter is clean.")
    assert [excerpt.text for excerpt in excerpts] == ["The area is 5 m² in all.", "The ﬁlter is clean."]


def test_reading_what_was_written_gives_the_same() -> None:
    excerpts = read(MANUAL)
    written = write_markdown(excerpts, range(len(excerpts)))
    again = read(written)
    assert [(each.kind, each.text, each.needs, each.section) for each in again] == [
        (each.kind, each.text, each.needs, each.section) for each in excerpts
    ]
    assert write_markdown(again, range(len(again))) == written


def test_a_sentence_needs_its_headings_and_antecedent_a_command_its_words_and_a_row_its_head() -> None:
    assert {"3.1. Updates", "3. Software", "Pump station P-200"} <= needed_by(read(MANUAL), "The card must")
    assert "The pump station P-200 moves cooling water between two basins." in needed_by(read(MANUAL), "It was built")
    excerpts = read(MANUAL)
    assert "Read the state with this command:" in needed_by(excerpts, "$ pumpctl")
    assert "$ pumpctl status --verbose\nstate: running" in needed_by(excerpts, "Read the state")
    assert "| Part | Number |\n|------|--------|" in needed_by(read(MANUAL), "| Belt")


def test_a_procedure_is_whole_and_has_its_lead_in() -> None:
    steps = {
        "The following steps start the pump:",
        "Open valve V-17 completely.",
        "Set the pressure to 5.5 bar.",
        "Press the green button for 3 seconds.",
    }
    for step in steps:
        assert steps - {step} <= needed_by(read(MANUAL), step)


def test_each_clause_of_a_contract_stands_alone() -> None:
    lease = "1. Parties. This lease is made by two.\n2. Rent. The Tenant pays 1,480 euros.\n3. Use. It is a shop."
    assert needed_by(read(lease), "Rent. The Tenant") == set()
    excerpts = read(f"1. Close it.\n2. {'The Owner lets the User copy, change and print it. ' * 10}\n3. Open it.")
    assert len(excerpts) == 12  # a paragraph with a number is cut into sentences, and is no step
    rule = "A dog may be kept in a room only if daylight falls in"
    assert needed_by(read(f"(1) {rule}.\n\n(2) {rule} or is made.\n\n(3) {rule} today."), f"{rule} or") == set()
    assert len(needed_by(read("(1) Close V1.\n(2) Start P1.\n(3) Open V2."), "Start P1.")) == 2


def test_neither_references_nor_steps_without_end_hang_together_as_one() -> None:
    excerpts = read(" ".join(f"It has {number} parts that turn." for number in range(50)))
    assert max(len(needed_by(excerpts, f"It has {number} ")) for number in range(50)) <= 4
    steps = "\n".join(f"{number}. Turn the screw with the number {number} by hand." for number in range(400))
    assert len(needed_by(read("Do this:\n\n" + steps), "Turn the screw with the number 300 ")) < 5


def test_a_label_stands_with_what_it_labels() -> None:
    excerpts = read(MANUAL)
    assert excerpts[find(excerpts, "WARNING")].kind is BlockKind.LABEL
    assert "WARNING Hot surfaces" in needed_by(excerpts, "The bearing housing")
    assert "The bearing housing reaches 95 °C during operation." in needed_by(excerpts, "WARNING")


def test_chunks_are_read_as_if_they_had_not_been_cut_and_an_excerpt_knows_its_own() -> None:
    excerpts = read("The pump runs at", "the pressure that was set.")
    assert [excerpt.text for excerpt in excerpts] == ["The pump runs at the pressure that was set."]
    for cut in (MANUAL.index("The motor"), MANUAL.index("2. Set"), MANUAL.index("state: running")):
        whole = [(each.kind, each.text, each.needs) for each in read(MANUAL)]
        assert [(each.kind, each.text, each.needs) for each in read(MANUAL[:cut], MANUAL[cut:])] == whole
    excerpts = read("The first pump is red.", "The second pump is blue.", "The third pump is green.")
    assert [excerpt.origin for excerpt in excerpts] == [0, 1, 2]


def test_a_long_listing_is_cut_and_a_gap_is_remembered() -> None:
    lines = "\n".join(f"option{number} = {number}" for number in range(20))
    excerpts = read(f"```\n{lines}\n```")
    assert [len(excerpt.text.splitlines()) for excerpt in excerpts] == [8, 8, 4]
    written = write_markdown(excerpts, [0, 2])
    assert [each.text.startswith("[…]") for each in read(written)] == [False, True]
    assert write_markdown(read(written), [0, 1]) == written


@given(st.text(alphabet=st.sampled_from("ab 1.:#-`|\n*²é。\t"), max_size=200))
def test_any_text_is_read_verbatim(text: str) -> None:
    for excerpt in read(text):
        assert flat(excerpt.text) in flat(text)
        assert all(need >= 0 for need in excerpt.needs)


def test_a_heading_on_top_of_a_page_is_no_comment_of_a_script() -> None:
    pages = ["The valve opens at 6 bar.\n", "## 4 Installation\n\nFlush the pipes first.\n"]
    assert [(excerpt.kind, excerpt.text) for excerpt in read(*pages)] == [
        (BlockKind.PROSE, "The valve opens at 6 bar."),
        (BlockKind.HEADING, "4 Installation"),
        (BlockKind.PROSE, "Flush the pipes first."),
    ]


ENTRIES = """\
# Memory

shared_buffers (integer)

 Sets the memory of the server for pages. The default is 128 megabytes. This setting must be at least 128 kilobytes.

 A server with much memory may take more of it than that.

work_mem (integer)

 Sets the memory of a sort. The default is 4 megabytes.
"""


def test_all_that_is_said_of_an_entry_needs_its_name() -> None:
    excerpts = read(ENTRIES)
    names = [position for position, excerpt in enumerate(excerpts) if excerpt.kind is BlockKind.LABEL]
    assert [excerpts[position].text for position in names] == ["shared_buffers (integer)", "work_mem (integer)"]
    needs = [excerpt.needs for excerpt in excerpts if excerpt.kind is BlockKind.PROSE]
    assert needs == [(0, 1), (0, 1), (0, 1), (0, 1), (0, 6), (0, 6)]


def test_a_sentence_dangles_where_its_antecedent_is_too_far_away_or_stood_before_the_text() -> None:
    chain = " ".join(f"It moves water of kind number {number}." for number in range(6))
    excerpts = read_excerpts([f"The pump runs all day. {chain}"], count_tokens)
    assert [excerpt.dangles for excerpt in excerpts] == [False] * 5 + [True, True]
    text = "It is red and moves cold water."
    assert [each.dangles for each in read_excerpts([text], count_tokens, starts_document=False)] == [True]
    assert [each.dangles for each in read_excerpts([text], count_tokens)] == [False]


MEETING = """\
Ann: Okay. So the remote control will be yellow. It is cheap.
Bob : Yes.
Ann: We decided on the rubber case last week.
Bob : I think that the chip costs too much for this product.
"""


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (MEETING, True),
        ("Project Manager : Yes .\nAnn: No.\nProject Manager : Why?", True),
        ("Note: see below.\nTip: use a cloth.\nWarning: never open it.\nHint: wait.", False),
        ("Ann: Okay.\nBob : Yes.", False),
        (MEETING + "\n".join(f"The pump number {number} moves water." for number in range(9)), False),
    ],
)
def test_a_dialogue_has_people_who_answer_each_other(*, text: str, is_one: bool) -> None:
    assert (read(text)[0].kind is BlockKind.TURN) == is_one


def test_every_sentence_of_a_turn_knows_who_says_it_and_is_read_back_the_same() -> None:
    excerpts = read(MEETING)
    assert {excerpt.kind for excerpt in excerpts} == {BlockKind.TURN}
    assert [excerpt.text for excerpt in excerpts][1:3] == ["So the remote control will be yellow.", "It is cheap."]
    assert [excerpt.mark for excerpt in excerpts][1:3] == ["Ann:", "Ann:"]
    assert excerpts[2].needs == (1,)
    written = write_markdown(excerpts, [1, 2, 4, 5])
    assert written.splitlines() == [
        "Ann: So the remote control will be yellow. It is cheap.",
        "Ann: We decided on the rubber case last week.",
        "Bob: I think that the chip costs too much for this product.",
    ]
    again = read(written)
    assert [excerpt.text for excerpt in again] == [excerpts[position].text for position in (1, 2, 4, 5)]


def test_what_carries_nothing_is_not_chosen_to_fill_space() -> None:
    short = [excerpt.text for excerpt in read(MEETING) if excerpt.is_cut]
    assert short == ["Okay.", "It is cheap.", "Yes."]


CHAT = """\
[09:02] Mara: um, the checkout errors are back
[09:03] Jonas: which ones are back?
[09:05] Mara: Decision: the pool stays at 20 connections.
09:06:10 - Jonas: I will write to them today.
"""


def test_a_turn_may_begin_with_its_time() -> None:
    excerpts = read(CHAT)
    assert [(excerpt.kind, excerpt.mark) for excerpt in excerpts] == [
        (BlockKind.TURN, "[09:02] Mara:"),
        (BlockKind.TURN, "[09:03] Jonas:"),
        (BlockKind.TURN, "[09:05] Mara:"),
        (BlockKind.TURN, "09:06:10 Jonas:"),
    ]
    assert excerpts[0].text == "um, the checkout errors are back"
    written = write_markdown(excerpts, range(4))
    assert [each.text for each in read(written)] == [each.text for each in excerpts]


def test_when_somebody_speaks_is_no_value_that_a_summary_could_lose() -> None:
    stated = [one.value.text for one in find_stated(CHAT.replace("09:06:10 -", "[09:06:10]"))]
    assert any("20" in value for value in stated)
    assert not any("09" in value for value in stated)
