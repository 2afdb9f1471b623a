"""What the desk says stays no longer than its reason, and the tab is called what it shows."""

from typing import Any

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser import test_grading as grading
from tests.browser.test_grading import queue, ref, turned

rooms, room, context = grading.rooms, grading.room, grading.context

SELECT = """(quote) => {
  const text = document.querySelector("[data-text]");
  const node = text.firstChild;
  const from = node.data.indexOf(quote);
  getSelection().setBaseAndExtent(node, from, node, from + quote.length);
}"""


def called(page: Page) -> None:
    """The tab has the title of the desk on screen, which a reload would give it too."""
    title = page.locator("[data-desk]").get_attribute("data-title")
    expect(page).to_have_title(title or "?")
    assert ref(page) in (title or "") and ref(page) in page.url


def refused(page: Page, context: BrowserContext, first: str, where: str) -> None:
    """Grade `first` in another tab, and then in this one, which does not know of it."""
    other = context.new_page()
    other.goto(where)
    other.keyboard.press("2")
    other.locator("[name=do][value=stay]").click()
    expect(other.locator(".desk .hint", has_text="Graded by")).to_be_visible()
    other.close()
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    turned(page, first)


def test_a_refused_grade_is_shown_under_its_own_title(
    page: Page, context: BrowserContext, room: dict[str, Any]
) -> None:
    page.goto(queue(room, room["asked"], "next"))
    first, where = ref(page), page.url
    called(page)
    refused(page, context, first, where)
    called(page)
    notice = page.locator("[data-said]")
    expect(notice).to_contain_text(first)
    notice.locator("button").click()
    expect(page.locator("[data-desk]")).to_have_attribute("data-ref", first)
    called(page)
    expect(page.locator(".conflict")).to_contain_text("You have graded this answer already")
    expect(notice).to_be_empty()
    page.go_back()
    turned(page, first)
    called(page)


def test_a_grade_stored_after_all_takes_its_notice_away(
    page: Page, context: BrowserContext, room: dict[str, Any]
) -> None:
    page.goto(queue(room, room["asked"], "next"))
    first, where = ref(page), page.url
    refused(page, context, first, where)
    notice = page.locator("[data-said]")
    expect(notice).to_contain_text(first)
    page.keyboard.press("k")
    expect(page.locator("[data-desk]")).to_have_attribute("data-ref", first)
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    expect(notice).to_be_empty()


def test_selecting_a_passage_answers_the_sentence_that_asks_for_one(
    page: Page, room: dict[str, Any]
) -> None:
    page.goto(queue(room, room["asked"], "next"))
    notice = page.locator("[data-said]")
    page.keyboard.press("c")
    expect(notice).to_contain_text("Select a passage")
    words = page.locator("[data-text]").first.inner_text()[:12]
    page.evaluate(SELECT, words)
    expect(notice).to_be_empty()
    page.keyboard.press("c")
    expect(page.locator("[data-passage-item] [data-quote]")).to_have_text(words)
    expect(notice).to_be_empty()
