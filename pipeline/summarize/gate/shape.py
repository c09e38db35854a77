"""The shape of an answer: what chat models put around what they were asked for, or in its place.

Whatever stands in the input word for word is none of it.
"""

import re

from pipeline.reading.framing import is_framing
from pipeline.reading.language import is_english, is_english_prose
from pipeline.reading.word_lists import phrase_list
from pipeline.reading.words import fold, fold_case
from pipeline.summarize.gate.findings import FaultKind
from pipeline.summarize.gate.source import SourceText
from pipeline.summarize.llm_writer import prompts

_FENCE_LINE = re.compile(r"[ \t]*+(?:```|~~~)[ \t]*+(\w*+)[ \t]*+")
_TEXT_FENCES = {"", "markdown", "md", "text", "txt", "plaintext", "plain"}
_TAG = re.compile(r"</?data(?:-[0-9a-f]{1,64})?(?:\s[^<>\n]{0,80})?>", re.IGNORECASE)
_PART_OF = re.compile(r"(?:this is )?part \d{1,6} of \d{1,6}|document: .{1,200}", re.IGNORECASE)
_EDGE_LINES = 2
_FEWEST_LETTERS = 40

_OWN_LINES = frozenset(
    fold(line)
    for words in (*prompts.MERGE_USER.values(), *prompts.CONTEXT.values(), prompts.EXTRACT_USER, prompts.CRITIQUE,
                  prompts.DATA_RULE, prompts.CONTINUE, prompts.EXTRACT_SYSTEM, prompts.MERGE_SYSTEM,
                  *prompts.AUDIENCE.values())
    for line in words.replace("{data}", "").splitlines()
    if "{" not in line and len(line.split()) > 3  # noqa: PLR2004
)  # fmt: skip


def unwrap(text: str, source: SourceText) -> tuple[str, list[tuple[FaultKind, str]]]:
    """Returns an answer without fences around all of it, our tags and prompt lines, and chat at its edges."""
    removed: list[tuple[FaultKind, str]] = []
    text = _without_fence(text.strip(), source, removed)
    if _TAG.search(text) and not _TAG.search(source.text):
        removed += [(FaultKind.CHATTER, tag) for tag in dict.fromkeys(_TAG.findall(text))]
        text = _TAG.sub("", text)
    lines = text.splitlines()
    kept = [line for line in lines if not _is_ours(line, source)]
    removed += [(FaultKind.CHATTER, line) for line in lines if _is_ours(line, source)]
    _strip_edge(kept, source, removed, first=True)
    _strip_edge(kept, source, removed, first=False)
    return ("\n".join(kept).strip() if removed else text), removed


def _without_fence(text: str, source: SourceText, removed: list[tuple[FaultKind, str]]) -> str:
    """Takes the fence from around a whole answer; code of the input keeps its own."""
    lines = text.splitlines()
    opening = _FENCE_LINE.fullmatch(lines[0]) if lines else None
    if not opening or opening[1].lower() not in _TEXT_FENCES:
        return text
    fences = [number for number, line in enumerate(lines) if _FENCE_LINE.fullmatch(line)]
    is_cut, is_closed = len(fences) == 1, len(fences) % 2 == 0 and fences[-1] == len(lines) - 1
    is_code = not opening[1] and ("```" in source.text or len(fences) > 2)  # noqa: PLR2004 - two blocks of code
    if is_code or not (is_cut or is_closed):
        return text
    removed.append((FaultKind.CHATTER, lines[0]))
    return "\n".join(lines[1:] if is_cut else lines[1:-1]).strip()


def _is_ours(line: str, source: SourceText) -> bool:
    folded = fold(line)
    if not folded or folded in source.lines:
        return False
    return folded in _OWN_LINES or bool(_PART_OF.fullmatch(folded))


def _strip_edge(lines: list[str], source: SourceText, removed: list[tuple[FaultKind, str]], *, first: bool) -> None:
    """Takes announcements from the beginning, offers from the end, at most two lines of them."""
    for _ in range(_EDGE_LINES):
        while lines and not lines[0 if first else -1].strip():
            lines.pop(0 if first else -1)
        if not lines or not _is_chat(lines[0 if first else -1], source):
            return
        removed.append((FaultKind.CHATTER, lines.pop(0 if first else -1)))


def _is_chat(line: str, source: SourceText) -> bool:
    words = line.strip().strip("*_ ")
    return not words.startswith("#") and fold(words) not in source.lines and is_framing(words)


def is_refusal(sentence: str) -> bool:
    """Tells whether a sentence apologises for not answering."""
    words = fold_case(sentence).split()
    said = " ".join(filter(None, (word.strip("\"'.,;:!*_>-") for word in words)))
    return f"{said} ".startswith(tuple(f"{phrase} " for phrase in phrase_list("refusals")))


def other_language(text: str, source: SourceText) -> bool:
    """Tells whether an answer is not in the language asked for, or of the texts; English is told from all others."""
    if sum(map(str.isalpha, text)) < _FEWEST_LETTERS:
        return False
    if source.wants_english is None:
        return is_english(text) != source.is_english
    return not is_english(text) if source.wants_english else is_english_prose(text)


_LOOP_WORDS = 6
_LEAST_LOOPED = 60  # words; a table says the same a few times
_MOST_REPEATED = 0.4


def runs_in_circles(text: str, source: SourceText) -> bool:
    """Tells whether many of a text's runs of six words come again, more than those of the input."""
    share = _repeated_share(text)
    return share > _MOST_REPEATED and share > _MOST_REPEATED + _repeated_share(source.text)


def _repeated_share(text: str) -> float:
    words = text.split()
    if len(words) < _LEAST_LOOPED:
        return 0.0
    runs = list(zip(*(words[first:] for first in range(_LOOP_WORDS)), strict=False))
    return 1 - len(set(runs)) / len(runs)
