"""Re-checks: every answer to an Activity against its key as it is now, or every Run once more."""

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from classroom.models.cohorts import Cohort


class RecheckKind(models.TextChoices):
    ANSWERS = "answers", _("every stored answer, against the key as it is now")
    RUNS = "runs", _("every Run, with the check as it is now")


class RecheckState(models.TextChoices):
    PREVIEWING = "previewing", _("being worked out")
    READY = "ready", _("ready to be applied")
    APPLYING = "applying", _("being applied")
    DONE = "done", _("done")
    STOPPED = "stopped", _("stopped")
    DROPPED = "dropped", _("given up")


class Recheck(models.Model):
    """One action over every answer (or Run) of an Activity: worked out, shown, then applied.

    The row is all there is to it: whoever holds its lease works on what is still open, so that
    it goes on after a stop, or after the process that worked on it was killed.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    cohort = models.ForeignKey(Cohort, models.CASCADE, related_name="rechecks")
    lesson = models.SlugField(max_length=80)
    activity = models.SlugField(max_length=80)  # or the step, where Runs are run again
    kind = models.CharField(max_length=8, choices=RecheckKind)
    state = models.CharField(max_length=12, choices=RecheckState, default=RecheckState.PREVIEWING)
    key_hash = models.CharField(max_length=16, blank=True)  # the key it was worked out with
    total = models.PositiveIntegerField(default=0)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    applied_at = models.DateTimeField(null=True, default=None)
    lease_until = models.DateTimeField(null=True, default=None)
    obstacle = models.CharField(max_length=40, blank=True)  # why it waits or stopped, as a code

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["cohort", "kind", "lesson", "activity"],
                condition=~models.Q(state__in=["done", "dropped"]),
                name="one_open_recheck",
            )
        ]

    def __str__(self) -> str:
        return f"{self.activity} ({self.state})"


class RecheckItem(models.Model):
    """One revision (or Run): what it had and what it would have.

    `gained` counts the fields that become right (or the check that now passes), `lost` those
    that no longer are; `counts` is false of a revision that a later one has replaced.
    """

    recheck = models.ForeignKey(Recheck, models.CASCADE, related_name="items")
    subject = models.UUIDField(db_index=True)  # of the revision or the Run
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    before = models.JSONField()
    after = models.JSONField(null=True, default=None)  # None: still to be worked out
    rerun = models.UUIDField(null=True, default=None)  # the new Run
    is_changed = models.BooleanField(default=False)
    gained = models.PositiveSmallIntegerField(default=0)
    lost = models.PositiveSmallIntegerField(default=0)
    counts = models.BooleanField(default=True)
    applied_at = models.DateTimeField(null=True, default=None)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["recheck", "subject"], name="one_item_a_subject")
        ]

    def __str__(self) -> str:
        return str(self.subject)
