"""The page of `precis ui`: who gets it, and in a real Chromium what it does by keyboard and with hostile texts.

Those in a browser run with `scripts/test --browser`, as tests/unit/server/cli/page/test_page_in_browser.py.
"""

import importlib
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Start
from tests.integration.http.test_http import client_of

ROOT = Path(__file__).resolve().parents[3]
CONTRAST = ROOT.joinpath("tests/unit/server/cli/page/contrast.js").read_text(encoding="utf-8").split("\n", 1)[1]
SOURCE = "The bridge 🚧 will close for nine months. Repairs cost 4.2 million dollars. The ferry runs every hour."
SUMMARY = "The bridge will close for nine months. Repairs cost 42 million dollars."
HOSTILE = "<img src=x onerror=alert(1)> The <script>alert(2)</script> bridge will close for nine months."
NARROW = 360


@asynccontextmanager
async def opened(start: Start, *, dark: bool = False) -> AsyncIterator[Any]:
    """Opens the page of a server; fails when it complains or asks another server for something."""
    playwright = importlib.import_module("playwright.async_api")
    browsers = ("chromium", "chromium-browser", "google-chrome")
    executable = next(filter(None, map(shutil.which, browsers)), None)
    assert executable, "no Chromium: apt install chromium"
    complaints: list[str] = []
    asked: list[str] = []
    async with (
        start(http={"enabled": True, "port": 0, "page": True}) as app,
        playwright.async_playwright() as driver,
        await driver.chromium.launch(executable_path=executable, args=["--no-sandbox"]) as browser,
    ):
        scheme = "dark" if dark else "light"
        page = await browser.new_page(viewport={"width": NARROW, "height": 800}, color_scheme=scheme)
        own = f"http://127.0.0.1:{app.http_port}/"
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: asked.append(request.url))
        await page.goto(f"{own}ui")
        yield page
        assert complaints == []
        assert all(url.startswith((own, "data:")) for url in asked)


async def said(page: Any, pattern: str) -> None:  # noqa: ANN401 - a page of Playwright
    """Waits until the status says so."""
    await page.locator("#status").filter(has_text=re.compile(pattern)).wait_for()


@pytest.mark.browser
async def test_texts_are_judged_and_summarized_by_keyboard_on_a_phone(start: Start) -> None:
    async with opened(start, dark=True) as page:
        await page.locator("#source").fill(SOURCE)
        await page.keyboard.press("Control+Enter")
        await said(page, "Write or paste a summary")
        await page.keyboard.type(SUMMARY)
        await page.keyboard.press("Control+Enter")
        await said(page, "Judged")
        assert await page.locator("#claims .claim-text").all_text_contents() == SUMMARY.replace(". R", ".|R").split("|")
        assert await page.locator("#scores dt").count() == 5
        await page.locator("#summarize").press("Enter")
        await said(page, "Written by")
        sentence = page.locator("#text a.claim", has_text="The ferry")
        await sentence.press("Enter")
        assert await page.locator("#passage mark").inner_text() == "The ferry runs every hour."  # behind an emoji
        assert (await page.evaluate(CONTRAST))["found"] == []
        assert await page.evaluate("document.documentElement.scrollWidth") <= NARROW


@pytest.mark.browser
async def test_hostile_texts_are_shown_as_they_are(start: Start) -> None:
    async with opened(start) as page:
        await page.locator("#source").fill(HOSTILE)
        await page.locator("#summary").fill(HOSTILE)
        await page.locator("#judge").click()
        await said(page, "Judged")
        assert "<img src=x" in await page.locator("#claims").inner_text()
        await page.locator("#summarize").click()
        await said(page, "Written by")
        assert "bridge will close" in await page.locator("#text").inner_text()
        assert await page.locator("main img, main script").count() == 0


async def test_the_page_is_served_when_it_is_asked_for_under_a_policy_and_to_this_machine_alone(start: Start) -> None:
    async with start(http={"enabled": True, "port": 0}) as app, client_of(app) as client:
        assert (await client.get("/ui")).status_code == 404
    async with start(http={"enabled": True, "port": 0, "page": True}) as app, client_of(app) as client:
        found = [await client.get(path) for path in ("/ui", "/ui/page.js", "/ui/page.css", "/ui/style.css")]
        assert [one.status_code for one in found] == [200] * 4
        assert all("default-src 'none'; script-src 'self'" in one.headers["content-security-policy"] for one in found)
        assert found[1].headers["content-type"].startswith("text/javascript")
        assert "innerHTML" not in found[1].text
        for path in ("/ui", "/v1/models"):  # a name that a stranger's site may point to this machine
            assert (await client.get(path, headers={"host": "rebound.example.org"})).status_code == 400
