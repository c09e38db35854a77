"""Takes out of an answer what is no answer: thoughts, special tokens, control characters. Linear in its length.

Endpoints without a parser in front of a model leave its tags in the text. Tags that a text speaks of, in quotes or in
the middle of a line, stay.
"""

import json
import re
from functools import partial
from importlib.resources import files
from itertools import pairwise

_MARKS = json.loads(files("pipeline.llm").joinpath("marks.json").read_text("utf-8"))
_mark = partial(re.compile, flags=re.IGNORECASE)
_THOUGHTS = [(_mark(begin), _mark(end)) for begin, end in _MARKS["thoughts"]]
_TOKEN, _ESCAPE = map(_mark, (_MARKS["token"], _MARKS["escape"]))
_CONTROLS = dict.fromkeys(code for first, last in _MARKS["controls"] for code in (*range(first, last), last))
_QUOTES = "`'\"“”"


def spoken(text: str) -> str:
    """Returns what is for the reader of an answer, which may end anywhere; empty if it is nothing but thoughts."""
    text = _final_channel(_without_begins(_ESCAPE.sub("", text).translate(_CONTROLS)))
    for begin, end in _THOUGHTS:
        text = _without_thoughts(text, begin, end)
    text = _without_stops(_without_begins(text))
    around = text[1:21].partition(">")[0] if text.startswith("<") else ""
    is_around = around.isalpha() and text.rstrip().endswith(f"</{around}>")
    return text.rstrip().removeprefix(f"<{around}>").removesuffix(f"</{around}>").strip() if is_around else text


def may_begin_thoughts(text: str) -> bool:
    """Tells whether a beginning may become that of thoughts."""
    begun, longest = text.lstrip(), 32
    return begun[:1] in {"", "<", "[", "◁"} and len(begun) < longest and not {*begun} & {*">]▷"}


def _final_channel(text: str) -> str:
    """Returns the final message of an answer in channels, as gpt-oss writes it; other texts as they are."""
    if text.startswith("analysis") and "assistantfinal" in text:  # whose tags an endpoint has taken out
        return text.rpartition("assistantfinal")[2]
    if not text.startswith(("<|channel|>", "analysis<|message|>", "commentary<|message|>", "final<|message|>")):
        return text
    head, mark, final = text.rpartition("<|message|>")
    return final if mark and "final" in head[-40:].rpartition("<|start|>")[2].rpartition("<|end|>")[2] else ""


def _without_thoughts(text: str, begin: re.Pattern[str], end: re.Pattern[str]) -> str:
    """Leaves out thoughts that begin a line, and all before an end whose beginning stood in the prompt."""
    last_end, kept, at = max((one.start() for one in end.finditer(text)), default=-1), [], 0
    while begun := begin.search(text, at):
        start, after = begun.span()
        begins_line = start == at or text[max(0, start - 8) : start].rstrip(" \t")[-1:] in ("", "\n")
        if not begins_line or (begun[0][0] == "[" and last_end < after < len(text)):
            kept.append(text[at:after])
            at = after
            continue
        kept.append(text[at:start])
        ended = end.search(text, after) if after <= last_end else None
        at = ended.end() if ended else len(text)
    text = "".join([*kept, text[at:]]) if kept else text
    first = begin.search(text)
    lone = None
    for lone in end.finditer(text, 0, first.start() if first else len(text)):  # noqa: B007 - the last one
        pass
    if lone is not None:
        before, behind = text[: lone.start()][-1:], text[lone.end() :][:1]
        if before not in {*_QUOTES} and behind not in {*_QUOTES, *".,;:)"}:
            text = text[lone.end() :]
    return text.lstrip() if kept or lone else text


def _without_begins(text: str) -> str:
    """Leaves out the tokens that begin an answer, and the name of the role behind one."""
    for _ in range(6):
        begun = text.lstrip()
        token = _TOKEN.match(begun)
        if token is None or begun.startswith("<|channel") or any(begin.match(begun) for begin, _ in _THOUGHTS):
            break
        text = begun[token.end() :].removeprefix("assistant").removeprefix("model").lstrip()
    return text


def _without_stops(text: str) -> str:
    """Leaves out the tokens at the end, and what stands behind one that another turn or a word follows at once."""
    tokens = [one.span() for one in _TOKEN.finditer(text)]
    for (start, end), (after, _) in pairwise([*tokens, (len(text), 0)]):
        is_inside = text[end : end + 1].isalnum() and text[max(0, start - 1) : start].strip(" \n" + _QUOTES)
        if (is_inside and text[start + 1] in "|｜") or not text[end:after].strip():
            return text[:start].rstrip()
    return text
