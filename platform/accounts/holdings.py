"""What the site holds of a person, wherever it is: moved, exported, erased as one.

Each module of settings.PERSONAL_DATA answers for its own part with three functions:
adopt(guest, person), export_person(person) and erase_person(person). In what is exported an
iterator may stand for a list that is too long for the memory.
"""

from importlib import import_module
from types import ModuleType
from typing import Any

from axes.models import AccessAttempt
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.models import Person

FORMAT = "chainrule-export/1"


def merge(guest: Person, person: Person) -> None:
    """Give everything the guest did to the account; the guest is gone afterwards.

    Does nothing when another request has already merged this guest or signed them up.
    """
    if not guest.is_guest or person.is_guest:
        raise ValueError("Only a guest's work can be merged, and only into an account.")
    with transaction.atomic():
        mine = Person.objects.select_for_update().filter(pk=guest.pk, is_guest=True)
        if not mine.first():
            return
        for module in _modules():
            module.adopt(guest, person)
        if left := _rows_of(guest):
            raise RuntimeError(f"Nobody adopted the guest's {', '.join(left)}.")
        guest.delete()


def export(person: Person) -> dict[str, Any]:
    """Everything the site holds of this person, for `accounts.exporting`."""
    parts = {module.__name__: module.export_person(person) for module in _modules()}
    return {
        "format": FORMAT,
        "exported_at": timezone.now(),
        "person": {
            "id": person.id,
            "name": person.name,
            "email": person.email,
            "is_guest": person.is_guest,
            "language": person.language,
            "created_at": person.created_at,
            "last_sign_in": person.last_login,
            "groups": sorted(person.groups.values_list("name", flat=True)),
        },
        **{name.partition(".")[0]: part for name, part in parts.items()},
    }


def erase(person: Person) -> None:
    """Remove the person and everything of theirs, all or nothing."""
    with transaction.atomic():
        for module in _modules():
            module.erase_person(person)
        if person.email:
            AccessAttempt.objects.filter(username=person.email).delete()
        person.delete()


def has_work(person: Person) -> bool:
    """Whether anything is there that would be lost with them."""
    return bool(_rows_of(person))


def _rows_of(person: Person) -> list[str]:
    """The models that still hold rows of this person, which deleting them would take along."""
    return [
        relation.related_model._meta.label
        for relation in Person._meta.related_objects
        if relation.related_model._base_manager.filter(**{relation.field.name: person}).exists()
    ]


def _modules() -> list[ModuleType]:
    return [import_module(name) for name in settings.PERSONAL_DATA]
