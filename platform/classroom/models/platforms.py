"""What a learning platform tells us, and what is to be told to it, beside django-lti's own rows."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from lti_tool.models import LtiContext, LtiLineItem, LtiRegistration, LtiUser

from classroom.models.cohorts import Cohort


class PlatformHost(models.Model):
    """Where else than at its registered addresses a platform offers rosters and gradebooks."""

    registration = models.ForeignKey(LtiRegistration, models.CASCADE, related_name="hosts")
    host = models.CharField(max_length=255)  # with its port, where it is not 443

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["registration", "host"], name="one_host_a_platform")
        ]

    def __str__(self) -> str:
        return self.host


class Kept(models.Model):
    """What one step of signing in keeps for the next, for minutes: nonces, tickets, keys."""

    key = models.CharField(max_length=200, primary_key=True)
    value = models.JSONField()
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.key


class ContextLink(models.Model):
    """A platform's course and the cohort that an instructor of both joined it to."""

    context = models.OneToOneField(LtiContext, models.CASCADE, related_name="link")
    cohort = models.ForeignKey(Cohort, models.CASCADE, related_name="platform_links")
    linked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    linked_at = models.DateTimeField(default=timezone.now)
    roster_at = models.DateTimeField(null=True, default=None)
    roster_is_partial = models.BooleanField(default=False)  # it was longer than we read
    looked_at = models.DateTimeField(null=True, default=None)  # whether marks had changed
    counted_at = models.DateTimeField(null=True, default=None)  # when they were last added up

    def __str__(self) -> str:
        return f"{self.context} = {self.cohort}"


class Column(models.Model):
    """The column of a platform's gradebook that holds the marks of one lesson."""

    line_item = models.OneToOneField(LtiLineItem, models.CASCADE, related_name="column")
    course = models.SlugField(max_length=80, blank=True)  # empty: the cohort's, whichever it is
    lesson = models.SlugField(max_length=80)
    made_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.lesson


class SendState(models.TextChoices):
    WAITING = "waiting", _("on its way")
    SENT = "sent", _("sent")
    FAILED = "failed", _("refused")


class Score(models.Model):
    """One learner's marks in one column, as the platform should have them: the outbox.

    `version` grows with the marks, so that marks which change while they are sent are sent again.
    """

    column = models.ForeignKey(Column, models.CASCADE, related_name="scores")
    user = models.ForeignKey(LtiUser, models.CASCADE, related_name="scores")
    earned = models.DecimalField(max_digits=9, decimal_places=2, null=True)
    possible = models.DecimalField(max_digits=9, decimal_places=2)
    is_complete = models.BooleanField(default=False)  # every question is answered
    is_waiting = models.BooleanField(default=False)  # a grader has still to look
    version = models.PositiveIntegerField(default=1)
    state = models.CharField(max_length=8, choices=SendState, default=SendState.WAITING)
    tries = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField(default=timezone.now)
    sent_at = models.DateTimeField(null=True, default=None)
    trouble = models.CharField(max_length=40, blank=True)  # why it did not arrive, as a code

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["state", "next_at"], name="scores_to_send")
        ]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["column", "user"], name="one_score_a_column")
        ]

    def __str__(self) -> str:
        return f"{self.earned} / {self.possible}"
