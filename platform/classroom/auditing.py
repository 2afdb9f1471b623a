"""The audit as an instructor reads it: who did what, newest first, filtered, by ref where grading
goes without names."""

import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max, Q, QuerySet
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from classroom.access import TEACHING
from classroom.audit_sentences import Teller, Told
from classroom.audit_words import actions
from classroom.audit_words import subject as about
from classroom.cells import Sheet
from classroom.models import AuditEntry, Cohort, Membership, Role

PART = 500  # entries of an export that are in memory at once
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
    told: Told


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
        known, teller = actions(), Teller(self.cohort)
        for row in rows:
            who, is_ref = self._actor(row)
            yield Entry(
                row.at,
                who,
                is_ref,
                known.get(row.action, row.action),
                about(row.action, row.subject),
                teller.tell(row.action, row.data),
            )

    def sheet(self, wanted: Wanted) -> Sheet:
        """The same as a table to take away, read while it is sent: so many entries at a time,
        of those that were there when it was asked for."""
        language = get_language()
        newest = AuditEntry.objects.filter(cohort=self.cohort).aggregate(Max("pk"))["pk__max"]
        entries = self.entries(wanted).filter(pk__lte=newest or 0)

        def rows() -> Iterator[tuple[str, ...]]:
            last: AuditEntry | None = None
            while part := list(_after(entries, last)[:PART]):
                with override(language):  # nobody knows it any more while rows are sent
                    said = [_row(entry) for entry in self.read(part)]
                yield from said
                last = part[-1]

        return Sheet(_("Audit"), (_("When"), _("Who"), _("What"), _("About"), _("Details")), rows())

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


def _after(entries: QuerySet[AuditEntry], last: AuditEntry | None) -> QuerySet[AuditEntry]:
    """Those older than `last`, in the order of the audit."""
    if last is None:
        return entries
    return entries.filter(Q(at__lt=last.at) | Q(at=last.at, id__lt=last.pk))


def _row(entry: Entry) -> tuple[str, ...]:
    details = "; ".join(filter(None, (entry.told.sentence, *entry.told.lines)))
    return entry.at.isoformat(timespec="seconds"), entry.who, entry.action, entry.subject, details
