"""What a Run may use, and how long anybody waits for anybody. Read from settings in one place."""

from datetime import timedelta

from django.conf import settings

LEASE = timedelta(seconds=9)
HEARTBEAT_SECONDS = 3.0
CONTROL_SECONDS = 0.5  # how often a worker looks for a stop request
OFFLINE_AFTER = timedelta(seconds=10)
MAX_TRIES = 2  # attempts in a row that bring a Run no further
MAX_ATTEMPTS = 20  # of a training, whose attempts go on from its checkpoints

MAX_EVENT_BYTES = 256 * 1024
MAX_EVENTS = 20_000
MAX_EVENTS_BYTES = 32 * 1024 * 1024  # all of one Run: a stream is kept in memory
# Beyond these, for what must never be missing: Events and bytes.
ROOM_FOR_FILES = 5_000, 8 * 1024 * 1024
ROOM_FOR_FAILURES = 500, 4 * 1024 * 1024
LOG_HEAD_BYTES = 64 * 1024
LOG_TAIL_BYTES = 16 * 1024
LOG_FILE_BYTES = 10 * 1024 * 1024
MAX_ARTIFACTS = 50
TRAININGS_KEPT = 8  # of a person, whose checkpoints are kept: the newest

PAGE_EVENTS = 1500  # that a page is drawn from and embeds; its socket brings the rest
TRAINING_EVENTS = 60_000  # the same of a training, and of all those together that it goes on from
STREAM_SECONDS = 3600  # what a stream outlives its Run


def memory_bytes() -> int:
    return int(settings.RUN_MEMORY_MB) * 1024 * 1024


def artifact_bytes(*, training: bool) -> int:
    """All that is kept of one Run at a time."""
    return int(settings.TRAINING_FILES_MB if training else settings.RUN_FILES_MB) * 1024 * 1024


def grace_seconds() -> float:
    """From SIGTERM to SIGKILL."""
    return float(settings.RUN_GRACE_SECONDS)
