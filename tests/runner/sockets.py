"""A client of the websocket that trusts nothing: it keeps all it was sent, in order."""

import json
import threading
import time
from contextlib import ExitStack
from types import TracebackType
from typing import Any

from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from runner.models import Run
from tests.runner.site import Site


class Viewer:
    """One tab. `events` and `states` in the order they came."""

    def __init__(self, site: Site, run: Run, after: int = 0, cookie: str | None = None) -> None:
        self.events: list[dict[str, Any]] = []
        self.states: list[dict[str, Any]] = []
        self.close_code: int | None = None
        self._address = f"ws://127.0.0.1:{site.port}/ws/runs/{run.id}/?after={after}"
        cookie = site.cookie(run.owner) if cookie is None else cookie
        self._headers = {"Cookie": cookie} if cookie else {}
        self._origin = site.url
        self._stack = ExitStack()

    def __enter__(self) -> "Viewer":
        connecting = connect(
            self._address,
            additional_headers=self._headers,
            origin=Origin(self._origin),
            compression=None,
        )
        self.socket: ClientConnection = self._stack.enter_context(connecting)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    @property
    def numbers(self) -> list[int]:
        return [event["seq"] for event in self.events]

    def take(self, timeout: float = 60) -> bool:
        """One more frame; False once the socket is closed."""
        try:
            frame = json.loads(self.socket.recv(timeout))
        except ConnectionClosed as closed:
            self.close_code = closed.rcvd.code if closed.rcvd else None
            return False
        if isinstance(frame, list):
            self.events += frame
        elif "run" in frame:
            self.states.append(frame["run"])
        return True

    def watch(self, timeout: float = 150) -> "Viewer":
        """Until the server closes."""
        deadline = time.monotonic() + timeout
        while self.take(max(0.1, deadline - time.monotonic())):
            pass
        return self

    def watch_until(self, events: int, timeout: float = 90) -> "Viewer":
        deadline = time.monotonic() + timeout
        while len(self.events) < events and self.take(max(0.1, deadline - time.monotonic())):
            pass
        return self


class Tab:
    """A tab as the page's script behaves: it reconnects after the last Event it has seen."""

    def __init__(self, site: Site, run: Run) -> None:
        self.site, self.run = site, run
        self.cookie = site.cookie(run.owner)
        self.events: list[dict[str, Any]] = []
        self.connections = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Tab":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(20)

    def finish(self, timeout: float = 150) -> list[dict[str, Any]]:
        self._thread.join(timeout)
        assert not self._thread.is_alive(), "the tab never saw the end of the Run"
        return self.events

    def _watch(self) -> None:
        while not self._stop.is_set():
            last = self.events[-1]["seq"] if self.events else 0
            viewer = Viewer(self.site, self.run, last, self.cookie)
            try:
                with viewer:
                    self.connections += 1
                    while not self._stop.is_set() and viewer.take(timeout=30):
                        self.events += viewer.events
                        viewer.events = []
            except (OSError, TimeoutError, WebSocketException):
                pass
            if viewer.close_code == 1000:
                return
            time.sleep(0.1)
