"""A text with its sentences and words: what every part of the evidence reads."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pipeline.judge.evidence.instructions import is_instruction
from pipeline.judge.evidence.respace import read_respaced
from pipeline.judge.evidence.word_table import WordTable
from pipeline.text.normalize import NormalizedText
from pipeline.text.passage import Passage
from pipeline.text.sentences import Sentence, claims, split_sentences
from pipeline.text.windows import sentence_passages


@dataclass(frozen=True, slots=True, eq=False)
class ReadText:
    """A normalised text, split once.

    Attributes:
        text: the way back to what the caller sent.
        sentences: that state something: headings are left out unless there is nothing else.
        passages: the same as evidence.
        table: all words, those of headings included.
        ranges: words of each sentence, as indices into `table`.
        instruction_count: sentences that were left out because they speak to the judge.
        repeat_count: sentences that were left out because an earlier one says the same in the same words.
    """

    text: NormalizedText
    sentences: tuple[Sentence, ...]
    passages: tuple[Passage, ...]
    table: WordTable
    ranges: tuple[range, ...]
    instruction_count: int
    repeat_count: int

    @classmethod
    def of(cls, text_id: str, original: str, max_sentence_chars: int) -> "ReadText":
        """Reads a text as the caller sent it. About 1 ms for 1,000 words once the words are known."""
        text = read_respaced(text_id, original)
        return cls._split(text, claims(split_sentences(text.text, max_sentence_chars)))

    @classmethod
    def of_summary(cls, text_id: str, original: str, max_sentence_chars: int) -> "ReadText":
        """Reads a summary without sentences that tell the judge how to grade or repeat another; linear in its length.

        What is left out is blank, so that places stay. When nothing else is left, it is kept.
        """
        text = read_respaced(text_id, original)
        sentences = claims(split_sentences(text.text, max_sentence_chars))
        stated = [sentence for sentence in sentences if not is_instruction(text.text[sentence.start : sentence.end])]
        if not stated:
            return cls._split(text, sentences)
        first = {_letters(text.text[sentence.start : sentence.end]): sentence for sentence in reversed(stated)}
        kept = sorted(first.values(), key=lambda sentence: sentence.start)
        return replace(
            cls._split(replace(text, text=_blanked(text.text, sentences, kept)), kept),
            instruction_count=len(sentences) - len(stated),
            repeat_count=len(stated) - len(kept),
        )

    @classmethod
    def _split(cls, text: NormalizedText, sentences: Sequence[Sentence]) -> "ReadText":
        table = WordTable.of(text.text)
        ranges = tuple(table.between(sentence.start, sentence.end) for sentence in sentences)
        passages = sentence_passages(text, sentences)
        return cls(text, tuple(sentences), passages, table, ranges, instruction_count=0, repeat_count=0)

    def words_passage(self, words: range) -> Passage:
        """Returns a run of words as evidence; there is at least one."""
        return self.text.passage(self.table.starts[words[0]], self.table.ends[words[-1]])


def _letters(sentence: str) -> str:
    """Returns what a sentence is recognised by when it comes again: its letters and digits."""
    return "".join(character for character in sentence.casefold() if character.isalnum())


def _blanked(text: str, sentences: Sequence[Sentence], kept: Sequence[Sentence]) -> str:
    """Returns a text of the same length with spaces in place of the sentences that are not kept."""
    stays = {sentence.start for sentence in kept}
    pieces, end = list[str](), 0
    for sentence in sentences:
        if sentence.start not in stays:
            pieces += [text[end : sentence.start], " " * (sentence.end - sentence.start)]
            end = sentence.end
    return "".join([*pieces, text[end:]])
