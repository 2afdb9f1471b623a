"""One child, from its start to its last Event: reading it, stopping it, saying how it ended."""

import logging
import os
import selectors
import signal
import time
from collections.abc import Callable
from typing import Any, TypeVar

from kernels.artifacts import checkpoint_step
from kernels.events import Kind, Log, Note, Outcome, Verdict, to_data
from runner import limits
from runner.budget import Budget
from runner.claims import Hold
from runner.files import LOG_NAME, Files, Refused
from runner.keeping import Keeper
from runner.lines import BadLine, Lines
from runner.orders import Exited, Spawn
from runner.outcomes import Ended, outcome_of
from runner.output import Output
from runner.recorder import Recorder
from runner.warm import Warm, WarmParentGone

log = logging.getLogger(__name__)

T = TypeVar("T")

_TICK_SECONDS = 0.1
_TEXT_SECONDS = 0.05  # what is printed within this time shares one Event
_AGAIN_SECONDS = 1.0  # SIGTERM is repeated: a child that just started does not listen yet
_GOODBYE_SECONDS = 5.0  # from the last Event to the end of the process
_READ = 64 * 1024


class Supervision:
    """What happens to the child, in the order it happens. One thread, never blocked by it."""

    def __init__(
        self, warm: Warm, recorder: Recorder, hold: Hold, files: Files, output: Output
    ) -> None:
        self.warm, self.recorder, self.hold = warm, recorder, hold
        self.files, self.output = files, output
        self.keeper = Keeper()  # of a training's checkpoints
        self.lines = Lines()
        self.budget = Budget()
        self.selector = selectors.DefaultSelector()
        self.last: dict[str, Any] | None = None  # the child's own outcome
        self.exited: Exited | None = None
        self.timed_out = False
        self.tally = {Verdict.PASSED: 0, Verdict.FAILED: 0}
        self.checkpoints = 0
        self.saved = False  # one was stored
        self.handed_back = False  # another attempt goes on, so this is not the end
        self.kill_at: float | None = None
        self.term_at = 0.0
        self.text: list[str] = []
        self.text_at = 0.0

    def run(self, order: Spawn) -> None:
        """Start the child and record all it says, its end too. Nothing more once it is lost."""
        events, events_in = os.pipe()
        output, output_in = os.pipe()
        try:
            try:
                self.warm.spawn(order, events_in, output_in)
            finally:
                os.close(events_in)
                os.close(output_in)
            self.follow(events, output, order.limits.wall_seconds)
        except WarmParentGone:
            log.exception("The warm parent was lost during Run %s.", self.recorder.claimed.run_id)
        except Exception:
            self.warm.end()  # nobody would watch the child any more
            raise
        finally:
            self.warm.release()
            self.selector.close()
            os.close(events)
            os.close(output)
        if not self.hold.lost.is_set():
            self.tell_rest()
            self.handed_back = self.leaves_it_to_another()
            if not self.handed_back:
                self.conclude(order)

    def follow(self, events: int, output: int, wall_seconds: int) -> None:
        self.selector.register(events, selectors.EVENT_READ, self.read_events)
        self.selector.register(output, selectors.EVENT_READ, self.read_output)
        self.selector.register(self.warm.fileno(), selectors.EVENT_READ, self.read_exit)
        deadline = time.monotonic() + wall_seconds
        while self.exited is None:
            if self.recorder.full:  # the log is behind: let the child wait in its write
                time.sleep(_TEXT_SECONDS)
            self.read_once(_TEXT_SECONDS if self.text else _TICK_SECONDS)
            self.steer(time.monotonic(), deadline)
        # It is gone, and with it all it started: what is left in the pipes is all there is.
        while self.selector.get_map() and self.read_once(0):
            pass

    def read_once(self, timeout: float) -> int:
        ready = self.selector.select(timeout)
        for chosen, _ in ready:
            chosen.data(chosen.fd)
        if self.text and time.monotonic() - self.text_at >= _TEXT_SECONDS:
            self.show_text()
        return len(ready)

    def read_events(self, pipe: int) -> None:
        data = os.read(pipe, _READ)
        if not data:
            self.selector.unregister(pipe)
        for event in self.lines.take(data):
            if isinstance(event, BadLine):
                if self.budget.takes(Kind.LOG, {}, self.lines.size):
                    self.say(Note(f"log.event-{event}"), "warning")
            elif self.last is None:
                self.take(event)

    def take(self, event: dict[str, Any]) -> None:
        kind, data = event["kind"], event["data"]
        if kind == Kind.OUTCOME:  # kept for the end: output may still come
            self.last = data
            self.kill_at = time.monotonic() + _GOODBYE_SECONDS
            return
        if kind == Kind.CASE and data.get("verdict") in self.tally:
            self.tally[Verdict(data["verdict"])] += 1
        if kind == Kind.METRIC:
            self.keeper.hear(data)
        if not self.budget.takes(kind, data, self.lines.size):
            return
        self.show_text()
        if kind == Kind.ARTIFACT:
            self.take_file(data, event["at"])
        else:
            self.recorder.add(kind, data, event["at"])

    def take_file(self, data: dict[str, Any], at: str | None = None) -> None:
        taken = self.stored(str(data.get("name", "")), lambda: self.files.take(data))
        if taken is None:
            return
        measured, row = taken
        saved = self.files.training and checkpoint_step(row.name) is not None
        self.recorder.add(Kind.ARTIFACT, measured, at, row, progress=saved)
        if saved:
            self.saved = True
            for gone in self.keeper.add(row):
                self.files.let_go(gone.name)
                self.recorder.add(Kind.ARTIFACT, gone.view().data(), at, gone)

    def stored(self, name: str, store: Callable[[], T]) -> T | None:
        """What `store` gives; None if it could not, which is said: a Run is more than its files."""
        try:
            return store()
        except Refused as refused:
            why = str(refused)
        except Exception:  # each storage has errors of its own
            log.exception("A file of Run %s was not stored.", self.recorder.claimed.run_id)
            why = "not-stored"
        self.say(Note(f"log.artifact-{why}", {"name": name[:100]}), "warning")
        return None

    def read_output(self, pipe: int) -> None:
        data = os.read(pipe, _READ)
        if not data:
            self.selector.unregister(pipe)
            return
        was_full = self.output.full
        if shown := self.output.take(data):
            self.text.append(shown)
        if self.output.full and not was_full:
            self.show_text()
            self.say(Note("log.cut", {"kilobytes": limits.LOG_HEAD_BYTES // 1024}), "warning")

    def show_text(self) -> None:
        if self.text:
            self.recorder.add(Kind.LOG, to_data(Log(text="".join(self.text))))
            self.text.clear()
        self.text_at = time.monotonic()

    def say(self, note: Note, level: str = "info") -> None:
        self.recorder.add(Kind.LOG, to_data(Log(note=note, level=level)))

    def read_exit(self, channel: int) -> None:
        self.exited = self.warm.exited()
        self.selector.unregister(channel)

    def steer(self, now: float, deadline: float) -> None:
        """Pass on what was asked for, and end what takes too long."""
        if self.hold.lost.is_set():
            self.warm.signal(signal.SIGKILL)
            return
        if self.hold.checkpoints > self.checkpoints:
            self.checkpoints = self.hold.checkpoints
            self.warm.signal(signal.SIGUSR1)
        if now > deadline and not self.hold.stop.is_set():
            self.timed_out = True
        if (self.timed_out or self.hold.stop.is_set() or self.closing) and self.last is None:
            if self.kill_at is None:
                self.kill_at = now + limits.grace_seconds()
            if now >= self.term_at:
                self.term_at = now + _AGAIN_SECONDS
                self.warm.signal(signal.SIGTERM)
        if self.kill_at is not None and now >= self.kill_at:
            self.warm.signal(signal.SIGKILL)

    @property
    def closing(self) -> bool:
        """Whether a training has to make room for its worker's end; what is short may finish."""
        return self.files.training and self.hold.closing

    def leaves_it_to_another(self) -> bool:
        """Whether a training that did not come to its end is to be taken up again: its worker is
        being stopped, or it died after it had stored a checkpoint."""
        if self.hold.stop.is_set() or self.timed_out or not self.files.training:
            return False
        if self.recorder.claimed.attempt >= limits.MAX_ATTEMPTS:
            return False
        if self.last is None:
            exited = self.exited
            killed = exited is None or (
                exited.signal == signal.SIGKILL and not exited.out_of_memory
            )
            return killed and (self.saved or self.closing)
        return self.closing and self.last.get("outcome") == Outcome.CANCELLED

    def tell_rest(self) -> None:
        """The rest of the output, and the whole of it as a file."""
        rest, skipped = self.output.rest(), self.output.skipped
        if skipped > 0:
            self.say(Note("log.truncated", {"kilobytes": max(1, skipped // 1024)}), "warning")
        if rest:
            self.text.append(rest)
        self.show_text()
        if self.budget.dropped:
            self.say(Note("log.events-dropped", {"count": self.budget.dropped}), "warning")
        if self.output.total:
            row = self.stored(LOG_NAME, lambda: self.files.keep_log(self.output.file))
            if row is not None:
                self.recorder.add(Kind.ARTIFACT, row.view().data(), artifact=row)

    def conclude(self, order: Spawn) -> None:
        ended = Ended(
            last=self.last,
            exited=self.exited,
            stopped=self.hold.stop.is_set(),
            timed_out=self.timed_out,
            wall_seconds=order.limits.wall_seconds,
            memory_mb=order.limits.memory_bytes // 2**20,
            tally=self.tally,
        )
        self.recorder.add(Kind.OUTCOME, outcome_of(ended))
