"""What people did in the lessons: pages they visited, and their Answers with every revision."""

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Visit(models.Model):
    """A step somebody opened; the latest one in a lesson is where they left.

    `at` is the last time, `first_at` the first: from there to an answer is how long it took.
    """

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="visits"
    )
    course = models.SlugField(max_length=80)
    lesson = models.SlugField(max_length=80)
    step = models.SlugField(max_length=80)
    at = models.DateTimeField()
    first_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["person", "course", "lesson", "step"], name="one_visit_a_step"
            )
        ]

    def __str__(self) -> str:
        return f"{self.course}/{self.lesson}/{self.step}"


class Answer(models.Model):
    """What a person gave to an Activity. `version` grows with every write, a draft's too: who
    writes says which version they saw, and a write on top of an unseen one is a conflict."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="answers"
    )
    course = models.SlugField(max_length=80)
    activity = models.SlugField(max_length=80)
    version = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["person", "course", "activity"], name="one_answer_an_activity"
            )
        ]

    def __str__(self) -> str:
        return f"{self.course}/{self.activity}"


class State(models.TextChoices):
    DRAFT = "draft", _("draft")
    SUBMITTED = "submitted", _("submitted")
    ASIDE = "aside", _("set aside")  # a draft that another one replaced when accounts were merged


class Revision(models.Model):
    """One state of an Answer. Once submitted it never changes; feedback belongs to it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    answer = models.ForeignKey(Answer, on_delete=models.CASCADE, related_name="revisions")
    number = models.IntegerField()
    state = models.CharField(max_length=12, choices=State.choices, default=State.DRAFT)
    content = models.JSONField()  # {field: {"raw": …, "value": …}}
    content_hash = models.CharField(max_length=64)
    language = models.CharField(max_length=8)
    key = models.UUIDField(null=True, default=None)  # idempotency, given by the page
    verdicts = models.JSONField(default=dict)
    checked_as = models.CharField(max_length=16, blank=True)  # hash of the key it was checked with
    run = models.UUIDField(null=True, default=None)  # the step's latest Run when this was submitted
    created_at = models.DateTimeField()
    saved_at = models.DateTimeField()  # a draft's last save
    submitted_at = models.DateTimeField(null=True, default=None)

    class Meta:
        ordering: ClassVar[list[str]] = ["number"]
        # Which submission is an answer's last: asked of all the answers of a cohort at once.
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["answer", "state", "number", "id"], name="submissions_of_an_answer"
            )
        ]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["answer", "number"], name="one_revision_a_number"),
            models.UniqueConstraint(fields=["answer", "key"], name="one_revision_a_key"),
            models.UniqueConstraint(
                fields=["answer"], condition=models.Q(state=State.DRAFT), name="one_draft"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.number} ({self.state})"
