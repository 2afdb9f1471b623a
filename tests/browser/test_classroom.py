"""A cohort in a browser: a guest joins and signs up, deadlines are set, feedback is read."""

import json
import re
import subprocess
import sys
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import STEP, signed_in
from tests.stack import ROOT, Stack

MOMENT = r"[A-Z][a-z]+ \d{1,2}, \d{4}, \d\d:\d\d"
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def room(stack: Stack) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.browser.joined"]
    done = subprocess.run(command, cwd=ROOT, env=stack.env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def places(room: dict[str, Any], *names: str) -> list[str]:
    return ["/".join(("/en/classroom", room["cohort"], name)).rstrip("/") + "/" for name in names]


def test_a_guest_joins_by_the_link_signs_up_and_the_work_is_still_there(
    page: Page, room: dict[str, Any], browser: Browser, stack: Stack
) -> None:
    page.goto(STEP)
    for number, value in enumerate(("1", "0.502")):
        page.locator(".ask input[type=text]").nth(number).fill(value)
    expect(page.locator(".ask .saved")).to_contain_text("Draft saved")

    page.goto("/en/classroom/join/")
    page.locator("main [name=code]").fill(f" {room['code'].lower()} ")
    page.locator("main form button").click()
    page.locator("main [name=name]").fill("Zoé Çelik")
    page.get_by_role("button", name="Join", exact=True).click()
    expect(page.locator("main h1")).to_have_text("Kernels, winter")
    expect(page.locator(".notice.success")).to_contain_text("You are in")

    page.goto("/en/account/sign-up/")
    page.locator("main [name=email]").fill("zoe@example.org")
    page.locator("main [name=password]").fill("a long sentence 42")
    page.locator("main form button").click()
    page.goto("/en/classroom/")
    expect(page.locator(".card .name")).to_have_text("Kernels, winter")
    page.goto(STEP)
    expect(page.locator(".ask input[type=text]").nth(1)).to_have_value("0.502")

    teacher = signed_in(browser, stack, room["instructor"]).new_page()
    teacher.goto(places(room, "members")[0])
    expect(teacher.get_by_role("row", name="zoe@example.org")).to_have_count(1)
    teacher.context.close()


def test_a_deadline_in_a_skipped_hour_is_asked_about_and_then_said_in_two_zones(
    browser: Browser, stack: Stack, room: dict[str, Any]
) -> None:
    paris = {"timezone_id": "Europe/Paris"}
    teacher = signed_in(browser, stack, room["instructor"], **paris).new_page()
    teacher.goto(places(room, "deadlines")[0])
    teacher.locator("[name='wall.forward']").fill("2027-03-28T02:30")
    teacher.get_by_role("button", name="Save the deadlines").click()
    expect(teacher.locator(".errorlist")).to_contain_text("The clocks skip 02:30")
    teacher.get_by_role("button", name="March 28, 2027, 03:00").click()
    expect(teacher.locator("[name='wall.forward']")).to_have_value("2027-03-28T03:00")
    expect(teacher.locator("main")).not_to_contain_text("March 28, 2027")
    teacher.context.close()
    # Who is elsewhere reads their own time, once; a zone of the same clock says nothing new.
    for zone, own in (("Asia/Tokyo", 1), ("Europe/Berlin", 0)):
        other = signed_in(browser, stack, room["instructor"], timezone_id=zone).new_page()
        other.goto(places(room, "deadlines")[0])
        expect(other.get_by_text("March 28, 2027, 10:00 (Asia/Tokyo)")).to_have_count(own)
        expect(other.locator("main")).not_to_contain_text("March 28, 2027, 03:00")
        other.context.close()
    learner = signed_in(browser, stack, room["learner"], timezone_id="Europe/Istanbul").new_page()
    learner.goto(STEP)
    closing = learner.locator(".closing")
    expect(closing).to_contain_text("March 28, 2027, 03:00 (Europe/Paris)")
    expect(closing).to_contain_text("March 28, 2027, 04:00 (Europe/Istanbul)")
    learner.context.close()


def test_feedback_is_found_read_and_looked_at_again(
    browser: Browser, stack: Stack, room: dict[str, Any]
) -> None:
    page = signed_in(browser, stack, room["learner"]).new_page()
    page.goto("/en/")
    page.locator("summary:has(.news)").click()
    page.get_by_role("link", name="1 new piece of feedback").click()
    page.locator(".newslist .new a").click()
    feedback = page.locator(".feedbacks")
    expect(feedback).to_be_in_viewport()
    expect(feedback.locator("strong").filter(has_text="where")).to_have_count(1)
    expect(feedback.locator(".remark")).to_contain_text("This is the point.")
    assert_clean(page)
    page.get_by_role("link", name="Ask for another look").click()
    assert_clean(page)
    page.locator("main textarea").fill("The copy is made once, as I wrote.")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".feedbacks .look")).to_contain_text("as I wrote")
    expect(page.locator(".news")).to_have_count(0)
    page.context.close()


def test_after_the_deadline_what_is_typed_stays_a_draft(
    browser: Browser, stack: Stack, room: dict[str, Any]
) -> None:
    page = signed_in(browser, stack, room["learner"]).new_page()
    page.goto(room["step"])
    expect(page.locator(".closing.over")).to_contain_text("Closed since")
    expect(page.locator(".ask .actions button").first).to_be_disabled()
    with page.expect_response("**/answer/") as saved:
        text = "A later thought, which is still worth keeping for myself."
        page.locator(".ask textarea").fill(text)
    assert saved.value.ok
    page.reload()
    expect(page.locator(".ask textarea")).to_have_value(
        "A later thought, which is still worth keeping for myself."
    )
    page.context.close()


def test_every_moment_of_an_answer_is_written_in_one_way_in_the_reader_s_zone(
    browser: Browser, stack: Stack, room: dict[str, Any]
) -> None:
    zone = {"timezone_id": "Asia/Tokyo"}
    page = signed_in(browser, stack, room["learner"], **zone).new_page()
    page.goto(room["step"])
    page.locator(".ask textarea").fill("One more thought, kept as a draft, and long enough.")
    saved = page.locator(".ask .saved").first
    expect(saved).to_have_text(re.compile(rf"^Draft saved, {MOMENT}$"))
    times = [saved.inner_text().removeprefix("Draft saved, ")]
    others = page.locator(".closing .also, .ask time[data-when], .feedbacks time")
    times += others.all_text_contents()
    assert len(times) >= 3
    for said in times:
        assert re.fullmatch(rf"( · )?{MOMENT}( \(Asia/Tokyo\))?", said), said
    page.context.close()


@pytest.mark.parametrize(
    ("language", "moment"),
    [
        ("en", r"[A-Z][a-z]+ \d{1,2}, \d{4}, \d\d:\d\d"),
        ("fr", r"(1er|[2-9]|[1-3]\d) [a-zéû]+ \d{4}, \d\d:\d\d"),
        ("tr", r"\d{1,2} \w+ \d{4}, \d\d:\d\d"),
    ],
)
def test_the_audit_names_its_zone_and_writes_as_every_page_does(
    browser: Browser, stack: Stack, room: dict[str, Any], language: str, moment: str
) -> None:
    page = signed_in(browser, stack, room["instructor"], timezone_id="Asia/Tokyo").new_page()
    page.goto(places(room, "audit")[0].replace("/en/", f"/{language}/"))
    expect(page.locator("[data-zone]")).to_have_text("Asia/Tokyo")
    times = page.locator(".audit time").all_text_contents()
    assert times and all(re.fullmatch(moment, said) for said in times), times
    first = page.evaluate(
        "import('/static/js/moments.js').then((m) => m.written(new Date(2026, 10, 1, 23, 59)))"
    )
    days = {"en": "November 1, 2026", "fr": "1er novembre 2026", "tr": "1 Kasım 2026"}
    assert first == f"{days[language]}, 23:59"
    page.context.close()


@pytest.mark.parametrize(
    ("zone", "offered"),
    [("Asia/Tokyo", "Asia/Tokyo"), ("Etc/GMT+3", "UTC")],  # the second is no place
)
def test_the_zone_of_a_first_cohort_is_the_browser_s(
    browser: Browser, stack: Stack, room: dict[str, Any], zone: str, offered: str
) -> None:
    page = signed_in(browser, stack, room["newcomer"], timezone_id=zone).new_page()
    page.goto("/en/classroom/new/")
    expect(page.locator("[name=zone]")).to_have_value(offered)
    page.context.close()


@pytest.mark.parametrize("look", [{"viewport": PHONE, "color_scheme": "dark"}, {}], ids=str)
def test_no_page_has_a_fault(
    browser: Browser, stack: Stack, room: dict[str, Any], look: dict[str, Any]
) -> None:
    ref = room["ref"]
    teachers = places(
        room, "", "members", f"members/{ref}/remove", f"members/{ref}/time", "deadlines",
        "audit", "settings", "leave", f"as/{ref}",
    )  # fmt: skip
    learners = ["/en/classroom/", "/en/classroom/feedback/", *places(room, ""), room["step"]]
    visitors = ["/en/classroom/join/", f"/en/classroom/join/{room['code']}/"]
    for who, addresses in (("instructor", teachers), ("learner", learners), ("", visitors)):
        page = signed_in(browser, stack, room.get(who, ""), **look).new_page()
        for address in addresses:
            answer = page.goto(address)
            assert answer is not None and answer.status == 200, address
            assert_clean(page)
        page.context.close()


def assert_clean(page: Page) -> None:
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    beyond = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert beyond <= 0, page.url
