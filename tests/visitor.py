"""A visitor without a browser: pages over HTTP, a Run followed over its websocket."""

import json
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from http.cookiejar import CookieJar
from typing import Any

from websockets.sync.client import connect


class Visitor:
    """One person: cookies are kept, forms carry their CSRF token."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.jar = CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))

    def get(self, path: str) -> str:
        with self.opener.open(self.url + path, timeout=20) as response:
            return response.read().decode()

    def post(self, path: str, **fields: str | list[str]) -> dict[str, Any]:
        """Sends a form as the page's own scripts do; the JSON that comes back."""
        token = next(cookie.value for cookie in self.jar if cookie.name == "csrftoken")
        headers = {"Accept": "application/json", "X-CSRFToken": token or "", "Origin": self.url}
        body = urllib.parse.urlencode(fields, doseq=True).encode()
        request = urllib.request.Request(self.url + path, body, headers)
        with self.opener.open(request, timeout=20) as response:
            return json.load(response)

    def run(self, step: str, device: str) -> str:
        """Opens the step's page, presses Run there, and gives the Run's id."""
        self.get(step)
        return self.post(f"{step}run/", device=device)["run"]

    def follow(self, run: str, after: int = 0, seconds: float = 300) -> Iterator[dict[str, Any]]:
        """The Run's Events after `after`, each once and in order, until its outcome."""
        cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in self.jar)
        address = f"{self.url.replace('http', 'ws', 1)}/ws/runs/{run}/?after={after}"
        deadline = time.monotonic() + seconds
        with connect(
            address, origin=self.url, additional_headers={"Cookie": cookies}, max_size=None
        ) as socket:  # type: ignore[arg-type]
            while True:
                frame = json.loads(socket.recv(timeout=deadline - time.monotonic()))
                for event in frame if isinstance(frame, list) else []:
                    yield event
                    if event["kind"] == "outcome":
                        return
