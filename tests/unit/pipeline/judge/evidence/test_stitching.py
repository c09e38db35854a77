from pipeline.judge.evidence.plan import stitch
from pipeline.judge.evidence.text.overlap import SourceSequences
from pipeline.judge.evidence.text.read import ReadText
from pipeline.judge.evidence.text.subject import salient_share
from pipeline.judge.evidence.text.closeness import WordIndex
from pipeline.judge.evidence.text.words import WordTable

SOURCE = (
    "The mayor opened a bridge in Leeds. Rain fell for hours. The bridge cost four million pounds. "
    "Nobody was hurt. Commuters praised the mayor."
)


def read(text: str) -> tuple[ReadText, WordIndex]:
    source = ReadText.of("source", text, 700)
    return source, WordIndex(source)


def stems(text: str) -> frozenset[str]:
    table = WordTable.of(text)
    return frozenset(table.content_stems(range(len(table))))


def stitched(claim: str) -> str | None:
    source, index = read(SOURCE)
    table = WordTable.of(claim)
    window = stitch(source, index, table.content_stems(range(len(table))))
    return None if window is None else window.passage.text


def test_the_sentences_that_have_the_words_are_joined_in_their_order() -> None:
    expected = "The mayor opened a bridge in Leeds. The bridge cost four million pounds."
    assert stitched("Four million pounds went into the bridge the mayor opened.") == expected


def test_one_sentence_is_enough_when_it_has_all_words() -> None:
    assert stitched("Commuters praised the mayor.") == "Commuters praised the mayor."


def test_of_equal_sentences_the_first_is_taken() -> None:
    assert stitched("A mayor.") == "The mayor opened a bridge in Leeds."


def test_foreign_words_are_looked_for_in_the_first_sentence() -> None:
    assert stitched("Elephants migrate.") == "The mayor opened a bridge in Leeds."


def test_the_passage_reaches_from_the_first_to_the_last_sentence() -> None:
    source, index = read(SOURCE)
    window = stitch(source, index, ["leed", "hurt"])
    assert window is not None
    assert SOURCE[window.passage.start : window.passage.end].startswith("The mayor opened")
    assert SOURCE[window.passage.start : window.passage.end].endswith("Nobody was hurt.")
    assert (window.first, window.size) == (0, 4)


def fragments(claim: str) -> float:
    source, _ = read(SOURCE)
    table = WordTable.of(claim)
    return SourceSequences(source.table).copying(table, range(len(table)))["fragment_share"]


def test_a_copy_is_one_fragment() -> None:
    assert fragments("The bridge cost four million pounds.") == 1 / 6


def test_a_spliced_sentence_is_two() -> None:
    assert fragments("The mayor opened four million pounds.") == 2 / 6


def test_every_foreign_word_is_one() -> None:
    assert fragments("Elephants migrate south.") == 1


def test_a_run_does_not_go_on_where_another_one_stands() -> None:
    # "praised the" and "the bridge" stand in the source, "praised the bridge" does not.
    assert fragments("Commuters praised the bridge") == 2 / 4


def test_the_share_of_salient_words_counts_by_sentences() -> None:
    source, index = read("The cats were sleeping all night. The cats were eating all day. The dogs were barking.")
    assert len(source.sentences) == 3
    # Stems by sentences: cat 2, and one each for sleep, night, eat, day, dog, bark: 8 in all.
    assert salient_share(index, stems("A cat was seen; it barks.")) == 3 / 8
    assert salient_share(index, stems("Nothing of it.")) == 0
    assert salient_share(index, stems("Dogs bark by day, cats eat, and sleep at night.")) == 1
