"""Lines are written in order, whole, together, and none is left behind."""

import io
import logging
import threading

from server.observe.log import LogWriter


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


def record(message: str) -> logging.LogRecord:
    return logging.LogRecord("x", logging.INFO, __file__, 1, message, (), None)


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


def test_nothing_is_written_when_nothing_is_logged() -> None:
    stream = Stream()
    with LogWriter(stream, delay_s=0):
        pass
    assert stream.write_count == 0
