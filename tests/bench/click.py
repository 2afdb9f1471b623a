"""From the click on Run to its first Event: a POST, then the websocket, as the page does it.

The whole system as `make run` starts it, its worker warm, on the CPU.
"""

import http.client
import json
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Origin

from tests.bench._report import Row, percentile
from tests.stack import Stack

STEP = "/en/rmsnorm/what-and-why/machine/"
CLICKS = 30
WARM_UP = 3
TARGET_MS = 300


class Page:
    """A browser's tab at a step: one connection kept open, and its cookies."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.http = http.client.HTTPConnection("127.0.0.1", stack.port, timeout=30)
        self.cookies: dict[str, str] = {}
        self.ask("GET", STEP)

    def ask(self, method: str, path: str, data: dict[str, str] | None = None) -> bytes:
        headers = {"Cookie": self.cookie, "Accept": "application/json"}
        body = None
        if data is not None:
            body = urlencode(data | {"csrfmiddlewaretoken": self.cookies["csrftoken"]})
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        self.http.request(method, path, body, headers)
        response = self.http.getresponse()
        for cookie in response.headers.get_all("Set-Cookie") or []:
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        return response.read()

    @property
    def cookie(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    def click(self) -> tuple[float, float]:
        """Milliseconds to the answer of the POST, and to the first Event. Waits for the end."""
        began = time.perf_counter()
        run = json.loads(self.ask("POST", f"{STEP}run/", {"device": "cpu"}))["run"]
        answered = time.perf_counter()
        first = 0.0
        with connect(
            f"ws://127.0.0.1:{self.stack.port}/ws/runs/{run}/?after=0",
            additional_headers={"Cookie": self.cookie},
            origin=Origin(self.stack.url),
            compression=None,
        ) as socket:
            try:
                while True:
                    frame = json.loads(socket.recv(60))
                    if isinstance(frame, list) and not first:
                        first = time.perf_counter()
            except ConnectionClosed:
                pass
        return (answered - began) * 1000, (first - began) * 1000


def measure() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="chainrule-bench-") as folder:
        with Stack(Path(folder), GUEST_RUNS_PER_DAY="1000") as stack:
            page = Page(stack)
            clicks = [page.click() for _ in range(WARM_UP + CLICKS)][WARM_UP:]
    answers, firsts = [answer for answer, _ in clicks], [first for _, first in clicks]
    middle = percentile(firsts, 0.5)
    note = (
        f"p90 {percentile(firsts, 0.9):.0f} ms; POST answered in {percentile(answers, 0.5):.0f} ms"
    )
    return [
        Row(
            "click on Run → first Event, worker warm, CPU, median",
            f"{middle:.0f} ms",
            f"< {TARGET_MS} ms",
            middle < TARGET_MS,
            note,
        )
    ]


def main() -> None:
    for row in measure():
        print(row)


if __name__ == "__main__":
    main()
