"""Classifies lines: those that must stay lines (commands, configuration, program output), and wrapped prose.

Plain text from manuals marks neither. A line that is torn from its listing is a dangling fragment, and "# reboot" is a
root prompt, no heading. The signs are the prompt, symbols and columns; function words speak for prose.

The words of a sentence tell how many there are, or that it warns.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from pipeline.reading.function_words import PROSE_WORDS

_PROMPT = re.compile(r"(?:[$%]|>>>|[\w.-]{1,64}@[\w.-]{1,64}[:~/\w.-]{0,99}[#$%]|[A-Z]:\\[^\s>]*>)\s*\S")
_ROOT_PROMPT = re.compile(r"#\s+[a-z./]\S*")
_ASSIGNMENT = re.compile(r"[\w.\[\]$:/-]+\s*\+?=\s*\S|[\w./-]+:\s+\S+(?:\s\S+){0,3}$|\[[^\]]{1,40}\]$|<[^>]+>")
_SYMBOLS_AT_END = re.compile(r"[;{}\\,|&]$|[=<>|&]{1,2}\s|\)\s*\{|\s--?[a-z]")
_SCRIPT = re.compile(r"[{}\\]$|^if \[|\];")  # has function words of its own: "if [ -f x ]; then"
_COLUMNS = re.compile(r"[^\s.!?:](?: {2,}|\t+)\S")
_WORDY = re.compile(r"[(\"'“‘*_]*[^\W\d_][^\W\d_'’-]*[)\"'”’*_]*[.,;:!?]?[)\"'”’]*$")
_SENTENCE_END = re.compile(r"[.!?…。！？][)\"'”’\]]*$")
_PROSE_SHARE = 0.18
_WRAPPED_PROSE_SHARE = 0.1  # long lines are more often wrapped prose, of whatever language
_WRAP_TOLERANCE = 0.85
_MIN_PROSE_WORDS = 5
_SHORT_LINE = 50
_LONGEST_WORD = 60
_CLOSING_CHARS = 16
_WORDY_SHARE = 0.6


def is_prompt(line: str) -> bool:
    """Tells whether a line is a command behind a prompt: "$ ls", "# reboot", "root@host:~# ls"."""
    stripped = line.strip()
    return bool(_PROMPT.match(stripped) or _ROOT_PROMPT.match(stripped))


def is_wordy(line: str) -> bool:
    """Tells whether a line is made of words more than of paths, numbers and symbols."""
    words = line.split()
    wordy = sum(len(word) <= _LONGEST_WORD and bool(_WORDY.match(word)) for word in words)
    return wordy >= _WORDY_SHARE * len(words)


def is_sentence_end(text: str) -> bool:
    """Tells whether a text ends as sentences do."""
    return bool(_SENTENCE_END.search(text.rstrip()[-_CLOSING_CHARS:]))


def is_listing(lines: Sequence[str]) -> bool:
    """Tells whether neighbouring lines must keep their line breaks.

    Args:
        lines: without blank lines between them; not empty.
    """
    if len(lines) == 1:
        return _is_listing_line(lines[0])
    if is_prompt(lines[0]):
        return True
    votes = sum(_is_listing_line(line) or line.lstrip().startswith("#") for line in lines)
    if votes * 2 >= len(lines):
        return True
    is_wrapped = max(map(len, lines)) >= _SHORT_LINE and _is_wrapped(lines)
    if is_wrapped and is_sentence_end(lines[-1]):
        return False
    share = _function_share(" ".join(lines).split())
    return share < (_WRAPPED_PROSE_SHARE if is_wrapped else _PROSE_SHARE)


def _is_wrapped(lines: Sequence[str]) -> bool:
    """Tells whether lines break where the next word would not have fitted, as wrapped prose does."""
    width = _WRAP_TOLERANCE * max(map(len, lines))
    fitting = sum(len(line) + 1 + len(following.split()[0]) < width for line, following in pairwise(lines))
    return fitting * 2 < len(lines)


def _is_listing_line(line: str) -> bool:
    stripped = line.strip()
    if is_prompt(stripped) or _SCRIPT.search(stripped):
        return True
    words = stripped.split()
    if len(words) >= _MIN_PROSE_WORDS and _function_share(words) >= _PROSE_SHARE:
        return False
    if _COLUMNS.search(stripped) or _ASSIGNMENT.match(stripped):
        return not is_sentence_end(stripped)
    return bool(_SYMBOLS_AT_END.search(stripped)) and not is_wordy(stripped)


def _function_share(words: Sequence[str]) -> float:
    return sum(word.strip(".,;:!?()\"'").lower() in PROSE_WORDS for word in words) / len(words)


_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_WARNING = re.compile(
    r"\b(?:warnings?|cautions?|danger(?:ous)?|beware|hazards?|never|(?:must|do|does|should|may) not|cannot be undone"
    r"|don['’]t|mustn['’]t|be careful|at your own risk|irreversibl[ey]|risk of|data loss|injury|electric shock"
    r"|niemals|keinesfalls|auf keinen fall|d[aü]rf(?:en)? nicht"
    r"|achtung|warnung|vorsicht|gefahr|avertissement|danger|advertencia|precaución|peligro|avvertenza|pericolo)\b",
    re.IGNORECASE,
)


def count_words(text: str) -> int:
    """Counts words; a character of a script without spaces counts as one."""
    return len(text.split()) + (0 if text.isascii() else len(_CJK.findall(text)))


def is_warning(text: str) -> bool:
    """Tells whether a text warns of something or forbids it."""
    return bool(_WARNING.search(text))
