"""Takes out of an answer what is no answer: thoughts, stop tokens, control characters. Linear in its length.

Endpoints without a parser in front of a model leave its tags in the text. Tags that a text speaks of, in quotes or in
the middle of a line, stay.
"""

import json
from importlib.resources import files

_MARKS = json.loads(files("pipeline.llm").joinpath("marks.json").read_text("utf-8"))
_THOUGHTS: list[tuple[str, str]] = [(begin, end) for begin, end in _MARKS["thoughts"]]
_BEGINS, _STOPS, _TURNS = (tuple(_MARKS[name]) for name in ("begins", "stops", "turns"))
_CONTROLS = dict.fromkeys(code for first, last in _MARKS["controls"] for code in (*range(first, last), last))
_QUOTES = "`'\"“”"


def spoken(text: str) -> str:
    """Returns what is for the reader of an answer, which may end anywhere; empty if it is nothing but thoughts."""
    text = _final_channel(_without_begins(_without_escapes(text).translate(_CONTROLS)))
    for begin, end in _THOUGHTS:
        if begin in text or end in text:
            text = _without_thoughts(text, begin, end)
    return _without_stops(text)


def may_begin_thoughts(text: str) -> bool:
    """Tells whether a beginning may become that of thoughts."""
    begun = text.lstrip()
    return any(begin.startswith(begun) for begin, _ in _THOUGHTS)


def _without_escapes(text: str) -> str:
    """Leaves out what speaks to a terminal: `ESC [ 31 m`, `ESC ] 0 ; title BEL`."""
    first, *rest = text.split("\x1b")
    return first + "".join(map(_behind_escape, rest))


def _behind_escape(text: str) -> str:
    if text.startswith("]"):
        return text.partition("\x07")[2]
    end = next((at for at, letter in enumerate(text[:32]) if letter.isalpha()), 0)
    return text[end + 1 :]


def _final_channel(text: str) -> str:
    """Returns the final message of an answer in channels, as gpt-oss writes it; other texts as they are."""
    if text.startswith("analysis") and "assistantfinal" in text:  # whose tags an endpoint has taken out
        return text.rpartition("assistantfinal")[2]
    if not text.lstrip().startswith(
        ("<|channel|>", "analysis<|message|>", "commentary<|message|>", "final<|message|>")
    ):
        return text
    head, mark, final = text.rpartition("<|message|>")
    return final if mark and "final" in head[-40:].rpartition("<|start|>")[2].rpartition("<|end|>")[2] else ""


def _without_thoughts(text: str, begin: str, end: str) -> str:
    """Leaves out thoughts that begin a line, and all before an end whose beginning stood in the prompt."""
    kept, at = [], 0
    while (start := text.find(begin, at)) >= 0:
        if start != at and text[max(0, start - 8) : start].rstrip(" \t")[-1:] not in ("", "\n"):
            kept.append(text[at : start + len(begin)])
            at = start + len(begin)
            continue
        kept.append(text[at:start])
        stop = text.find(end, start)
        at = len(text) if stop < 0 else stop + len(end)
    text = "".join([*kept, text[at:]]) if kept else text
    first = text.find(begin)
    lone = text.rfind(end, 0, first if first >= 0 else len(text))
    behind = lone + len(end)
    if lone >= 0 and text[lone - 1 : lone] not in {*_QUOTES} and text[behind : behind + 1] not in {*_QUOTES, *".,;:)"}:
        text = text[behind:]
    return text.lstrip()


def _without_begins(text: str) -> str:
    """Leaves out the tags that begin an answer."""
    for _ in range(4):
        begun = text.lstrip()
        mark = next(filter(begun.startswith, _BEGINS), "")
        text = begun[len(mark) :].lstrip() if mark else text
    return text


def _without_stops(text: str) -> str:
    """Leaves out the stop tokens at the end, and what stands behind one that another turn follows."""
    for stop in _STOPS:
        at = text.find(stop)
        while at >= 0 and not text[at + len(stop) : at + len(stop) + 16].lstrip().startswith(_TURNS):
            at = text.find(stop, at + len(stop))
        text = text if at < 0 else text[:at]
    at, has_stop = len(text.rstrip()), False
    while mark := next((stop for stop in _STOPS if text.endswith(stop, 0, at)), ""):
        at, has_stop = at - len(mark), True
        while at and text[at - 1].isspace():
            at -= 1
    return text[:at] if has_stop else text
