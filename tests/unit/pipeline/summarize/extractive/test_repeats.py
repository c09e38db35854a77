from pipeline.summarize.extractive.abridge import find_repeats
from pipeline.summarize.extractive.read_excerpts import read_excerpts
from tests.unit.pipeline.summarize.extractive.manual import count_tokens


def repeats(text: str) -> dict[int, int]:
    return find_repeats(read_excerpts([text], count_tokens))


def test_a_sentence_is_a_repeat_wherever_it_stands_again() -> None:
    text = "The pump moves cold water. A valve is open.\n\nHere is more.\n\nThe **pump** moves cold water."
    assert repeats(text) == {3: 0}


def test_only_the_first_letter_is_folded() -> None:
    assert repeats("Power is about 5 MW. Power is about 5 mW. power is about 5 MW.") == {2: 0}


def test_short_sentences_and_steps_and_listings_may_repeat() -> None:
    procedure = "1. Open the valve of the pump.\n2. See above.\n\n$ pumpctl start now please\n\n"
    assert repeats(f"{procedure}See below.\n\nThen again:\n\n{procedure}See below.") == {}


def test_list_items_repeat_under_the_same_heading_only() -> None:
    item = "- the seal of the pump\n\nThere is more to say.\n\n"
    assert list(repeats(f"# A\n\n{item}# B\n\n- the seal of the pump")) == []
    assert list(repeats(f"# A\n\n{item}- the seal of the pump")) == [3]
