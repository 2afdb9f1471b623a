"""`manage.py instructor EMAIL [--remove]`: who may make cohorts."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import Group, Permission
from django.core.management.base import BaseCommand, CommandError

from accounts.models import Person

GROUP = "instructors"


class Command(BaseCommand):
    help = "Makes the account with that address an instructor, or (--remove) no longer one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--remove", action="store_true")

    def handle(self, *args: Any, email: str, remove: bool, **options: Any) -> None:
        person = Person.objects.filter(email=email.strip().lower()).first()
        if person is None:
            raise CommandError(f"There is no account with the address {email}. Sign up first.")
        group, _ = Group.objects.get_or_create(name=GROUP)
        group.permissions.set(
            Permission.objects.filter(content_type__app_label="classroom", codename="add_cohort")
        )
        if remove:
            person.groups.remove(group)
            self.stdout.write(f"{email} is no longer an instructor.")
        else:
            person.groups.add(group)
            self.stdout.write(f"{email} is an instructor and may make cohorts.")
