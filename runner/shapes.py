"""What crosses the runner's door: frozen, never a row."""

import uuid
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class Origin:
    """The page a Run was started from; empty at a terminal."""

    course: str = ""
    lesson: str = ""
    step: str = ""


@dataclass(frozen=True)
class ArtifactView:
    name: str
    media: str
    bytes: int
    sha256: str
    kept: bool = True  # False: the file was let go, and only this line of it is left

    def data(self) -> dict[str, Any]:
        """As in an Artifact Event; `kept` stands there only where it is false."""
        data = asdict(self)
        if self.kept:
            del data["kept"]
        return data


@dataclass(frozen=True)
class Resumes:
    """Where a Run goes on from: a checkpoint of another Run of the same person."""

    run_id: uuid.UUID
    file: str
    step: int

    def data(self) -> dict[str, Any]:
        return {"run": str(self.run_id), "file": self.file, "step": self.step}


def seconds_between(start: datetime | None, end: datetime | None) -> float | None:
    return None if start is None or end is None else (end - start).total_seconds()


@dataclass(frozen=True)
class RunView:
    id: uuid.UUID
    owner_id: uuid.UUID | None
    procedure: str
    parameters: dict[str, Any]
    version: int
    device: str  # gpu, cpu
    origin: Origin
    state: str  # queued, running, ended
    outcome: str  # "" until it ended
    note: dict[str, Any]
    created_at: datetime
    began_at: datetime | None  # its first attempt
    started_at: datetime | None  # its last
    ended_at: datetime | None
    last_seq: int
    made: dict[str, Any]
    passed: int | None
    failed: int | None
    stopping: bool
    is_recording: bool
    attempt: int = 0
    checkpoint_asked_at: datetime | None = None  # the last time; one may have come since
    resumes: Resumes | None = None
    artifacts: tuple[ArtifactView, ...] = field(default=())

    @property
    def elapsed(self) -> float | None:
        """Seconds from the first attempt's start to the end; None while either is missing."""
        return seconds_between(self.began_at, self.ended_at)

    @property
    def attempt_elapsed(self) -> float | None:
        """The same of the last attempt."""
        return seconds_between(self.started_at, self.ended_at)


@dataclass(frozen=True)
class Snapshot:
    run: RunView
    events: list[dict[str, Any]]
    queue_position: int | None = None
    wait_range: tuple[int, int] | None = None  # seconds, low and high


@dataclass(frozen=True)
class Quota:
    used: int
    limit: int
    resets_at: datetime

    @property
    def left(self) -> int:
        return max(0, self.limit - self.used)

    @property
    def few_left(self) -> bool:
        return self.left <= max(3, self.limit // 10)


@dataclass(frozen=True)
class DeviceStatus:
    device: str
    online: bool
    name: str = ""
    sandbox: str = ""
    triton: str = ""


class RunRefused(Exception):
    """A person's Run cannot be taken now, and the exception says why."""


class QuotaSpent(RunRefused):
    def __init__(self, limit: int, resets_at: datetime) -> None:
        super().__init__(f"{limit} Runs a day are used up until {resets_at:%H:%M} UTC.")
        self.limit = limit
        self.resets_at = resets_at


class ActiveRun(RunRefused):
    def __init__(self, run_id: uuid.UUID) -> None:
        super().__init__("One Run at a time: another one is queued or running.")
        self.run_id = run_id


class NoWorker(RunRefused):
    def __init__(self, device: str, alternatives: tuple[str, ...]) -> None:
        super().__init__(f"No {device} worker is online.")
        self.device = device
        self.alternatives = alternatives


class NotResumable(RunRefused):
    """No Run can go on from there. The sentence for people is the message `code`.

    `reason`: "recording", "not-training", "no-checkpoint", "not-kept", "no-state", "gone".
    """

    def __init__(self, reason: str) -> None:
        super().__init__(f"Not resumable: {reason}.")
        self.reason = reason
        self.code = f"refusal.resume-{reason}"


class RunNotFound(LookupError):
    """There is no such Run, or this person may not see it."""
