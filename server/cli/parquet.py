"""Items and results in Parquet files, for those who have them in a data lake. Needs the extra `ray`, for pyarrow.

A row of items is read as if it were a line of JSON Lines. Results have text columns: `id`, `item_sha256`, and as JSON
each further field of their line. So a column has one type whatever the answers hold.
"""

import importlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from server.cli.errors import InputError

PARQUET = ".parquet"
_PLAIN = ("id", "item_sha256")
_ROWS = 1_024  # read, and written, at once


def read_parquet(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yields number, from 1, and fields as JSON of every row. Raises InputError."""
    with _opened(path) as file:
        rows = (row for batch in file.iter_batches(batch_size=_ROWS) for row in batch.to_pylist())
        for number, row in enumerate(rows, start=1):
            fields = {name: value for name, value in row.items() if value is not None}
            yield number, json.dumps(fields, ensure_ascii=False, default=str).encode(errors="surrogatepass")


def count_rows(path: Path) -> int:
    """Reads how many rows there are. Raises InputError."""
    with _opened(path) as file:
        return int(file.metadata.num_rows)


def write_parquet(lines: Path, path: Path) -> None:
    """Writes results from a file of JSON Lines. Raises InputError without pyarrow."""
    arrow = _pyarrow(path)
    names = list(dict.fromkeys((*_PLAIN, *(name for row in _rows(lines) for name in row))))
    schema = arrow.schema([(name, arrow.string()) for name in names])
    rows = _rows(lines)
    with arrow.parquet.ParquetWriter(path, schema) as writer:
        while group := list(islice(rows, _ROWS)):
            writer.write_table(arrow.Table.from_pylist(group, schema=schema))


def write_lines(path: Path, lines: Path) -> None:
    """Writes results as JSON Lines again, for a run that goes on with them. Raises InputError."""
    with lines.open("w", encoding="utf-8") as file:
        for number, row in read_parquet(path):
            fields = json.loads(row)
            try:
                whole = {name: value if name in _PLAIN else json.loads(value) for name, value in fields.items()}
            except (ValueError, TypeError, RecursionError) as error:
                raise InputError(
                    f"{path}: row {number} is no result; to do all items again, leave out --resume"
                ) from error
            file.write(json.dumps(whole, ensure_ascii=False) + "\n")


def _rows(lines: Path) -> Iterator[dict[str, str]]:
    with lines.open(encoding="utf-8") as file:
        for fields in map(json.loads, file):
            yield {
                name: value if name in _PLAIN else json.dumps(value, ensure_ascii=False)
                for name, value in fields.items()
            }


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    arrow = _pyarrow(path)
    try:
        with arrow.parquet.ParquetFile(path) as file:
            yield file
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    except arrow.ArrowException as error:
        raise InputError(f"{path}: not Parquet: {str(error).splitlines()[0]}") from error


def _pyarrow(path: Path) -> Any:  # noqa: ANN401 - of an extra, without types
    try:
        importlib.import_module("pyarrow.parquet")
        return importlib.import_module("pyarrow")
    except ImportError as error:
        from pipeline.errors import needs_extra

        raise InputError(f"{path}: Parquet {needs_extra('ray')}") from error
