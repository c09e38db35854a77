"""The worker threads, and what owns them and the queue between them and the event loop."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Self, TypeVar

from inference.batching.batch import Batch
from inference.batching.in_flight import Entry
from inference.batching.lane import Source
from inference.batching.queue import WorkQueue
from inference.batching.worker import execute, probe
from inference.call import Call
from inference.config import RuntimeConfig
from inference.errors import InferenceError, ShuttingDownError, WorkerDiedError

logger = logging.getLogger(__name__)

_MAX_CRASHES = 2  # once in company, once alone
_NICE = 5  # of workers: while they fill every core, the event loop still refuses calls and answers health checks

Posted = TypeVar("Posted")


class Worker(threading.Thread):
    """Owned by a pool, which starts, joins and replaces it.

    There is no hop on the way in: the thread takes from the shared queue itself, as soon as an entry is there. On the
    way out there is one wake-up of the event loop for each batch, not for each item.
    """

    def __init__(self, index: int, owner: WorkerPool, loop: asyncio.AbstractEventLoop, *, is_restart: bool) -> None:
        super().__init__(name=f"precis-worker-{index}", daemon=True)
        self.index = index
        self.crash: BaseException | None = None
        self.is_given_up = False  # it hung, and another has its place: it ends when it can
        self.in_hand: tuple[Source, Batch] | None = None
        self.batch_count = 0
        self._owner = owner
        self._loop = loop
        self._is_restart = is_restart

    def run(self) -> None:
        """Serves until its pool closes or it fails."""
        if sys.platform == "linux":
            os.nice(_NICE)  # of this thread alone; elsewhere it would be the process's
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
        for source in self._owner.queue.sources:
            backend = source.model.backends[self.index % len(source.model.backends)]
            backend.reopen()
            probe(source.model, backend)

    def _serve(self) -> None:
        free_s = self._owner.clock()
        while not self.is_given_up and (work := self._owner.take()) is not None:
            source, batch = work
            self.in_hand = work
            batch.free_s = free_s
            if batch.entries:
                model = source.model
                execute(batch, model, model.backends[self.index % len(model.backends)])
                batch.finished_s = free_s = self._owner.clock()
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


class WorkerPool:
    """A fixed number of threads that serve the queues of all models.

    One pool serves all models: as many threads as cores keep every core busy whichever model has work. Two forward
    passes never share a core. Enter it to start the threads, leave it to join them; what is still queued then is
    refused. All methods but `take` are called on the event loop.

    A thread that dies is replaced after a wait that doubles from failure to failure. What it had in hand is tried
    again, each entry alone. When no thread is left and a replacement fails too, all that waits is failed: nobody
    waits for a worker that may never come.
    """

    def __init__(
        self, config: RuntimeConfig, worker_count: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.clock = clock
        self.queue = WorkQueue()  # its methods need the pool's lock
        self.restart_count = 0
        self._config = config
        self._wakeup = threading.Condition(threading.Lock())
        self._idle_count = 0
        self._is_closing = False
        self._workers: dict[int, Worker] = {}
        self._ready: set[int] = set()
        self._failures = dict.fromkeys(range(worker_count), 0)
        self._restarts: dict[int, asyncio.TimerHandle] = {}
        self.on_ready: Callable[[bool], None] = lambda _: None  # told, on the event loop, when `is_ready` changes
        self._loop: asyncio.AbstractEventLoop
        self._watchdog: asyncio.TimerHandle | None = None  # armed only while there is work
        self._gone: asyncio.Event
        self._all_started: asyncio.Event

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._gone, self._all_started = asyncio.Event(), asyncio.Event()
        for index in self._failures:
            self._start(index, is_restart=False)
        try:
            await self._all_started.wait()
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._close()

    @property
    def is_ready(self) -> bool:
        """Whether every worker can compute."""
        return len(self._ready) == len(self._failures)

    @property
    def is_alive(self) -> bool:
        """Whether any worker can compute, or is about to for the first time since the last one died."""
        return bool(self._ready) or all(count <= 1 for count in self._failures.values())

    @property
    def worker_count(self) -> int:
        """How many workers there are when all is well."""
        return len(self._failures)

    def predict_turn(self, source: Source, call: Call, seconds: float) -> float:
        """Returns how long it will take until so much more work of a call is done, if batches cost what they should."""
        with self._wakeup:
            return self.queue.predict_turn(source, call, seconds) / self.worker_count

    def put(self, source: Source, entries: Sequence[Entry]) -> None:
        """Queues entries and wakes as many idle workers as they can occupy."""
        with self._wakeup:
            self.queue.put(source, entries)
            if self._idle_count:
                self._wakeup.notify(len(entries))
        if self._watchdog is None:
            self._watchdog = self._loop.call_later(self._config.stall_timeout_s, self._give_up_stalled)

    def remove(self, source: Source, entry: Entry) -> bool:
        """Takes an entry back. Returns False when a worker has it already."""
        with self._wakeup:
            return self.queue.remove(source, entry)

    def join(self, source: Source, entry: Entry, call: Call) -> None:
        """Moves an entry that still waits to where another call, which wants it too, is served sooner."""
        with self._wakeup:
            self.queue.join(source, entry, call)

    def take(self) -> tuple[Source, Batch] | None:
        """Waits for a batch. Returns None when the pool closes. Called by the workers."""
        with self._wakeup:
            while not self._is_closing:
                work = self.queue.take(self.clock())
                if work is not None:
                    return work
                self._idle_count += 1
                self._wakeup.wait()
                self._idle_count -= 1
        return None

    def on_started(self, worker: Worker) -> None:
        """Counts a worker in."""
        self._ready.add(worker.index)
        if self.is_ready:
            self._all_started.set()
            self.on_ready(self.is_ready)

    def on_exit(self, worker: Worker) -> None:
        """Joins a worker's thread, and arranges for its replacement unless the pool closes."""
        worker.join()
        if worker.is_given_up:
            return
        if worker.crash is not None:
            self._replace(worker)
        else:
            self._workers.pop(worker.index)
        if not self._workers and self._is_closing:
            self._gone.set()

    async def _close(self) -> None:
        for handle in self._restarts.values():
            handle.cancel()
        with self._wakeup:
            self._is_closing = True
            waiting = self.queue.take_all()
            self._wakeup.notify_all()
        self._fail(waiting, ShuttingDownError)
        if self._watchdog is not None:
            self._watchdog.cancel()
        if self._workers and not await self._wait_gone():
            for source in self.queue.sources:
                for backend in source.model.backends:
                    backend.interrupt()
            if not await self._wait_gone():
                # Nothing can end them: their callers are answered, and their threads may outlive the event loop.
                logger.error("event=workers_abandoned count=%d", len(self._workers))
                for worker in list(self._workers.values()):
                    self._give_up(worker)

    def _start(self, index: int, *, is_restart: bool) -> None:
        self._restarts.pop(index, None)
        worker = Worker(index, self, self._loop, is_restart=is_restart)
        self._workers[index] = worker
        worker.start()

    def _replace(self, worker: Worker) -> None:
        was_ready = self.is_ready
        self._workers.pop(worker.index)
        self._ready.discard(worker.index)
        self._failures[worker.index] = 1 if worker.batch_count else self._failures[worker.index] + 1
        if worker.in_hand is not None:
            self._take_over(*worker.in_hand)
        if was_ready:
            self.on_ready(self.is_ready)
        if self._is_closing:
            return
        if not self.is_alive:
            with self._wakeup:
                waiting = self.queue.take_all()
            self._fail(waiting, WorkerDiedError)
        index = worker.index
        delay_s = self._config.restart_backoff_s * min(2.0 ** min(self._failures[index] - 1, 30), 50.0)
        logger.error("event=worker_restart worker=%d delay_s=%.1f", index, delay_s)
        self.restart_count += 1
        self._restarts[index] = self._loop.call_later(delay_s, lambda: self._start(index, is_restart=True))

    def _give_up_stalled(self) -> None:
        """Replaces the workers whose batch has hung: a call into native code cannot be ended from outside."""
        self._watchdog = None
        oldest_s = self.clock() - self._config.stall_timeout_s
        busy = [worker for worker in self._workers.values() if worker.in_hand is not None]
        for worker in busy:
            work = worker.in_hand
            if work is not None and work[1].started_s <= oldest_s:
                logger.error("event=worker_stalled worker=%d", worker.index)
                self._give_up(worker)
        if busy:
            self._watchdog = self._loop.call_later(self._config.stall_timeout_s, self._give_up_stalled)

    def _give_up(self, worker: Worker) -> None:
        """Parts with a worker that hangs: what it has in hand is somebody else's now, and its result is ignored."""
        worker.is_given_up = True
        if worker.in_hand is not None:
            worker.in_hand[1].is_void = True
        self._replace(worker)

    async def _wait_gone(self) -> bool:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._gone.wait(), self._config.stop_timeout_s)
        return self._gone.is_set()

    def _take_over(self, source: Source, batch: Batch) -> None:
        """Tries what a dead worker had in hand again, each entry alone, except what has had its second chance."""
        source.deliver(Batch([], batch.dropped, now_s=batch.started_s))
        for entry in batch.entries:
            entry.crash_count += 1
        lost = [entry for entry in batch.entries if entry.crash_count >= _MAX_CRASHES]
        again = [entry for entry in batch.entries if entry.crash_count < _MAX_CRASHES]
        if self._is_closing:
            self._fail([(source, entry) for entry in batch.entries], ShuttingDownError)
            return
        self._fail([(source, entry) for entry in lost], WorkerDiedError)
        with self._wakeup:
            self.queue.put_suspects(source, again)
            self._wakeup.notify(len(again))

    def _fail(self, entries: Sequence[tuple[Source, Entry]], error: Callable[[], InferenceError]) -> None:
        """Delivers an error for each entry, as a batch of its own."""
        for source, entry in entries:
            batch = Batch([entry], [], now_s=self.clock())
            batch.failures[0] = error()
            source.deliver(batch)
