"""How many Runs a person has left today."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from runner.models import Run
from runner.shapes import Quota


def quota(person: Any) -> Quota:
    """A day begins at midnight UTC. Faults of ours and what never started are not counted."""
    today = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    return Quota(used=used(person, today), limit=limit(person), resets_at=today + timedelta(days=1))


def used(person: Any, since: datetime) -> int:
    if person is None or not person.is_authenticated:
        return 0
    return Run.objects.filter(owner_id=person.pk).charged(since).count()


def limit(person: Any) -> int:
    known = person is not None and person.is_authenticated and not person.is_guest
    return int(settings.RUNS_PER_DAY if known else settings.GUEST_RUNS_PER_DAY)
