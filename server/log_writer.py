"""Writes log lines from a thread of its own, a batch at a time.

A write of a line gives up the interpreter's lock, gRPC's own thread takes it, and the event loop has to win it back:
measured with 64 calls in flight, that costs a call 50 us of CPU, and formatting the line only 7.
"""

import logging
import threading
from types import TracebackType
from typing import Self, TextIO


class LogWriter(logging.Handler):
    """Collects lines and writes them together. Enter it to start the thread; leaving writes what is left.

    The thread sleeps until there is a line, waits `delay_s` for company, and writes. A crash of the interpreter loses
    the lines of that time.
    """

    def __init__(self, stream: TextIO, *, delay_s: float) -> None:
        super().__init__()
        self._stream = stream
        self._delay_s = delay_s
        self._lines: list[str] = []
        self._has_lines = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="precis-log", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._closing.set()
        self._has_lines.set()
        self._thread.join()

    def emit(self, record: logging.LogRecord) -> None:
        """Takes one line. The caller, `Handler.handle`, holds the handler's lock."""
        self._lines.append(self.format(record))
        if len(self._lines) == 1:
            self._has_lines.set()

    def _run(self) -> None:
        while not self._closing.is_set():
            self._has_lines.wait()
            self._closing.wait(self._delay_s)
            self._has_lines.clear()
            self._write()
        self._write()

    def _write(self) -> None:
        self.acquire()
        lines, self._lines = self._lines, []
        self.release()
        if not lines:
            return
        try:
            self._stream.write("\n".join(lines) + "\n")
            self._stream.flush()
        except (OSError, ValueError):  # ValueError: the stream is closed
            pass  # whoever read the log has gone; the calls go on
