"""The page of `precis ui`: who gets it, and in a real Chromium what it does by keyboard and with hostile texts.

Those in a browser run with `scripts/test --browser`, as tests/unit/server/cli/page/test_page_in_browser.py.
"""

import asyncio
import importlib
import json
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
NOTES = "# Bridge\n\nIt **will** close for nine months.\n\n- The ferry runs `every` hour.\n- Repairs cost 42 dollars.\n"
DROP = "(text) => { const all = new DataTransfer(); all.items.add(new File([text], 'dropped.md')); return all; }"


@asynccontextmanager
async def opened(
    start: Start, *, dark: bool = False, size: tuple[int, int] = (NARROW, 800), keys: Path | None = None
) -> AsyncIterator[Any]:
    """Opens the page of a server; fails when it complains or asks another server for something."""
    playwright = importlib.import_module("playwright.async_api")
    browsers = ("chromium", "chromium-browser", "google-chrome")
    executable = next(filter(None, map(shutil.which, browsers)), None)
    assert executable, "no Chromium: apt install chromium"
    complaints: list[str] = []
    asked: list[str] = []
    async with (
        start(http={"enabled": True, "port": 0, "page": True}, auth={"keys_file": keys}) as app,
        playwright.async_playwright() as driver,
        await driver.chromium.launch(executable_path=executable, args=["--no-sandbox"]) as browser,
    ):
        scheme = "dark" if dark else "light"
        page = await browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
        own = f"http://127.0.0.1:{app.http_port}/"
        page.on("console", lambda message: complaints.extend([message.text] * ("401" not in message.text)))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: asked.append(request.url))
        await page.goto(own)
        yield page
        assert complaints == []
        assert all(url.startswith((own, "data:", f"blob:{own}")) for url in asked)


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
        assert await page.locator("#scores .metric").count() == 5
        await page.locator("#summarize").press("Enter")
        await said(page, "Written by")
        sentence = page.locator("#text a.claim", has_text="The ferry")
        await sentence.press("Enter")
        assert await page.locator("#passage mark").inner_text() == "The ferry runs every hour."  # behind an emoji
        assert (await page.evaluate(CONTRAST))["found"] == []
        assert await page.evaluate("document.documentElement.scrollWidth") <= NARROW


async def place_of(page: Any, selector: str) -> tuple[float, float]:  # noqa: ANN401 - a page of Playwright
    """Returns how far below the top of the window something begins, and the height of the window."""
    top = await page.locator(selector).evaluate("(element) => element.getBoundingClientRect().top")
    return top, await page.evaluate("innerHeight")


@pytest.mark.browser
@pytest.mark.parametrize("size", [(1280, 900), (390, 844)], ids=["desk", "phone"])
async def test_a_result_comes_into_view_in_place_of_the_other(start: Start, size: tuple[int, int]) -> None:
    async with opened(start, size=size) as page:
        await page.locator("#example").click()
        await said(page, "Judged")
        for selector in ("#status", "#verdict", "#scores .metric:first-child"):
            top, height = await place_of(page, selector)
            assert 0 <= top < height / 2, selector
        await page.locator("#summarize").click()
        await said(page, "Written by")
        top, height = await place_of(page, "#text a.claim >> nth=0")
        assert 0 <= top < height / 2
        assert await page.locator("#judgement").is_hidden()
        await page.locator("#use").click()
        await said(page, "Judged")
        assert await page.locator("#written").is_hidden()


@pytest.mark.browser
async def test_a_score_has_its_colour_and_state_and_a_claim_its_differing_values(start: Start) -> None:
    async with opened(start) as page:
        await page.locator("#example").click()
        await said(page, "Judged")
        metric = page.locator("#scores .metric").first
        fills = [await one.get_attribute("class") for one in await page.locator("#scores .bar-fill").all()]
        assert {"supported", "partial", "unsupported"} & {word for fill in fills for word in fill.split()}
        assert "confidence" in await metric.locator(".remarks").inner_text()
        await metric.locator("summary").click()
        assert "scale of 1 to 5" in await metric.locator(".why").inner_text()
        claim = page.locator("#claims .card", has_text="42 million")
        assert "the source has 4.2 million dollars" in await claim.locator(".doubt-line").inner_text()
        async with page.expect_download() as started:
            await page.locator("#save-judgement").click()
        saved = json.loads(await asyncio.to_thread(Path(await (await started.value).path()).read_text, "utf-8"))
        assert len(saved["evidence"]["claims"]) == await page.locator("#claims .card").count() == 3


@pytest.mark.browser
async def test_claims_come_fifty_at_a_time(start: Start) -> None:
    text = " ".join(f"Bridge {number} closes in May." for number in range(60))
    async with opened(start) as page:
        await page.locator("#source").fill(text)
        await page.locator("#summary").fill(text)
        await page.locator("#judge").click()
        await said(page, "Judged")
        assert await page.locator("#claims .card").count() == 50
        await page.locator("#more").click()
        assert await page.locator("#claims .card").count() == 60


@pytest.mark.browser
async def test_a_file_is_opened_or_refused_and_its_summary_is_shown_as_markdown(start: Start) -> None:
    async with opened(start) as page:
        source = page.locator("input[data-into=source]")
        await source.set_input_files({"name": "a.bin", "mimeType": "text/plain", "buffer": b"%PDF\0"})
        await said(page, "a.bin is no text")
        dropped = await page.evaluate_handle(DROP, NOTES)
        await page.locator("#source").dispatch_event("drop", {"dataTransfer": dropped})
        await said(page, "dropped.md: [0-9]+ characters")
        await source.set_input_files({"name": "notes.md", "mimeType": "text/plain", "buffer": NOTES.encode()})
        await said(page, "notes.md: [0-9]+ characters")
        await page.locator("#summarize").click()
        await said(page, "Written by")
        assert not {"#", "*", "`"} & set(await page.locator("#text").inner_text())
        async with page.expect_download() as started:
            await page.locator("#save-summary").click()
        assert (await started.value).suggested_filename == "summary.md"
        shown = await page.locator("#text").inner_text()
        assert [word in shown for word in ("Bridge", "every", "42 dollars")] == [True] * 3


@pytest.mark.browser
async def test_a_key_is_asked_for_where_the_server_has_keys(start: Start, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("a-key-of-somebody-1234567890 somebody\n", encoding="utf-8")
    async with opened(start, keys=keys) as page:
        assert await page.locator("#key").is_hidden()
        await page.locator("#example").click()
        await page.locator("#key").fill("a-key-of-somebody-1234567890")
        await page.locator("#judge").click()
        await said(page, "Judged")


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
        found = [await client.get(path) for path in ("/ui", "/ui/page.js", "/ui/page.css", "/ui/style.css", "/")]
        assert [one.status_code for one in found] == [200] * 5
        assert found[0].content == found[-1].content
        assert all("default-src 'none'; script-src 'self'" in one.headers["content-security-policy"] for one in found)
        assert found[1].headers["content-type"].startswith("text/javascript")
        assert "innerHTML" not in found[1].text
        for path in ("/ui", "/v1/models"):  # a name that a stranger's site may point to this machine
            assert (await client.get(path, headers={"host": "rebound.example.org"})).status_code == 400
