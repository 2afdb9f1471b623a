"""`manage.py forget_guests`: for a daily timer."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from accounts.guests import IDLE_DAYS, forget_guests


class Command(BaseCommand):
    help = (
        "Erases guests who left nothing behind and guests whose cookie has run out, "
        "and clears expired sessions."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--idle-days", type=int, default=IDLE_DAYS, help="how long a guest without work is kept"
        )

    def handle(self, *args: Any, idle_days: int, **options: Any) -> None:
        done = forget_guests(idle_days)
        self.stdout.write(
            f"{done.idle} guests without work and {done.unreachable} "
            "whom nobody can come back to are erased."
        )
