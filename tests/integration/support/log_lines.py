"""Waits for log lines instead of for time to pass."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager


class LogLines(logging.Handler):
    """Collects messages; every new one wakes who waits."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.messages: list[str] = []
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())
        self._loop.call_soon_threadsafe(self._changed.set)

    async def wait_for(self, *parts: str) -> str:
        """Returns the first message that holds all parts, now or later."""
        while True:
            for message in self.messages:
                if all(part in message for part in parts):
                    return message
            self._changed.clear()
            await self._changed.wait()


@contextmanager
def log_lines() -> Iterator[LogLines]:
    """Collects what the packages log while entered."""
    root, lines = logging.getLogger(), LogLines()
    level = root.level
    root.addHandler(lines)
    root.setLevel(logging.INFO)
    try:
        yield lines
    finally:
        root.removeHandler(lines)
        root.setLevel(level)
