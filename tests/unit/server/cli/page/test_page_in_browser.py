"""The judge's report in a real Chromium: light and dark, wide and narrow, with and without its script.

Needs the extra `browser` and an installed Chromium (Debian, Ubuntu: apt install chromium); run with
`scripts/test --browser`. PRECIS_SCREENSHOTS=DIR also keeps pictures of the pages, for people to look at.
"""

import os
from pathlib import Path
from typing import Any

import pytest
from precis.v1 import judge_pb2 as pb

from server.cli.commands.judge import parse_floor
from server.cli.evaluate.evaluations import EvaluateTally
from server.cli.judge.judgements import Item, JudgeAnswer, JudgeTally
from tests.judgements import SOURCE, SUMMARY, judgement
from tests.unit.server.cli.evaluate.evaluations import answered, candidate, evaluation
from tests.unit.server.cli.page.conftest import WIDE, Open
from tests.unit.server.cli.page.many_claims import FIRST, SECOND, THIRD, long_judgement, page_of_one

pytestmark = pytest.mark.browser

CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8").split("\n", 1)[1]
IS_SEEN = """mark => {
  const box = mark.getBoundingClientRect();
  const pane = mark.closest(".source").getBoundingClientRect();
  return pane.top <= box.top && box.bottom <= pane.bottom && 0 <= box.top && box.bottom <= innerHeight;
}"""
NARROW = 360
PICTURE_HEIGHT = 3_000
MANY_WORDS = " ".join(["Unrelated sentence about the weather of the region."] * 400)
LONG_WORD = "Donaudampfschifffahrtsgesellschaftskapitän" * 6


def single(*, source: str = SOURCE, result: pb.JudgeResult | None = None) -> str:
    item = Item("summary.txt", source, SUMMARY)
    return page_of_one(item, result or judgement(), [parse_floor("hallucination=7")])


def bulk(count: int = 30) -> str:
    floors = [parse_floor("twin-lock:coverage=9")]
    tally = JudgeTally(floors, keeps_page=True)
    for number in range(count):
        name = f"article-{number}-{LONG_WORD if number == 0 else ''}"
        item, result = (
            long_judgement(number, omitted=number % 2, name=name)
            if number
            else (Item(name, SOURCE, SUMMARY), judgement())
        )
        for framework in result.frameworks:
            framework.mean_score = number % 10
        answer = JudgeAnswer(item.id, item, result, None, "")
        tally.add(answer)
    return tally.render()


def lengthened(words: str) -> tuple[str, pb.JudgeResult]:
    """A source that begins with many other words, and the judgement whose spans lie behind them."""
    result = judgement()
    for claim in result.evidence.claims:
        for span in (claim.premise, claim.support, *(mismatch.source for mismatch in claim.mismatches)):
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


@pytest.mark.parametrize("width", [WIDE, NARROW])
async def test_a_click_shows_what_contradicts_a_claim_and_what_was_checked(open_page: Open, width: int) -> None:
    source, result = lengthened(MANY_WORDS)
    async with open_page(single(source=source, result=result), width=width) as page:
        assert await lit(page) == []
        await page.locator("a.claim.unsupported").click()
        assert await lit(page) == [THIRD]
        assert "".join(await page.locator(".piece.premise").all_text_contents()) == SOURCE[SOURCE.index(THIRD) :]
        assert await page.locator(".piece.against").evaluate(IS_SEEN)
        assert "contradicted by" in await page.locator(".chosen").inner_text()
        assert await page.evaluate("location.hash") == ""


async def test_keys_do_what_clicks_do(open_page: Open) -> None:
    async with open_page(single()) as page:
        await page.locator("a.claim").first.focus()
        await page.keyboard.press("Enter")
        assert await lit(page) == [FIRST]
        await page.keyboard.press("ArrowRight")
        assert "".join(await lit(page)) == SECOND
        assert await page.evaluate("document.activeElement.dataset.claim") == "2"
        assert await page.locator("[aria-current='true']").get_attribute("data-claim") == "2"
        await page.keyboard.press("End")
        assert await lit(page) == [THIRD]
        await page.keyboard.press("Home")
        assert await lit(page) == [FIRST]


async def test_the_claims_of_a_summary_are_one_stop_of_the_tab_key(open_page: Open) -> None:
    async with open_page(page_of_one(*long_judgement(40))) as page:
        assert await page.locator("a.claim:not([tabindex='-1'])").count() == 1
        await page.locator("a.claim").nth(7).click()
        assert await page.locator("a.claim:not([tabindex='-1'])").get_attribute("data-claim") == "8"


async def test_the_worst_claim_is_one_click_away(open_page: Open) -> None:
    async with open_page(page_of_one(*long_judgement(200))) as page:
        await page.locator(".verdict a").click()
        card = page.locator(".card.current")
        assert await card.get_attribute("data-claim") == "12"
        assert await card.evaluate(
            "card => { const box = card.getBoundingClientRect(); return box.top >= 0 && box.top < innerHeight; }"
        )
        assert await lit(page) == ["Station 11 of the line was opened in 1811 by mayor 11."]


async def test_claims_are_filtered_by_label_and_words(open_page: Open) -> None:
    async with open_page(page_of_one(*long_judgement(40))) as page:
        cards = page.locator(".card:visible")
        assert await cards.count() == 40
        await page.locator(".legend input[value='supported']").uncheck()
        assert await cards.count() == 20
        assert await page.locator("output.shown").inner_text() == "20 of 40 claims"
        await page.locator(".find").fill("STATION 3")
        assert await cards.evaluate_all("all => all.map(card => card.dataset.claim)") == [
            "4",
            "31",
            "32",
            "35",
            "36",
            "39",
            "40",
        ]
        assert await page.locator("a.claim:not(.off)").count() == 7
        await page.locator("a.claim").first.focus()
        await page.keyboard.press("ArrowRight")
        assert await page.evaluate("document.activeElement.dataset.claim") == "4"  # the first that is not filtered out
        await page.locator(".source a.ref").nth(1).click()
        assert await cards.count() == 40  # what is chosen is shown
        assert await page.locator(".card.current").get_attribute("data-claim") == "2"


async def test_items_are_filtered_and_sorted(open_page: Open) -> None:
    async with open_page(bulk(20)) as page:
        rows, items = page.locator(".items tbody tr:visible"), page.locator(".item:visible")

        async def fits(count: int) -> None:
            assert (await rows.count(), await items.count()) == (count, count)

        await fits(20)
        await page.locator("#index .find").fill("article-1")
        await fits(11)
        await page.locator("#index .status").select_option("partial")
        await fits(6)  # 1, 11, 13, 15, 17, 19
        await page.locator("#index .at-most").fill("3.5")
        await fits(3)  # 1, 11, 13
        await page.locator("#index .at-least").fill("3")
        await fits(1)
        assert await page.locator("#index output").inner_text() == "1 of 20 items"
        for name in ("find", "at-most", "at-least"):
            await page.locator(f"#index .{name}").fill("")
        await page.locator("#index .status").select_option("")
        await fits(20)
        heading = page.locator("th", has_text="unsupported claims")
        await heading.locator("button").click()
        await heading.locator("button").click()
        counts = [int(text) for text in await page.locator("#index .high-cell").all_text_contents()]
        assert counts == sorted(counts, reverse=True)
        assert await heading.get_attribute("aria-sort") == "descending"


async def test_fifty_items_are_shown_whole_then_more_and_a_link_reaches_each(open_page: Open) -> None:
    async with open_page(bulk(60)) as page:
        items, more = page.locator(".item:visible"), page.locator(".more-items")
        assert (await items.count(), await page.locator(".items tbody tr:visible").count()) == (50, 60)
        assert await more.inner_text() == "Show more: 50 of 60 items are shown whole"
        await page.locator(".index a[href='#item-55']").click()
        assert await page.locator("#item-55").is_visible()
        await more.click()
        assert (await items.count(), await more.is_hidden()) == (60, True)


async def test_without_its_script_everything_is_listed_and_the_links_do_it(open_page: Open) -> None:
    source, result = lengthened(MANY_WORDS)
    async with open_page(single(source=source, result=result), script=False) as page:
        assert await page.locator(".card:visible").count() == 3
        assert await page.locator(".tools :is(input, select):visible").count() == 0
        await page.locator("a.claim.partial").click()
        assert (
            await page.locator(".card[data-claim='2']").evaluate("card => getComputedStyle(card).outlineStyle")
            == "solid"
        )
        await page.locator(".card[data-claim='2'] a.from").click()
        assert "".join(await lit(page)) == SECOND
        assert await page.locator(".source mark", has_text="$71 million").is_visible()
        await page.locator("details summary").first.click()
        assert await page.locator(".why").first.is_visible()


async def test_arabic_is_read_from_right_to_left_paragraph_by_paragraph(open_page: Open) -> None:
    summary = "A line.\nبنيت المحطة في 1803."
    item, result = long_judgement(1)
    claim = result.evidence.claims[0].passage
    claim.start, claim.end, claim.text = summary.index("ب"), len(summary), summary[summary.index("ب") :]
    async with open_page(page_of_one(Item("x", item.source, summary), result)) as page:
        box = await page.locator(".marked").bounding_box()
        badge = await page.locator(".marked .badge").bounding_box()
        assert badge["x"] > box["x"] + box["width"] / 2  # the claim begins at the right
        text = await page.locator(".card .claim-text").inner_text()
        assert text == claim.text


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
