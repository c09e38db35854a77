"""Finds who speaks in pages of chats and forums: parts of one shape that come again, each with a name and a time."""

from collections import defaultdict
from typing import Any

from pipeline.reading.turns import is_name, stamp_end

_FEWEST, _AROUND = 3, "» ·•|,"
Column = dict[int, Any]  # what stands at one place in each part, by the part's number


def name_turns(page: Any) -> None:  # noqa: ANN401 - of bs4, an extra
    """Writes "Ann 10:14" in front of each message of the first talk, and leaves out what names and labels it."""
    shapes = defaultdict[tuple[Any, ...], list[Any]](list)
    for tag in page.find_all():
        shapes[id(tag.parent), *_shape(tag)].append(tag)
    for parts in (parts for parts in shapes.values() if len(parts) >= _FEWEST):
        columns = _columns(parts)
        times = [column for column in columns if 2 * len(column) > len(parts) and all(map(_is_time, column.values()))]
        names = [column for column in columns if column not in times and _are_names(list(column.values()))]
        if times and names:
            _write_heads(parts, times[-1], max(names, key=lambda column: sum(map(len, column.values()))), columns)
            return


def _write_heads(parts: list[Any], times: Column, names: Column, columns: list[Column]) -> None:
    who, speakers = "", len(set(names.values()))
    heads = {}
    for number in range(len(parts)):
        who = str(names.get(number, who)).strip()
        heads[number] = f"{who} {times[number].strip(_AROUND)}" if who and number in times else ""
    for column in columns:
        is_label = len(set(column.values())) <= min(speakers, len(column) - 1)  # "AL", "Posts: 41", the name itself
        for text in column.values() if is_label or all(map(_is_time, column.values())) else ():
            text.extract()
    for number, part in enumerate(parts):
        part.insert(0, f"{heads[number]}\n\n")


def _columns(parts: list[Any]) -> list[Column]:
    columns = defaultdict[tuple[Any, ...], Column](dict)
    for number, part in enumerate(parts):
        for text in part.find_all(string=str.strip):
            above = list(text.parents)
            columns[tuple(map(_shape, above[: above.index(part)]))].setdefault(number, text)
    return list(columns.values())


def _shape(tag: Any) -> tuple[str, ...]:  # noqa: ANN401 - as above
    return (tag.name, *tag.get("class", ())[:1])


def _is_time(text: str) -> bool:
    bare = " ".join(text.split()).strip(_AROUND)
    return bool(bare) and stamp_end(bare) == len(bare)


def _are_names(texts: list[str]) -> bool:
    """Tells whether all may be names, and come again."""
    return 1 < len(set(texts)) <= max(2, len(texts) / 2) and all(is_name(text.strip()) for text in texts)
