"""Who learns together, who teaches them, and until when each lesson is open."""

import secrets
import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # none that another could be taken for


def new_code() -> str:
    """What a learner types to join; 31^8 of them, and joining is throttled."""
    return "".join(secrets.choice(_LETTERS) for _ in range(8))


def new_ref() -> str:
    """What stands for a learner where names are hidden; says nothing of who or when."""
    return secrets.token_hex(6)


class Release(models.TextChoices):
    AT_ONCE = "at_once", _("as soon as it is given")
    HELD = "held", _("when an instructor releases it")


class Role(models.TextChoices):
    LEARNER = "learner", _("learner")
    ASSISTANT = "assistant", _("assistant")
    INSTRUCTOR = "instructor", _("instructor")


class Cohort(models.Model):
    """A group that follows one course."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(_("name"), max_length=120)
    course = models.SlugField(max_length=80)
    zone = models.CharField(_("time zone"), max_length=64, default="UTC")  # IANA
    code = models.CharField(max_length=12, unique=True, default=new_code)
    is_open = models.BooleanField(default=True)  # whether the code still lets people in
    is_anonymous = models.BooleanField(default=True)  # graders see no names
    release = models.CharField(max_length=8, choices=Release, default=Release.AT_ONCE)
    is_demo = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)
    archived_at = models.DateTimeField(null=True, default=None)

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    cohort = models.ForeignKey(Cohort, models.CASCADE, related_name="memberships")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=12, choices=Role, default=Role.LEARNER)
    ref = models.CharField(max_length=12, default=new_ref)
    joined_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["cohort", "person"], name="one_membership_a_cohort"),
            models.UniqueConstraint(fields=["cohort", "ref"], name="one_ref_in_a_cohort"),
        ]

    def __str__(self) -> str:
        return f"{self.ref} ({self.role})"


class Deadline(models.Model):
    """When a lesson closes: a wall time in a zone. `at` is that instant, for comparing."""

    cohort = models.ForeignKey(Cohort, models.CASCADE, related_name="deadlines")
    lesson = models.SlugField(max_length=80)
    wall = models.CharField(max_length=16)  # 2026-12-01T23:59
    zone = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["cohort", "lesson"], name="one_deadline_a_lesson")
        ]

    def __str__(self) -> str:
        return f"{self.lesson}: {self.wall} {self.zone}"


class Extension(models.Model):
    """A later end of a lesson for one learner, whatever the cohort's deadline is."""

    cohort = models.ForeignKey(Cohort, models.CASCADE, related_name="extensions")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    lesson = models.SlugField(max_length=80)
    wall = models.CharField(max_length=16)
    zone = models.CharField(max_length=64)
    at = models.DateTimeField()
    reason = models.CharField(max_length=300, blank=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["cohort", "person", "lesson"], name="one_extension_a_lesson"
            )
        ]

    def __str__(self) -> str:
        return f"{self.lesson}: {self.wall} {self.zone}"
