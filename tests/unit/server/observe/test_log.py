"""Log lines are key=value, one per event."""

import logging

import pytest

from server.observe.log import KeyValueFormatter, quoted


def line(message: str, *args: object) -> str:
    record = logging.LogRecord("server.rpc.calls", logging.INFO, __file__, 1, message, args, None)
    record.created, record.msecs = 0.25, 250.0
    return KeyValueFormatter().format(record)


def test_pairs_follow_time_level_and_logger() -> None:
    assert line("id=%s code=%s", "a-1", "OK") == (
        "time=1970-01-01T00:00:00.250Z level=info logger=server.rpc.calls id=a-1 code=OK"
    )


def test_a_foreign_message_is_quoted() -> None:
    assert line('He said "no"').endswith(r'message="He said \"no\""')


@pytest.mark.parametrize("message", ["two\nlines", "id=1\nlevel=error forged=1", "bell\x07"])
def test_a_message_cannot_start_a_line_of_its_own(message: str) -> None:
    assert line(message).isprintable()


def test_quoting_can_be_undone() -> None:
    text = 'a\\b"c\nd\u2028é'
    assert quoted(text)[1:-1].encode("latin-1", "backslashreplace").decode("unicode_escape") == text


def test_a_traceback_follows_whole() -> None:
    error = ValueError("boom")
    record = logging.LogRecord("x", logging.ERROR, __file__, 1, "event=failed", (), (ValueError, error, None))
    first, *rest = KeyValueFormatter().format(record).splitlines()
    assert first.endswith("event=failed")
    assert rest == ["ValueError: boom"]


def test_the_second_of_the_time_is_not_kept_from_the_line_before() -> None:
    formatter = KeyValueFormatter()
    times = []
    for created in (1.0, 2.0, 2.5, 1.0):
        record = logging.LogRecord("x", logging.INFO, __file__, 1, "a=1", (), None)
        record.created, record.msecs = created, created % 1 * 1000
        times.append(formatter.format(record).split()[0][-7:])
    assert times == ["01.000Z", "02.000Z", "02.500Z", "01.000Z"]
