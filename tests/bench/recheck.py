"""Re-check of 10,000 stored answers after their key was mended, by the process that does it.

Worked out, then written, as an instructor asks for it; and once with that process killed (-9) in
the middle of the writing, after which no answer may be missing or be done twice.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.bench._report import Row, set_up
from tests.stack import ROOT

ANSWERS = 10_000
TRIES = 4  # revisions of each learner's Answer
ACTIVITY = "what-drift"
LESSON = "what-and-why"
OLD, NEW = "answer: 16\n", "answer: 17\n"
TARGET = 500  # answers a second: twenty seconds for all of them


def prepare(folder: Path) -> tuple[Any, Path]:
    """A database with a cohort in it, and the file that holds the key."""
    courses = folder / "courses"
    shutil.copytree(ROOT / "lessons" / "courses", courses)
    os.environ["COURSES_DIR"] = str(courses)
    set_up()
    from django.core.management import call_command

    from tests.classroom import factories

    call_command("migrate", verbosity=0)
    room = factories.a_room(learners=ANSWERS // TRIES)
    factories.fill(room, [factories.an_activity(ACTIVITY)], tries=TRIES)
    return room, courses / "rmsnorm" / "01-what-and-why" / "lesson.yaml"


@contextmanager
def reaper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "manage.py", "reaper"], cwd=ROOT)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def mend(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    time.sleep(1.5)  # the library looks at its files once a second


def start(room: Any) -> Any:
    from classroom.rechecks import asking, targets

    target = targets.find(room.cohort, "answers", LESSON, ACTIVITY)
    assert target is not None
    return asking.start(room.cohort, room.instructor, target)


def seconds_until(job: Any, done: Callable[[], bool]) -> float:
    began = time.monotonic()
    while True:
        job.refresh_from_db()
        if done():
            return time.monotonic() - began
        assert job.state != "stopped" and time.monotonic() - began < 300, job.obstacle
        time.sleep(0.02)


def whole(job: Any) -> bool:
    """Every answer once, each with the new key and what it had before."""
    from django.db.models import Count

    from lessons.models import Revision

    keys = dict(Revision.objects.order_by().values_list("checked_as").annotate(n=Count("pk")))
    kept = job.items.exclude(applied_at=None).exclude(before__checked_as=job.key_hash)
    return keys == {job.key_hash: ANSWERS} and kept.count() == ANSWERS


def measure() -> list[Row]:
    room, file = prepare(Path(os.environ["DATA_DIR"]))
    from classroom.rechecks import asking

    mend(file, OLD, NEW)
    with reaper():
        time.sleep(3)  # Python and Django are there
        job = start(room)
        preview = seconds_until(job, lambda: job.state == "ready")
        asking.apply(job, room.instructor)
        write = seconds_until(job, lambda: job.state == "done")
        first = whole(job)
    mend(file, NEW, OLD)
    again, lost = killed(room)
    return [
        _rate("worked out and shown", preview),
        _rate("written", write),
        Row("…answers missing or done twice", "0" if first else "some", "0", first),
        Row(
            "…with kill -9 while they were written", "0" if not lost else "some", "0", not lost,
            f"went on {again:.1f} s later",
        ),
    ]  # fmt: skip


def killed(room: Any) -> tuple[float, bool]:
    """Seconds until somebody else went on, and whether something was lost."""
    from classroom.rechecks import asking

    with reaper() as process:
        time.sleep(3)
        job = start(room)
        seconds_until(job, lambda: job.state == "ready")
        asking.apply(job, room.instructor)
        written = job.items.exclude(applied_at=None)
        seconds_until(job, lambda: written.count() > ANSWERS // 10)
        process.kill()
        process.wait()
    kept = written.count()
    assert kept < ANSWERS, "it was done before it could be killed"
    with reaper():
        again = seconds_until(job, lambda: written.count() > kept)
        seconds_until(job, lambda: job.state == "done")
    return again, not whole(job)


def _rate(what: str, seconds: float) -> Row:
    rate = ANSWERS / seconds
    return Row(
        f"Re-check of {ANSWERS:,} answers, {what}", f"{rate:,.0f} /s", f"{TARGET} /s",
        rate >= TARGET, f"{seconds:.1f} s",
    )  # fmt: skip


def main() -> None:
    for row in measure():
        print(row)


if __name__ == "__main__":
    main()
