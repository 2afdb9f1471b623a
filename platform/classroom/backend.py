"""Teachers see the Runs of their learners, and nobody else's."""

from typing import Any

from django.contrib.auth.backends import BaseBackend

from classroom.access import TEACHING
from classroom.models import Membership, Role

VIEW_RUN = "runner.view_run"


class CohortBackend(BaseBackend):
    """Grants `runner.view_run` on a Run: of a learner of the person's cohort, in its course."""

    def has_perm(self, user_obj: Any, perm: str, obj: Any = None) -> bool:
        if perm != VIEW_RUN or obj is None or not obj.course or not user_obj.is_active:
            return False
        return Membership.objects.filter(
            person_id=user_obj.pk,
            role__in=TEACHING,
            cohort__course=obj.course,
            cohort__memberships__person_id=obj.owner_id,
            cohort__memberships__role=Role.LEARNER,
        ).exists()
