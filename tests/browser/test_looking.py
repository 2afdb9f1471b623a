"""Every kind of page: no fault that axe can find, nothing beyond the edge, nothing that jumps."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.browser.conftest import STEP, signed_in
from tests.stack import Stack

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
LOOKS = [(360, "light"), (360, "dark"), (768, "light"), (1440, "dark"), (1920, "light")]
# An address and whose eyes it is seen with: a Run's owner, or nobody.
PAGES = [
    ("/en/", ""),
    ("/fr/rmsnorm/", "passed"),
    (STEP, "passed"),
    ("/tr/rmsnorm/forward/float32-first/", "passed"),
    ("/en/rmsnorm/exercise/hypothesis/", ""),
    ("/fr/rmsnorm/measuring/", ""),
    ("/en/rmsnorm/forward/print/", ""),
    ("/fr/andrea/memory/what-if/?calc.memory.batch=400&calc.memory.in=fr", ""),
    ("/en/andrea/schedule/only-the-step/?calc.schedule.at=7&calc.schedule.steps=3", ""),
    ("/tr/andrea/checkpoints/layout/", ""),
    ("/fr/andrea/backprop/twins/", ""),
    ("/tr/andrea/memory/print/", ""),
    ("/en/search/?q=gamma", ""),
    ("/en/source/kernels/rmsnorm.py?symbol=forward_kernel", ""),
    ("/en/runs/", ""),
    ("/fr/runs/", "passed"),
    ("/en/runs/{failed}/", "failed"),
    ("/en/runs/{training}/", "training"),
    ("/tr/runs/{table}/", "table"),
    ("/en/runs/{trained}/", "trained"),
    ("/fr/runs/{lost}/", "lost"),
    ("/tr/runs/compare/?a={trained}&b={lost}", "trained"),
    ("/en/runs/{error_in_code}/", "error_in_code"),
    ("/en/runs/{queued}/", "queued"),
    ("/en/runs/{running}/", "running"),
    ("/fr/runs/{checkpoints}/", "checkpoints"),
    ("/en/runs/{recording}/", ""),
    ("/en/runs/compare/?a={passed}&b={failed}", "passed"),
    ("/en/runs/compare/", ""),
    ("/en/account/", "passed"),
    ("/fr/account/sign-up/", ""),
    ("/tr/account/sign-in/", ""),
    ("/en/account/reset/", ""),
    ("/en/account/erase/", "passed"),
    ("/en/account/sign-out/", "passed"),
    ("/fr/no/such/page/at/all/", ""),
]


@pytest.mark.parametrize(("address", "owner"), PAGES)
def test_a_page_is_for_everybody(
    browser: Browser, stack: Stack, made: dict[str, Any], address: str, owner: str
) -> None:
    context = signed_in(browser, stack, made["sessions"].get(owner, ""))
    page = context.new_page()
    page.goto(address.format(**made["runs"]))
    page.wait_for_timeout(300)
    found = [fault for look in LOOKS for fault in faults(page, *look)]
    context.close()
    assert found == []


def faults(page: Page, width: int, scheme: Any) -> list[str]:
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    page.wait_for_timeout(150)
    where = f"{width} px, {scheme}"
    result = Axe().run(page, options={"runOnly": RULES, "resultTypes": ["violations"]})
    found = [
        f"{where}: {fault['id']}: {fault['nodes'][0]['html'][:200]}"
        for fault in result.response["violations"]
    ]
    beyond = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return [*found, *([f"{where}: {beyond} px beyond the edge"] if beyond > 0 else [])]


WEIGHED = """() => {
    const all = [...performance.getEntriesByType("navigation"),
        ...performance.getEntriesByType("resource")];
    const fonts = all.filter((entry) => entry.name.includes(".woff2"));
    const sum = (list) => list.reduce((total, entry) => total + entry.transferSize, 0);
    return { all: sum(all), fonts: sum(fonts) };
}"""
SHIFTED = """() => new Promise((resolve) => {
    let total = 0;
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) total += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
    setTimeout(() => resolve(total), 300);
})"""


@pytest.mark.parametrize("language", ["en", "fr", "tr"])
def test_a_step_is_light_and_keeps_still(page: Page, language: str) -> None:
    page.goto(STEP.replace("/en/", f"/{language}/"), wait_until="networkidle")
    weight = page.evaluate(WEIGHED)
    assert weight["all"] - weight["fonts"] < 120_000
    assert weight["all"] < 320_000
    assert page.evaluate(SHIFTED) < 0.01
