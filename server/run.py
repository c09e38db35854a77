"""Runs the server until it is told to stop."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack

from inference.models.model import OpenBackend, open_session
from server.app import App
from server.garbage import spared
from server.settings import Settings
from server.signals import Signals

logger = logging.getLogger(__name__)


async def serve(
    settings: Settings, announce: Callable[[App], None] | None = None, *, open_backend: OpenBackend = open_session
) -> None:
    """Serves until SIGTERM or SIGINT, then drains; a second signal cuts the drain short, SIGHUP reloads keys and TLS.

    Args:
        settings: of the whole process.
        announce: called once the server accepts calls.
        open_backend: the seam to the hardware.

    Raises:
        StartupError: it cannot start; the message is one line that says what to do.
    """
    with Signals() as signals:
        app = App(settings, cut_short=signals.cut_short, open_backend=open_backend)
        async with AsyncExitStack() as stack:
            if await _has_started(stack, app, signals.stop):
                signals.on_reload(app.reload)
                if announce is not None:
                    announce(app)
                with spared():
                    await signals.stop.wait()


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
