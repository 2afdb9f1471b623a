"""`manage.py prepare`: what must be done once before the processes of a release start."""

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.utils import OperationalError

from chainrule.translations import compiling


class Command(BaseCommand):
    help = (
        "Compiles translations, migrates the database, collects the static files and loads the "
        "recordings."
    )
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        for language, error in compiling.compile_stale(settings.BASE_DIR).items():
            self.stderr.write(
                f"The translations into {language} could not be compiled ({error}): its pages show "
                "English where the text is new, or all through. Make locale/ writable, or run "
                "`manage.py translations compile` as somebody who may write there."
            )
        try:
            call_command("migrate", verbosity=0, interactive=False)
        except OperationalError as error:
            where = settings.DATABASES["default"]["NAME"]
            raise CommandError(
                f"The database {where} cannot be used: {str(error).strip()}. "
                "Check DATABASE_URL, or leave it unset for SQLite in DATA_DIR."
            ) from error
        if not settings.DEBUG:
            call_command("collectstatic", verbosity=0, interactive=False)
        call_command("recording", "load", verbosity=0)
        connection.close()  # serve forks its children next
