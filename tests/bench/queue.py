"""The grading queue with 500 learners and 20 questions: server time, queries, and how soon the
next answer is on the screen."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tests.bench._report import Row, percentile, set_up
from tests.bench.pages import Guest, cpu_seconds, most_queries
from tests.browser.conftest import ARGUMENTS
from tests.stack import ROOT, Stack

ROUNDS = 40
TURNS = 25
TARGET_MS = 60
TARGET_QUERIES = 15
TARGET_SCREEN_MS = 100
LEARNERS, QUESTIONS = 500, 20


def filled(stack: Stack) -> tuple[str, str, str]:
    """The grader's session, the cohort, and a question with a text."""
    code = (
        "import tests.browser.made as made\n"
        "from tests.classroom import factories as f\n"
        f"room = f.a_room(learners={LEARNERS})\n"
        "text = lambda a: any(type(i).__name__ == 'TextField' for i in a.fields)\n"
        "asked = sorted(f.activities(), key=text, reverse=True)\n"
        f"f.fill(room, asked[:{QUESTIONS}])\n"
        "print(made.session(room.instructor), room.cohort.id, asked[0].id)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=stack.env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    session, cohort, activity = done.stdout.split()
    return session, cohort, activity


def server_times(guest: Guest, address: str) -> list[float]:
    times = []
    for _ in range(ROUNDS):
        status, _, taken = guest.ask(address)
        assert status == 200, f"{address}: {status}"
        times.append(taken)
    return times


def first_answer(guest: Guest, address: str) -> str:
    """Where `next` leads."""
    guest.connection.request(
        "GET", address, None, {"Cookie": f"sessionid={guest.cookies['sessionid']}"}
    )
    response = guest.connection.getresponse()
    response.read()
    return response.headers["Location"]


def turning(url: str, session: str, address: str) -> list[float]:
    """From Ctrl+Enter to the next answer laid out, as the browser measures it."""
    with sync_playwright() as playwright:
        path = "/usr/bin/chromium" if Path("/usr/bin/chromium").exists() else None
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.add_cookies([{"name": "sessionid", "value": session, "url": url}])
        page = context.new_page()
        page.goto(url + address)
        times = [_turned(page) for _ in range(TURNS)]
        browser.close()
    return times


def _turned(page: Any) -> float:
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(600)  # a grader reads; the next answer is fetched meanwhile
    page.keyboard.press("1")
    return float(
        page.evaluate(
            """() => new Promise((done) => {
              const began = performance.now();
              const before = document.querySelector("[data-desk]").dataset.ref;
              const look = () => document.querySelector("[data-desk]").dataset.ref === before
                ? requestAnimationFrame(look)
                : requestAnimationFrame(() => done(performance.now() - began));
              const key = { key: "Enter", ctrlKey: true, bubbles: true, cancelable: true };
              document.activeElement.dispatchEvent(new KeyboardEvent("keydown", key));
              look();
            })"""
        )
    )


def measured(stack: Stack) -> list[Row]:
    session, cohort, activity = filled(stack)
    guest = Guest(stack.port, {"sessionid": session})
    queue = f"/en/classroom/{cohort}/queue/"
    grade = first_answer(guest, f"{queue}{activity}/next/")
    pages = {"queue": queue, "question": f"{queue}{activity}/", "grade": grade}
    rows = []
    for name, address in pages.items():
        guest.ask(address)
        before = cpu_seconds(stack)
        times = server_times(guest, address)
        cpu = (cpu_seconds(stack) - before) * 1000 / len(times)
        p95 = percentile(times, 0.95)
        note = f"fastest {min(times):.1f}, median {percentile(times, 0.5):.1f}, CPU {cpu:.1f} ms"
        note += f", load {os.getloadavg()[0]:.1f}"
        what = f"{name} page, {LEARNERS} learners x {QUESTIONS} questions, p95"
        rows.append(Row(what, f"{p95:.1f} ms", f"< {TARGET_MS} ms", p95 < TARGET_MS, note))
    seen = turning(stack.url, session, grade)
    slow = percentile(seen, 0.95)
    note = f"median {percentile(seen, 0.5):.1f} of {len(seen)}"
    screen = Row(
        "next answer on screen, p95", f"{slow:.1f} ms", f"< {TARGET_SCREEN_MS} ms",
        slow < TARGET_SCREEN_MS, note,
    )  # fmt: skip
    count, where = most_queries(stack.data_dir, guest, list(pages.values()))
    queries = Row(
        "queue pages, most queries", f"{count}", f"≤ {TARGET_QUERIES}", count <= TARGET_QUERIES,
        where.rsplit(cohort, 1)[-1],
    )  # fmt: skip
    return [*rows, screen, queries]


def main() -> None:
    set_up()
    with tempfile.TemporaryDirectory() as folder, Stack(Path(folder)) as stack:
        for row in measured(stack):
            print(row)


if __name__ == "__main__":
    main()
