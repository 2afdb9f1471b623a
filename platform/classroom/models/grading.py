"""What graders give: rubric points, grades of revisions, comments, and second looks."""

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from classroom.models.cohorts import Cohort
from lessons.models import Revision


class RubricPoint(models.Model):
    """One reason to add or take points, of one Activity in one cohort.

    Those a lesson declares have its `field` and `key` and an empty text: the lesson has it in
    every language. A retired point stays with the grades that hold it and is offered no more.
    """

    cohort = models.ForeignKey(Cohort, models.CASCADE, related_name="rubric_points")
    activity = models.SlugField(max_length=80)
    field = models.SlugField(max_length=80, blank=True)
    key = models.SlugField(max_length=80)
    text = models.CharField(max_length=400, blank=True)
    points = models.DecimalField(max_digits=6, decimal_places=2)
    position = models.PositiveSmallIntegerField(default=0)
    version = models.PositiveIntegerField(default=1)  # grows with every edit
    retired_at = models.DateTimeField(null=True, default=None)

    class Meta:
        ordering: ClassVar[list[str]] = ["position", "id"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["cohort", "activity", "field", "key"], name="one_rubric_point_a_key"
            )
        ]

    def __str__(self) -> str:
        return f"{self.key} {self.points:+}"

    @property
    def is_retired(self) -> bool:
        return self.retired_at is not None


class GroupDecision(models.Model):
    """One decision over every answer that says the same; undone, its grades are gone."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    cohort = models.ForeignKey(Cohort, models.CASCADE, related_name="decisions")
    activity = models.SlugField(max_length=80)
    likeness = models.CharField(max_length=64)  # hash of the normalised answer
    grader = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    undone_at = models.DateTimeField(null=True, default=None)

    def __str__(self) -> str:
        return f"{self.activity} {self.likeness[:8]}"


class Grade(models.Model):
    """What one revision got in one cohort. It stays with the revision whatever comes after.

    `version` grows with every write: a grader says which one they saw. With `is_ungradable`
    the answer could not be graded, which is not zero.
    """

    cohort = models.ForeignKey(Cohort, models.CASCADE, related_name="grades")
    revision = models.ForeignKey(Revision, models.CASCADE, related_name="grades")
    grader = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    decision = models.ForeignKey(
        GroupDecision, models.SET_NULL, null=True, default=None, related_name="grades"
    )
    points = models.ManyToManyField(RubricPoint, through="GradePoint")
    adjustment = models.DecimalField(max_digits=6, decimal_places=2, default=0)
    comment = models.TextField(blank=True, max_length=10_000)  # Markdown
    is_ungradable = models.BooleanField(default=False)
    version = models.PositiveIntegerField(default=1)
    graded_at = models.DateTimeField(default=timezone.now)
    published_at = models.DateTimeField(null=True, default=None)  # None: the learner waits
    seen_at = models.DateTimeField(null=True, default=None)  # by the learner

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["cohort", "revision"], name="one_grade_a_revision")
        ]

    def __str__(self) -> str:
        return f"grade of {self.revision_id}"


class GradePoint(models.Model):
    grade = models.ForeignKey(Grade, models.CASCADE, related_name="given")
    point = models.ForeignKey(RubricPoint, models.PROTECT, related_name="given")

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["grade", "point"], name="one_point_once_a_grade")
        ]

    def __str__(self) -> str:
        return f"{self.point_id} in {self.grade_id}"


class PassageComment(models.Model):
    """A comment on characters `start` to `end` (NFC code points) of one field of the revision."""

    grade = models.ForeignKey(Grade, models.CASCADE, related_name="passages")
    field = models.SlugField(max_length=80)
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    quote = models.TextField(max_length=20_000)
    text = models.TextField(max_length=4_000)

    class Meta:
        ordering: ClassVar[list[str]] = ["field", "start", "id"]

    def __str__(self) -> str:
        return self.quote[:40]


class SecondLook(models.Model):
    """A learner's request, once a revision, to have its grade looked at again."""

    grade = models.OneToOneField(Grade, models.CASCADE, related_name="second_look")
    reason = models.TextField(max_length=2_000)
    asked_at = models.DateTimeField(default=timezone.now)
    reply = models.TextField(max_length=4_000, blank=True)
    answered_at = models.DateTimeField(null=True, default=None)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )

    def __str__(self) -> str:
        return self.reason[:40]


class Share(models.Model):
    """A grader's part of one Activity's answers: those whose place modulo all parts is theirs."""

    cohort = models.ForeignKey(Cohort, models.CASCADE, related_name="shares")
    activity = models.SlugField(max_length=80)
    grader = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering: ClassVar[list[str]] = ["position"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["cohort", "activity", "grader"], name="one_share_a_grader"
            )
        ]

    def __str__(self) -> str:
        return f"{self.activity} {self.position}"
