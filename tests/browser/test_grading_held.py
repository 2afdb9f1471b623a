"""At the desk a key that is held, or pressed once too often, grades nothing that was not read."""

from typing import Any

from playwright.sync_api import Page, expect

from tests.browser import test_grading as grading
from tests.browser.test_grading import queue, turned

rooms, room, context = grading.rooms, grading.room, grading.context


def test_enter_held_or_pressed_twice_grades_one_answer(page: Page, room: dict[str, Any]) -> None:
    page.goto(queue(room, room["asked"], "next"))
    page.wait_for_load_state("networkidle")
    left = page.locator("[data-left]")
    expect(left).to_have_text("6 left")
    first = grading.ref(page)
    page.keyboard.press("1")
    for _ in range(5):
        page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    turned(page, first)
    expect(left).to_have_text("5 left")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(left).to_have_text("4 left")
    page.goto(queue(room, room["asked"]) + "?part=graded")
    expect(page.locator(".answers > li")).to_have_count(2)
