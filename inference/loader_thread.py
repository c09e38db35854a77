"""Runs one blocking function beside the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def run_on_thread(name: str, function: Callable[[], T]) -> T:
    """Runs `function` on a thread of its own, and joins it: also when the caller is cancelled."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    results: list[T] = []
    errors: list[BaseException] = []

    def main() -> None:
        try:
            results.append(function())
        except BaseException as error:  # noqa: BLE001  (raised again below, by the caller)
            errors.append(error)
        finally:
            loop.call_soon_threadsafe(ended.set)

    thread = threading.Thread(target=main, name=name)
    thread.start()
    try:
        await ended.wait()
    finally:
        thread.join()
    if errors:
        raise errors[0]
    return results[0]
