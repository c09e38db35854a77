"""Runs the server until it is told to stop."""

import asyncio
import logging
import sys
from contextlib import AsyncExitStack

import uvloop

from server import log
from server.app import App
from server.errors import StartupError
from server.settings import Settings
from server.signals import Signals

logger = logging.getLogger(__name__)


def run(settings: Settings) -> int:
    """Serves until SIGTERM or SIGINT. Returns the exit code of the process."""
    log.configure(settings.log)
    try:
        uvloop.run(serve(settings))
    except StartupError as error:
        sys.stderr.write(f"precis serve: {error}\n")
        return 1
    return 0


async def serve(settings: Settings) -> None:
    """Serves until a signal, then drains. Raises StartupError."""
    with Signals() as signals:
        app = App(settings, cut_short=signals.cut_short)
        async with AsyncExitStack() as stack:
            if await _has_started(stack, app, signals.stop):
                signals.on_reload(app.reload)
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
