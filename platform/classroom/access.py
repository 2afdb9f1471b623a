"""Who may do what in a cohort: the one place that decides it.

To who may not, a cohort is not there: a 404, as everywhere on the site, and never a 403.
"""

import uuid
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest

from classroom.models import Cohort, Membership, Role

MAKE_COHORTS = "classroom.add_cohort"  # the group "instructors" has it
TEACHING = (Role.ASSISTANT, Role.INSTRUCTOR)


class NotAMember(Http404):
    """The cohort does not exist, or not for this person in this role."""


@dataclass(frozen=True)
class Teaching:
    """Somebody who grades in a cohort."""

    cohort: Cohort
    membership: Membership

    @property
    def is_instructor(self) -> bool:
        return self.membership.role == Role.INSTRUCTOR

    @property
    def may_see_names(self) -> bool:
        """On Members and Gradebook, and nowhere else in an anonymous cohort."""
        return self.is_instructor or not self.cohort.is_anonymous


@dataclass(frozen=True)
class Learning:
    """Somebody who learns in a cohort."""

    cohort: Cohort
    membership: Membership


def membership(person: Any, cohort_id: uuid.UUID | str) -> Membership:
    """The person's membership, with its cohort in the same query. Raises NotAMember."""
    if not person.is_authenticated:
        raise NotAMember("nobody yet")
    found = (
        Membership.objects.filter(person=person, cohort_id=cohort_id)
        .select_related("cohort")
        .first()
    )
    if found is None:
        raise NotAMember(str(cohort_id))
    return found


def teaching(
    request: HttpRequest, cohort_id: uuid.UUID | str, *, instructor: bool = False
) -> Teaching:
    """An assistant or an instructor of the cohort (`instructor`: no assistant).

    Raises NotAMember for everybody else.
    """
    mine = membership(request.user, cohort_id)
    allowed = (Role.INSTRUCTOR,) if instructor else TEACHING
    if mine.role not in allowed:
        raise NotAMember(str(cohort_id))
    return Teaching(mine.cohort, mine)


def learning(request: HttpRequest, cohort_id: uuid.UUID | str) -> Learning:
    """A learner of the cohort. Raises NotAMember for everybody else."""
    mine = membership(request.user, cohort_id)
    if mine.role != Role.LEARNER:
        raise NotAMember(str(cohort_id))
    return Learning(mine.cohort, mine)


def learner(cohort: Cohort, ref: str) -> Membership:
    """The learner whom `ref` stands for, with the person. Raises NotAMember."""
    found = (
        Membership.objects.filter(cohort=cohort, ref=ref, role=Role.LEARNER)
        .select_related("person")
        .first()
    )
    if found is None:
        raise NotAMember(ref)
    return found
