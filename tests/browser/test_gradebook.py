"""The gradebook and the overview in a browser: at a desk, on a phone, out of the house and back."""

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import signed_in
from tests.stack import ROOT, Stack

PAGES = ("gradebook/", "gradebook/lesson/forward/", "overview/", "overview/forward/")

WORDY = ("by-hand", "exercise", "measuring")  # lessons whose wrong answers are sentences
OTHERS = ("", "queue/", "members/", "deadlines/", "audit/", "rechecks/", "settings/",
          "gradebook/import/")  # fmt: skip


@pytest.fixture(scope="module")
def room(stack: Stack) -> dict[str, str]:
    command = [sys.executable, "-m", "tests.browser.booked"]
    done = subprocess.run(command, cwd=ROOT, env=stack.env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.fixture
def context(browser: Browser, stack: Stack, room: dict[str, str]) -> Iterator[BrowserContext]:
    made = signed_in(browser, stack, room["session"], viewport={"width": 1440, "height": 900})
    yield made
    made.close()


@pytest.mark.parametrize("width", [1440, 390])
def test_the_pages_have_no_fault_and_nothing_beyond_the_edge(
    page: Page, room: dict[str, str], width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    for address in PAGES:
        page.goto(f"/en/classroom/{room['cohort']}/{address}")
        found = Axe().run(page)
        assert found.violations_count == 0, (address, found.generate_report())
        over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert over <= 0, address


@pytest.mark.parametrize("language", ["en", "fr", "tr"])
def test_on_a_phone_no_word_leaves_its_cell(
    page: Page, room: dict[str, str], language: str
) -> None:
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(f"/{language}/classroom/{room['cohort']}/gradebook/")
    wide = "cells => cells.filter(cell => cell.scrollWidth > cell.clientWidth).length"
    assert page.locator(".book td").evaluate_all(wide) == 0


# Words that stand on two lines, though each is far shorter than a line.
BROKEN = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const box = node.parentElement;
    if (box.closest(".ref, code, svg, script, option") || !box.getClientRects().length) continue;
    if (node.data.includes("://")) continue; // an address breaks anywhere
    for (const word of node.data.matchAll(/[\\p{L}\\p{M}’']+/gu)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const boxes = [...range.getClientRects()].filter((rect) => rect.width > 0.5);
      if (new Set(boxes.map((rect) => Math.round(rect.top))).size > 1) found.push(word[0]);
    }
  }
  return found;
}"""


@pytest.mark.parametrize("width", [390, 320])
@pytest.mark.parametrize("language", ["en", "fr", "tr"])
def test_on_a_phone_no_word_is_broken(
    page: Page, room: dict[str, str], language: str, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    for address in (*PAGES, *(f"overview/{lesson}/" for lesson in WORDY), *OTHERS):
        answer = page.goto(f"/{language}/classroom/{room['cohort']}/{address}")
        assert answer and answer.ok, address
        assert page.evaluate(BROKEN) == [], address


def test_heads_and_names_stay_while_the_table_scrolls(page: Page, room: dict[str, str]) -> None:
    page.set_viewport_size({"width": 800, "height": 420})
    page.goto(f"/en/classroom/{room['cohort']}/gradebook/")
    book = page.locator(".book")
    book.evaluate("book => book.scrollTo(400, 200)")
    corner = book.bounding_box()
    head, name = book.locator("thead th").nth(4), book.locator("tbody th").nth(4)
    assert corner and head.bounding_box() and name.bounding_box()
    assert abs(head.bounding_box()["y"] - corner["y"]) < 3  # type: ignore[index]
    assert abs(name.bounding_box()["x"] - corner["x"]) < 3  # type: ignore[index]


def test_adjustments_go_out_and_come_back_by_keyboard(page: Page, room: dict[str, str]) -> None:
    book = f"/en/classroom/{room['cohort']}/gradebook/"
    page.goto(book)
    page.locator(".take summary").focus()
    page.keyboard.press("Enter")
    with page.expect_download() as taken:
        page.locator(".take form").nth(1).get_by_role("button", name="CSV").press("Enter")
    text = taken.value.path().read_text(encoding="utf-8-sig")
    assert room["ref"] in text and taken.value.suggested_filename.endswith(".csv")

    page.goto(f"{book}import/")
    table = f"key,lesson,points,reason\n{room['ref']},forward,1.5,A talk\n"
    file = {"name": "a.csv", "mimeType": "text/csv", "buffer": table.encode()}
    page.locator("#file").set_input_files(file)
    page.get_by_role("button", name="Show what would change").press("Enter")
    expect(page.locator("tbody tr")).to_contain_text(["+1.5"])
    page.get_by_role("button", name="Write 1 adjustment").press("Enter")
    row = page.locator("tbody tr", has_text=room["ref"])
    expect(row).to_contain_text("+1.5 adjusted")
    page.goto(f"{book}import/")
    page.get_by_role("button", name="Undo").press("Enter")
    page.goto(book)
    expect(row).not_to_contain_text("adjusted")
