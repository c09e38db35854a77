from hypothesis import given
from hypothesis import strategies as st

from pipeline.reading.characters import normalize
from pipeline.reading.sentences import split_sentences
from pipeline.reading.windows import sliding_windows


def windows(text: str, sizes: tuple[int, ...]) -> list[str]:
    source = normalize("t", text)
    return [window.text for window in sliding_windows(source, split_sentences(source.text, 700), sizes)]


def test_small_windows_come_first_then_by_position() -> None:
    assert windows("A1. B2. C3.", (2, 1)) == ["A1.", "B2.", "C3.", "A1. B2.", "B2. C3."]


def test_list_marks_between_sentences_are_quoted_but_not_read() -> None:
    source = normalize("t", "- One.\n- Two.")
    window = sliding_windows(source, split_sentences(source.text, 700), (2,))[0]
    assert (window.text, window.quote, window.start, window.end) == ("One. Two.", "One.\n- Two.", 2, 13)


def test_a_text_shorter_than_every_window_is_one_window() -> None:
    assert windows("Only one.", (2, 3)) == ["Only one."]
    assert windows("", (1, 2)) == []


@given(st.integers(1, 12), st.sets(st.integers(1, 5), min_size=1))
def test_there_are_n_minus_size_plus_one_windows_of_each_size(count: int, sizes: set[int]) -> None:
    text = " ".join(f"Sentence number {index} ends." for index in range(count))
    expected = sum(max(0, count - size + 1) for size in sizes) or 1
    assert len(windows(text, tuple(sizes))) == expected
