"""Running: squares that turn, a reload, a lost network, cancelling, and what a reader hears."""

import re
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import SQUARES, STEP, ended, signed_in, started, stopped, turned
from tests.stack import Stack


def test_a_run_fills_its_grid_and_ends_in_a_verdict(page: Page) -> None:
    started(page)
    expect(page.locator("[data-stop]")).to_be_visible()
    ended(page)
    assert turned(page) == SQUARES
    expect(page.locator("[data-verdict]")).to_have_text("✓ Passed")
    expect(page.locator(".made")).to_contain_text("Triton’s interpreter on the CPU")
    expect(page.locator("[data-said]")).to_contain_text("Passed")
    expect(page.locator("[data-run]")).to_be_enabled()


def test_a_reload_in_the_middle_loses_nothing_and_doubles_nothing(page: Page) -> None:
    started(page)
    page.wait_for_timeout(1500)
    before = turned(page)
    page.reload(wait_until="domcontentloaded")
    assert turned(page) >= before
    ended(page)
    assert turned(page) == SQUARES
    expect(page.locator(".caseline")).to_have_count(page.locator(".caselist li").count())
    ids = page.locator(".caseline .label").all_inner_texts()
    assert len(ids) == len(set(ids))


def test_a_lost_network_is_said_and_made_good(page: Page, context: BrowserContext) -> None:
    started(page)
    context.set_offline(True)
    expect(page.locator(".offline")).to_be_visible()
    page.wait_for_timeout(1500)
    context.set_offline(False)
    expect(page.locator(".offline")).to_be_hidden(timeout=15_000)
    ended(page)
    assert turned(page) == SQUARES


def test_what_did_not_reach_the_server_is_said_until_the_connection_is_back(
    page: Page, context: BrowserContext
) -> None:
    page.goto(STEP)
    context.set_offline(True)
    page.locator("[data-run]").click()
    refusal = page.locator("[data-refusal]")
    expect(refusal).to_have_text("That did not reach the server. Try once more.")
    context.set_offline(False)
    expect(refusal).to_be_hidden(timeout=15_000)
    page.locator("[data-run]").click()
    page.locator(".cell.p").first.wait_for(timeout=60_000)
    page.context.set_offline(True)
    page.locator("[data-stop]").click()
    expect(refusal).to_be_visible()
    page.context.set_offline(False)
    expect(refusal).to_be_hidden(timeout=15_000)
    stopped(page)


def test_a_running_run_is_stopped_and_keeps_what_it_had(page: Page) -> None:
    started(page)
    stopped(page)
    expect(page.locator("[data-verdict]")).to_have_text("Stopped")
    assert 0 < turned(page) < SQUARES


def test_what_is_left_of_the_day_is_said_at_once(page: Page) -> None:
    started(page)
    first = page.locator("[data-quota]").inner_text()
    assert re.search(r"\d+ of \d+ Runs left today", first)
    stopped(page)
    page.reload()
    expect(page.locator("[data-quota]")).to_have_text(first)


def watched(browser: Browser, stack: Stack, made: dict[str, Any], name: str) -> Page:
    context = signed_in(browser, stack, made["sessions"][name])
    page = context.new_page()
    frames: list[Any] = []
    page.on(
        "websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(frame))
    )
    page.goto(f"/en/runs/{made['runs'][name]}/")
    while not frames:
        page.wait_for_timeout(20)
    return page


def test_a_run_that_is_gone_is_not_asked_for_for_ever(
    browser: Browser, stack: Stack, made: dict[str, Any]
) -> None:
    page = watched(browser, stack, made, "running")
    page.context.set_offline(True)
    expect(page.locator(".offline")).to_contain_text("No connection")
    page.context.clear_cookies()  # to whoever is nobody, a Run is not there
    page.context.set_offline(False)
    expect(page.locator(".offline")).to_have_text("This Run is no longer here.", timeout=15_000)
    expect(page.locator("[data-stop]")).to_be_hidden()
    expect(page.locator("[data-elapsed]")).to_be_empty()
    sockets: list[Any] = []
    page.on("websocket", lambda socket: sockets.append(socket))
    page.evaluate("dispatchEvent(new Event('online'))")
    page.wait_for_timeout(1500)
    assert sockets == []
    page.context.close()


def test_a_checkpoint_is_asked_for_by_keyboard_and_heard(
    browser: Browser, stack: Stack, made: dict[str, Any]
) -> None:
    page = watched(browser, stack, made, "checkpoints")
    button = page.locator("[data-checkpoint]")
    expect(button).to_have_text("Checkpoint now")
    button.focus()
    with page.expect_response("**/checkpoint/") as answer:
        page.keyboard.press("Enter")
    assert answer.value.ok
    expect(button).to_have_text("Checkpoint asked for")
    expect(button).to_be_focused()
    expect(button).to_have_attribute("aria-disabled", "true")
    expect(page.locator("[data-said]")).to_have_text("Checkpoint asked for")
    page.reload()
    expect(page.locator("[data-checkpoint]")).to_have_text("Checkpoint asked for")
    expect(page.locator("[data-stop]")).to_have_text("Stop and save")
    page.context.close()


def test_a_second_tab_shows_the_same_run(page: Page, context: BrowserContext) -> None:
    started(page)
    other = context.new_page()
    other.goto(STEP)
    ended(page)
    ended(other)
    assert turned(other) == turned(page) == SQUARES


def test_one_run_at_a_time_and_a_way_to_the_other(page: Page, context: BrowserContext) -> None:
    started(page)
    other = context.new_page()
    other.goto("/en/rmsnorm/forward/verdict/")
    other.locator("[data-run]").click()
    expect(other.locator("[data-refusal] a")).to_be_visible()
    stopped(page)


def test_a_run_waits_in_the_queue_and_is_cancelled_there(
    page: Page, context: BrowserContext
) -> None:
    started(page)
    browser = context.browser
    assert browser is not None
    second = browser.new_context(base_url=page.url.split("/en/")[0])
    waiting = second.new_page()
    waiting.goto(STEP)
    waiting.locator("[data-run]").click()
    expect(waiting.locator("[data-verdict]")).to_contain_text("In the queue")
    expect(waiting.locator("[data-stop]")).to_have_text("Cancel")
    waiting.locator("[data-stop]").click()
    ended(waiting)
    expect(waiting.locator("[data-verdict]")).to_have_text("Stopped")
    second.close()
    stopped(page)


def test_the_squares_are_walked_by_keyboard_and_read_as_text(page: Page) -> None:
    started(page)
    stopped(page)
    first = page.locator(".cell").first
    first.focus()
    expect(first).to_have_attribute("aria-label", re.compile("^FP32 · 1, N = 31, seed 1: passed"))
    page.keyboard.press("Enter")
    expect(page.locator(".case")).to_contain_text("worst element")
    page.keyboard.press("ArrowDown")
    focused = page.locator(".cell:focus")
    expect(focused).to_have_attribute("aria-label", re.compile("^FP32 · 17, N = 31, seed 1"))
    page.keyboard.press("Control+End")
    expect(page.locator(".cell:focus")).to_have_attribute("aria-label", re.compile("N = 4096"))
    expect(page.locator('.cell[tabindex="0"]')).to_have_count(1)


def test_a_run_has_a_page_a_history_and_its_events(page: Page) -> None:
    started(page)
    stopped(page)
    address = page.locator(".made a").first.get_attribute("href") or ""
    seen = turned(page)
    page.goto(address)
    expect(page.locator(".cell.p, .cell.f")).to_have_count(seen)
    with page.expect_download() as download:
        page.locator(".made a[href$='events.jsonl']").click()
    lines = download.value.path().read_text().splitlines()
    assert '"outcome"' in lines[-1]
    page.goto("/en/runs/")
    expect(page.locator(".runs tbody tr")).to_have_count(1)


def test_another_tab_of_the_step_shows_the_run_that_is_in_its_way(
    page: Page, context: BrowserContext
) -> None:
    page.goto(STEP)
    tab = context.new_page()
    tab.goto(STEP)
    started(page)
    tab.locator("[data-run]").click()
    refusal = tab.locator("[data-refusal]")
    expect(refusal).to_contain_text("One Run at a time")
    expect(refusal.locator("a")).to_have_count(0)
    tab.locator(".cell.p").first.wait_for()
    expect(tab.locator("[data-stop]")).to_be_visible()
    stopped(page)
    ended(tab)
    expect(refusal).to_be_hidden()


def test_what_starts_another_run_is_folded_away_while_one_goes_on(page: Page) -> None:
    page.goto(STEP)
    expect(page.locator(".devices")).to_be_visible()
    expect(page.locator(".start summary")).to_be_hidden()
    started(page)
    for part in (".devices", "[data-quota]"):
        expect(page.locator(part)).to_be_hidden()
    page.locator(".start summary").click()
    for part in (".devices", "[data-quota]"):
        expect(page.locator(part)).to_be_visible()
    stopped(page)
    expect(page.locator(".devices")).to_be_visible()
