"""A real Chromium before the whole system. Where there is none, that is said loudly."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, sync_playwright

from tests.stack import ROOT, Stack

ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
MISSING = (
    "NO CHROMIUM FOUND: the browser tests are SKIPPED. Install Debian's chromium package, or run "
    "`.venv/bin/playwright install chromium`."
)
Open = Callable[..., Page]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/browser" in str(item.path):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.stack)


@pytest.fixture(scope="session")
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        try:
            found = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        except Error:
            writer = request.config.get_terminal_writer()
            writer.line(f"\n{'!' * 80}\n{MISSING}\n{'!' * 80}", red=True, bold=True)
            pytest.skip(MISSING)
        yield found
        found.close()


@pytest.fixture
def context(browser: Browser, stack: Stack) -> Iterator[BrowserContext]:
    """A person with a browser of their own, at a desk, reading English."""
    made = browser.new_context(base_url=stack.url, viewport={"width": 1440, "height": 900})
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page on which no script may fail and nothing may be refused by the page's policy."""
    opened = context.new_page()
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda message: faults.append(message.text) if refused(message) else None)
    yield opened
    assert faults == []


def refused(message: Any) -> bool:
    return "Content Security Policy" in message.text


@pytest.fixture(scope="session")
def made(stack: Stack) -> dict[str, dict[str, str]]:
    """Runs in every state: their ids, and the session of each one's owner."""
    command = [sys.executable, "-m", "tests.browser.made"]
    done = subprocess.run(command, cwd=ROOT, env=stack.env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    runs: dict[str, dict[str, str]] = json.loads(done.stdout)
    return runs


def signed_in(browser: Browser, stack: Stack, session: str, **options: Any) -> BrowserContext:
    context = browser.new_context(base_url=stack.url, **options)
    if session:
        context.add_cookies([{"name": "sessionid", "value": session, "url": stack.url}])
    return context


@pytest.fixture
def opened(browser: Browser, stack: Stack, made: dict[str, Any]) -> Iterator[Open]:
    """The page of one of the Runs that were made, as its owner has it."""
    contexts = []

    def open_page(name: str, language: str = "en", script: str = "", **options: Any) -> Page:
        context = signed_in(browser, stack, made["sessions"][name], **options)
        contexts.append(context)
        page = context.new_page()
        if script:
            page.add_init_script(script)
        page.goto(f"/{language}/runs/{made['runs'][name]}/")
        return page

    yield open_page
    for context in contexts:
        context.close()


STEP = "/en/rmsnorm/forward/two-sizes/"
SQUARES = 72


def started(page: Page, address: str = STEP) -> None:
    """Press Run on a step and wait until the first square has turned."""
    page.goto(address)
    page.locator("[data-run]").click()
    page.locator(".cell.p").first.wait_for(timeout=60_000)


def ended(page: Page) -> None:
    page.locator('[data-panel][data-state="ended"]').wait_for(timeout=120_000)


def stopped(page: Page) -> None:
    """End what still goes on, so that the next test finds the worker free."""
    page.locator("[data-stop]").click()
    ended(page)


def turned(page: Page) -> int:
    return page.locator(".cell.p, .cell.f").count()
