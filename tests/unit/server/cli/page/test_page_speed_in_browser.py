"""Large pages in a real Chromium: the work grows with the claims and the items, not with their square.

What is measured are counts, never a time. Needs what `test_page_in_browser.py` needs.
"""

from typing import Any

import pytest

from server.cli.judge.judgements import JudgeAnswer, JudgeTally
from tests.unit.server.cli.page.conftest import HEIGHT, Open
from tests.unit.server.cli.page.many_claims import long_judgement, page_of_one

pytestmark = pytest.mark.browser

SMALL, LARGE = 250, 1_000
FILTER = """words => {
  const find = document.querySelector(".item .find");
  find.value = words;
  find.dispatchEvent(new Event("input", { bubbles: true }));
  return document.body.offsetHeight;
}"""
TOP = """async () => {
  for (let frame = 0; frame < 10; frame += 1) await new Promise(requestAnimationFrame);
  return document.querySelector(":target").getBoundingClientRect().top;
}"""


async def layouts(page: Any) -> float:  # noqa: ANN401 - a page of Playwright
    """How often a page has been laid out so far."""
    session = await page.context.new_cdp_session(page)
    await session.send("Performance.enable")
    metrics = (await session.send("Performance.getMetrics"))["metrics"]
    return next(float(metric["value"]) for metric in metrics if metric["name"] == "LayoutCount")


async def test_a_filter_does_not_lay_the_page_out_for_each_claim(open_page: Open) -> None:
    async with open_page(page_of_one(*long_judgement(LARGE))) as page:
        await page.evaluate(FILTER, "")
        before = await layouts(page)
        await page.evaluate(FILTER, "17")
        assert await layouts(page) - before <= 10  # one, and what the browser does between frames


async def test_a_claim_and_an_item_cost_few_elements(open_page: Open) -> None:
    count_all = "document.querySelectorAll('*').length"
    counts = {}
    for count in (SMALL, LARGE):
        async with open_page(page_of_one(*long_judgement(count))) as page:
            counts[count] = await page.evaluate(count_all)
    assert (counts[LARGE] - counts[SMALL]) / (LARGE - SMALL) <= 25, counts


async def test_five_hundred_items_are_shown_whole_and_filtered_in_one_go(open_page: Open) -> None:
    tally = JudgeTally(keeps_page=True)
    for number in range(500):
        item, result = long_judgement(3 + number % 5, name=f"article-{number}")
        answer = JudgeAnswer(item.id, item, result, None, "")
        tally.add(answer)
    async with open_page(tally.render()) as page:
        assert await page.locator(".item").count() == 500
        before = await layouts(page)
        await page.evaluate(FILTER.replace(".item .find", "#index .find"), "article-49")
        assert await layouts(page) - before <= 10
        assert await page.locator(".item:not([hidden])").count() == 11
        await page.locator(".index a:visible").last.click()
        assert abs(await page.evaluate(TOP)) < HEIGHT / 2
