"""One thread that takes batches, computes them and hands them back."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Protocol, TypeVar

from inference.batch import Batch
from inference.execution import execute, probe
from inference.work_queue import Source

logger = logging.getLogger(__name__)

Posted = TypeVar("Posted")


class WorkerOwner(Protocol):
    """What a worker needs of its pool."""

    @property
    def clock(self) -> Callable[[], float]:
        """The time that batches are stamped with."""
        ...

    @property
    def sources(self) -> list[Source]:
        """The models it computes for."""
        ...

    def take(self) -> tuple[Source, Batch] | None:
        """Waits for work. None ends the worker. Called on the worker's thread."""
        ...

    def on_started(self, worker: Worker) -> None:
        """The worker is able to compute. Called on the event loop."""
        ...

    def on_exit(self, worker: Worker) -> None:
        """The worker's thread is ending. Called on the event loop."""
        ...


class Worker:
    """Owned by a pool, which starts, joins and replaces it.

    There is no hop on the way in: the thread takes from the shared queue itself, so a free worker begins as soon
    as an entry is there. On the way out there is one wake-up of the event loop for each batch, not for each item.
    """

    def __init__(self, index: int, owner: WorkerOwner, loop: asyncio.AbstractEventLoop, *, is_restart: bool) -> None:
        self.index = index
        self.crash: BaseException | None = None
        self.is_given_up = False  # it hung, and another has its place: it ends when it can
        self.in_hand: tuple[Source, Batch] | None = None
        self.batch_count = 0
        self._owner = owner
        self._loop = loop
        self._is_restart = is_restart
        self._thread = threading.Thread(target=self._main, name=f"precis-worker-{index}", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def join(self, timeout_s: float | None = None) -> bool:
        """Waits for the thread's end. Returns whether it came."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _main(self) -> None:
        try:
            if self._is_restart:
                self._reopen()
            self._post(self._owner.on_started, self)
            self._serve()
        except BaseException as error:  # whatever it is, it ends this thread: the pool must know
            self.crash = error
            logger.exception("event=worker_died worker=%d", self.index)
        finally:
            self._post(self._owner.on_exit, self)

    def _reopen(self) -> None:
        for source in self._owner.sources:
            backend = source.model.backends[self.index % len(source.model.backends)]
            backend.reopen()
            probe(source.model, backend)

    def _serve(self) -> None:
        while not self.is_given_up and (work := self._owner.take()) is not None:
            source, batch = work
            self.in_hand = work
            if batch.entries:
                model = source.model
                execute(batch, model, model.backends[self.index % len(model.backends)])
                batch.finished_s = self._owner.clock()
            self.in_hand = None
            self.batch_count += 1
            self._post(source.deliver, batch)

    def _post(self, callback: Callable[[Posted], None], subject: Posted) -> None:
        """Calls back on the event loop. A thread that its pool abandoned may outlive the loop: nobody listens then."""
        try:
            self._loop.call_soon_threadsafe(callback, subject)
        except RuntimeError:
            if not self._loop.is_closed():
                raise
