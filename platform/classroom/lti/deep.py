"""Deep linking: an instructor picks a lesson while editing the platform's course, and the platform
keeps the link and, with it, a column for its marks."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from lti_tool.models import LtiContext, LtiRegistration
from pylti1p3.deep_link import DeepLink
from pylti1p3.deep_link_resource import DeepLinkResource
from pylti1p3.lineitem import LineItem

from classroom.lti import outgoing
from classroom.models import Cohort
from classroom.progress import activities, cohort_work
from lessons.content.structure import Lesson

LONGEST_SETTINGS = 20_000  # characters, with whatever the platform wants back


@dataclass(frozen=True)
class Answer:
    """What the instructor's browser takes to the platform."""

    address: str
    token: str


def accepts(registration: LtiRegistration, asked: Mapping[str, Any]) -> bool:
    """Whether the answer would go to this platform, and what it asks can be kept till then."""
    text = json.dumps(asked)
    return (
        outgoing.is_of(registration, asked.get("deep_link_return_url"))
        and len(text) <= LONGEST_SETTINGS
        and "\\u0000" not in text
    )


def possible_points(cohort: Cohort, lesson: Lesson) -> Decimal:
    """What the lesson's questions are worth in this cohort."""
    asked = {activity.id for activity in activities(lesson)}
    work = cohort_work(cohort, people=[], asked=asked)
    return sum((work.schemes[name].possible for name in asked), Decimal(0))


def answer(
    context: LtiContext,
    asked: Mapping[str, Any],
    cohort: Cohort,
    lesson: Lesson,
    title: str,
    address: str,
) -> Answer:
    """One link to the lesson, signed; with a column where the lesson asks anything."""
    registration = context.deployment.registration.to_registration()
    picked = _InItsOwnWindow()
    picked.set_title(title).set_url(address)
    picked.set_custom_params({"course": cohort.course, "lesson": lesson.id})
    if points := possible_points(cohort, lesson):
        column = LineItem().set_label(title).set_resource_id(f"{cohort.course}/{lesson.id}")
        picked.set_lineitem(column.set_score_maximum(float(points)))
    linking = DeepLink(registration, context.deployment.deployment_id, dict(asked))
    return Answer(asked["deep_link_return_url"], linking.get_response_jwt([picked]))


class _InItsOwnWindow(DeepLinkResource):
    """Our pages stand in nobody's frame, so the link has to open a window."""

    def to_dict(self) -> dict[str, object]:
        return super().to_dict() | {"window": {"targetName": "_blank"}}
