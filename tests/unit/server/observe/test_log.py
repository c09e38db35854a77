"""Log lines are key=value or JSON, one per event, and written in order, whole, together, with none left behind."""

import io
import json
import logging
import threading

import pytest

from server.observe.log import JsonLineFormatter, KeyValueFormatter, LogWriter, Repeats, quoted
from tests.fakes import Clock


def record(message: str, *args: object, error: Exception | None = None, created_s: float = 0.25) -> logging.LogRecord:
    info = (type(error), error, None) if error else None
    made = logging.LogRecord("server.rpc.calls", logging.INFO, __file__, 1, message, args, info)
    made.created, made.msecs = created_s, created_s % 1 * 1000
    return made


def line(message: str, *args: object) -> str:
    return KeyValueFormatter().format(record(message, *args))


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
    first, *rest = KeyValueFormatter().format(record("event=failed", error=ValueError("boom"))).splitlines()
    assert first.endswith("event=failed")
    assert rest == ["ValueError: boom"]


def as_json(message: str, *args: object, error: Exception | None = None) -> dict[str, object]:
    text = JsonLineFormatter().format(record(message, *args, error=error))
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


def test_what_repeats_gets_a_line_in_ten_seconds_and_then_its_count(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    clock = Clock()
    repeats = Repeats(clock)
    assert [repeats.is_new("no", host) for host in "aabaa"] == [True, False, True, False, False]
    clock.now_s += Repeats.every_s
    crowd = [repeats.is_new("no", str(host)) for host in range(Repeats.most + 5)]
    assert crowd == [True] * (Repeats.most + 1) + [False] * 4  # one line stands for all that are too many
    clock.now_s += Repeats.every_s
    assert repeats.is_new("level=error event=call", "a")
    assert caplog.messages == ['event=repeated of="no,a" count=4', 'event=repeated of="no,others" count=5']


class Stream(io.StringIO):
    """Counts writes; can be made to fail."""

    def __init__(self) -> None:
        super().__init__()
        self.write_count = 0
        self.written = threading.Event()
        self.is_broken = False

    def write(self, text: str) -> int:
        if self.is_broken:
            raise BrokenPipeError
        self.write_count += 1
        self.written.set()
        return super().write(text)


def test_leaving_writes_all_lines_in_order_and_together() -> None:
    stream = Stream()
    with LogWriter(stream, delay_s=3600) as writer:
        for number in range(100):
            writer.handle(record(f"line {number}"))
    assert stream.getvalue().splitlines() == [f"line {number}" for number in range(100)]
    assert stream.write_count == 1


def test_a_line_is_written_without_another_one_coming() -> None:
    stream = Stream()
    with LogWriter(stream, delay_s=0) as writer:
        writer.handle(record("alone"))
        assert stream.written.wait(timeout=60)
        stream.written.clear()
        writer.handle(record("again"))
        assert stream.written.wait(timeout=60)
    assert stream.getvalue() == "alone\nagain\n"


def test_lines_of_several_threads_stay_whole() -> None:
    stream = Stream()
    with LogWriter(stream, delay_s=0) as writer:
        threads = [
            threading.Thread(target=lambda name=name: [writer.handle(record(name * 50)) for _ in range(200)])
            for name in "abcd"
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    lines = stream.getvalue().splitlines()
    assert sorted(lines) == sorted([name * 50 for name in "abcd"] * 200)


def test_a_broken_stream_does_not_reach_the_callers() -> None:
    stream = Stream()
    stream.is_broken = True
    with LogWriter(stream, delay_s=0) as writer:
        writer.handle(record("lost"))
