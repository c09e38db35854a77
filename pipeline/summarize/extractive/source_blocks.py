"""Cuts a document, or a text that this writer made, into blocks whose kind decides how they may be shortened.

`pipeline.reading.sentences` finds where sentences cannot go on; a summary needs more: listings without
fences, procedures,
labels, and headings that are none.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from pipeline.summarize.extractive.dialogue import is_dialogue, speaker_of, speech_of
from pipeline.summarize.extractive.lines import is_listing, is_sentence_end, is_wordy

GAP_MARK = "[…]"
"""Stands where lines of a listing were left out."""

_FENCE = re.compile(r"\s*(`{3,}|~{3,})(.*)$")
_HEADING = re.compile(r"(?:[-*]\s+){0,4}(#{1,6})\s+")
_NUMBERED_HEADING = re.compile(r"(\d{1,3}(?:\.\d{1,3}){1,5})\.?\s+[^\W\d_a-z].*$")
_NO_TITLE = re.compile(r"=|\t|\S {2,}\S")  # settings and columns
_BOLD_LINE = re.compile(r"(\*\*|__)(?=\S)((?:(?!\1).){1,200})\1:?$")
_LINK = re.compile(r"(?:[→➔⇒>]\s*)?<?(?:(?:https?|ftp)://|www\.)\S+")
_ADMONITION = re.compile(r"(?i:note|tip|hint|important|caution|warning|danger|example|achtung|warnung|vorsicht)s?\W*")
_BULLET = re.compile(r"(?:[-*+•‣◦▪·]\s+)+(?:\[[ xX]\]\s+)?")
_STEP = re.compile(r"\(?(?:\d{1,3}|[a-zA-Z])[.)]\s+")
_CAPTION = re.compile(r"(?:Figure|FIGURE|Fig\.|Abbildung|Abb\.)\s[\dA-Z][\d.-]*[.:]")
# What an entry of a reference is about: "shared_buffers (integer)", "-D directory", "log_destination".
_ENTRY = re.compile(
    r"(?:[\w.$/-]+|--?[\w-]\S*) \([^()]{1,40}\)|(?=\S*[_.$])[^\W\d][\w.$-]*\w|--?[A-Za-z][\w-]*(?:[ =]\S+)?"
)
_CLAUSE_TITLE = re.compile(r"(\d{1,3})\.?\s+([^\W\d_a-z].*)")
# "Article 5. Salary", "§ 5 Haftung", "**5. Term**": a title whatever it is printed in.
_NAMED_CLAUSE = re.compile(
    r"(?:(?:article|section|clause|artikel|abschnitt)\s(?:\d{1,3}|[IVX]{1,5})|§\s?\d{1,3}[a-z]?)\b[.:)]?(?:\s.*)?",
    re.IGNORECASE,
)
_CLAUSE_LEVEL = 2
_SHOUT = re.compile(r"[^\W\d_a-z]{3,}\s")  # "GOING FURTHER 32 or 64 bits?"
_TABLE_ROW = re.compile(r"\|.*\|$")
_WORD_CHARACTER = re.compile(r"[^\W_]")
_DEEPEST_COMMENT = 2  # "## some defaults"
_MOST_HEADING_INDENT = 1  # "  # comment" stands in a script
_MOST_HEADING_WORDS = 14
_MOST_LABEL_WORDS = 12


class SourceBlockKind(Enum):
    """What a block is."""

    HEADING = auto()
    LABEL = auto()
    PROSE = auto()
    BULLET = auto()
    STEP = auto()
    LISTING = auto()
    TABLE = auto()
    TURN = auto()  # what one person says in a dialogue


@dataclass(frozen=True, slots=True)
class SourceBlock:
    """One block.

    Attributes:
        start: first character of what it says, behind marks.
        level: 1 to 6 of a heading; indentation in spaces of a list item; else 0.
        mark: of a list item; who speaks; the words behind the fence of a listing; else empty.
    """

    kind: SourceBlockKind
    start: int
    end: int
    level: int = 0
    mark: str = ""


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    text: str  # without the line break

    @property
    def end(self) -> int:
        return self.start + len(self.text.rstrip())

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip())


def split_source(text: str) -> list[SourceBlock]:
    """Returns the blocks of a text in order; rules and blank lines are left out. Linear in its length."""
    blocks: list[SourceBlock] = []
    lines = _lines(text)
    position = 0
    is_after_listing = False
    is_talk = is_dialogue([line.text for line in lines])
    while position < len(lines):
        line = lines[position]
        if is_talk and speaker_of(line.text):
            end = _turn_end(lines, position)
            start = line.start + speech_of(line.text)
            blocks.append(SourceBlock(SourceBlockKind.TURN, start, lines[end - 1].end, 0, speaker_of(line.text)))
            position, is_after_listing = end, False
        elif fence := _FENCE.match(line.text):
            end = _fence_end(lines, position, fence.group(1))
            if end > position + 1:
                mark = fence.group(2).strip()
                blocks.append(
                    SourceBlock(SourceBlockKind.LISTING, lines[position + 1].start, lines[end - 1].end, 0, mark)
                )
            position, is_after_listing = end + 1, False
        elif not _WORD_CHARACTER.search(line.text):
            position += 1
        else:
            end = _run_end(lines, position)
            if is_after_listing and end == position + 1 and _is_comment(lines, position):
                blocks.append(SourceBlock(SourceBlockKind.LISTING, line.start + line.indent, line.end))
            elif _is_clause_title(lines, position, end):
                blocks.append(SourceBlock(SourceBlockKind.HEADING, line.start + line.indent, line.end, _CLAUSE_LEVEL))
            else:
                blocks.extend(_run_blocks(lines[position:end], is_first=not blocks))
            position, is_after_listing = end, blocks[-1].kind is SourceBlockKind.LISTING
    return blocks


def _lines(text: str) -> list[_Line]:
    lines: list[_Line] = []
    position = 0
    for raw in text.splitlines(keepends=True):
        lines.append(_Line(position, raw.rstrip("\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029")))
        position += len(raw)
    return lines


def _fence_end(lines: list[_Line], start: int, fence: str) -> int:
    """Returns the line of the closing fence; the end of the text if it never closes."""
    for position in range(start + 1, len(lines)):
        stripped = lines[position].text.strip()
        if len(stripped) >= len(fence) and not stripped.strip(fence[0]):
            return position
    return len(lines)


def _run_end(lines: list[_Line], start: int) -> int:
    """Returns the end of lines without a blank line or a fence between them."""
    end = start + 1
    while end < len(lines) and lines[end].text.strip() and not _FENCE.match(lines[end].text):
        end += 1
    return end


def _turn_end(lines: list[_Line], start: int) -> int:
    """Returns the end of what one person says: the next turn, a blank line, a fence."""
    end = start + 1
    while end < len(lines) and lines[end].text.strip() and not _FENCE.match(lines[end].text):
        if speaker_of(lines[end].text):
            break
        end += 1
    return end


def _is_clause_title(lines: list[_Line], start: int, end: int) -> bool:
    """Tells whether a line such as "3. Fees" is the title of clauses that follow it: "3.1 The Client shall ..."."""
    title = _CLAUSE_TITLE.fullmatch(lines[start].text.strip())
    if title is None or end != start + 1 or len(title.group(2).split()) > _MOST_LABEL_WORDS:
        return False
    after = next((said for place in range(end, len(lines)) if (said := lines[place].text.strip())), "")
    return not is_sentence_end(title.group()) and after.startswith(f"{title.group(1)}.1")


def _is_comment(lines: list[_Line], position: int) -> bool:
    """Tells whether a line after a listing that looks like a heading is a comment: the listing goes on behind it."""
    heading = _HEADING.match(lines[position].text.strip())
    if heading is None or len(heading.group(1)) > _DEEPEST_COMMENT or heading.string[heading.end()].isdigit():
        return False
    start = position + 1
    while start < len(lines) and not lines[start].text.strip():
        start += 1
    if start == len(lines) or _FENCE.match(lines[start].text):
        return False
    return is_listing([line.text for line in lines[start : _run_end(lines, start)]])


def _run_blocks(run: list[_Line], *, is_first: bool) -> Iterator[SourceBlock]:
    texts = [line.text for line in run]
    if all(_TABLE_ROW.match(text.strip()) for text in texts):
        yield SourceBlock(SourceBlockKind.TABLE, run[0].start + run[0].indent, run[-1].end)
        return
    only = _heading(run[0], is_first=is_first) if len(run) == 1 else None
    if only is None and not _is_marked(texts) and is_listing(texts):
        yield SourceBlock(SourceBlockKind.LISTING, run[0].start, run[-1].end)
        return
    if only is None and len(run) == 1 and _is_label(texts[0].strip()):
        yield SourceBlock(SourceBlockKind.LABEL, run[0].start + run[0].indent, run[0].end)
        return
    yield from _prose_blocks(run, is_first=is_first)


def _is_marked(texts: list[str]) -> bool:
    """Tells whether lines are a list or begin with a heading that text follows."""
    first = texts[0].strip()
    if _BULLET.match(first) or _STEP.match(first):
        return True
    if not _HEADING.match(first) or len(texts) == 1 or texts[1].lstrip().startswith("#") or is_listing(texts[1:]):
        return False
    second = texts[1].strip()
    return is_wordy(second) and (not second[0].islower() or is_sentence_end(texts[-1]))


def _prose_blocks(run: list[_Line], *, is_first: bool) -> Iterator[SourceBlock]:
    """Cuts at headings and list marks; other lines go on with the block before them."""
    open_block: SourceBlock | None = None
    for number, line in enumerate(run):
        block = _heading(line, is_first=is_first and number == 0) or _marked_block(line)
        if block is None and open_block is not None:
            open_block = SourceBlock(open_block.kind, open_block.start, line.end, open_block.level, open_block.mark)
            continue
        if open_block is not None:
            yield open_block
        block = block or SourceBlock(SourceBlockKind.PROSE, line.start + line.indent, line.end)
        open_block = None if block.kind in (SourceBlockKind.HEADING, SourceBlockKind.LABEL) else block
        if open_block is None:
            yield block
    if open_block is not None:
        yield open_block


def _heading(line: _Line, *, is_first: bool) -> SourceBlock | None:
    """Reads "## Title", "4.1 Title" and "**Title**"; None for anything else, such as a root prompt or a comment."""
    stripped = line.text.strip()
    offset = line.start + line.indent
    if (match := _HEADING.match(stripped)) and line.indent <= _MOST_HEADING_INDENT:
        title, level = stripped[match.end() :].rstrip("#").rstrip(), len(match.group(1))
        if not _WORD_CHARACTER.search(title) or not (_is_title(title, level) or (is_first and title.isalnum())):
            return None  # only the first line may be "# precis"; anywhere else that is a root prompt
        kind = SourceBlockKind.LABEL if _ADMONITION.fullmatch(title) else SourceBlockKind.HEADING
        start = offset + match.end()
        return SourceBlock(kind, start, start + len(title), level * (kind is SourceBlockKind.HEADING))
    bold = _BOLD_LINE.match(stripped)
    title = bold.group(2) if bold else stripped
    if _is_clause_name(title) or (bold and _CLAUSE_TITLE.fullmatch(title)):
        start = offset + (bold.start(2) if bold else 0)
        return SourceBlock(SourceBlockKind.HEADING, start, start + len(title), _CLAUSE_LEVEL)
    if match := bold:
        return SourceBlock(SourceBlockKind.LABEL, offset + match.start(2), offset + match.end(2))
    if (match := _NUMBERED_HEADING.match(stripped)) and _is_title(stripped, 2) and not is_sentence_end(stripped):
        return SourceBlock(SourceBlockKind.HEADING, offset, line.end, min(6, match.group(1).count(".") + 1))
    return None


def _is_clause_name(title: str) -> bool:
    return (
        bool(_NAMED_CLAUSE.fullmatch(title)) and len(title.split()) <= _MOST_LABEL_WORDS and not is_sentence_end(title)
    )


def _is_title(title: str, level: int) -> bool:
    is_sentence = is_sentence_end(title) and not title.endswith(("…", "..."))
    if level == 1 and (title[0].islower() or title[0] in "/.$" or is_sentence):
        return False  # "# reboot", "# Change this to the name of your server."
    return len(title.split()) <= _MOST_HEADING_WORDS and not _NO_TITLE.search(title)


def _is_label(text: str) -> bool:
    if is_entry(text):
        return True
    if _BULLET.match(text) or _STEP.match(text) or text[0].islower() or is_link(text):
        return False
    if is_caption(text):
        return True
    if len(text.split()) > _MOST_LABEL_WORDS or text[-1] in ":;,":
        return False
    return not is_sentence_end(text) or (text[-1] == "?" and bool(_SHOUT.match(text)))


def is_link(text: str) -> bool:
    """Tells whether a text is nothing but a link, perhaps behind an arrow."""
    return bool(_LINK.fullmatch(text))


def is_entry(text: str) -> bool:
    """Tells whether a label names what all paragraphs below it are about: "shared_buffers (integer)"."""
    return bool(_ENTRY.fullmatch(text))


def is_caption(text: str) -> bool:
    """Tells whether a text is the caption of a picture, and so no label of the text below it."""
    return bool(_CAPTION.match(text))


def _marked_block(line: _Line) -> SourceBlock | None:
    stripped = line.text.strip()
    for kind, pattern in ((SourceBlockKind.BULLET, _BULLET), (SourceBlockKind.STEP, _STEP)):
        if (match := pattern.match(stripped)) and _WORD_CHARACTER.search(stripped, match.end()):
            start = line.start + line.indent + match.end()
            mark = match.group().strip() if kind is SourceBlockKind.STEP else "-"
            return SourceBlock(kind, start, line.end, line.indent, mark)
    return None
