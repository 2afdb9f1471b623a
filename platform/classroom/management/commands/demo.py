"""`manage.py demo [--remove]`: thirty made-up learners, to see the classroom at work."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse
from django.utils.translation import override

from classroom.demonstration import renewal
from classroom.demonstration.renewal import NoCourse


class Command(BaseCommand):
    help = "Makes the demonstration cohort (anew, if there is one), or removes it."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--remove", action="store_true", help="take it away, and no more")

    def handle(self, *args: Any, remove: bool, **options: Any) -> None:
        call_command("migrate", verbosity=0, interactive=False)
        if remove:
            there = renewal.remove()
            self.stdout.write(
                "The demonstration is gone." if there else "There was no demonstration."
            )
            return
        call_command("recording", "load", verbosity=0)
        try:
            made = renewal.renew()
        except NoCourse as error:
            raise CommandError(
                f"The demonstration is about the course {error}, and {settings.COURSES_DIR} has "
                "no such folder. Leave COURSES_DIR unset for the courses of the repository."
            ) from error
        with override("en"):
            page = reverse("classroom:cohort", args=[made.cohort.pk])
        self.stdout.write(
            f"{made.cohort.name}: {made.learners} learners, {made.answers} answers, "
            f"{made.runs} Runs, all made up.\n"
            f"  {page}\n"
            f"Sign in as its instructor:\n"
            f"  {made.email}\n"
            f"  {made.password}\n"
            "The password is new each time. `manage.py demo --remove` takes everything away."
        )
