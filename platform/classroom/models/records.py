"""What is kept beside the grades: adjustments, the audit, and work of people gone."""

from typing import Any, ClassVar, NoReturn

from django.conf import settings
from django.db import models
from django.utils import timezone

from classroom.models.cohorts import Cohort


class Adjustment(models.Model):
    """Points added to (or taken from) one learner's lesson, beside what their answers got."""

    cohort = models.ForeignKey(Cohort, models.CASCADE, related_name="adjustments")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    lesson = models.SlugField(max_length=80)
    points = models.DecimalField(max_digits=6, decimal_places=2)
    reason = models.CharField(max_length=300, blank=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["cohort", "person", "lesson"], name="one_adjustment_a_lesson"
            )
        ]

    def __str__(self) -> str:
        return f"{self.lesson} {self.points:+}"


class Import(models.Model):
    """Adjustments that came in with one file. It is taken back once, or never."""

    cohort = models.ForeignKey(Cohort, models.CASCADE, related_name="imports")
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    made_at = models.DateTimeField(default=timezone.now)
    undone_at = models.DateTimeField(null=True, default=None)

    def __str__(self) -> str:
        return f"import of {self.made_at:%Y-%m-%d}"


class ImportedLine(models.Model):
    """What one adjustment was before an import and what it became, reasons too: those are not
    in the audit, which outlives the learner. It goes with its learner."""

    batch = models.ForeignKey(Import, models.CASCADE, related_name="lines")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    lesson = models.SlugField(max_length=80)
    before = models.DecimalField(max_digits=6, decimal_places=2)
    before_reason = models.CharField(max_length=300, blank=True)
    after = models.DecimalField(max_digits=6, decimal_places=2)
    after_reason = models.CharField(max_length=300, blank=True)

    def __str__(self) -> str:
        return f"{self.lesson} {self.before:+} → {self.after:+}"


class Unchangeable(Exception):
    """An entry of the audit is never changed and never deleted."""


class AuditEntries(models.QuerySet["AuditEntry"]):
    def update(self, **values: Any) -> NoReturn:
        raise Unchangeable

    def delete(self) -> NoReturn:
        raise Unchangeable

    def bulk_update(self, *args: Any, **options: Any) -> NoReturn:
        raise Unchangeable


class AuditEntry(models.Model):
    """Who did what, appended and never changed. The actor's name goes when the actor is erased.

    Triggers in the database hold the same against everything that does not come this way
    (migration 0002): they let an actor be taken out, a guest become an account, and a
    demonstration cohort go with its entries.
    """

    cohort = models.ForeignKey(Cohort, models.CASCADE, related_name="audit")
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    action = models.CharField(max_length=40)  # graded, changed, exported, viewed-as, joined, …
    subject = models.CharField(max_length=200, blank=True)  # by ref, never by name
    data = models.JSONField(default=dict)
    at = models.DateTimeField(default=timezone.now, db_index=True)

    objects = AuditEntries.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["-at", "-id"]

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"

    def save(self, **options: Any) -> None:
        if not self._state.adding:
            raise Unchangeable
        super().save(**options)

    def delete(self, *args: Any, **options: Any) -> NoReturn:
        raise Unchangeable


class PastWork(models.Model):
    """What a learner who was erased leaves to the statistics: numbers without a person."""

    cohort = models.ForeignKey(Cohort, models.CASCADE, related_name="past_work")
    lesson = models.SlugField(max_length=80)
    activity = models.SlugField(max_length=80, blank=True)
    was_answered = models.BooleanField(default=False)
    was_right_first = models.BooleanField(null=True, default=None)
    tries = models.PositiveIntegerField(default=0)
    seconds = models.PositiveIntegerField(null=True, default=None)

    def __str__(self) -> str:
        return f"{self.lesson}/{self.activity}"
