"""Log lines: one line per event, key=value or JSON, UTC, on standard error.

Writes log lines from a thread of its own, a batch at a time.

A write gives up the interpreter's lock, and the event loop has to win it back from gRPC's thread. With 64 calls in
flight that costs a call 50 us of CPU; formatting the line costs 7.
"""

import logging
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Self, TextIO

from pythonjsonlogger.json import JsonFormatter

from server.config import LogConfig

logger = logging.getLogger(__name__)

_OURS = re.compile(r"[a-z_]+=[^\s=]+(?: [a-z_]+=[^\s=]+)*")


@contextmanager
def configured(config: LogConfig) -> Iterator[None]:
    """Sets up the root logger while entered. The only place that does."""
    # The documented switches of the logging cookbook ("Optimization"): facts that our format does not print.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging._srcfile = None  # noqa: SLF001  (documented: no search for the calling line)
    logging.getLogger("httpx2").setLevel(logging.WARNING)  # its line for each request is the span's business
    root, repeats, ours = logging.getLogger(), Repeats(), ("server.", "pipeline.", "inference.")
    with LogWriter(sys.stderr) as writer:
        writer.addFilter(lambda line: line.name.startswith(ours) or repeats.is_new(line.name, str(line.msg)))
        writer.setFormatter(JsonLineFormatter() if config.format == "json" else KeyValueFormatter())
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

    def format(self, record: logging.LogRecord) -> str:
        """Returns the line."""
        message = record.getMessage()
        if _OURS.fullmatch(str(record.msg)) is None or not message.isprintable():
            message = f"message={quoted(message)}"
        time = _time_of(record).replace("+00:00", "Z")
        line = f"time={time} level={record.levelname.lower()} logger={record.name} {message}"
        if record.exc_info:
            line = f"{line}\n{self.formatException(record.exc_info)}"
        return line


def _time_of(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


_CONVERSION = re.compile(r"%(?:\.\d+)?[sdfr]")


class JsonLineFormatter(JsonFormatter):
    """Writes an object with time, level, logger, and the pairs of a message of ours; any other is its `message`.

    Values are those that were handed to the logger: numbers stay numbers, and no text can pretend to be another pair.
    """

    def add_fields(self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]) -> None:
        """Fills in the object."""
        log_data |= {"time": _time_of(record), "level": record.levelname.lower(), "logger": record.name}
        template, args = str(record.msg), record.args if isinstance(record.args, tuple) else ()
        if _OURS.fullmatch(template) and len(_CONVERSION.findall(template)) == len(args):
            values = iter(args)
            for key, text in (pair.split("=") for pair in template.split()):
                log_data[key] = _plain(next(values), text) if _CONVERSION.fullmatch(text) else text
        else:
            log_data["message"] = record.getMessage()
        if "exc_info" in message_dict:
            log_data["exception"] = message_dict["exc_info"]


def _plain(value: object, conversion: str) -> object:
    """Returns what JSON can hold of a value: a number as precise as the line of text has it, else its text."""
    if isinstance(value, int | float):
        return round(value, int(conversion[2:-1])) if conversion.startswith("%.") else value
    return str(value)


def quoted(text: str) -> str:
    """Puts a value in quotes and escapes what would end it or start a new line."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    printable = (char if char.isprintable() else char.encode("unicode_escape").decode() for char in escaped)
    return f'"{"".join(printable)}"'


class Repeats:
    """Log sampling: of a kind of event from one origin one line is written in ten seconds, then how many came.

    So the log has a bound that those who cause it, such as strangers without a key, do not choose.
    """

    every_s, most = 10.0, 1_000

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since_s = clock()
        self._seen = Counter[tuple[str, ...]]()
        self._lock = threading.Lock()

    def is_new(self, *at: str) -> bool:
        """Tells whether an event gets a line, by its kind and its origin; of too many those of a kind share one."""
        at, told = tuple(one[:100] for one in at), Counter[tuple[str, ...]]()
        with self._lock:
            if self._clock() - self._since_s >= self.every_s:
                told, self._seen, self._since_s = self._seen, told, self._clock()
            kept = at if at in self._seen or len(self._seen) < self.most else (*at[:-1], "others")
            self._seen[kept] += 1
            is_first = self._seen[kept] == 1
        for one, count in told.items():
            if count > 1:
                logger.info("event=repeated of=%s count=%d", quoted(",".join(one)), count)
        return is_first


class LogWriter(logging.Handler):
    """Collects lines and writes them together. Enter it to start the thread; leaving writes what is left.

    The thread sleeps until there is a line, waits `delay_s` for company, and writes. A crash of the interpreter loses
    the lines of that time.
    """

    def __init__(self, stream: TextIO, *, delay_s: float = 0.05) -> None:
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

    def __exit__(self, *_: object) -> None:
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
