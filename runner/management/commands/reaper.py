"""`manage.py reaper`: sweeps the Runs once a second, until SIGTERM."""

import logging
import signal
import threading
from argparse import ArgumentParser
from itertools import count
from typing import Any

from django.core.management.base import BaseCommand
from django.db import DatabaseError, close_old_connections, connection, connections

from runner.reaping import sweep

log = logging.getLogger(__name__)

_CHECKPOINT_EVERY = 3  # sweeps


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
            except DatabaseError as away:
                log.warning("The database did not answer a sweep: %s", away)
                connections.close_all()


def checkpoint() -> None:
    """Move SQLite's write-ahead log into its file here, where nobody waits for the disk."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(PASSIVE)")
