"""`manage.py worker_alive`: exit status 0 if a worker of this queue reports; a health check."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from chainrule import environment as env
from runner import api as runs


class Command(BaseCommand):
    help = "Whether a worker of the queue CHAINRULE_QUEUE (or of any) has reported of late."

    def handle(self, *args: Any, **options: Any) -> None:
        queue = env.text("CHAINRULE_QUEUE")
        if not any(d.online for d in runs.devices() if not queue or d.device == queue):
            raise CommandError(f"No worker of the queue {queue or 'gpu or cpu'} has reported.")
