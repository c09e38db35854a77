"""Opens pages in a real Chromium, light or dark, wide or narrow, with or without their script."""

import importlib
import shutil
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDE, HEIGHT = 1280, 800


class Open(Protocol):
    """Opens a page of the browser."""

    def __call__(
        self, html: str, *, dark: bool = False, width: int = WIDE, script: bool = True
    ) -> AbstractAsyncContextManager[Any]: ...


@pytest.fixture
async def open_page(tmp_path: Path) -> AsyncIterator[Open]:
    """Gives what opens pages; fails when one asks for anything or complains."""
    playwright = importlib.import_module("playwright.async_api")
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    assert executable, "no Chromium: apt install chromium"
    async with playwright.async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=executable, args=["--no-sandbox"])

        @asynccontextmanager
        async def open_one(
            html: str, *, dark: bool = False, width: int = WIDE, script: bool = True
        ) -> AsyncIterator[Any]:
            file = tmp_path / "report.html"
            file.write_text(html, encoding="utf-8")
            context = await browser.new_context(
                viewport={"width": width, "height": HEIGHT},
                color_scheme="dark" if dark else "light",
                java_script_enabled=script,
                reduced_motion="reduce",
            )
            page = await context.new_page()
            complaints: list[str] = []
            page.on("console", lambda message: complaints.append(message.text))
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("dialog", lambda dialog: complaints.append(dialog.message))
            page.on("request", lambda request: complaints.append(request.url))
            await page.goto(file.as_uri())
            yield page
            assert set(complaints) == {file.as_uri()}
            await context.close()

        yield open_one
        await browser.close()
