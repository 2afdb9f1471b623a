"""`manage.py reaper`: sweeps the Runs once a second and keeps house once a day, until SIGTERM."""

import logging
import signal
import threading
from argparse import ArgumentParser
from itertools import count
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import DatabaseError, close_old_connections, connection, connections

from runner.reaping import sweep

log = logging.getLogger(__name__)

_CHECKPOINT_EVERY = 3  # sweeps
_HOUSEKEEPING_EVERY = 24 * 3600  # sweeps, about a day; the first soon after the start
_HOUSEKEEPING_FIRST = 60


class Command(BaseCommand):
    help = "Rings again for Runs that nobody claimed and ends those that nobody leases any more."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--every", type=float, default=1.0, help="seconds between two sweeps")

    def handle(self, *args: Any, every: float, **options: Any) -> None:
        over = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: over.set())
        for turn in count():
            if over.wait(every):
                break
            close_old_connections()
            try:
                sweep()
                if turn % _CHECKPOINT_EVERY == 0:
                    checkpoint()
                if turn % _HOUSEKEEPING_EVERY == _HOUSEKEEPING_FIRST:
                    keep_house()
            except DatabaseError as away:
                log.warning("The database did not answer a sweep: %s", away)
                connections.close_all()


def keep_house() -> None:
    """What the apps above this one want done daily; their commands are named in the settings."""
    for command in settings.HOUSEKEEPING:
        call_command(command, verbosity=0)


def checkpoint() -> None:
    """Move SQLite's write-ahead log into its file here, where nobody waits for the disk."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(PASSIVE)")
