"""A linked cohort with one learner, whose lesson has a column on the platform."""

from typing import Any

from accounts.models import Person
from classroom.lti import passback
from classroom.models import ContextLink
from tests.classroom.factories import place_of
from tests.classroom.lti.conftest import Browser
from tests.classroom.lti.platform import CORE, Simulated
from tests.classroom.lti.test_linking import linked

ASKED = "what-drift"  # checked by machine


class Desk:
    def __init__(self, platform: Simulated) -> None:
        self.platform = platform
        self.instructor, self.cohort = linked(platform)
        self.lesson, _step = place_of(ASKED)
        self.browser = Browser()
        self.browser.launch(platform, **self.opening())
        self.ada = Person.objects.get(pk=self.browser.person)

    def opening(self) -> dict[str, Any]:
        return {f"{CORE}custom": {"lesson": self.lesson.id}}

    @property
    def told(self) -> list[dict[str, Any]]:
        return [score.told for score in self.platform.scores]


def work(times: int = 6) -> None:
    """The reaper's turns, without its waiting."""
    ContextLink.objects.update(looked_at=None)
    for _ in range(times):
        passback.work()
