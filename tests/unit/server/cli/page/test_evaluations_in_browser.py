"""The page of `precis evaluate --report` in a real Chromium. See test_page_in_browser.py."""

from pathlib import Path

import pytest

from server.cli.evaluate.evaluations import EvaluateTally
from tests.unit.server.cli.evaluate.evaluations import answered, candidate, evaluation
from tests.unit.server.cli.page.conftest import Open

pytestmark = pytest.mark.browser

CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8").split("\n", 1)[1]
NARROW = 360


async def test_evaluations_can_be_read_on_a_phone_filtered_and_sorted(open_page: Open) -> None:
    tally = EvaluateTally(keeps_page=True)
    for number in range(10):
        answer = answered(candidate(f"item {number}", category=("News", "Law")[number % 2]), evaluation(number / 10))
        tally.add(answer)
    async with open_page(tally.render(), dark=True, width=NARROW) as page:
        assert (await page.evaluate(CONTRAST))["found"] == []
        assert await page.evaluate("document.documentElement.scrollWidth") <= NARROW
        rows, items = page.locator(".items tbody tr:visible"), page.locator(".item:visible")
        await page.locator("#index .category").select_option("News")
        assert (await rows.count(), await items.count()) == (5, 5)
        await page.locator("#index .at-least").fill("0.4")
        assert (await rows.count(), await items.count()) == (3, 3)
        await page.locator(".items th", has_text="loss").locator("button").click()
        assert await rows.locator("th").all_text_contents() == ["item 4", "item 6", "item 8"]
        await page.locator(".item:visible a.claim").first.click()
        assert await page.locator(".card:target").count() == 1
