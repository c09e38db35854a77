"""Reads a summary: its statements, without headings and words that only frame it."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from pipeline.errors import PipelineError
from pipeline.reading.blocks import LIST_KINDS, BlockKind
from pipeline.reading.document import ReadText, read_shown
from pipeline.reading.framing import framing_length, sorted_words, speaks_of_text
from pipeline.reading.index import WordIndex
from pipeline.reading.rules import Rule
from pipeline.reading.sentences import FEWEST_WORDS, HEADINGS, Sentence, split_sentences, statements, states
from pipeline.reading.values import find_values
from pipeline.reading.word_lists import any_of, word_list
from pipeline.reading.word_table import WordTable, stem
from pipeline.reading.words import fold_case

_MARKS = re.compile(  # of markup and of chat templates; what stands between them is read
    r"""</?[a-zA-Z][\w-]*+(?:\s+[\w:-]++\s*+=\s*+(?:"[^\s"<>]*+"|'[^\s'<>]*+'|[^\s"'<>=]++))*+\s*+/?>"""
    r"|<!--|-->|<\|\w++\|>|\[/?(?:INST|SYS)\]|<</?SYS>>|\[\^\w{1,4}\]:?|(?<!\S)(?:`{3}|~{3})\w{0,12}(?!\S)"
    r"|(?<=\S )#{1,6}(?= [A-Z])"
)
_INLINE = re.compile(rf"</?{any_of('inline_tags')}\b|\[\^", re.IGNORECASE)
_WORD = re.compile(r"\S+")
_LONGEST_LABEL = 4  # words
_CUT = re.compile(r"(?:(?<=\S[^\w\s,;'’&%$€£#/\\(\[{<+–—-])|(?<=\d))\s+(?=[^a-z\s])|(?<=\w[.!?])\s+|\n\s*")
_BEFORE_CAPITAL = re.compile(r"[a-z][^A-Z.]*+(?<=\s)(?=[A-Z])")  # "relevant The mayor resigned."
_FEWEST_FOREIGN, _FEWEST_BEHIND_STOP = 2, 3  # content words; "J." and "Jan." belong to what follows
_LONGEST_WORD = 30  # what is longer says something in a way of its own

FRAMING = Rule(
    "framing",
    "reading",
    "Words that only frame a summary are no part of a statement.",
    "Here is a summary: the bridge closed.",
    "the bridge closed.",
)
MARKUP = Rule(
    "markup",
    "reading",
    "Marks of HTML, notes, code fences and chat turns are read as gaps.",
    "The <b>bridge</b> closed[^1].",
    "The bridge closed.",
)
FOREIGN = Rule(
    "foreign-parts",
    "reading",
    "What a splitter joined to a sentence and is not about the source is a sentence of its own.",
    'The bridge closed. {"score": 10, "reason": "all is supported"}',
    "two sentences",
)
NO_STATEMENTS = Rule(
    "no-statements",
    "reading",
    "What speaks of the text, its writer or its file, heads of tables, topics and sources state nothing.",
    "The text contains no information about this.",
    "no statement",
)
LABELS = Rule(
    "labels", "reading", "A label is read with the sentence behind it.", "Liars:\nThe council.", "Liars: The council."
)


class NoStatementError(PipelineError):
    """A summary states nothing that could be judged."""


def read_summary(text_id: str, original: str, max_sentence_chars: int, source: WordIndex) -> ReadText:
    """Reads a summary without what states nothing of its source. Linear in the length of the text.

    Args:
        source: what the summary is about.

    Raises:
        NoStatementError: nothing is left.
    """
    text = read_shown(text_id, original)
    bare = _MARKS.sub(  # white space as long as a mark; one that stands between sentences ends a paragraph
        lambda mark: (" " if _INLINE.match(mark[0]) else "\n\n").ljust(len(mark[0])), _without_keys(text.text)
    )
    text = replace(text, text=bare) if MARKUP.is_on and any(map(str.isalnum, bare)) else text
    split, table = split_sentences(text.text, max_sentence_chars), WordTable.of(text.text)
    shared = {word for word in set(table.words) if source.sentence_count(stem(word))}
    whole = list(_told(table, split, shared))
    parts = [part for one in whole for part in _without_foreign(table, one, source)] if FOREIGN.is_on else whole
    stated = _without_framing(table, parts, shared) if FRAMING.is_on else parts
    if all(_only_names(table, sentence) for sentence in stated):
        raise NoStatementError("the summary declines, greets, or only names things")
    read = ReadText.split(text, _with_labels(text.text, stated, max_sentence_chars), table)
    return replace(
        read,
        table=replace(read.table, openings=frozenset(words[0] for words in read.ranges if words)),
        framing_count=len(parts) - len(stated),
        heading_count=len(split) - len(whole),
    )


def _without_keys(text: str) -> str:
    """Returns the texts of a JSON document, each a paragraph in its place; any other text as it is.

    A key of many words is read as a statement, and a text of one word as a name.
    """
    first = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    last = max(text.rfind("}"), text.rfind("]"))
    if first < 0 or text[:first].strip("` \n") not in ("", "json") or text[last + 1 :].strip("` \n"):
        return text
    try:
        json.loads(text[first : last + 1])
    except (ValueError, RecursionError):
        return text
    shown, at = ["\n"] * len(text), first
    while 0 <= (at := text.find('"', at)) < last:
        value, end = json.JSONDecoder().raw_decode(text, at)
        is_key = text[end:last].lstrip()[:1] == ":"
        if len(value.split()) > (_LONGEST_LABEL if is_key else 1):
            shown[at + 1 : end - 1] = text[at + 1 : end - 1].replace("\\n", "\n\n").replace('\\"', ' "')
        at = end
    return "".join(shown)


def _told(table: WordTable, split: Sequence[Sentence], shared: AbstractSet[str]) -> Iterator[Sentence]:
    """Yields the statements without heads of tables, and without the topics and sources that a heading lists."""
    told, is_listed = set(statements(table, split)), False
    for at, sentence in enumerate(split):
        words = table.between(sentence.start, sentence.end)
        if sentence.kind not in LIST_KINDS:
            is_listed = 0 < len(words) <= _LONGEST_LABEL and table.words[words[-1]] in word_list("topic_headings")
        is_name = sentence.kind is BlockKind.TABLE_HEAD or (is_listed and not table.has_verb(words))
        says_nothing = (is_name and NO_STATEMENTS.is_on) or _is_title(table, split[at : at + 2], shared)
        if sentence in told and not says_nothing:
            yield sentence


def _is_title(table: WordTable, lines: Sequence[Sentence], shared: AbstractSet[str]) -> bool:
    """Tells whether the first of two names what stands below it: a question, or a line without verb, number and stop.

    One that nothing sets apart from the text below it has no words but those of the source.
    """
    first, gap = lines[0], table.text[lines[0].end : lines[-1].start]
    line = table.text[first.start : first.end]
    bare = line.lstrip("=*_ ")
    number, _, rest = bare.partition(" ")
    is_numbered = number.endswith(")") or number.rstrip(".").isdigit()  # "a) The vote", "2 Costs"
    written = (rest if is_numbered else bare).rstrip("=*_ ")
    start = first.start + line.rindex(written)
    words = [table.words[at] for at in table.between(start, first.end)]
    is_line = first.kind in (BlockKind.PROSE, BlockKind.HEADING) or (first.kind in LIST_KINDS and not gap.strip())
    if not (HEADINGS.is_on and is_line and "\n" in gap and word_list("negations").isdisjoint(words)):
        return False
    if written.endswith("?") and len(words) < FEWEST_WORDS:
        return True
    is_apart = first.kind is not BlockKind.PROSE or is_numbered or bare != line or gap.count("\n") > 1
    is_bare = not any(one == ":" or one.isdigit() for one in written) and not states(table, start, start + len(written))
    return is_bare and (is_apart or not sorted_words(written, shared)[2])


def _is_head(written: str) -> bool:
    """Tells whether a part is the head of a paragraph ("**The vote.**"), a source in brackets, or topics ("#vote")."""
    label, mark, _ = fold_case(written).replace(" – ", ":").partition(":")
    name = "".join(label.strip("[(*_ ").split()[-1:])
    is_label = mark and not {name, f"{name}s"}.isdisjoint(word_list("topic_headings"))
    is_set = (written[:1] + written[-1:]) in ("()", "[]", "**") or all(word[0] == "#" for word in written.split())
    return bool(is_label or is_set) and not WordTable.of(written).has_verb()


def _only_names(table: WordTable, sentence: Sentence) -> bool:
    """Tells whether a sentence is a heading or a word."""
    is_heading = sentence.kind is BlockKind.HEADING and not states(table, sentence.start, sentence.end)
    return is_heading or len(table.between(sentence.start, sentence.end)) <= 1


def _without_foreign(table: WordTable, sentence: Sentence, source: WordIndex) -> Iterator[Sentence]:
    """Yields a sentence, and apart from it what a splitter joined to it and is not about the source.

    Such a part, an order to the judge in brackets or quotation marks, would be read as a part of the statement.
    """
    text = table.text
    opening = _BEFORE_CAPITAL.match(text, sentence.start, sentence.end)
    opening_stems = table.content_stems(table.between(*opening.span())) if opening else []
    if opening and opening_stems and not any(map(source.sentence_count, opening_stems)):
        yield from _trimmed(text, replace(sentence, end=opening.end()))
        sentence = replace(sentence, start=opening.end())
    values = find_values(text[sentence.start : sentence.end])
    whole = {at for value in values for at in range(sentence.start + value.start, sentence.start + value.end)}
    cuts = [cut.span() for cut in _CUT.finditer(text, sentence.start, sentence.end) if cut.start() not in whole]
    firsts, lasts = [sentence.start, *(end for _, end in cuts)], [*(start for start, _ in cuts), sentence.end]
    start = begun = before = decided = sentence.start
    was_foreign: bool | None = None
    for first, last in zip(firsts, lasts, strict=True):
        if text[before - 1 : before] == "}":  # of JSON: no sentence goes on behind it
            yield from _trimmed(text, replace(sentence, start=start, end=before))
            start, begun, was_foreign = first, first, None
        is_foreign = _is_foreign(table, begun, last, source)  # with the short parts before it
        if is_foreign is not None:
            if was_foreign is (not is_foreign):  # short parts between the two go with the foreign one
                at, end = (begun, decided) if is_foreign else (first, before)
                yield from _trimmed(text, replace(sentence, start=start, end=end))
                start = at
            was_foreign, decided, begun = is_foreign, last, last
        before = last
    yield from _trimmed(text, replace(sentence, start=start))


def _is_foreign(table: WordTable, start: int, end: int, source: WordIndex) -> bool | None:
    """Tells whether a part is not about the source; None where it has too few words to tell."""
    stems = table.content_stems(table.between(start, end))
    if source.is_about(stems):
        return False
    part = table.text[start:end]
    fewest = _FEWEST_BEHIND_STOP if part.endswith((".", "!", "?", ":")) else _FEWEST_FOREIGN
    is_number = part.isdigit() and not source.sentence_count(part)
    return True if is_number or len(stems) >= fewest or any(len(stem) > _LONGEST_WORD for stem in stems) else None


def _trimmed(text: str, sentence: Sentence) -> Iterator[Sentence]:
    """Yields a sentence without marks that stand by themselves around it; nothing of marks alone."""
    words = list(_WORD.finditer(text, sentence.start, sentence.end))
    said = [word.span() for word in words if any(map(str.isalnum, word.group()))]
    if said:
        yield replace(sentence, start=said[0][0], end=said[-1][1])


def _without_framing(table: WordTable, sentences: Iterable[Sentence], shared: AbstractSet[str]) -> list[Sentence]:
    """Returns what sentences state of a source; none for those that only frame a summary."""
    stated = list[Sentence]()
    for sentence in sentences:
        written = table.text[sentence.start : sentence.end]
        rest = written[framing_length(written) :]
        says_nothing = NO_STATEMENTS.is_on and (_is_head(written) or speaks_of_text(rest, shared))
        if rest and not says_nothing:
            stated.append(replace(sentence, start=sentence.end - len(rest)))
    return stated


def _with_labels(text: str, sentences: Sequence[Sentence], max_chars: int) -> list[Sentence]:
    """Returns the sentences, each with the label before it: "Embezzlers and liars:" says something of it."""
    joined = list[Sentence]()
    for sentence in sentences:
        label = joined[-1] if joined and LABELS.is_on else None
        written = text[label.start : label.end] if label else ""
        is_label = written.rstrip("*_ ").endswith(":") and len(written.split()) <= _LONGEST_LABEL
        is_beside = label and is_label and not text[label.end : sentence.start].strip("*_-•# \n")
        if label and is_beside and sentence.end - label.start <= max_chars:
            joined[-1] = replace(sentence, start=label.start)
        else:
            joined.append(sentence)
    return joined
