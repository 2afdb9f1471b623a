"""`manage.py recording load [FILE …]` and `manage.py recording export RUN FILE`."""

import uuid
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from runner import recordings
from runner.models import Run

SUFFIX = ".jsonl.gz"


class Command(BaseCommand):
    help = "Keeps a Run as a file, and shows such files as recordings."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        load = verbs.add_parser("load", help="show recordings; those of the repository by default")
        load.add_argument("files", nargs="*", type=Path)
        export = verbs.add_parser("export", help="write an ended Run to a file")
        export.add_argument("run", type=uuid.UUID)
        export.add_argument("file", type=Path)

    def handle(self, *args: Any, verb: str, verbosity: int, **options: Any) -> None:
        if verb == "export":
            self.export(options["run"], options["file"])
            return
        for file in options["files"] or sorted(settings.RECORDINGS_DIR.glob(f"*{SUFFIX}")):
            run = recordings.load(file)
            if verbosity:
                self.stdout.write(f"{file.name}: {run or 'shown already'}")

    def export(self, run_id: uuid.UUID, file: Path) -> None:
        try:
            recordings.export(run_id, file)
        except (Run.DoesNotExist, recordings.NotExportable, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Run {run_id} is in {file}.")
