"""Log lines: one line per event, key=value, UTC, on standard error."""

import logging
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from server.config import LogConfig
from server.log_writer import LogWriter

_PAIRS = re.compile(r"[a-z_]+=")


@contextmanager
def configured(config: LogConfig) -> Iterator[None]:
    """Sets up the root logger while entered. The only place that does."""
    # The documented switches of the logging cookbook ("Optimization"): facts that our format does not print.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging._srcfile = None  # noqa: SLF001  (documented: no search for the calling line)
    logging.getLogger("httpx2").setLevel(logging.WARNING)  # its line for each request is the span's business
    root = logging.getLogger()
    with LogWriter(sys.stderr, delay_s=config.delay_s) as writer:
        writer.setFormatter(KeyValueFormatter())
        root.setLevel(config.level.upper())
        root.addHandler(writer)
        try:
            yield
        finally:
            root.removeHandler(writer)


class KeyValueFormatter(logging.Formatter):
    """Writes `time=... level=... logger=... ` and the message.

    A message of ours is key=value pairs already; any other is quoted as `message="..."`. A traceback follows on lines
    of its own.
    """

    def __init__(self) -> None:
        super().__init__()
        self._second = -1
        self._prefix = ""

    def format(self, record: logging.LogRecord) -> str:
        """Returns the line."""
        message = record.getMessage()
        if _PAIRS.match(message) is None or not message.isprintable():
            message = f"message={quoted(message)}"
        line = f"{self._time(record)} level={record.levelname.lower()} logger={record.name} {message}"
        if record.exc_info:
            line = f"{line}\n{self.formatException(record.exc_info)}"
        return line

    def _time(self, record: logging.LogRecord) -> str:
        second = int(record.created)
        if second != self._second:  # formatting the date costs more than the rest of the line
            self._second = second
            self._prefix = time.strftime("time=%Y-%m-%dT%H:%M:%S", time.gmtime(second))
        return f"{self._prefix}.{int(record.msecs):03d}Z"


def quoted(text: str) -> str:
    """Puts a value in quotes and escapes what would end it or start a new line."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return (
        '"' + "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in escaped) + '"'
    )
