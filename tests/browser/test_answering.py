"""Answering: drafts that save themselves, two tabs, order by drag and by keyboard, signing up."""

import re

from playwright.sync_api import BrowserContext, Page, Response, Route, expect

from tests.browser.conftest import STEP

ORDER = "/en/rmsnorm/forward/float32-first/"
PREDICT = "/en/rmsnorm/exercise/hypothesis/"
SAVED = re.compile("Draft saved")


def fill(page: Page, *values: str) -> None:
    for number, value in enumerate(values):
        page.locator(".ask input[type=text]").nth(number).fill(value)


def is_saved(answer: Response) -> bool:
    """A draft taken: a notice of an earlier one, or of another tab's, may stand there already."""
    return answer.request.method == "POST" and answer.ok


def test_a_guest_s_draft_saves_itself_and_is_there_after_a_reload(page: Page) -> None:
    page.goto(STEP)
    fill(page, "1", "0.502")
    expect(page.locator(".ask .saved")).to_have_text(SAVED)
    page.reload()
    expect(page.locator(".ask input[type=text]").nth(1)).to_have_value("0.502")


def test_an_answer_is_sent_and_gets_its_verdict(page: Page) -> None:
    page.goto(STEP)
    fill(page, "1", "257/512")
    page.locator(".ask input[type=radio]").last.check()
    page.locator(".ask .actions button").first.click()
    expect(page.locator(".ask .result.right")).to_have_count(3)


def test_what_cannot_be_read_is_asked_about_and_kept(page: Page) -> None:
    page.goto(STEP)
    fill(page, "one", "0.502")
    page.locator(".ask .actions button").first.click()
    expect(page.locator("[aria-invalid=true]")).to_have_value("one")
    expect(page.locator(".ask input[type=text]").nth(1)).to_have_value("0.502")


def test_a_number_of_two_readings_takes_one_click_more(page: Page) -> None:
    page.goto("/tr/rmsnorm/contract/scratch/")
    fields = page.locator(".ask input[type=text]")
    asked = page.locator(".readings button")
    fields.first.fill("131,584")
    for field in fields.all()[1:]:
        field.fill("1")
    fields.first.press("Enter")
    expect(asked).to_have_text(["131.584, tam sayı", "131,584, ondalıklı sayı"])
    expect(fields.first).to_have_value("131,584")
    asked.first.click()
    expect(page.locator(".ask .result.right").first).to_be_visible()
    expect(page.locator(".ask .understood").first).to_contain_text("131.584")
    expect(asked).to_have_count(0)


def test_a_refused_answer_is_corrected_at_once_where_it_stands(page: Page) -> None:
    """No jump to the top, no conflict with oneself, and the field in question has the focus."""
    page.goto(STEP)
    fill(page, "abc", "0.502")
    page.locator(".ask input[type=radio]").last.check()
    page.locator(".ask .actions button").first.click()
    wrong = page.locator("[aria-invalid=true]")
    expect(wrong).to_be_focused()
    expect(wrong).to_be_in_viewport()
    assert page.url.endswith(STEP)
    wrong.fill("1")
    page.locator(".ask .actions button").first.click()
    expect(page.locator(".ask .result.right")).to_have_count(3)
    expect(page.locator(".conflict")).to_have_count(0)


def test_one_click_sends_while_the_reading_of_a_number_is_shown(page: Page) -> None:
    """The button stays under the pointer from the press to the release."""
    page.goto("/en/rmsnorm/contract/scratch/")
    field = page.locator(".ask input[type=text]").first
    field.press_sequentially("128.5 KiB")
    expect(page.locator(".ask .understood").first).to_be_visible()
    button = page.locator(".ask .actions button").first
    button.scroll_into_view_if_needed()
    box = button.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    with page.expect_request(
        lambda r: r.method == "POST" and b"submit" in (r.post_data_buffer or b"")
    ):
        page.mouse.down()
        page.wait_for_timeout(150)
        page.mouse.up()


def test_a_draft_typed_without_a_connection_is_saved_when_it_is_back(
    page: Page, context: BrowserContext
) -> None:
    page.goto(STEP)
    context.set_offline(True)
    fill(page, "1")
    expect(page.locator(".ask .saved.trouble")).to_be_visible()
    context.set_offline(False)
    expect(page.locator(".ask .saved")).to_have_text(SAVED)


def test_an_answer_that_did_not_arrive_is_kept_and_says_so_until_it_does(
    page: Page, context: BrowserContext
) -> None:
    page.goto(STEP)
    fill(page, "1", "257/512")
    page.locator(".ask input[type=radio]").last.check()
    expect(page.locator(".ask .saved")).to_have_text(SAVED)
    context.set_offline(True)
    page.locator(".ask .actions button").first.click()
    expect(page.locator(".ask .saved.trouble")).to_have_text(re.compile("^Not sent: no connection"))
    context.set_offline(False)
    expect(page.locator(".ask .saved")).to_have_text(re.compile("send the answer once more. Draft"))
    expect(page.locator(".ask .saved.trouble")).to_have_count(0)
    page.locator(".ask .actions button").first.click()
    expect(page.locator(".ask .result.right")).to_have_count(3)


def test_a_site_that_fails_without_a_word_is_no_lost_connection(page: Page) -> None:
    """Neither to a draft nor to what is sent; what was typed is kept once it can be."""
    page.goto(STEP)
    said = page.locator(".ask .saved")

    def fail(route: Route) -> None:
        route.fulfill(status=500, content_type="text/html", body="<h1>An error</h1>")

    page.route("**/answer/**", fail)
    fill(page, "1", "257/512")
    expect(said).to_have_text(re.compile("^Not saved: the site answered with an error"))
    page.locator(".ask input[type=radio]").last.check()
    page.locator(".ask .actions button").first.click()
    expect(said).to_have_text(re.compile("^Not sent: the site answered with an error"))
    page.unroute("**/answer/**")
    expect(said).to_have_text(re.compile("send it once more. Draft"))
    expect(page.locator(".ask .saved.trouble")).to_have_count(0)
    page.locator(".ask .actions button").first.click()
    expect(page.locator(".ask .result.right")).to_have_count(3)


def test_two_tabs_overwrite_nothing(page: Page, context: BrowserContext) -> None:
    page.goto(STEP)
    fill(page, "1")
    expect(page.locator(".ask .saved")).to_have_text(SAVED)
    other = context.new_page()
    other.goto(STEP)
    with other.expect_response(is_saved):
        fill(other, "2")
    fill(page, "3")
    expect(page.locator(".conflict dd").first).to_have_text("2")
    with page.expect_response(is_saved):
        page.locator(".conflict button").first.click()
    expect(page.locator(".conflict")).to_have_count(0)
    expect(page.locator(".ask .saved")).to_have_text(SAVED)
    other.reload()
    expect(other.locator(".ask input[type=text]").first).to_have_value("3")


def order_of(page: Page) -> list[str]:
    items = page.locator("[data-order] li").all()
    return [str(item.get_attribute("data-item")) for item in items]


def test_lines_are_put_in_order_by_keyboard_and_each_move_is_said(page: Page) -> None:
    page.goto(ORDER)
    before = order_of(page)
    page.locator("[data-order] li").nth(1).locator("button").first.focus()
    page.keyboard.press("ArrowUp")
    assert order_of(page)[:2] == [before[1], before[0]]
    expect(page.locator("[data-order] + [role=status]")).to_contain_text("place 1 of")
    expect(page.locator("[data-order] li button:focus")).to_have_count(1)
    page.keyboard.press("Enter")
    assert order_of(page) == before
    expect(page.locator(".ask .saved")).to_have_text(SAVED)


def test_lines_are_put_in_order_by_drag_and_kept(page: Page) -> None:
    page.goto(ORDER)
    before = order_of(page)
    lines = page.locator("[data-order] li")
    lines.first.drag_to(lines.nth(2), target_position={"x": 30, "y": 30})
    after = order_of(page)
    assert sorted(after) == sorted(before) and after[0] != before[0]
    expect(page.locator(".ask .saved")).to_have_text(SAVED)
    page.reload()
    assert order_of(page) == after


def test_a_hypothesis_opens_the_run_of_its_step_and_meets_its_outcome(page: Page) -> None:
    page.goto(PREDICT)
    expect(page.locator("[data-run]")).to_have_count(0)
    expect(page.locator(".locked")).to_be_visible()
    fill(page, "257", "1", "0.502", "1")
    for group in page.locator(".ask fieldset").all():
        group.locator("input[type=radio]").first.check()
    text = page.locator(".ask textarea")
    text.fill("At 256 the block is exactly as wide as the row, so both divisors are the same.")
    page.locator(".ask .actions button").first.click()
    page.locator("[data-run]").click()
    expect(page.locator("[data-reveal]").first).to_have_text("257", timeout=60_000)
    expect(page.locator(".hypothesis .result").first).to_be_visible()
    page.locator(".ask input[type=text]").first.fill("256")
    expect(page.locator(".ask .saved").first).to_have_text(SAVED)


def test_signing_up_keeps_everything(page: Page) -> None:
    page.goto(STEP)
    fill(page, "1", "0.502")
    expect(page.locator(".ask .saved")).to_have_text(SAVED)
    page.goto("/en/account/sign-up/")
    page.locator("input[type=email]").fill("ada@example.org")
    for field in page.locator("input[type=password]").all():
        field.fill("a long sentence 42")
    page.locator(".form button").click()
    page.goto(STEP)
    expect(page.locator(".ask input[type=text]").nth(1)).to_have_value("0.502")
    expect(page.locator("[data-menu] summary").last).not_to_have_text("Guest")
