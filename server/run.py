"""Runs the server until it is told to stop.

SIGTERM and SIGINT as events: the first asks to stop, the second to stop at once. SIGHUP asks to reload.

The garbage collector of a long-lived process.
"""

import asyncio
import gc
import logging
import signal
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager

from inference.models.model import OpenBackend, open_session
from server.app import App
from server.settings import Settings

logger = logging.getLogger(__name__)


async def serve(
    settings: Settings, announce: Callable[[App], None] | None = None, *, open_backend: OpenBackend = open_session
) -> None:
    """Serves until SIGTERM or SIGINT, then drains; a second signal cuts the drain short, SIGHUP reloads keys and TLS.

    Args:
        announce: called once the server accepts calls.
        open_backend: the seam to the hardware.

    Raises:
        StartupError: it cannot start; the message is one line that says what to do.
    """
    with signals() as (stop, cut_short):
        app = App(settings, cut_short=cut_short, open_backend=open_backend)
        async with AsyncExitStack() as stack:
            if await _has_started(stack, app, stop):
                asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, app.reload)
                if announce is not None:
                    announce(app)
                with spared():
                    await stop.wait()


async def _has_started(stack: AsyncExitStack, app: App, stop: asyncio.Event) -> bool:
    """Enters the app. Returns False when told to stop before that was done: loading models takes seconds."""
    starting = asyncio.ensure_future(stack.enter_async_context(app))
    stopping = asyncio.ensure_future(stop.wait())
    await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if starting.done():
        starting.result()
        return True
    starting.cancel()
    await asyncio.wait({starting})
    logger.info("event=stopped_while_starting")
    return False


@contextmanager
def signals() -> Iterator[tuple[asyncio.Event, asyncio.Event]]:
    """Listens for signals while entered; needs a running event loop on the main thread.

    Yields:
        What the first SIGTERM or SIGINT sets, and what the second sets.
    """
    loop, stop, cut_short = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()

    def receive(number: signal.Signals) -> None:
        is_second = stop.is_set()
        logger.info("event=signal name=%s effect=%s", number.name, "cut_short" if is_second else "stop")
        (cut_short if is_second else stop).set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, receive, number)
    try:
        yield stop, cut_short
    finally:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.remove_signal_handler(number)


@contextmanager
def spared() -> Iterator[None]:
    """Makes the collector look less often, and never at what start-up made. Enter it once the server has started.

    Modules, settings and models live as long as the process; a full collection would walk them all, with every call
    waiting. Collecting the young every few calls took 8% of the event loop's thread under load.
    """
    thresholds = gc.get_threshold()
    gc.collect()  # or the garbage of the start would be kept for ever
    gc.freeze()
    gc.set_threshold(20_000, *thresholds[1:])  # a few MB at most; the default of 700 is reached by two calls
    gc.enable()
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
