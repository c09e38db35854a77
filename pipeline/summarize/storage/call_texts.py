"""Remembers which texts the stored answers were written from."""

from collections import defaultdict

from pipeline.summarize.incremental.known_calls import CallTexts, KnownCalls, TextRow
from pipeline.summarize.storage.schema import Database, Statement

FORGET_CALLS = "DELETE FROM call_texts WHERE result_key NOT IN (SELECT result_key FROM results)"
_KEYS_PER_STATEMENT = 500
_MOST_CALLS_OF_A_TEXT = 8  # a title page may begin many documents; the newest are looked at
_INSERT = "INSERT INTO call_texts VALUES (?, ?, ?, ?, NOW_S) ON CONFLICT DO NOTHING"
_SELECT = """
    SELECT first_key, text_count, whole_key FROM (
        SELECT first_key, text_count, whole_key,
            ROW_NUMBER() OVER (PARTITION BY first_key ORDER BY written_at DESC, whole_key) AS place
        FROM call_texts WHERE first_key IN ({marks})
    ) AS newest WHERE place <= ?"""


class CallTextsTable:
    """The table `call_texts`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, call: CallTexts, result_key: str) -> None:
        """Remembers what a stored answer was written from."""
        row = (call.first_key, call.count, call.whole_key, result_key)
        await self._database.transact([Statement(_INSERT, row)])

    async def find(self, row: TextRow) -> KnownCalls:
        """Returns the calls that begin with a text of a row. The newest come first, at most 8 for each text."""
        keys = list(dict.fromkeys(row.first_keys()))
        found: defaultdict[str, list[CallTexts]] = defaultdict(list)
        for start in range(0, len(keys), _KEYS_PER_STATEMENT):
            part = keys[start : start + _KEYS_PER_STATEMENT]
            sql = _SELECT.format(marks=", ".join("?" * len(part)))
            for first_key, count, whole_key in await self._database.fetch(
                Statement(sql, (*part, _MOST_CALLS_OF_A_TEXT))
            ):
                found[first_key].append(CallTexts(first_key, count, whole_key))
        return KnownCalls(found)
