"""Reads turns of speech, whatever program wrote them down: who speaks, when, and where what is said begins.

Who speaks stands in front of what is said or above it. One form holds for a whole text; "Note:" stands in any.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, dropwhile, groupby, takewhile
from typing import NamedTuple

from pipeline.off_loop import stoppable
from pipeline.reading.word_lists import PROSE_WORDS, word_list

PROSE_SHARE = 0.18  # of function words
_FEWEST = 3  # turns: in other texts lines may begin so by chance
_LEAST_SHARE, _LEAST_TIMED_SHARE = 0.5, 0.1  # of the lines; with a time they are rarely something else
_LONGEST_NAME, _MOST_NAME_WORDS, _LONGEST_STAMP, _MOST_HEAD_LINES, _FEWEST_DATED = 40, 6, 100, 20, 4
_SPEAKER = re.compile(
    r"""<([@+~&%\ ]?\w[^<>]{1,40})>(?=\s)
    |\*\*([^*:]{1,40}?)\s?(?::\*\*|\*\*:)(?=\s|$)
    |\[([^\W\d_][^\[\]]{1,40})\](?::|(?=\s))
    |(\#?(?![a-z\d_])\w[\w.'’#-]*(?:\ [\w.'’#-]+){0,3})(?:\ [(\[][^()\[\]\d]{1,30}[)\]])?\s?:(?=\s|$|[^\x00-\x7f])""",
    re.VERBOSE,
)
_FIELD_ENDS = (": ", "\t", "  ", "| ")  # behind a name that stands behind a time
_AROUND_TIMES = "[](),;:|*-–—·• \u200e"
_CLOCK = frozenset("t0123456789z:.,-/+")
EDGES = ".,;:!?()\"'“”’*_"


class Turn(NamedTuple):
    """Where somebody begins to speak."""

    form: str  # in which it is written
    who: str  # speaks; empty where nobody is named
    when: str
    head: int  # the line where that is said
    start: int  # of what is said in that line; it begins in a line below if this is 0

    @property
    def mark(self) -> str:
        """When and who, with a colon; the time alone where nobody is named."""
        return f"{self.when} {self.who}:".strip() if self.who else self.when


def read_talk(lines: Sequence[str]) -> tuple[dict[int, Turn], frozenset[int]]:
    """Returns the turns of a talk by the line in which what is said begins, and the lines that nobody says.

    Nothing of a text that is none. Its lines have no white space around them. Linear in its length.
    """
    forms: defaultdict[str, dict[int, Turn]] = defaultdict(dict)
    for number in stoppable(range(len(lines))):
        for turn in _openings(lines, number) if lines[number] else ():
            forms[turn.form][number] = turn
    # A mail's head has many lines that look like turns, and a name says more than a time.
    for form in sorted(forms, key=lambda one: (one != "mail", one.startswith("time"), -len(forms[one]))):
        found = forms[form]
        starts = {_said_at(lines, number, turn): turn for number, turn in found.items()}
        said = {at: turn for at, turn in starts.items() if at < len(lines) and (turn.start or at not in found)}
        if 2 * len(said) >= len(found) and _is_talk(form, said, lines):  # heads of nothing are a list
            heads = chain.from_iterable(range(turn.head, at) for at, turn in said.items())
            silent = {*heads, *_unsaid(lines, said)}
            return {at: turn for at, turn in said.items() if at not in silent}, frozenset(silent)
    return {}, frozenset()


def _unsaid(lines: Sequence[str], said: Mapping[int, Turn]) -> Iterator[int]:
    """Yields lines that nobody says: rules with words, and those of the program.

    The program's have a time and no name, where each line of the talk has both, and a date or a mark: "10:14 -!- Ann".
    """
    is_timed = all(turn.who and turn.head == at and turn.when for at, turn in said.items())
    for at, line in enumerate(lines):
        words = line[said[at].start :].lstrip() if at in said else line
        is_rule = words[:3] in ("---", "===", "___") or (_is_stamp(words) if at not in said else words[:1] == "\u200e")
        end = stamp_end(line) if is_timed and at not in said else 0
        has_date = sum(is_number for is_number, _ in groupby(line[:end], str.isdecimal)) >= _FEWEST_DATED
        is_notice = end > 0 and (has_date or not set("-*<=").isdisjoint(line[end - 2 : end + 2]))
        ends = words[:1] + words[-1:]  # of "<Media omitted>", "[Photos]"
        if is_notice or is_rule or ends == "<>" or (ends == "[]" and len(words.split()) == 1):
            yield at


def _is_talk(form: str, said: Mapping[int, Turn], lines: Sequence[str]) -> bool:
    turns, count = len(said), sum(map(bool, lines))
    if form == "mail":  # one alone is quoted or passed on below other text
        at, turn = next(iter(said.items()))
        return turns > 1 or (any(lines[: turn.head]) and "@" in "".join(lines[turn.head : at]))
    if turns < _FEWEST:
        return False
    names = {turn.who for turn in said.values()}
    is_timed = any(turn.when for turn in said.values())
    if names == {""}:  # speech, or a log
        said_words = " ".join(lines[at][turn.start :] for at, turn in said.items())
        return 2 * turns >= _LEAST_SHARE * count and is_prose(said_words)
    is_enough = turns >= (_LEAST_TIMED_SHARE if is_timed else _LEAST_SHARE) * count
    return is_enough and (len(names) > 1 or is_timed) and len(names) <= max(2, turns / 2)  # people answer each other


def _openings(lines: Sequence[str], number: int) -> Iterator[Turn]:
    line = lines[number]
    head, above = _above(lines, number)
    bare = line.lstrip("># \u200e")
    if who := _mail_sender(lines, number, bare):
        heads = takewhile(_is_mail_head, reversed(lines[max(0, number - _MOST_HEAD_LINES) : number]))
        yield Turn("mail", who, "", number - len(list(heads)), 0)
    elif bare.endswith(":") and (who := _mail_sender(lines, number, f"{above} {bare}")):  # a line that was wrapped
        yield Turn("mail", who, "", head, 0)
    start, end = _stamp(bare)
    before, when, rest = bare[:start].strip(_AROUND_TIMES), bare[start:end].strip("-–—| \t"), bare[end:].lstrip()
    if named := _named(bare if before else rest, is_timed=not before and bool(when)):
        form, who, length = named
        when, said = ("", bare[length:]) if before else (when, rest[length:])
        if not when and bare[length - 1] == "]" and (until := stamp_end(said.lstrip())):  # [Ann Lee] [10:14]
            when, said = said.lstrip()[:until], said.lstrip()[until:].lstrip()
        yield Turn(f"{form} {bool(when)}", who, when, number, len(line) - len(said.lstrip()) if said else 0)
    elif before and is_name(before) and rest[:1] in ("", ":"):
        said = rest[1:].lstrip()
        yield Turn(f"name first {bool(rest)}", before, when, number, len(line) - len(said) if said else 0)
    elif not before:
        yield from _timed_openings(lines, number, when=when, rest=rest)


def _above(lines: Sequence[str], number: int) -> tuple[int, str]:
    """Returns the line above, over one that is blank or a dash."""
    head = next((at for at in range(number - 1, max(-1, number - 3), -1) if lines[at].strip("—")), number)
    return head, lines[head].lstrip("> ") if head < number else ""


def _timed_openings(lines: Sequence[str], number: int, *, when: str, rest: str) -> Iterator[Turn]:
    """Yields how a line may open a turn that has a time and no name, or a name below a time."""
    head, above = _above(lines, number)
    if not when and is_name(rest) and (not above or _is_stamp(above)):
        if below := next(filter(_is_stamp, lines[number + 2 : number + _MOST_HEAD_LINES]), ""):  # what is said
            yield Turn("around", rest, below, number, 0)
        if above:
            yield Turn("below", rest, above, head, 0)
    elif when and not rest:
        if is_name(above):
            yield Turn("above", above, when, head, 0)
        yield Turn("time", "", when, number, 0)
    elif when and ": " not in rest[:_LONGEST_NAME]:
        if is_name(name := rest.partition(" (")[0]):  # "(pinned)"
            yield Turn("head", name, when, number, 0)
        yield Turn("timed", "", when, number, len(lines[number]) - len(rest))


def _named(text: str, *, is_timed: bool) -> tuple[int, str, int] | None:
    """Returns how a text names who says it, the name, and where what is said begins; None if it does not."""
    field_ends = (f"{text} ".find(mark, 0, _LONGEST_NAME + 2) for mark in _FIELD_ENDS)
    if (match := _SPEAKER.match(text)) and match.lastindex:
        form, who, end = match.lastindex % 4, match[match.lastindex], match.end()  # 0: "Ann:", of whatever letters
    elif is_timed and (end := min((end for end in field_ends if end > 0), default=0)):
        form, who, end = 0, text[:end].strip(_AROUND_TIMES), end + 1
    else:
        return None
    is_program = who[:1].islower() and not form and not who.replace("_", "").isalpha()  # "web1 sshd[811]"
    is_mark = not any(map(str.isalnum, who))
    if is_mark or is_program or len(who.split()) > _MOST_NAME_WORDS or who.lower() in word_list("log_levels"):
        return None
    return form, who, end


def is_name(text: str) -> bool:
    """Tells whether a text may be a name, by its length, its first letter and its end."""
    is_short = 1 < len(text) <= _LONGEST_NAME and len(text.split()) < _MOST_NAME_WORDS
    return is_short and (" " not in text or text[0].isupper() or not text[0].isascii()) and text[-1] not in ".,;:!?"


def _mail_sender(lines: Sequence[str], number: int, line: str) -> str:
    """Returns who writes the mail that begins in a line: "From: Ann <a@b.org>" above "Sent: ...", "... wrote:"."""
    head, _, value = line.partition(":")
    if head.strip("* ").lower() in word_list("mail_senders") and value.strip("* "):
        following = next((each for each in lines[number + 1 : number + 3] if each), "")
        return value.split("<")[0].strip('*" ') if _is_mail_head(following) else ""
    words = line.lower().rstrip(":").split()
    if line.endswith(":") and not word_list("mail_verbs").isdisjoint(words) and any(map(str.isdigit, line)):
        parts = line.split("<", maxsplit=1)[0].split()
        behind = max((at for at, part in enumerate(parts, 1) if any(map(str.isdigit, part))), default=0) % len(parts)
        names = dropwhile(_is_of_time, parts[behind:])
        return " ".join(part for part in names if part.lower().strip(":") not in word_list("mail_verbs")).strip(", ")
    return ""


def _is_mail_head(line: str) -> bool:
    head = line.lstrip("> ").partition(":")[0].strip("* ").lower()
    return head in word_list("mail_heads") or head in word_list("mail_senders")


def _said_at(lines: Sequence[str], number: int, turn: Turn) -> int:
    """Returns the line where speech begins: that of an opening, or one below it."""
    if turn.start:
        return number
    below = range(number + 1, min(len(lines), number + _MOST_HEAD_LINES))
    said = (at for at in below if lines[at].strip("> ") and not _is_mail_head(lines[at]))
    return next(said, len(lines))


def stamp_end(text: str) -> int:
    """Returns where a date and time end that stand in front of a text: "[2025-03-01 10:14] "; 0 without one."""
    start, end = _stamp(text)
    return 0 if start else end


def _is_stamp(text: str) -> bool:
    return 0 < stamp_end(text) == len(text)


def _stamp(text: str) -> tuple[int, int]:
    """Returns where the first date with a time of day begins and ends, 0 and 0 without; in brackets of any words."""
    words = text[:_LONGEST_STAMP].replace("\t", " ").replace("\u202f", " ").split(" ")
    clock = next((at for at, word in enumerate(words) if _is_clock(word)), -1)
    if clock < 0:
        return 0, 0
    before = list(takewhile(_is_of_time, reversed(words[:clock])))
    behind = takewhile(lambda word: _is_of_time(word) and not word.strip(_AROUND_TIMES).isdigit(), words[clock + 1 :])
    start = len(" ".join([*words[: clock - len(before)], ""]))
    end = len(" ".join([*words[: clock + 1], *behind]).rstrip(":"))
    for opening, closing in ("[]", "()"):
        bracket = text.rfind(opening, 0, start + 1)
        if bracket >= 0 and closing not in text[bracket:start] and closing in text[end - 1 : _LONGEST_STAMP]:
            return bracket, text.index(closing, end - 1) + 1
    return start, end


def _is_clock(word: str) -> bool:
    """Tells whether a word is a time of day, or holds one: "10:14", "2025-03-01T10:14:00Z"."""
    bare = word.strip(_AROUND_TIMES).lower().removesuffix("am").removesuffix("pm")
    hours, colon, rest = bare.partition(":")
    return bool(colon) and hours[-1:].isdigit() and rest[:2].isdigit() and len(rest) > 1 and _CLOCK.issuperset(bare)


def _is_of_time(word: str) -> bool:
    bare = word.strip(_AROUND_TIMES).lower()
    is_number = not bare or (bare[0].isdigit() and _CLOCK.issuperset(bare))
    lists = (word_list(name) for name in ("time_words", "months", "weekdays"))
    return is_number or _is_clock(word) or any(bare in words or bare.strip(".") in words for words in lists)


def is_prose(text: str, least_share: float = PROSE_SHARE) -> bool:
    """Tells whether a text has its share of the words without which there is no prose."""
    words = text.split()
    known_count = sum(word.strip(EDGES).lower() in PROSE_WORDS for word in words)
    return known_count >= max(1, least_share * len(words))
