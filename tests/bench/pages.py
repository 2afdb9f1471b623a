"""Step pages: server time over loopback, queries, and what a first visit weighs in a browser.

The reader is a guest who has answered, predicted and run: the fullest pages there are.
"""

import http.client
import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import sync_playwright

from tests.bench._report import Row, percentile, set_up
from tests.stack import Stack

ROUNDS = 5
TARGET_MS = 25
TARGET_QUERIES = 12
TARGET_KB = 120
TARGET_KB_WITH_FONTS = 320
PREDICT = "/en/rmsnorm/exercise/hypothesis/"
HYPOTHESIS = {
    "sum": "257", "mean-n": "1", "mean-block": "0.502", "denominator": "smaller",
    "output": "larger", "mean-256": "1", "why": "At 256 both divisors are the same number.",
    "do": "submit",
}  # fmt: skip


@dataclass
class Guest:
    """A person with a session, over one connection kept open."""

    port: int
    cookies: dict[str, str]

    def __post_init__(self) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def ask(self, path: str, data: dict[str, str] | None = None) -> tuple[int, str, float]:
        """Status, text and milliseconds until the last byte."""
        headers = {"Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items())}
        body = None
        if data is not None:
            body = urlencode(data | {"csrfmiddlewaretoken": self.cookies["csrftoken"]})
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        began = time.perf_counter()
        self.connection.request("POST" if body else "GET", path, body, headers)
        response = self.connection.getresponse()
        text = response.read().decode()
        taken = (time.perf_counter() - began) * 1000
        for cookie in response.headers.get_all("Set-Cookie") or []:
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        return response.status, text, taken


def steps() -> list[str]:
    from lessons.content.library import library

    return [
        f"/{language}/{shelf.course.id}/{lesson.id}/{step.id}/"
        for shelf in library().shelves.values()
        for language in shelf.course.languages
        for lesson, step in shelf.course.steps()
    ]


def settled_guest(port: int) -> Guest:
    """Somebody who put down a hypothesis and saw its outcome."""
    guest = Guest(port, {})
    guest.ask(PREDICT)
    assert guest.ask(f"{PREDICT}answer/", HYPOTHESIS)[0] == 303
    assert guest.ask(f"{PREDICT}run/", {"device": "cpu"})[0] == 303
    deadline = time.monotonic() + 120
    while 'data-state="ended"' not in guest.ask(PREDICT)[1]:
        assert time.monotonic() < deadline, "the Run did not end"
        time.sleep(0.5)
    return guest


def server_times(guest: Guest, addresses: list[str], rounds: int) -> list[float]:
    times = []
    for address in addresses * rounds:
        status, _, taken = guest.ask(address)
        assert status == 200, f"{address}: {status}"
        times.append(taken)
    return times


def most_queries(data_dir: Path, guest: Guest, addresses: list[str]) -> tuple[int, str]:
    """Counted in this process, on the same database with the same session."""
    from django.conf import settings
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    connection.settings_dict["NAME"] = str(data_dir / "chainrule.sqlite3")
    settings.SECRET_KEY = (data_dir / "secret").read_text()
    settings.ALLOWED_HOSTS = ["testserver"]
    settings.STORAGES["staticfiles"]["BACKEND"] = (
        "django.contrib.staticfiles.storage.StaticFilesStorage"
    )
    client = Client()
    client.cookies[settings.SESSION_COOKIE_NAME] = guest.cookies[settings.SESSION_COOKIE_NAME]
    counts = []
    for address in addresses:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(address).status_code == 200
        counts.append((len(queries), address))
    return max(counts)


def weights(url: str, guest: Guest, addresses: list[str]) -> list[tuple[float, float]]:
    """Kilobytes of a first visit as they came over the wire: without fonts, and with them."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    found = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for address in addresses:
            context = browser.new_context()
            session = guest.cookies["sessionid"]
            context.add_cookies([{"name": "sessionid", "value": session, "url": url}])
            page = context.new_page()
            network = context.new_cdp_session(page)
            network.send("Network.enable")
            kinds: dict[str, str] = {}
            sizes: dict[str, float] = {}

            def responded(event: dict[str, Any], kinds: dict[str, str] = kinds) -> None:
                kinds[event["requestId"]] = event["type"]

            def finished(event: dict[str, Any], sizes: dict[str, float] = sizes) -> None:
                sizes[event["requestId"]] = event["encodedDataLength"] / 1000

            network.on("Network.responseReceived", responded)
            network.on("Network.loadingFinished", finished)
            page.goto(url + address)
            page.wait_for_load_state("networkidle")
            fonts = sum(size for key, size in sizes.items() if kinds.get(key) == "Font")
            found.append((sum(sizes.values()) - fonts, sum(sizes.values())))
            context.close()
        browser.close()
    return found


def cpu_seconds(stack: Stack) -> float:
    """What the web process has computed so far: a figure that other work cannot blur."""
    times = [process.cpu_times() for process in stack.find("uvicorn")]
    return sum(spent.user + spent.system for spent in times)


def measured(stack: Stack) -> list[Row]:
    addresses = steps()
    guest = settled_guest(stack.port)
    server_times(guest, addresses, rounds=1)
    before = cpu_seconds(stack)
    times = server_times(guest, addresses, ROUNDS)
    cpu = (cpu_seconds(stack) - before) * 1000 / len(times)
    p95 = percentile(times, 0.95)
    note = f"median {percentile(times, 0.5):.1f}, CPU {cpu:.1f} ms, load {os.getloadavg()[0]:.1f}"
    count, where = most_queries(stack.data_dir, guest, addresses)
    weighed = weights(stack.url, guest, [f"/{lang}{PREDICT[3:]}" for lang in ("en", "fr", "tr")])
    bare, whole = (max(pair) for pair in zip(*weighed, strict=True))
    return [
        Row(
            f"step page, server time, p95 of {len(times)} over loopback",
            f"{p95:.1f} ms", f"< {TARGET_MS} ms", p95 < TARGET_MS, note,
        ),
        Row(
            "step page, most queries",
            f"{count}", f"≤ {TARGET_QUERIES}", count <= TARGET_QUERIES, where,
        ),
        Row(
            "step page, first visit, without fonts",
            f"{bare:.0f} kB", f"< {TARGET_KB} kB", bare < TARGET_KB,
        ),
        Row(
            "step page, first visit, with fonts",
            f"{whole:.0f} kB", f"< {TARGET_KB_WITH_FONTS} kB", whole < TARGET_KB_WITH_FONTS,
        ),
    ]  # fmt: skip


def main() -> None:
    set_up()
    with tempfile.TemporaryDirectory() as folder, Stack(Path(folder)) as stack:
        for row in measured(stack):
            print(row)


if __name__ == "__main__":
    main()
