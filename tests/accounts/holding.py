"""Stands for an app of settings.PERSONAL_DATA: it holds words."""

from typing import Any

from accounts.models import Person

WORK: dict[str, list[str]] = {}


def adopt(guest: Person, person: Person) -> None:
    WORK.setdefault(str(person.pk), []).extend(WORK.pop(str(guest.pk), []))


def export_person(person: Person) -> dict[str, Any]:
    return {"words": WORK.get(str(person.pk), [])}


def erase_person(person: Person) -> None:
    WORK.pop(str(person.pk), None)
