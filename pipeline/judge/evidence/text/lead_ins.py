"""Lead-ins of a summary: what announces it, or offers more. They may name what it is about, and state nothing."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from pipeline.judge.evidence.text.unrelated import KnownWords
from pipeline.judge.evidence.text.verbs import is_verb
from pipeline.judge.evidence.text.words import stem
from pipeline.text.meta_commentary import lead_in_length
from pipeline.text.sentences import Sentence

_MOST_LOOSE = 2  # words of the source that name a subject although no sentence of it has all of them


def without_lead_in(text: str, sentence: Sentence, source: KnownWords) -> Sentence | None:
    """Returns what a sentence states; None when it is a lead-in and nothing else."""
    start = sentence.start + lead_in_length(text[sentence.start : sentence.end], partial(_names_subject, source))
    return replace(sentence, start=start) if start < sentence.end else None


def _names_subject(source: KnownWords, words: Sequence[str]) -> bool:
    """Tells whether words only name what a source is about: it has them all, and none of them may be a verb."""
    stems = set(map(stem, words))
    says = is_verb(words[0]) or any(is_verb(word) or word.endswith("ing") for word in words[1:])
    return (
        not says
        and all(map(source.sentence_count, stems))
        and (len(stems) <= _MOST_LOOSE or source.has_in_one_sentence(stems))
    )
