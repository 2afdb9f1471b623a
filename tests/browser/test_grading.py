"""The grading queue in a browser: by keyboard from the first answer to the empty queue."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import signed_in
from tests.stack import ROOT, Stack

DESK = {"width": 1440, "height": 900}


@pytest.fixture(scope="module")
def rooms(stack: Stack) -> list[dict[str, Any]]:
    """A cohort for each test: six answers wait, two of which say the same."""
    command = [sys.executable, "-m", "tests.browser.queued", "12"]
    done = subprocess.run(command, cwd=ROOT, env=stack.env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.fixture
def room(rooms: list[dict[str, Any]]) -> dict[str, Any]:
    return rooms.pop()


@pytest.fixture
def context(browser: Browser, stack: Stack, room: dict[str, Any]) -> Iterator[BrowserContext]:
    made = signed_in(browser, stack, room["graders"][0], viewport=DESK)
    yield made
    made.close()


def queue(room: dict[str, Any], *more: str) -> str:
    return "/".join(("/en/classroom", room["cohort"], "queue", *more, ""))


def ref(page: Page) -> str:
    return page.locator("[data-desk]").get_attribute("data-ref") or ""


def turned(page: Page, before: str) -> None:
    expect(page.locator(f'[data-desk]:not([data-ref="{before}"])')).to_have_count(1)


def test_a_queue_is_graded_end_to_end_by_keyboard_alone(page: Page, room: dict[str, Any]) -> None:
    page.goto(queue(room, room["asked"]))
    page.locator(".toolrow .button").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/grade/**")
    desk = page.locator("[data-desk]")
    seen = set()
    for turn in range(6):
        here = ref(page)
        assert here not in seen
        seen.add(here)
        expect(desk.locator("[data-marks]")).to_contain_text("/ 9")
        if turn == 0:
            page.keyboard.press("?")
            expect(page.locator("dialog[open]")).to_contain_text("comment on the selected passage")
            page.keyboard.press("Escape")
            expect(page.locator("dialog[open]")).to_have_count(0)
            page.keyboard.press("r")
            expect(page.locator(".rests .panel .verdict")).to_contain_text("Passed", timeout=20_000)
            expect(page.locator(".rests .made")).to_contain_text("seed 1")
        if turn == 4:
            page.keyboard.press("u")
        else:
            page.keyboard.press("1")
            page.keyboard.press("2")
            expect(desk.locator("[name=point]:checked")).to_have_count(2)
        page.keyboard.press("m")
        page.keyboard.type(f"**Turn** {turn}: j k z 1 are letters here")
        if turn == 0:
            page.keyboard.press("Escape")
            page.keyboard.press("a")
            page.keyboard.type("-0,5")
            page.keyboard.press("Escape")
            page.keyboard.press("Enter")
        else:
            page.keyboard.press("Control+Enter")
        if turn < 5:
            turned(page, here)
            expect(desk.locator("[data-left]")).to_have_text(f"{5 - turn} left")
    expect(page.locator(".nothing")).to_contain_text(
        "Every answer to this question has been graded"
    )
    page.goto(queue(room, room["asked"]) + "?part=graded")
    expect(page.locator(".answers .marks")).to_have_count(5)
    page.goto(queue(room, room["asked"]) + "?part=ungradable")
    expect(page.locator(".answers > li")).to_have_count(1)


def test_turning_undoing_and_what_was_begun(page: Page, room: dict[str, Any]) -> None:
    page.goto(queue(room, room["asked"], "next"))
    first = ref(page)
    page.keyboard.press("m")
    page.keyboard.type("Begun, not stored")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    turned(page, first)
    # Whoever listens is led to the new answer; nobody sees a ring around what no key leads to.
    top = page.locator("[data-top]")
    expect(top).to_be_focused()
    expect(top).to_have_css("outline-style", "none")
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("k")
    expect(page.locator("[data-desk]")).to_have_attribute("data-ref", first)
    expect(page.locator("[data-comment]")).to_have_value("Begun, not stored")
    expect(page.locator("[data-said]")).to_contain_text("is back in the form")
    page.keyboard.press("Control+Enter")
    turned(page, first)
    expect(page.locator("[data-undo]")).to_be_visible()
    page.keyboard.press("z")
    expect(page.locator(".messages")).to_contain_text("Your last grade is taken back")
    expect(page.locator("[data-desk]")).to_have_attribute("data-ref", first)
    expect(page.locator("[data-comment]")).to_have_value("")
    page.go_back()
    expect(page.locator("[data-desk]")).to_be_visible()


def test_the_next_answer_is_there_before_it_is_asked_for(page: Page, room: dict[str, Any]) -> None:
    with page.expect_response(lambda r: "/grade/" in r.url and r.request.resource_type == "fetch"):
        page.goto(queue(room, room["asked"], "next"))
    page.wait_for_load_state("networkidle")
    page.route("**/grade/**", lambda route: None)  # nothing is answered any more
    before = ref(page)
    page.keyboard.press("j")
    turned(page, before)
    took = page.evaluate("performance.getEntriesByName('turned').at(-1).duration")
    assert took < 100


def test_a_key_pressed_twice_turns_once_and_a_grade_is_sent_once(
    page: Page, room: dict[str, Any]
) -> None:
    page.add_init_script("window.requestIdleCallback = () => 0")  # nothing is fetched ahead
    page.goto(queue(room, room["asked"], "next"))
    first = ref(page)
    held: list[Any] = []
    page.route("**/grade/**", lambda route: held.append(route))
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("[data-desk]")).to_have_attribute("data-ref", first)
    for route in held:
        route.continue_()
    page.unroute("**/grade/**")
    turned(page, first)
    sent: list[str] = []
    page.on("request", lambda asked: sent.append(asked.url) if asked.method == "POST" else None)
    second = ref(page)
    page.keyboard.press("1")
    page.locator("[data-judgement] [data-save]").click()
    turned(page, second)
    page.wait_for_load_state("networkidle")
    assert len([url for url in sent if "/grade/" in url]) == 1


def test_a_passage_is_commented_on_where_it_stands(page: Page, room: dict[str, Any]) -> None:
    page.goto(queue(room, room["asked"], "next"))
    page.keyboard.press("c")
    expect(page.locator("[data-said]")).to_contain_text("Select a passage of the answer first")
    page.evaluate(
        """() => {
          const text = document.querySelector("[data-text]").firstChild;
          getSelection().setBaseAndExtent(text, 3, text, 12);
        }"""
    )
    quote = page.evaluate("getSelection().toString()")
    page.keyboard.press("c")
    page.keyboard.type("Say which.")
    page.locator("[name=do][value=stay]").click()
    expect(page.locator(".script mark")).to_have_text(quote)
    expect(page.locator("[data-passage-item] textarea")).to_have_value("Say which.")


def test_identical_answers_are_graded_as_one_and_undone(page: Page, room: dict[str, Any]) -> None:
    page.goto(queue(room, room["asked"], "next"))
    for _ in range(6):
        if page.locator("[data-group]").count():
            break
        here = ref(page)
        page.keyboard.press("j")
        turned(page, here)
    page.keyboard.press("g")
    expect(page.locator("[data-save]")).to_contain_text("Grade 2 answers")
    page.wait_for_load_state()  # its keys are there by then
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".messages")).to_contain_text("2 answers graded with one decision")
    page.locator(".decided button").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".messages")).to_contain_text("2 answers wait again")


def test_the_rubric_is_edited_over_the_desk_and_ticks_stay(
    page: Page, room: dict[str, Any]
) -> None:
    page.goto(queue(room, room["asked"], "next"))
    page.keyboard.press("2")
    page.locator("[data-rubric-edit]").focus()
    page.keyboard.press("Enter")
    dialog = page.locator("dialog[open]")
    dialog.locator("#new-text").fill("Names both divisors")
    dialog.locator("#new-points").fill("0,5")
    dialog.locator(".add button").click()
    expect(dialog.locator(".messages")).to_contain_text("is in the rubric now")
    page.keyboard.press("Escape")
    expect(page.locator(".point .what", has_text="Names both divisors")).to_be_visible()
    expect(page.locator("[name=point]:checked")).to_have_count(1)
    page.keyboard.press("4")
    expect(page.locator("[data-marks]")).to_contain_text("/ 9.5")


def test_two_graders_meet_and_nothing_is_lost(
    page: Page, room: dict[str, Any], browser: Browser, stack: Stack
) -> None:
    page.goto(queue(room, room["asked"], "next"))
    first = ref(page)
    other_context = signed_in(browser, stack, room["graders"][1], viewport=DESK)
    other = other_context.new_page()
    other.goto(queue(room, room["asked"], "next"))
    other.keyboard.press("m")
    other.keyboard.type("Theirs")
    other.keyboard.press("Control+Enter")
    turned(other, first)
    other.wait_for_load_state("networkidle")
    other_context.close()
    page.keyboard.press("m")
    page.keyboard.type("Mine")
    page.keyboard.press("Control+Enter")
    notice = page.locator("[data-said] .notice")
    expect(notice).to_contain_text(f"Your grade of {first} is not stored yet")
    notice.locator("button").click()
    expect(page.locator(".conflict")).to_contain_text("Theirs")
    expect(page.locator("[data-comment]")).to_have_value("Mine")
    page.keyboard.press("Control+Enter")
    turned(page, first)
    page.goto(queue(room, room["asked"]) + "?part=graded")
    page.locator(".answers a").first.click()
    expect(page.locator("[data-comment]")).to_have_value("Mine")


def test_a_grade_outlives_a_lost_connection(
    page: Page, room: dict[str, Any], context: BrowserContext
) -> None:
    page.goto(queue(room, room["asked"], "next"))
    page.wait_for_load_state("networkidle")
    first = ref(page)
    context.set_offline(True)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    turned(page, first)
    expect(page.locator("[data-said]")).to_contain_text("The connection is lost")
    context.set_offline(False)
    expect(page.locator("[data-said] .notice")).to_have_count(0)
    page.goto(queue(room, room["asked"]) + "?part=graded")
    expect(page.locator(".answers > li")).to_have_count(1)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_page_of_the_queue_is_clean(page: Page, room: dict[str, Any], theme: Any) -> None:
    page.emulate_media(color_scheme=theme)
    asked = room["asked"]
    addresses = [queue(room), queue(room, asked), queue(room, asked, "rubric")]
    addresses += [queue(room, asked, "next"), queue(room, room["other"], "next") + "?part=looks"]
    for address in addresses:
        page.goto(address)
        if page.locator("[data-run-open]").count():
            page.keyboard.press("r")
            expect(page.locator(".rests .panel")).to_be_visible()
        assert_clean(page)
    page.goto(queue(room, asked))
    page.locator(".alike a").first.click()
    assert_clean(page)


def assert_clean(page: Page) -> None:
    found = Axe().run(page).response["violations"]
    told = [(v["id"], [node["html"][:200] for node in v["nodes"][:3]]) for v in found]
    assert told == [], page.url
