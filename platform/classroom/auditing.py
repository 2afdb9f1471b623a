"""The audit as an instructor reads it: who did what, newest first, filtered, by ref where grading
goes without names."""

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from classroom.access import TEACHING
from classroom.audit_words import actions, details
from classroom.cells import Sheet
from classroom.models import AuditEntry, Cohort, Membership, Role

# What learners do themselves: whoever did it is a learner, also once they have left.
LEARNERS_OWN = ("joined", "left", "merged", "second-look-asked")


@dataclass(frozen=True)
class Wanted:
    """A filter; empty fields let everything through."""

    who: str = ""  # the ref of somebody who teaches, "learners", or "others"
    action: str = ""
    ref: str = ""  # of a learner: what they did, and what was done about them

    @property
    def query(self) -> dict[str, str]:
        given = {"who": self.who, "action": self.action, "ref": self.ref}
        return {name: value for name, value in given.items() if value}


@dataclass(frozen=True)
class Entry:
    at: datetime
    who: str
    is_ref: bool  # `who` stands for a learner
    action: str
    subject: str
    details: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Person:
    """A member as the audit calls them."""

    role: str
    ref: str
    name: str


class Reader:
    """The audit of one cohort; its members are read once."""

    def __init__(self, cohort: Cohort) -> None:
        self.cohort = cohort
        rows = Membership.objects.filter(cohort=cohort).select_related("person")
        self.members: Mapping[uuid.UUID, Person] = {
            row.person_id: Person(row.role, row.ref, str(row.person)) for row in rows
        }

    @property
    def teachers(self) -> list[tuple[str, str]]:
        """(ref, name), for a filter."""
        found = [(m.ref, m.name) for m in self.members.values() if m.role in TEACHING]
        return sorted(found, key=lambda pair: pair[1].casefold())

    @property
    def actions(self) -> list[tuple[str, str]]:
        """(action, its words) of those that have happened."""
        rows = AuditEntry.objects.filter(cohort=self.cohort).order_by("action")
        known = actions()
        return [(name, known.get(name, name)) for name in rows.values_list("action", flat=True)
                .distinct()]  # fmt: skip

    def entries(self, wanted: Wanted) -> QuerySet[AuditEntry]:
        """Newest first."""
        found = AuditEntry.objects.filter(cohort=self.cohort).select_related("actor")
        if wanted.action:
            found = found.filter(action=wanted.action)
        if wanted.who:
            found = found.filter(self._by(wanted.who))
        if wanted.ref:
            actors = [key for key, member in self.members.items() if member.ref == wanted.ref]
            about = Q(subject=wanted.ref) | Q(subject__startswith=f"{wanted.ref}/")
            about |= Q(subject__endswith=f"/{wanted.ref}") | Q(subject__contains=f"/{wanted.ref}#")
            found = found.filter(about | Q(actor__in=actors))
        return found.order_by("-at", "-id")

    def read(self, rows: Iterable[AuditEntry]) -> Iterator[Entry]:
        known, names = actions(), details()
        for row in rows:
            who, is_ref = self._actor(row)
            said = tuple(
                (names.get(name, name), _shown(value))
                for name, value in row.data.items()
                if _says_something(value)
            )
            yield Entry(row.at, who, is_ref, known.get(row.action, row.action), row.subject, said)

    def sheet(self, wanted: Wanted) -> Sheet:
        """The same as a table to take away."""
        rows = (
            (
                entry.at.isoformat(timespec="seconds"),
                entry.who,
                entry.action,
                entry.subject,
                "; ".join(f"{name}: {value}" for name, value in entry.details),
            )
            for entry in self.read(self.entries(wanted).iterator(500))
        )
        return Sheet(_("Audit"), (_("When"), _("Who"), _("What"), _("About"), _("Details")), rows)

    def _by(self, who: str) -> Q:
        learners = [key for key, member in self.members.items() if member.role == Role.LEARNER]
        if who == "learners":
            return Q(actor__in=learners)
        if who == "others":
            return ~Q(actor__in=list(self.members)) | Q(actor=None)
        teaching = [k for k, m in self.members.items() if m.ref == who and m.role in TEACHING]
        return Q(actor__in=teaching)

    def _actor(self, row: AuditEntry) -> tuple[str, bool]:
        if row.actor is None:
            return _("somebody whose account is erased"), False
        member = self.members.get(row.actor.pk)
        if member and member.role == Role.LEARNER:
            return (member.ref, True) if self.cohort.is_anonymous else (member.name, False)
        if member is None and row.action in LEARNERS_OWN and self.cohort.is_anonymous:
            return _("somebody who has left"), False
        return str(row.actor), False


def _says_something(value: Any) -> bool:
    return value is not None and value is not False and value not in ("", [], {})


def _shown(value: Any) -> str:
    if value is True:
        return "✓"
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)
