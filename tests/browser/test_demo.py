"""What a newcomer does after `manage.py demo`: signs in as the instructor, looks round, and checks
answers again whose key has changed."""

import re
import subprocess
import sys

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.stack import ROOT, Stack


@pytest.fixture(scope="module")
def said(stack: Stack) -> str:
    command = [sys.executable, "manage.py", "demo"]
    done = subprocess.run(command, cwd=ROOT, env=stack.env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def cohort(page: Page, said: str) -> str:
    """Signed in as the output says; the address of the cohort."""
    found = re.search(r"^  (/en/classroom/\S+)$.*?^  (\S+@\S+)\n  (\S+)$", said, re.M | re.S)
    assert found
    page.goto("/en/account/sign-in/")
    page.locator("main [name=email]").fill(found[2])
    page.locator("main [name=password]").fill(found[3])
    page.locator("main form button").click()
    return found[1]


def whole(page: Page) -> None:
    assert Axe().run(page).violations_count == 0, Axe().run(page).generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.browser
def test_a_newcomer_checks_answers_again_and_finds_it_in_the_audit(page: Page, cohort: str) -> None:
    page.goto(f"{cohort}rechecks/")
    whole(page)
    page.get_by_role("button", name="Check them again").first.click()
    expect(page.get_by_role("button", name="Apply")).to_be_visible(timeout=60_000)
    expect(page.locator(".tally")).to_contain_text("become right")
    whole(page)
    page.get_by_role("button", name="Apply").click()
    expect(page.locator("#state")).to_contain_text("Applied on", timeout=60_000)
    page.set_viewport_size({"width": 390, "height": 844})
    whole(page)
    page.goto(f"{cohort}audit/?action=rechecked")
    expect(page.locator(".audit tbody tr")).to_have_count(1)
    whole(page)
    with page.expect_download() as taken:
        page.get_by_role("button", name="as CSV").click()
    name = taken.value.suggested_filename
    assert re.fullmatch(r"demonstration-.*-audit-\d{4}-\d\d-\d\d\.csv", name)


@pytest.mark.browser
def test_every_page_of_the_demonstration_says_that_it_is_one(page: Page, cohort: str) -> None:
    for name in ("", "queue/", "overview/", "gradebook/", "rechecks/", "audit/", "members/"):
        page.goto(f"{cohort}{name}")
        expect(page.locator("main")).to_contain_text("This is a demonstration")


@pytest.mark.browser
def test_a_newcomer_grades_a_question_of_the_demonstration_to_its_end_by_keyboard(
    page: Page, cohort: str
) -> None:
    page.goto(f"{cohort}queue/")
    whole(page)
    start = page.get_by_role("link", name="Start grading")
    start.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/grade/**")
    whole(page)
    left = page.locator("[data-desk] [data-left]")
    waiting = int((left.text_content() or "0").split()[0])
    assert waiting >= 3
    for turn in range(waiting):
        expect(left).to_have_text(f"{waiting - turn} left")
        page.keyboard.press("1")
        expect(page.locator("[data-desk] [name=point]:checked")).to_have_count(1)
        page.keyboard.press("Control+Enter")
    expect(page.locator(".nothing")).to_be_visible()
    whole(page)
