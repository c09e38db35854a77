from pipeline.summarize.extractive.excerpt import write_markdown
from pipeline.summarize.extractive.read_excerpts import read_excerpts
from tests.unit.pipeline.summarize.extractive.manual import count_tokens


def rewrite(text: str, *positions: int) -> str:
    excerpts = read_excerpts([text], count_tokens)
    return write_markdown(excerpts, positions or range(len(excerpts)))


def test_sentences_of_one_paragraph_stay_in_one() -> None:
    text = "The pump is red. The valve is blue.\n\nThe motor is green. The belt is black."
    assert rewrite(text, 0, 1, 3) == "The pump is red. The valve is blue.\n\nThe belt is black."


def test_lists_stay_lists() -> None:
    assert rewrite("Parts of the pump:\n* seal\n* belt\n  * cover") == "Parts of the pump:\n\n- seal\n- belt\n  - cover"


def test_steps_keep_their_numbers() -> None:
    assert rewrite("1. Open the valve.\n2) Close the valve.") == "1. Open the valve.\n2) Close the valve."


def test_missing_lines_of_a_listing_leave_a_mark() -> None:
    lines = "\n".join(f"key{number} = {number}" for number in range(24))
    assert rewrite(f"```ini\n{lines}\n```", 0, 2).splitlines()[8:11] == ["key7 = 7", "[…]", "key16 = 16"]


def test_a_fence_is_longer_than_what_it_holds() -> None:
    assert rewrite("~~~~\n```\ncode = 1\n```\n~~~~") == "````\n```\ncode = 1\n```\n````"


def test_commands_between_blank_lines_share_a_fence() -> None:
    assert rewrite("# exportfs -ra\n\n# systemctl start nfs") == "```\n# exportfs -ra\n# systemctl start nfs\n```"


def test_a_label_is_bold() -> None:
    assert rewrite("CAUTION Hot parts\n\nThe housing is hot.") == "**CAUTION Hot parts**\n\nThe housing is hot."
