"""Classifies lines: those that must stay lines (commands, configuration, program output), and wrapped prose.

Plain text from manuals marks neither. A line that is torn from its listing is a dangling fragment, and "# reboot" is a
root prompt, no heading. The signs are the prompt, symbols and columns; function words speak for prose.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from pipeline.reading.word_lists import PROSE_WORDS

_PROMPT = re.compile(r"(?:[$%]|>>>|[\w.-]{1,64}@[\w.-]{1,64}[:~/\w.-]{0,99}[#$%]|[A-Z]:\\[^\s>]*>)\s*\S|#\s+[a-z./]\S*")
_CODE = re.compile(r"[|=<>&]|\s--?[a-z]|[^\s.!?:](?: {2,}|\t+)\S|^[\w./-]+:\s+\S+(?:\s\S+){0,3}$|^\[[^\]]{1,40}\]$")
_SENTENCE_END = re.compile(r"[.!?…。！？][)\"'”’\]]*$")
_PROSE_SHARE, _WRAPPED_PROSE_SHARE = 0.18, 0.1  # long lines are more often wrapped prose, of whatever language
_WRAP_TOLERANCE, _SHORT_LINE = 0.85, 50
_CLOSING_CHARS = 16
_EDGES = ".,;:!?()\"'“”’*_"


def is_prompt(line: str) -> bool:
    """Tells whether a line is a command behind a prompt: "$ ls", "# reboot", "root@host:~# ls"."""
    return bool(_PROMPT.match(line.strip()))


def is_sentence_end(text: str) -> bool:
    """Tells whether a text ends as sentences do."""
    return bool(_SENTENCE_END.search(text.rstrip()[-_CLOSING_CHARS:]))


def is_listing(lines: Sequence[str]) -> bool:
    """Tells whether neighbouring lines must keep their line breaks.

    Args:
        lines: without blank lines between them; not empty.
    """
    if len(lines) == 1 or is_prompt(lines[0]):
        return _is_code(lines[0])
    if 2 * sum(_is_code(line) or line.lstrip().startswith("#") for line in lines) >= len(lines):
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


def _is_code(line: str) -> bool:
    stripped = line.strip()
    if is_prompt(stripped) or stripped[-1] in "{}\\;" or "];" in stripped:
        return True
    is_prose = is_sentence_end(stripped) or _function_share(stripped.split()) >= _PROSE_SHARE
    return not is_prose and bool(_CODE.search(stripped))


def _function_share(words: Sequence[str]) -> float:
    return sum(word.strip(_EDGES).lower() in PROSE_WORDS for word in words) / len(words)


_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


def count_words(text: str) -> int:
    """Counts words; a character of a script without spaces counts as one."""
    return len(text.split()) + (0 if text.isascii() else len(_CJK.findall(text)))
