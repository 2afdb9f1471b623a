"""What the platforms' part holds of a person: who they are there, and the marks that went there."""

from typing import Any

from django.utils import timezone
from lti_tool.models import LtiUser

from classroom.models import Score


def export_person(person: Any) -> list[dict[str, Any]]:
    rows = LtiUser.objects.filter(auth_user=person).select_related("registration").order_by("pk")
    return [
        {
            "platform": row.registration.name,
            "issuer": row.registration.issuer,
            "id_there": row.sub,
            "name_there": row.name,
            "first_came_at": row.datetime_created,
            "courses": [str(item.context) for item in row.memberships.select_related("context")],
            "marks_sent": list(
                Score.objects.filter(user=row)
                .order_by("pk")
                .values("column__lesson", "earned", "possible", "state", "sent_at")
            ),
        }
        for row in rows
    ]


def adopt(person: Any) -> None:
    """A guest's answers became theirs, with the times they had: their marks are counted anew."""
    LtiUser.objects.filter(auth_user=person).update(datetime_modified=timezone.now())


def erase_person(person: Any) -> None:
    """The platform keeps what it was told; coming from it again makes somebody new."""
    LtiUser.objects.filter(auth_user=person).delete()
