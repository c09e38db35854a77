"""What `precis calibrate` reads: summaries with their sources, and what people say of them."""

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar

import numpy as np

from pipeline.agreement.study import Labelled
from server.cli.commands.agreement import Scale
from server.cli.errors import InputError
from server.cli.files import read_rows
from server.cli.judge.judgements import Item, text_of, to_item

MAX_ROWS = 20_000
MAX_LINE_BYTES = 64 << 20  # of a row, or of a result
MAX_ANNOTATORS = 50
MAX_CATEGORIES = 100

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LabelRow:
    """A summary with its labels; `ratings` are by annotator, on the scale."""

    item: Item
    ratings: Mapping[str, float]

    @property
    def label(self) -> float:
        """The mean of the annotators' labels."""
        return fmean(self.ratings.values())


def read_labels(path: Path, scale: Scale) -> list[LabelRow]:
    """Reads all rows, in order of their ids. Raises InputError that names line and field."""

    def parse(fields: dict[str, Any], place: str) -> LabelRow:
        item = to_item(fields, place)
        for name in ("source", "summary"):
            if not any(map(str.isalnum, getattr(item, name))):
                raise InputError(f"{name}: expected a text with a letter or a digit")
        return LabelRow(item, read_ratings(fields.get("label"), scale))

    return sorted(read_named_rows(path, parse), key=lambda row: row.item.id)


def read_named_rows(path: Path, parse: Callable[[dict[str, Any], str], T]) -> list[T]:
    """Reads a row from every line, each with an id of its own. Raises InputError that names line and field."""
    places: dict[str, str] = {}
    categories: set[str] = set()

    def parse_named(fields: dict[str, Any], place: str) -> T:
        row_id = str(fields.get("id", place))
        if places.setdefault(row_id, place) != place:
            raise InputError(f"id: the same as in {places[row_id]}; every row needs its own")
        categories.add(text_of(fields, "category") if fields.get("category") is not None else "")
        if len(places) > MAX_ROWS:
            raise InputError(f"more than {MAX_ROWS:,} rows: split the file")
        if len(categories) > MAX_CATEGORIES:
            raise InputError(f"category: more than {MAX_CATEGORIES} different ones")
        return parse(fields, place)

    return read_rows(path, parse_named, max_line_bytes=MAX_LINE_BYTES)


def read_ratings(label: object, scale: Scale) -> dict[str, float]:
    """Reads one label, a list with a place for each annotator, or an object of annotators. Raises InputError."""
    match label:
        case list():
            named = {f"annotator {number}": value for number, value in enumerate(label, start=1)}
        case dict():
            named = {str(name): value for name, value in label.items()}
        case _:
            return {"": to_rating("label", label, scale)}
    if len(named) > MAX_ANNOTATORS:
        raise InputError(f"label: more than {MAX_ANNOTATORS} annotators")
    ratings = {name: to_rating(f"label[{name}]", value, scale) for name, value in named.items() if value is not None}
    if not ratings:
        raise InputError("label: expected at least one that is not null")
    return ratings


def to_rating(place: str, value: object, scale: Scale) -> float:
    """Reads one annotator's label. Raises InputError."""
    if not isinstance(value, int | float) or not math.isfinite(value) or not scale.holds(value):
        hint = "; for another scale give --scale LOW:HIGH" if scale.is_binary and isinstance(value, int | float) else ""
        found = f"{value}" if isinstance(value, int | float) else "nothing" if value is None else type(value).__name__
        raise InputError(f"{place}: expected {scale}, got {found}{hint}")
    return float(value)


def to_labelled(rows: Sequence[LabelRow], scores: Sequence[float], scale: Scale) -> Labelled:
    """Puts rows and their scores into arrays."""
    annotators = sorted({name for row in rows for name in row.ratings})
    columns = {name: column for column, name in enumerate(annotators)}
    ratings = np.full((len(rows), len(annotators)), math.nan)
    for number, row in enumerate(rows):
        for name, rating in row.ratings.items():
            ratings[number, columns[name]] = scale.is_good(rating)
    sources = [hashlib.sha256(row.item.source.encode()).hexdigest() for row in rows]
    return Labelled(
        scores=np.array(scores, dtype=np.float64),
        labels=np.array([row.label for row in rows]),
        good=np.array([scale.is_good(row.label) for row in rows], dtype=np.bool_),
        ratings=ratings,
        groups=np.unique(sources, return_inverse=True)[1],
        categories=[row.item.category for row in rows],
    )


def digest_of(rows: Sequence[LabelRow], scale: Scale) -> str:
    """Hashes what was learned from, in hexadecimal; the order of the lines does not count."""
    digest = hashlib.sha256(json.dumps([scale.low, scale.high, scale.good_from]).encode())
    for row in rows:
        item = row.item
        fields = [item.id, item.source, item.summary, item.category, sorted(row.ratings.items())]
        digest.update(json.dumps(fields).encode())
    return digest.hexdigest()
