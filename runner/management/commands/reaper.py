"""`manage.py reaper`: sweeps the Runs once a second, keeps house once a day, and does what the
apps above want done in the background, until SIGTERM."""

import logging
import signal
import threading
from argparse import ArgumentParser
from collections.abc import Callable
from itertools import count
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import DatabaseError, close_old_connections, connection, connections
from django.utils.module_loading import import_string

from runner.reaping import sweep

log = logging.getLogger(__name__)

_CHECKPOINT_EVERY = 3  # sweeps
_HOUSEKEEPING_EVERY = 24 * 3600.0  # seconds; the first soon after the start
_HOUSEKEEPING_FIRST = 60.0
_BACKGROUND_PAUSE = 0.5  # seconds, where there is nothing to do
_BETWEEN_SLICES = 0.02  # others get at the database too


class Command(BaseCommand):
    help = "Rings again for Runs that nobody claimed and ends those that nobody leases any more."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--every", type=float, default=1.0, help="seconds between two sweeps")

    def handle(self, *args: Any, every: float, **options: Any) -> None:
        over = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: over.set())
        # In a thread of its own: a Run's lost worker is noticed whatever there is to clear away.
        threading.Thread(target=keep_house_daily, args=(over,), daemon=True).start()
        for name in settings.BACKGROUND:  # one that waits for another machine holds up nobody
            task = import_string(name)
            threading.Thread(target=work_in_the_background, args=(over, task), daemon=True).start()
        for turn in count():
            if over.wait(every):
                break
            sweep_once(turn)


def sweep_once(turn: int) -> None:
    """Whatever goes wrong, the next sweep comes."""
    try:
        close_old_connections()
        sweep()
        if turn % _CHECKPOINT_EVERY == 0:
            checkpoint()
    except DatabaseError as away:
        log.warning("The database did not answer a sweep: %s", away)
        connections.close_all()
    except Exception:
        log.exception("A sweep broke off.")


def keep_house_daily(over: threading.Event) -> None:
    pause = _HOUSEKEEPING_FIRST
    while not over.wait(pause):
        keep_house()
        pause = _HOUSEKEEPING_EVERY


def keep_house() -> None:
    """What the apps above this one want done daily; their commands are named in the settings."""
    for command in settings.HOUSEKEEPING:
        try:
            call_command(command, verbosity=0)
        except Exception:
            log.exception("The daily %s broke off; it comes again tomorrow.", command)
        finally:
            connections.close_all()


def work_in_the_background(over: threading.Event, task: Callable[[], bool]) -> None:
    """What an app above this one wants done as soon as may be, a slice at a time; its function is
    named in the settings, and says whether there is more to do at once."""
    busy = False
    while not over.wait(_BETWEEN_SLICES if busy else _BACKGROUND_PAUSE):
        busy = take_a_slice(task)


def take_a_slice(task: Callable[[], bool]) -> bool:
    try:
        close_old_connections()
        return task()
    except DatabaseError as away:
        log.warning("The database did not answer: %s", away)
        connections.close_all()
    except Exception:
        log.exception("A slice of %s broke off; it comes again.", task)
    return False


def checkpoint() -> None:
    """Move SQLite's write-ahead log into its file here, where nobody waits for the disk."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(PASSIVE)")
