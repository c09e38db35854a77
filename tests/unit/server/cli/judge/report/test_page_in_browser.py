"""The judge's report in a real Chromium: light and dark, wide and narrow, with and without its script.

Needs the extra `browser` and an installed Chromium (Debian, Ubuntu: apt install chromium); run with
`scripts/test --browser`. PRECIS_SCREENSHOTS=DIR also keeps pictures of the pages, for people to look at.
"""

import importlib
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest
from precis.v1 import judge_pb2 as pb

from server.cli.judge.floors import parse_floor
from server.cli.judge.items import Item
from server.cli.judge.report.page import BulkReport, ReportedItem, render_report
from server.cli.judge.tally import JudgeAnswer, JudgeTally
from tests.judgements import SOURCE, SUMMARY, judgement

pytestmark = pytest.mark.browser

CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8").split("\n", 1)[1]
IS_SEEN = """mark => {
  const box = mark.getBoundingClientRect();
  const pane = mark.closest(".source").getBoundingClientRect();
  return pane.top <= box.top && box.bottom <= pane.bottom && 0 <= box.top && box.bottom <= innerHeight;
}"""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDE, NARROW = 1280, 360
PICTURE_HEIGHT = 3_000
MANY_WORDS = " ".join(["Unrelated sentence about the weather of the region."] * 400)
LONG_WORD = "Donaudampfschifffahrtsgesellschaftskapitän" * 6


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
                viewport={"width": width, "height": 800},
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
            assert complaints == [file.as_uri()]
            await context.close()

        yield open_one
        await browser.close()


def single(*, source: str = SOURCE, result: pb.JudgeResult | None = None) -> str:
    item = Item("summary.txt", source, SUMMARY)
    return render_report([ReportedItem(item, result or judgement())], [parse_floor("hallucination=7")])


def bulk() -> str:
    floors = [parse_floor("twin-lock:coverage=9")]
    report, tally = BulkReport(floors), JudgeTally(floors)
    for number in range(30):
        item = Item(f"article-{number}-{LONG_WORD if number == 0 else ''}", SOURCE, SUMMARY)
        answer = JudgeAnswer(item.id, item, judgement(), None, "")
        report.add(answer)
        tally.add(answer)
    return report.render(tally)


def lengthened(words: str) -> tuple[str, pb.JudgeResult]:
    """A source that begins with many other words, and the judgement whose spans lie behind them."""
    result = judgement()
    for claim in result.evidence.claims:
        for span in (claim.support, *(mismatch.source for mismatch in claim.mismatches)):
            span.start, span.end = span.start + len(words), span.end + len(words)
    return words + SOURCE, result


async def keep_picture(page: Any, name: str) -> None:  # noqa: ANN401 - a page of Playwright
    folder = os.environ.get("PRECIS_SCREENSHOTS")
    if folder:
        height = min(await page.evaluate("document.documentElement.scrollHeight"), PICTURE_HEIGHT)
        clip = {"x": 0, "y": 0, "width": page.viewport_size["width"], "height": height}
        await page.screenshot(path=Path(folder, f"{name}.png"), full_page=True, clip=clip)


async def lit(page: Any) -> list[str]:  # noqa: ANN401 - as above
    """The passages of the source that are underlined."""
    script = "marks => marks.filter(mark => getComputedStyle(mark).boxShadow != 'none').map(mark => mark.textContent)"
    found: list[str] = await page.locator(".source mark").evaluate_all(script)
    return found


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("kind", ["single", "bulk"])
async def test_texts_can_be_read_and_nothing_sticks_out(open_page: Open, kind: str, width: int, *, dark: bool) -> None:
    html = single() if kind == "single" else bulk()
    async with open_page(html, dark=dark, width=width) as page:
        await page.locator("a.claim").first.click()
        await keep_picture(page, f"{kind}-{'dark' if dark else 'light'}-{width}")
        await page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
        measured = await page.evaluate(CONTRAST)
        assert measured["count"] > 100
        assert measured["found"] == []
        assert await page.evaluate("document.documentElement.scrollWidth") <= width
        await keep_picture(page, f"{kind}-open-{'dark' if dark else 'light'}-{width}")


async def test_long_texts_and_long_words_stay_inside(open_page: Open) -> None:
    source, result = lengthened(LONG_WORD + " ")
    result.frameworks[0].metrics[0].reason = LONG_WORD
    async with open_page(single(source=source, result=result), width=NARROW) as page:
        await page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
        assert await page.evaluate("document.documentElement.scrollWidth") <= NARROW


@pytest.mark.parametrize("width", [WIDE, NARROW])
async def test_a_click_shows_what_contradicts_a_claim(open_page: Open, width: int) -> None:
    source, result = lengthened(MANY_WORDS)
    async with open_page(single(source=source, result=result), width=width) as page:
        assert await lit(page) == []
        await page.locator("a.claim.unsupported").click()
        assert [text.split()[:2] for text in await lit(page)] == [["The", "auditor"]]
        passage = page.locator(".source mark[data-against='3']")
        await passage.wait_for()
        assert await passage.evaluate(IS_SEEN)
        assert await page.evaluate("location.hash") == ""


async def test_keys_do_what_clicks_do(open_page: Open) -> None:
    async with open_page(single()) as page:
        await page.locator("a.claim").first.focus()
        await page.keyboard.press("Enter")
        assert [text[:40] for text in await lit(page)] == ["The city of Harlow Falls replaced 9,300 "]
        await page.keyboard.press("ArrowRight")
        assert "".join(await lit(page)) == "The work cost $71 million, which is 12 percent more than planned."
        assert await page.evaluate("document.activeElement.dataset.claim") == "2"
        assert await page.locator("[aria-current='true']").get_attribute("data-claim") == "2"


async def test_without_its_script_the_links_do_it(open_page: Open) -> None:
    source, result = lengthened(MANY_WORDS)
    async with open_page(single(source=source, result=result), script=False) as page:
        await page.locator("a.claim.partial").click()
        passage = page.locator(".source mark[data-closest='2']").first
        shadow = await passage.evaluate("mark => getComputedStyle(mark).boxShadow")
        assert shadow != "none"
        assert await passage.is_visible()
        await page.locator("details summary").first.click()
        assert await page.locator(".why").first.is_visible()
