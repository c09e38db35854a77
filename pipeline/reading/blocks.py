"""Cuts a text into blocks: headings, labels, paragraphs, list items, listings, turns of a dialogue, rows of tables.

A sentence never crosses a block. "# reboot" is a root prompt, no heading: the signs of a listing are the prompt,
symbols and columns; function words speak for prose.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import pairwise
from typing import NamedTuple

from pipeline.off_loop import stop_if_nobody_waits, stoppable
from pipeline.reading.passage import Span
from pipeline.reading.rules import Rule
from pipeline.reading.turns import PROSE_SHARE, is_prose, read_talk
from pipeline.reading.word_lists import FUNCTION_WORDS

BULLET_MARK = r"[-*+•‣◦▪·–—●○◆◇■□▶►★☆⭐✓✔✗✘✅❌☑→➔➢➤\U0001f000-\U0001faff]\ufe0f?"
STEP_MARK = r"(?:\d\ufe0f?\u20e3|\(?\d{1,3}[.)]|\(?[A-Za-z]\)|[a-z]\.)"  # "A. Smith" is a name
CHECK_BOX = r"\[[ xX]\]"
_ITEM = re.compile(rf"(?:(?:{BULLET_MARK}\s+)+|(?P<step>{STEP_MARK})\s+)(?:{CHECK_BOX}\s+)?")
_HEADING = re.compile(r"(?:[-*]\s+){0,4}(#{1,6})\s+")
_NUMBERED_HEADING = re.compile(r"(\d{1,3}(?:\.\d{1,3}){1,5})\.?\s+[^\W\d_a-z].*$")
_BOLD_LINE = re.compile(r"(\*\*|__)(?=\S)((?:(?!\1).){1,200})\1:?$")
_PROMPT = re.compile(r"(?:[$%](?! ?\d)|>>>|[\w.-]{1,64}@[\w.-]{1,64}[:~/\w.-]*[#$%]|[A-Z]:\\[^\s>]*>)\s*\S|#\s+[a-z./]")
_CODE = re.compile(r"[|=<>&]|\s--?[a-z]|[^\s.!?:](?: {2,}|\t+)\S|^[\w./-]+:\s+\S+(?:\s\S+){0,3}$|^\[[^\]]{1,40}\]$")
# What an entry of a reference is about: "shared_buffers (integer)", "-D directory", "log_destination".
_ENTRY = re.compile(
    r"(?:[\w.$/-]+|--?[\w-]\S*) \([^()]{1,40}\)|(?=\S*[_.$])[^\W\d][\w.$-]*\w|--?[A-Za-z][\w-]*(?:[ =]\S+)?"
)
_MOST_HEADING_INDENT = 1  # "  # comment" stands in a script
_MOST_LABEL_WORDS, _MOST_TITLE_WORDS = 12, 8
_FEWEST_TITLES, _WORDS_BELOW = 2, 20  # on average; what an item of a list says stands beside its number
_WHOLE_PROSE_SHARE = 0.1  # of function words: lines that end as a sentence are more often prose
_SENTENCE_ENDS, _CLOSING, _CLOSING_CHARS = tuple(".!?…。！？"), ")[\"'”’]*", 16


NUMBERED_TITLES = Rule(
    "numbered-titles",
    "reading",
    'A line such as "3. Fees" is a heading, and no item of a list, where a text stands below each of them.',
    "1. Fees\n\nThe fee is 18,600 pounds.\n\n2. Term\n\nIt ends after five years.",
    "# 1. Fees\n\nThe fee is 18,600 pounds.\n\n# 2. Term\n\nIt ends after five years.",
)


class BlockKind(Enum):
    """What a block is, which decides how it may be compared and shortened."""

    HEADING = auto()
    LABEL = auto()  # a short line above something: "CAUTION First start", "Example 3. The file smb.conf"
    PROSE = auto()  # of a sentence or a paragraph
    BULLET = auto()
    STEP = auto()  # of a procedure
    CODE = auto()  # between fences
    LISTING = auto()  # lines that must stay lines, without a fence: commands, files
    TURN = auto()  # what somebody says in a dialogue
    TABLE_HEAD = auto()  # with the rule below it
    TABLE_ROW = auto()


LIST_KINDS = (BlockKind.BULLET, BlockKind.STEP)
TABLE_KINDS = (BlockKind.TABLE_HEAD, BlockKind.TABLE_ROW)
STRUCTURE = (BlockKind.HEADING, BlockKind.LABEL)
BOLD = "**"


@dataclass(frozen=True, slots=True)
class Block(Span):
    """Lines that belong together, from the first character of what they say, behind marks ("- ", "## ", "> ")."""

    kind: BlockKind  # what it is
    first: int  # its first character with its mark
    level: int = 0  # 1 to 6 of a heading; indentation in spaces of a list item; else 0
    mark: str = ""  # of a list item; who speaks; the words behind the fence of code; `BOLD` of a bold label; else empty

    @property
    def sentence_kind(self) -> BlockKind:
        """Of the sentences in it: a bold label is a heading; a line alone, a listing and a turn say something."""
        if self.kind in (BlockKind.HEADING, BlockKind.CODE, *LIST_KINDS, *TABLE_KINDS):
            return self.kind
        return BlockKind.HEADING if self.mark == BOLD else BlockKind.PROSE


class _Line(NamedTuple):
    """A line without white space around it."""

    start: int
    text: str
    indent: int  # the width of the white space before it

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def read_blocks(text: str) -> list[Block]:
    """Returns the blocks of a text in order; rules and blank lines are left out. Linear in its length."""
    blocks: list[Block] = []
    lines = list(_lines(text))
    lines, turns = _read_turns(lines)
    position = 0
    while position < len(lines):
        stop_if_nobody_waits()
        line = lines[position]
        if fence := _fence(line.text):
            closing = (at for at in range(position + 1, len(lines)) if _closes(lines[at].text, fence))
            end = next(closing, len(lines))  # the end of the text if it never closes
            if end > position + 1:
                first, last, mark = lines[position + 1], lines[end - 1], line.text.removeprefix(fence).strip()
                blocks.append(Block(first.start - first.indent, last.end, BlockKind.CODE, line.start, 0, mark))
            end += 1
        elif not any(map(str.isalnum, line.text)):
            end = position + 1
        else:
            end = _run_end(lines, position)
            blocks.extend(_run_blocks(lines[position:end], turns, is_first=not blocks))
        position = end
    return _with_numbered_titles(text, blocks) if NUMBERED_TITLES.is_on else blocks


def _read_turns(lines: list[_Line]) -> tuple[list[_Line], dict[int, Block]]:
    """Returns the turns of a talk by where they stand, and the lines without what nobody says."""
    talk, silent = read_talk([line.text for line in lines])
    if not talk:
        return lines, {}
    said = [
        line._replace(text="") if number in silent or not line.text.strip("> ") else line
        for number, line in enumerate(lines)
    ]
    turns: dict[int, Block] = {}
    for number, turn in talk.items():
        start, head = lines[number].start, lines[turn.head].start
        turns[start] = Block(start + turn.start, said[number].end, BlockKind.TURN, head, mark=turn.mark)
    return said, turns


def _with_numbered_titles(text: str, blocks: list[Block]) -> list[Block]:
    """Reads "3. Fees" as a heading where several such lines have a text below them."""
    titles = [block for block, below in pairwise([*blocks, None]) if block and _is_numbered_title(text, block, below)]
    if len(titles) < _FEWEST_TITLES or len(text[titles[0].first :].split()) < _WORDS_BELOW * len(titles):
        return blocks
    firsts = {block.first for block in titles}
    return [part for block in blocks for part in (_title_and_text(text, block) if block.first in firsts else [block])]


def _title_and_text(text: str, block: Block) -> Iterator[Block]:
    title, _, rest = text[block.first : block.end].partition("\n")
    yield Block(block.first, block.first + len(title.rstrip()), BlockKind.HEADING, block.first, 1)
    if rest:
        said = block.end - len(rest.lstrip())
        yield Block(said, block.end, BlockKind.PROSE, said)


def _is_numbered_title(text: str, block: Block, below: Block | None) -> bool:
    """Tells whether a numbered item is a short title, and a text goes on below it, not the next item."""
    if block.kind is not BlockKind.STEP or not block.mark[:-1].isdigit():
        return False
    title, _, rest = text[block.start : block.end].partition("\n")
    words = title.split()
    if title.endswith("."):  # "Source Code." in capitals is a title, and "Close the valve." is a step
        is_named = all(word[0].isupper() or word in FUNCTION_WORDS for word in words)
    else:
        is_named = _is_label(title.strip()) and block.level <= _MOST_HEADING_INDENT
    if not (is_named and title[0].isupper() and len(words) <= _MOST_TITLE_WORDS):
        return False
    if rest:
        return rest.lstrip()[0].isupper()
    return below is not None and below.level <= block.level and below.kind is not BlockKind.STEP


def _lines(text: str) -> Iterator[_Line]:
    position = 0
    for raw in stoppable(text.splitlines(keepends=True)):
        stripped = raw.strip()
        indent = raw.index(stripped[0]) if stripped else 0
        yield _Line(position + indent, stripped, indent)
        position += len(raw)


def _fence(text: str) -> str:
    """Returns the marks of a line that begins or ends code; empty if it does neither."""
    return text[: len(text) - len(text.lstrip(text[0]))] if text.startswith(("```", "~~~")) else ""


def _closes(text: str, fence: str) -> bool:
    return len(text) >= len(fence) and not text.strip(fence[0])


def _run_end(lines: Sequence[_Line], start: int) -> int:
    """Returns the end of lines, all or none of them rows, without a blank line or a fence between them."""
    is_table = _is_row(lines[start].text)
    texts = ((at, lines[at].text) for at in range(start + 1, len(lines)))
    return next((at for at, text in texts if not text or _fence(text) or _is_row(text) != is_table), len(lines))


def _is_row(text: str) -> bool:
    return text[0] == text[-1] == "|" and len(text) > 1


def _run_blocks(run: Sequence[_Line], turns: Mapping[int, Block], *, is_first: bool) -> Iterator[Block]:
    texts = [line.text for line in run]
    if _is_row(texts[0]):
        yield from _table(run)
    elif any(line.start in turns for line in run):
        yield from _prose_blocks(run, turns, is_first=is_first)
    elif len(run) == 1 and (heading := _heading(run[0], is_first=is_first)):
        yield heading
    elif not _is_marked(texts) and is_listing(texts):
        yield Block(run[0].start - run[0].indent, run[-1].end, BlockKind.LISTING, run[0].start - run[0].indent)
    elif len(run) == 1 and _is_label(texts[0]):
        yield Block(run[0].start, run[0].end, BlockKind.LABEL, run[0].start)
    else:
        yield from _prose_blocks(run, {}, is_first=is_first)


def _table(rows: Sequence[_Line]) -> Iterator[Block]:
    has_rule = len(rows) > 1 and not any(map(str.isalnum, rows[1].text))
    yield Block(rows[0].start, rows[has_rule].end, BlockKind.TABLE_HEAD, rows[0].start)
    for row in stoppable(rows[1 + has_rule :]):
        yield Block(row.start, row.end, BlockKind.TABLE_ROW, row.start)


def _is_marked(texts: Sequence[str]) -> bool:
    """Tells whether lines are a list or begin with a heading that text follows."""
    first, second = texts[0], texts[1] if len(texts) > 1 else ""
    if _ITEM.match(first) or _ITEM.match(second):
        return True
    heading = _HEADING.match(first)
    if not heading or not second or second.startswith("#") or not _is_title(first[heading.end() :], len(heading[1])):
        return False
    if len(heading[1]) > 1 and first[heading.end()].isupper():
        return True
    return not is_listing(texts[1:]) and (second[0].isupper() or is_sentence_end(texts[-1]))


def _prose_blocks(run: Sequence[_Line], turns: Mapping[int, Block], *, is_first: bool) -> Iterator[Block]:
    """Cuts at headings, list marks and speakers; other lines go on with the block before them."""
    open_block: Block | None = None
    end = 0
    for number, line in stoppable(enumerate(run)):
        block = turns.get(line.start) or _heading(line, is_first=is_first and number == 0) or _list_item(line)
        above = run[number - 1].text
        if open_block and (not block or (block.kind is BlockKind.STEP and above.rfind("(") > above.rfind(")"))):
            end = line.end  # "15) and later" below "since (§" is no item
            continue
        if open_block is not None:
            yield replace(open_block, end=end)
        said = line.end - len(line.text.lstrip("> "))
        open_block = block or Block(said, line.end, BlockKind.PROSE, line.start)
        end = open_block.end
        if open_block.kind in STRUCTURE:
            yield open_block
            open_block = None
    if open_block is not None:
        yield replace(open_block, end=end)


def _heading(line: _Line, *, is_first: bool) -> Block | None:
    """Reads "## Title", "4.1 Title" and "**Title**"; None for anything else, such as a root prompt or a comment."""
    text = line.text
    if (match := _HEADING.match(text)) and line.indent <= _MOST_HEADING_INDENT:
        title, level = text[match.end() :].rstrip("# "), len(match[1])
        if not (_is_title(title, level) or (is_first and title.isalnum())):
            return None  # only the first line may be "# precis"; anywhere else that is a root prompt
        start = line.start + match.end()
        return Block(start, start + len(title), BlockKind.HEADING, line.start, level)
    if match := _BOLD_LINE.match(text):
        return Block(line.start + match.start(2), line.start + match.end(2), BlockKind.LABEL, line.start, 0, BOLD)
    if (match := _NUMBERED_HEADING.match(text)) and _is_title(text, 2) and not is_sentence_end(text):
        return Block(line.start, line.end, BlockKind.HEADING, line.start, match.group(1).count(".") + 1)
    return None


def _is_title(title: str, level: int) -> bool:
    if not any(map(str.isalnum, title)) or any(mark in title for mark in ("=", "\t", "  ")):  # settings and columns
        return False
    return level > 1 or not (title[0].islower() or title[0] in "/.$")  # "# reboot"


def _is_label(text: str) -> bool:
    if is_entry(text):
        return True
    is_short = len(text.split()) <= _MOST_LABEL_WORDS and not is_sentence_end(text) and text[-1] not in ":;,"
    return is_short and text[0].isalnum() and not text[0].islower() and not _ITEM.match(text)


def is_entry(text: str) -> bool:
    """Tells whether a label names what all paragraphs below it are about: "shared_buffers (integer)"."""
    return bool(_ENTRY.fullmatch(text))


def _list_item(line: _Line) -> Block | None:
    match = _ITEM.match(line.text)
    if not match or not (match["step"] or any(map(str.isalnum, line.text[match.end() :]))):
        return None
    kind = BlockKind.STEP if match["step"] else BlockKind.BULLET
    return Block(line.start + match.end(), line.end, kind, line.start, line.indent, match["step"] or "-")


def is_listing(lines: Sequence[str]) -> bool:
    """Tells whether neighbouring lines, one or more and none blank, must keep their line breaks."""
    if len(lines) == 1 or is_prompt(lines[0]):
        return _is_code(lines[0])
    if 2 * sum(_is_code(line) or line.startswith("#") for line in lines) >= len(lines):
        return True
    least_share = _WHOLE_PROSE_SHARE if is_sentence_end(lines[-1]) else PROSE_SHARE
    return not is_prose(" ".join(lines), least_share)


def is_prompt(line: str) -> bool:
    """Tells whether a line is a command behind a prompt: "$ ls", "# reboot", "root@host:~# ls"."""
    return bool(_PROMPT.match(line.strip()))


def _is_code(line: str) -> bool:
    if is_prompt(line) or line[-1] in "{}\\;" or "];" in line:
        return True
    return not (is_sentence_end(line) or is_prose(line)) and bool(_CODE.search(line))


def is_sentence_end(text: str) -> bool:
    """Tells whether a text ends as sentences do."""
    return text.rstrip()[-_CLOSING_CHARS:].rstrip(_CLOSING).endswith(_SENTENCE_ENDS)
