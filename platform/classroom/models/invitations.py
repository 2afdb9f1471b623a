"""How somebody is asked to teach: a code that works once."""

import secrets
from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone

from classroom.models.cohorts import Cohort, Role

LASTS = timedelta(days=14)


def new_secret() -> str:
    return secrets.token_urlsafe(18)


def in_two_weeks() -> datetime:
    return timezone.now() + LASTS


class Invitation(models.Model):
    """With an address only the account of that address may take it up."""

    cohort = models.ForeignKey(Cohort, models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=12, choices=Role)
    email = models.EmailField(blank=True)
    code = models.CharField(max_length=32, unique=True, default=new_secret)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    made_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(default=in_two_weeks)

    def __str__(self) -> str:
        return f"{self.role} of {self.cohort_id}"
