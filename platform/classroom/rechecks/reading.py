"""How a re-check stands, by ref and never by name; and which keys have changed since they were
used."""

import uuid
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.utils.translation import gettext as _

from classroom import amounts
from classroom.models import (
    Cohort,
    Membership,
    Recheck,
    RecheckItem,
    RecheckKind,
    RecheckState,
    Role,
)
from classroom.rechecks import targets
from classroom.rechecks.targets import Target
from classroom.titles import titles_of
from lessons.content.library import library
from lessons.content.page import step_page
from lessons.content.written import Written
from lessons.models import Revision, State
from lessons.sentences import verdict_sign, verdict_word
from lessons.views.found import reading_language
from runner import api as runner


@dataclass(frozen=True)
class Summary:
    total: int
    done: int  # worked out; or, once it is being applied, written
    changed: int
    people: int  # of whom something changes
    gained: int  # fields that become right, or checks that now pass
    lost: int
    points: int  # of the answers that count, in all

    @property
    def points_said(self) -> str:
        return amounts.signed(Decimal(self.points))


def summary(job: Recheck) -> Summary:
    """In one query."""
    changed = Q(is_changed=True)
    found = job.items.aggregate(
        done=Count("pk", filter=Q(after__isnull=False)),
        written=Count("pk", filter=Q(applied_at__isnull=False)),
        changed=Count("pk", filter=changed),
        people=Count("person", filter=changed, distinct=True),
        gains=Sum("gained"),
        losses=Sum("lost"),
        points=Sum(F("gained") - F("lost"), filter=Q(counts=True)),
    )
    applying = job.state in (RecheckState.APPLYING, RecheckState.DONE)
    done = found["written"] if applying or found["written"] else found["done"]
    return Summary(
        max(job.total, done), done, found["changed"], found["people"], found["gains"] or 0,
        found["losses"] or 0, found["points"] or 0,
    )  # fmt: skip


@dataclass(frozen=True)
class Move:
    """One field's verdict (or a Run's outcome) before and after."""

    label: Written | str
    before: str
    after: str
    is_better: bool | None  # None: neither right before nor now


@dataclass(frozen=True)
class Row:
    ref: str
    number: int | None  # of the revision
    moves: tuple[Move, ...]
    points: int
    counts: bool
    run: uuid.UUID | None = None  # that was run again
    rerun: uuid.UUID | None = None  # the new one, once its learner has it

    @property
    def points_said(self) -> str:
        return amounts.signed(Decimal(self.points))


def changed(job: Recheck) -> QuerySet[RecheckItem]:
    """What changes, in an order that says nothing of anybody."""
    ref = Membership.objects.filter(cohort=job.cohort, person=OuterRef("person")).values("ref")[:1]
    return job.items.filter(is_changed=True).order_by(Subquery(ref), "id")


def rows(job: Recheck, items: list[RecheckItem]) -> list[Row]:
    """Of a page of `changed`."""
    refs = dict(
        Membership.objects.filter(
            cohort=job.cohort, person__in={item.person_id for item in items}
        ).values_list("person_id", "ref")
    )
    labels = _labels(job)
    return [
        Row(
            ref=refs.get(item.person_id, ""),
            number=item.before.get("number"),
            moves=tuple(_moves(job, item, labels)),
            points=item.gained - item.lost if item.counts else 0,
            counts=item.counts,
            run=item.subject if job.kind == RecheckKind.RUNS else None,
            rerun=item.rerun if item.applied_at else None,
        )
        for item in items
    ]


@dataclass(frozen=True)
class Choice:
    """Something that can be checked, or run, again."""

    target: Target
    title: str
    many: int  # submissions, or Runs
    stale: int = 0  # submissions that were checked with another key than the one now

    @property
    def value(self) -> str:
        return f"{self.target.kind}/{self.target.lesson.id}/{self.target.name}"

    @property
    def is_runs(self) -> bool:
        return self.target.kind == RecheckKind.RUNS


class Choices:
    """All of a cohort's, counted in two queries."""

    def __init__(self, cohort: Cohort) -> None:
        self.cohort = cohort
        self.titles = titles_of(cohort.course)

    @cached_property
    def all(self) -> list[Choice]:
        handed, ran = self._handed_in(), self._ran()
        found = []
        for target in targets.targets(self.cohort):
            if target.kind == RecheckKind.ANSWERS:
                by_key = handed[target.name]
                many, stale = sum(by_key.values()), sum(by_key.values()) - by_key[target.key]
            else:
                many, stale = ran[target.lesson.id, target.step.id], 0
            if many:
                found.append(Choice(target, self.title(target), many, stale))
        return found

    @property
    def stale(self) -> list[Choice]:
        return [choice for choice in self.all if choice.stale]

    @property
    def groups(self) -> list[tuple[str, list[Choice]]]:
        """(lesson, its choices): what a select shows."""
        found: dict[str, list[Choice]] = defaultdict(list)
        for choice in self.all:
            lesson = choice.target.lesson
            found[self.titles.lesson(lesson) if self.titles else lesson.id].append(choice)
        return list(found.items())

    def find(self, value: str) -> Choice | None:
        return next((choice for choice in self.all if choice.value == value), None)

    def title(self, target: Target) -> str:
        return self.titles.step(target.lesson, target.step) if self.titles else target.name

    def named(self, job: Recheck) -> str:
        """The title of what a re-check is about; its name where the course has it no longer."""
        target = targets.of(job)
        return self.title(target) if target else job.activity

    def _handed_in(self) -> Mapping[str, Counter[str]]:
        found: dict[str, Counter[str]] = defaultdict(Counter)
        counted = (
            Revision.objects.filter(
                state=State.SUBMITTED,
                answer__course=self.cohort.course,
                answer__person__memberships__cohort=self.cohort,
                answer__person__memberships__role=Role.LEARNER,
            )
            .order_by()
            .values_list("answer__activity", "checked_as")
            .annotate(many=Count("pk"))
        )
        for activity, key, many in counted:
            found[activity][key] += many
        return found

    def _ran(self) -> Counter[tuple[str, str]]:
        people = Membership.objects.filter(cohort=self.cohort, role=Role.LEARNER).values("person")
        return Counter(
            (ended.lesson, ended.step)
            for ended in runner.endings(people, self.cohort.course)
            if ended.outcome != "cancelled"
        )


def _labels(job: Recheck) -> Mapping[str, Written]:
    """By field, in the reader's language; empty where the question is gone."""
    target = targets.of(job)
    if target is None or job.kind != RecheckKind.ANSWERS:
        return {}
    current = library()
    shelf = current.shelves[job.cohort.course]
    page = step_page(current, shelf, target.lesson, target.step, reading_language())
    return {name: texts.label for name, texts in page.ask.fields.items()} if page.ask else {}


def _moves(job: Recheck, item: RecheckItem, labels: Mapping[str, Any]) -> list[Move]:
    after: Mapping[str, Any] = item.after or {}
    if job.kind == RecheckKind.RUNS:
        better = True if item.gained else False if item.lost else None
        return [Move("", _outcome(item.before), _outcome(after), better)]
    found = []
    was, now = item.before["verdicts"], after["verdicts"]
    for name in now:
        had, has = was.get(name, {}).get("verdict", ""), now[name]["verdict"]
        if had != has:
            better = True if has == "right" else False if had == "right" else None
            found.append(Move(labels.get(name, name), _said(had), _said(has), better))
    return found


def _said(verdict: str) -> str:
    return f"{verdict_sign(verdict)} {verdict_word(verdict)}" if verdict else "–"


def _outcome(said: Mapping[str, Any]) -> str:
    return runner.outcome_word(said["outcome"]) if said["outcome"] else _("not run again")
