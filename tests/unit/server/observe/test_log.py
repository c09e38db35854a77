"""Log lines are key=value, one per event."""

import json
import logging

import pytest

from server.observe.log import JsonLineFormatter, KeyValueFormatter, quoted


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


def as_json(message: str, *args: object, error: Exception | None = None) -> dict[str, object]:
    info = (type(error), error, None) if error else None
    record = logging.LogRecord("server.rpc.calls", logging.INFO, __file__, 1, message, args, info)
    record.created = 0.25
    text = JsonLineFormatter().format(record)
    assert text.isprintable()
    found: dict[str, object] = json.loads(text)
    return found


def test_pairs_are_members_with_the_values_that_were_logged() -> None:
    found = as_json("event=call id=%s ms=%.1f items=%d caller=%s", "a b=1", 12.345, 3, "123456")
    assert found == {
        "time": "1970-01-01T00:00:00.250+00:00",
        "level": "info",
        "logger": "server.rpc.calls",
        "event": "call",
        "id": "a b=1",
        "ms": 12.3,
        "items": 3,
        "caller": "123456",
    }


def test_a_foreign_message_and_a_traceback_are_members() -> None:
    assert as_json('He said "no"\n')["message"] == 'He said "no"\n'
    assert as_json("event=failed", error=ValueError("boom"))["exception"] == "ValueError: boom"


@pytest.mark.parametrize("message", ["event=%s and %s", "100% sure", "a=1 b", "=1"])
def test_what_only_resembles_pairs_is_a_message(message: str) -> None:
    args = ("x", "y") if "%s" in message else ()
    assert as_json(message, *args)["message"] == (message % args if args else message)
