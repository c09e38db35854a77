"""SIGTERM and SIGINT as events: the first asks to stop, the second to stop at once. SIGHUP asks to reload."""

import asyncio
import logging
import signal
from collections.abc import Callable
from types import TracebackType
from typing import Self

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)

logger = logging.getLogger(__name__)


class Signals:
    """Listens for signals while entered; needs a running event loop on the main thread.

    Attributes:
        stop: set by the first SIGTERM or SIGINT.
        cut_short: set by the second.
    """

    def __init__(self) -> None:
        self.stop = asyncio.Event()
        self.cut_short = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def __enter__(self) -> Self:
        for number in STOP_SIGNALS:
            self._loop.add_signal_handler(number, self._receive, signal.Signals(number))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number in (*STOP_SIGNALS, signal.SIGHUP):
            self._loop.remove_signal_handler(number)

    def on_reload(self, reload: Callable[[], None]) -> None:
        """Calls `reload` at every SIGHUP."""
        self._loop.add_signal_handler(signal.SIGHUP, reload)

    def _receive(self, number: signal.Signals) -> None:
        is_second = self.stop.is_set()
        logger.info("event=signal name=%s effect=%s", number.name, "cut_short" if is_second else "stop")
        (self.cut_short if is_second else self.stop).set()
