"""Reading: three languages, keys, versions of a kernel, terms, search, no script at all."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import STEP, signed_in
from tests.stack import Stack

FIRST = "/{}/rmsnorm/what-and-why/"


@pytest.mark.parametrize("language", ["en", "fr", "tr"])
def test_a_lesson_is_read_from_its_first_step_to_its_last(page: Page, language: str) -> None:
    page.goto(FIRST.format(language))
    expect(page.locator("html")).to_have_attribute("lang", language)
    count = page.locator(".steps .tick").count()
    titles = []
    for number in range(1, count + 1):
        expect(page.locator(".steps .count")).to_have_text(f"{number} / {count}")
        titles.append(page.locator("h1").inner_text())
        expect(page.locator(".fallback, .read > .tag")).to_have_count(0)
        page.wait_for_load_state()  # a key that comes before the script is nobody's
        if number < count:
            page.keyboard.press("ArrowRight")
            expect(page.locator(".steps .count")).to_have_text(f"{number + 1} / {count}")
    assert len(set(titles)) == count


def test_the_language_changes_and_the_step_stays(page: Page) -> None:
    page.goto(STEP)
    page.locator("[data-menu] summary").first.click()
    page.locator("button[lang=tr]").click()
    expect(page).to_have_url(re.compile(STEP.replace("/en/", "/tr/") + "$"))
    expect(page.locator("html")).to_have_attribute("lang", "tr")


def test_the_arrow_keys_do_not_turn_the_page_while_somebody_types(page: Page) -> None:
    page.goto(STEP)
    page.locator(".ask input[type=text]").first.press("ArrowRight")
    page.wait_for_timeout(200)
    expect(page).to_have_url(re.compile(STEP + "$"))


def test_a_term_explains_itself_where_it_stands(page: Page) -> None:
    page.goto(STEP)
    term = page.locator("a.term").first
    term.focus()
    expect(page.locator(".term-note")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".term-note")).to_be_hidden()


def test_the_keys_are_listed_and_slash_leads_to_the_search(page: Page) -> None:
    page.goto(STEP)
    page.keyboard.press("?")
    expect(page.locator("dialog[data-keys]")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    expect(page).to_have_url(re.compile("/en/search/$"))


def test_the_search_answers_as_one_types(page: Page) -> None:
    page.goto("/en/search/")
    page.locator("input[type=search]").press_sequentially("tolerance")
    expect(page.locator(".hits li").first).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?q=tolerance"))


def test_a_lesson_is_read_and_answered_without_a_script(browser: Browser, stack: Stack) -> None:
    context = browser.new_context(base_url=stack.url, java_script_enabled=False)
    page = context.new_page()
    page.goto(STEP)
    expect(page.locator(".grid .cell")).to_have_count(72)
    page.locator(".ask input[type=text]").first.fill("1")
    page.locator(".ask input[type=text]").nth(1).fill("0.502")
    page.locator(".ask input[type=radio]").last.check()
    page.locator(".ask .actions button").first.click()
    expect(page.locator(".ask .result").first).to_be_visible()
    context.close()


CUT = """() => [...document.querySelectorAll("main .scroll, main math[display=block]")]
    .filter((one) => one.scrollWidth > one.clientWidth)
    .filter((one) => ![one.previousElementSibling, one.nextElementSibling]
        .some((by) => by?.matches(".sideways") && by.offsetHeight))
    .map((one) => one.outerHTML.slice(0, 80))"""
TABLE = """() => {
    const box = document.querySelector(".calculator .scroll");
    const edge = box.getBoundingClientRect().right;
    const named = document.createRange();
    named.selectNodeContents(box.querySelector("caption"));
    return [
        named.getBoundingClientRect().right <= edge,
        [...box.querySelectorAll("th:has(> .swatch)")].every((cell) => {
            const name = document.createRange();
            name.selectNodeContents(cell.lastChild);
            const [line] = name.getClientRects();
            const square = cell.querySelector(".swatch").getBoundingClientRect();
            return square.top >= line.top - 2 && square.bottom <= line.bottom + 2
                && square.right <= line.left;
        }),
    ];
}"""


def test_on_a_phone_nothing_is_cut_without_a_word(
    browser: Browser, stack: Stack, made: dict[str, Any]
) -> None:
    phone = {"width": 390, "height": 844}
    context = signed_in(browser, stack, made["sessions"]["passed"], viewport=phone)
    page = context.new_page()
    for address in (
        "/fr/rmsnorm/forward/two-sizes/", "/fr/andrea/memory/what-if/", "/fr/runs/",
        "/tr/andrea/backprop/twins/",
    ):  # fmt: skip
        page.goto(address)
        page.wait_for_timeout(300)
        assert page.locator(".sideways:visible").count() > 0, address
        assert page.evaluate(CUT) == [], address
        page.set_viewport_size({"width": 1440, "height": 900})
        expect(page.locator(".sideways:visible")).to_have_count(0)
        page.set_viewport_size(phone)
    page.goto("/fr/andrea/memory/what-if/")
    assert page.evaluate(TABLE) == [True, True]
    page.goto("/en/rmsnorm/forward/two-sizes/")
    run, onward = (page.locator(one).bounding_box() for one in ("[data-run]", ".turn"))
    assert run and onward and run["y"] < onward["y"]
    context.close()
