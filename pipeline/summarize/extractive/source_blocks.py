"""Cuts a document, or a text that this writer made, into blocks whose kind decides how they may be shortened.

`pipeline.reading.sentences` finds where sentences cannot go on; a summary needs more: listings without fences,
procedures, labels, dialogues, and headings that are none. A line that is torn from its listing is a dangling fragment,
and "# reboot" is a root prompt, no heading. The signs of a listing are the prompt, symbols and columns; function words
speak for prose.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pipeline.reading.sentences import FEWEST_TURNS, SPEAKER
from pipeline.reading.word_lists import PROSE_WORDS
from pipeline.summarize.extractive.excerpt import ExcerptKind

_HEADING = re.compile(r"(?:[-*]\s+){0,4}(#{1,6})\s+")
_NUMBERED_HEADING = re.compile(r"(\d{1,3}(?:\.\d{1,3}){1,5})\.?\s+[^\W\d_a-z].*$")
_BOLD_LINE = re.compile(r"(\*\*|__)(?=\S)((?:(?!\1).){1,200})\1:?$")
_ITEM = re.compile(r"(?:[-*+•‣◦▪·]\s+)+(?:\[[ xX]\]\s+)?|(?P<step>\(?(?:\d{1,3}|[a-zA-Z])[.)])\s+")
# What an entry of a reference is about: "shared_buffers (integer)", "-D directory", "log_destination".
_ENTRY = re.compile(
    r"(?:[\w.$/-]+|--?[\w-]\S*) \([^()]{1,40}\)|(?=\S*[_.$])[^\W\d][\w.$-]*\w|--?[A-Za-z][\w-]*(?:[ =]\S+)?"
)
_PROMPT = re.compile(r"(?:[$%]|>>>|[\w.-]{1,64}@[\w.-]{1,64}[:~/\w.-]{0,99}[#$%]|[A-Z]:\\[^\s>]*>)\s*\S|#\s+[a-z./]\S*")
_CODE = re.compile(r"[|=<>&]|\s--?[a-z]|[^\s.!?:](?: {2,}|\t+)\S|^[\w./-]+:\s+\S+(?:\s\S+){0,3}$|^\[[^\]]{1,40}\]$")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_MOST_HEADING_INDENT = 1  # "  # comment" stands in a script
_MOST_HEADING_WORDS, _MOST_LABEL_WORDS = 14, 12
_PROSE_SHARE, _WHOLE_PROSE_SHARE = 0.18, 0.1  # of function words; lines that end as a sentence are more often prose
_EDGES = ".,;:!?()\"'“”’*_"
_SENTENCE_ENDS, _CLOSING, _CLOSING_CHARS = tuple(".!?…。！？"), ")[\"'”’]*", 16
_LEAST_TURN_SHARE = 0.5  # of the lines; "Note: ..." and "Example: ..." stand in any text
_MOST_SPEAKER_SHARE = 0.5  # of the turns: people answer each other


@dataclass(frozen=True, slots=True)
class SourceBlock:
    """One block.

    Attributes:
        kind: of its excerpts; a paragraph is of sentences, a table begins with its head.
        start: first character of what it says, behind marks.
        level: 1 to 6 of a heading; indentation in spaces of a list item; else 0.
        mark: of a list item; who speaks; the words behind the fence of a listing; else empty.
    """

    kind: ExcerptKind
    start: int
    end: int
    level: int = 0
    mark: str = ""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line without white space around it.

    Attributes:
        indent: the width of the white space before it.
    """

    start: int
    text: str
    indent: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def split_source(text: str) -> list[SourceBlock]:
    """Returns the blocks of a text in order; rules and blank lines are left out. Linear in its length."""
    blocks: list[SourceBlock] = []
    lines = list(_lines(text))
    is_talk = _is_dialogue([line.text for line in lines if line.text])
    position = 0
    while position < len(lines):
        line = lines[position]
        if is_talk and (turn := SPEAKER.match(line.text)):
            end = _run_end(lines, position, is_talk=True)
            blocks.append(
                SourceBlock(ExcerptKind.TURN, line.start + turn.end(), lines[end - 1].end, 0, _speaker(turn.group()))
            )
        elif fence := _fence(line.text):
            end = _fence_end(lines, position, fence)
            if end > position + 1:
                first, last, mark = lines[position + 1], lines[end - 1], line.text.removeprefix(fence).strip()
                blocks.append(SourceBlock(ExcerptKind.CODE, first.start - first.indent, last.end, 0, mark))
            end += 1
        elif not any(map(str.isalnum, line.text)):
            end = position + 1
        else:
            end = _run_end(lines, position)
            blocks.extend(_run_blocks(lines[position:end], is_first=not blocks))
        position = end
    return blocks


def _lines(text: str) -> Iterator[_Line]:
    position = 0
    for raw in text.splitlines(keepends=True):
        stripped = raw.strip()
        indent = raw.index(stripped[0]) if stripped else 0
        yield _Line(position + indent, stripped, indent)
        position += len(raw)


def _is_dialogue(lines: Sequence[str]) -> bool:
    """Tells whether lines are turns of people who answer each other, at least three."""
    speakers = [_speaker(turn.group()).lstrip("[(0123456789:.,)] -") for turn in map(SPEAKER.match, lines) if turn]
    is_talk = len(speakers) >= max(FEWEST_TURNS, _LEAST_TURN_SHARE * len(lines))
    return is_talk and len(set(speakers)) <= max(2, _MOST_SPEAKER_SHARE * len(speakers))


def _speaker(opening: str) -> str:
    """Returns when and who begins to speak, with a colon."""
    return f"{opening.rstrip(' :')}:"


def _fence(text: str) -> str:
    """Returns the marks of a line that begins or ends a listing; empty if it does neither."""
    fence = text[: len(text) - len(text.lstrip(text[:1]))]
    return fence if fence[:1] in ("`", "~") and len(fence) >= len("```") else ""


def _fence_end(lines: Sequence[_Line], start: int, fence: str) -> int:
    """Returns the line of the closing fence; the end of the text if it never closes."""
    for position in range(start + 1, len(lines)):
        text = lines[position].text
        if len(text) >= len(fence) and not text.strip(fence[0]):
            return position
    return len(lines)


def _run_end(lines: Sequence[_Line], start: int, *, is_talk: bool = False) -> int:
    """Returns the end of lines without a blank line or a fence between them, in a dialogue of one speaker."""
    end = start + 1
    while end < len(lines) and lines[end].text and not _fence(lines[end].text):
        if is_talk and SPEAKER.match(lines[end].text):
            break
        end += 1
    return end


def _run_blocks(run: Sequence[_Line], *, is_first: bool) -> Iterator[SourceBlock]:
    """Yields the blocks of lines without a blank line between them."""
    start, end, texts = run[0].start, run[-1].end, [line.text for line in run]
    only = _heading(run[0], is_first=is_first) if len(run) == 1 else None
    if all(text[0] == text[-1] == "|" and len(text) > 1 for text in texts):
        yield SourceBlock(ExcerptKind.TABLE_HEAD, start, end)
    elif only is None and not _is_marked(texts) and is_listing(texts):
        yield SourceBlock(ExcerptKind.CODE, start - run[0].indent, end)
    elif only is None and len(run) == 1 and _is_label(texts[0]):
        yield SourceBlock(ExcerptKind.LABEL, start, end)
    else:
        yield from _prose_blocks(run, is_first=is_first)


def _is_marked(texts: Sequence[str]) -> bool:
    """Tells whether lines are a list or begin with a heading that text follows."""
    is_list = [bool(_ITEM.match(text)) for text in texts[:2]]
    if is_list[0]:
        return True
    if not _HEADING.match(texts[0]) or len(texts) == 1 or texts[1].startswith("#") or is_listing(texts[1:]):
        return False
    return is_list[1] or texts[1][0].isupper() or is_sentence_end(texts[-1])


def _prose_blocks(run: Sequence[_Line], *, is_first: bool) -> Iterator[SourceBlock]:
    """Cuts at headings and list marks; other lines go on with the block before them."""
    open_block: SourceBlock | None = None
    for number, line in enumerate(run):
        block = _heading(line, is_first=is_first and number == 0) or _list_item(line)
        if block is None and open_block is not None:
            open_block = replace(open_block, end=line.end)
            continue
        if open_block is not None:
            yield open_block
        open_block = block or SourceBlock(ExcerptKind.SENTENCE, line.start, line.end)
        if open_block.kind in (ExcerptKind.HEADING, ExcerptKind.LABEL):
            yield open_block
            open_block = None
    if open_block is not None:
        yield open_block


def _heading(line: _Line, *, is_first: bool) -> SourceBlock | None:
    """Reads "## Title", "4.1 Title" and "**Title**"; None for anything else, such as a root prompt or a comment."""
    text = line.text
    if (match := _HEADING.match(text)) and line.indent <= _MOST_HEADING_INDENT:
        title, level = text[match.end() :].rstrip("# "), len(match.group(1))
        if not (_is_title(title, level) or (is_first and title.isalnum())):
            return None  # only the first line may be "# precis"; anywhere else that is a root prompt
        start = line.start + match.end()
        return SourceBlock(ExcerptKind.HEADING, start, start + len(title), level)
    if match := _BOLD_LINE.match(text):
        return SourceBlock(ExcerptKind.LABEL, line.start + match.start(2), line.start + match.end(2))
    if (match := _NUMBERED_HEADING.match(text)) and _is_title(text, 2) and not is_sentence_end(text):
        return SourceBlock(ExcerptKind.HEADING, line.start, line.end, match.group(1).count(".") + 1)
    return None


def _is_title(title: str, level: int) -> bool:
    if not any(map(str.isalnum, title)) or any(mark in title for mark in ("=", "\t", "  ")):  # settings and columns
        return False
    is_sentence = is_sentence_end(title) and not title.endswith(("…", "..."))
    if level == 1 and (title[0].islower() or title[0] in "/.$" or is_sentence):
        return False  # "# reboot", "# Change this to the name of your server."
    return len(title.split()) <= _MOST_HEADING_WORDS


def _is_label(text: str) -> bool:
    if is_entry(text):
        return True
    is_short = len(text.split()) <= _MOST_LABEL_WORDS and not is_sentence_end(text) and text[-1] not in ":;,"
    return is_short and text[0].isalnum() and not text[0].islower() and not _ITEM.match(text)


def is_entry(text: str) -> bool:
    """Tells whether a label names what all paragraphs below it are about: "shared_buffers (integer)"."""
    return bool(_ENTRY.fullmatch(text))


def _list_item(line: _Line) -> SourceBlock | None:
    match = _ITEM.match(line.text)
    if not match or not any(map(str.isalnum, line.text[match.end() :])):
        return None
    kind = ExcerptKind.STEP if match["step"] else ExcerptKind.BULLET
    return SourceBlock(kind, line.start + match.end(), line.end, line.indent, match["step"] or "-")


def is_listing(lines: Sequence[str]) -> bool:
    """Tells whether neighbouring lines must keep their line breaks.

    Args:
        lines: without white space around them and blank lines between them; not empty.
    """
    if len(lines) == 1 or is_prompt(lines[0]):
        return _is_code(lines[0])
    if 2 * sum(_is_code(line) or line.startswith("#") for line in lines) >= len(lines):
        return True
    least_share = _WHOLE_PROSE_SHARE if is_sentence_end(lines[-1]) else _PROSE_SHARE
    return _function_share(" ".join(lines)) < least_share


def is_prompt(line: str) -> bool:
    """Tells whether a line is a command behind a prompt: "$ ls", "# reboot", "root@host:~# ls"."""
    return bool(_PROMPT.match(line.strip()))


def _is_code(line: str) -> bool:
    if is_prompt(line) or line[-1] in "{}\\;" or "];" in line:
        return True
    is_prose = is_sentence_end(line) or _function_share(line) >= _PROSE_SHARE
    return not is_prose and bool(_CODE.search(line))


def _function_share(text: str) -> float:
    words = text.split()
    return sum(word.strip(_EDGES).lower() in PROSE_WORDS for word in words) / len(words)


def is_sentence_end(text: str) -> bool:
    """Tells whether a text ends as sentences do."""
    return text.rstrip()[-_CLOSING_CHARS:].rstrip(_CLOSING).endswith(_SENTENCE_ENDS)


def count_words(text: str) -> int:
    """Counts words; a character of a script without spaces counts as one."""
    return len(text.split()) + (0 if text.isascii() else len(_CJK.findall(text)))
