"""How it is said where marks stand."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from classroom.lti.passback import Standing, standing
from classroom.models import Cohort
from classroom.titles import lessons


@dataclass(frozen=True)
class Told:
    """A lesson's marks at a platform, with words for its title and for what is wrong."""

    standing: Standing
    title: str
    trouble: str


def told(cohort: Cohort) -> list[Told]:
    """The marks on their way, lesson by lesson; in one query."""
    found = standing(cohort)
    titles = {item.id: item.title for item in lessons(cohort.course)} if found else {}
    words = troubles()
    return [
        Told(row, titles.get(row.lesson, row.lesson), words.get(row.trouble, row.trouble))
        for row in found
    ]


def troubles() -> dict[str, str]:
    """By code. Others are the status the platform answered with."""
    return {
        "": "",
        "token": _("the platform gives us no access"),
        "unreachable": _("the platform cannot be reached"),
        "address": _("the column’s address is not the platform’s"),
        "403": _("the platform forbids it (403)"),
        "404": _("the platform does not know the column any more (404)"),
    }
