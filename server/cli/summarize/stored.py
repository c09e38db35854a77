"""Looks into the SQLite file of summaries, which a server may be using meanwhile."""

import sqlite3
from contextlib import closing

from pipeline.summarize.storage.sqlite import NOW_S, damage
from pipeline.summarize.storage.store import ALL_SUMMARIES, damaged_summaries
from server.cli.console import print_note
from server.cli.errors import InputError, NegativeAnswer
from server.settings import load_settings


def check_stored() -> None:
    """Says what is damaged, and what to do. Raises NegativeAnswer when something is, InputError without a file."""
    storage = load_settings().summary_storage
    path = storage.directory / "summaries.sqlite"
    if storage.postgres_url is not None or not path.is_file():
        raise InputError(f"there is no file {path} to check; Postgres checks itself")
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        try:
            found = damage(connection)
            rows = [] if found else connection.execute(ALL_SUMMARIES.replace("NOW_S", NOW_S)).fetchall()
        except sqlite3.DatabaseError as error:
            found, rows = [str(error)], []
    for line in found:
        print_note(f"{path}: {line}")
    if found:
        new = path.with_suffix(".saved")
        raise NegativeAnswer(
            f"{path} is damaged. Stop the server, then `sqlite3 {path} .recover | sqlite3 {new}` saves what can be "
            f"read. Keep the old file with its -wal and -shm elsewhere, give {new} its name, and check again"
        )
    if ids := damaged_summaries(rows):
        raise NegativeAnswer(f"these summaries cannot be read, and go when they expire: {', '.join(ids)}")
    print_note(f"{path} is whole: {len(rows)} summaries")
