"""Large pages in a real Chromium: the work grows with the claims and the items, not with their square.

What is measured is the CPU time of the page's thread, as a ratio of two sizes, and counts; never a time alone. Needs
what `test_page_in_browser.py` needs.
"""

from typing import Any

import pytest

from server.cli.judge.judgements import JudgeAnswer, JudgeTally
from tests.unit.server.cli.page.conftest import HEIGHT, Open
from tests.unit.server.cli.page.many_claims import long_judgement, page_of_one

pytestmark = pytest.mark.browser

SMALL, LARGE = 250, 1_000
MOST_RATIO = 2.5 * LARGE / SMALL  # linear is 4; the square is 16
ROUNDS = 3  # the least counts: others share the machine
FILTER = """words => {
  const find = document.querySelector(".item .find");
  find.value = words;
  find.dispatchEvent(new Event("input", { bubbles: true }));
  return document.body.offsetHeight;
}"""
SORT = """order => {
  const sort = document.querySelector(".item .sort");
  sort.value = order;
  sort.dispatchEvent(new Event("input", { bubbles: true }));
  return document.body.offsetHeight;
}"""
TOP = """async () => {
  for (let frame = 0; frame < 10; frame += 1) await new Promise(requestAnimationFrame);
  return document.querySelector(":target").getBoundingClientRect().top;
}"""
CHOOSE = """number => {
  document.querySelector(`a.claim[data-claim="${number}"]`).click();
  return document.body.offsetHeight;
}"""


class Work:
    """What the thread of a page has done so far."""

    def __init__(self, session: Any) -> None:  # noqa: ANN401 - a session of Playwright
        self._session = session

    @classmethod
    async def of(cls, page: Any) -> "Work":  # noqa: ANN401 - a page of Playwright
        session = await page.context.new_cdp_session(page)
        await session.send("Performance.enable", {"timeDomain": "threadTicks"})
        return cls(session)

    async def done(self) -> dict[str, float]:
        metrics = (await self._session.send("Performance.getMetrics"))["metrics"]
        return {metric["name"]: metric["value"] for metric in metrics}


async def least_cpu(page: Any, script: str, *arguments: object) -> float:  # noqa: ANN401 - a page of Playwright
    """The CPU time of running a script with each argument, the least of a few rounds."""
    work, seconds = await Work.of(page), []
    for _ in range(ROUNDS):
        before = (await work.done())["ThreadTime"]
        for argument in arguments:
            await page.evaluate(script, argument)
        seconds.append((await work.done())["ThreadTime"] - before)
    return min(seconds)


@pytest.mark.parametrize(
    ("script", "arguments"),
    [(FILTER, ("17", "", "zzz", "")), (SORT, ("worst", "best", "place")), (CHOOSE, (3, 80, 240, 8))],
    ids=["filter", "sort", "choose"],
)
async def test_what_a_reader_does_takes_time_that_grows_with_the_claims_alone(
    open_page: Open, script: str, arguments: tuple[object, ...]
) -> None:
    seconds = {}
    for count in (SMALL, LARGE):
        async with open_page(page_of_one(*long_judgement(count))) as page:
            seconds[count] = await least_cpu(page, script, *arguments)
    assert seconds[LARGE] / seconds[SMALL] < MOST_RATIO, seconds


async def test_a_page_is_ready_after_time_that_grows_with_the_claims_alone(open_page: Open) -> None:
    seconds = {}
    for count in (SMALL, LARGE):
        async with open_page(page_of_one(*long_judgement(count))) as page:
            work, taken = await Work.of(page), []
            for _ in range(ROUNDS):
                await page.reload()
                taken.append((await work.done())["ThreadTime"])  # counted since the page was asked for
            seconds[count] = min(taken)
    assert seconds[LARGE] / seconds[SMALL] < MOST_RATIO, seconds


async def test_a_filter_does_not_lay_the_page_out_for_each_claim(open_page: Open) -> None:
    async with open_page(page_of_one(*long_judgement(LARGE))) as page:
        await page.evaluate(FILTER, "")
        work = await Work.of(page)
        before = (await work.done())["LayoutCount"]
        await page.evaluate(FILTER, "17")
        assert (await work.done())["LayoutCount"] - before <= 10  # one, and what the browser does between frames


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
        work = await Work.of(page)
        before = (await work.done())["LayoutCount"]
        await page.evaluate(FILTER.replace(".item .find", "#index .find"), "article-49")
        assert (await work.done())["LayoutCount"] - before <= 10
        assert await page.locator(".item:not([hidden])").count() == 11
        await page.locator(".index a:visible").last.click()
        assert abs(await page.evaluate(TOP)) < HEIGHT / 2
