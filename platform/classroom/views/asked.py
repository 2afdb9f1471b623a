"""What every page of the queue begins with: the grader, the question, and where it stands."""

import uuid
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest
from django.urls import reverse

from classroom import queue
from classroom.access import Teaching, teaching
from classroom.models import Cohort, Share
from classroom.queue import Entry, NoSuchQuestion, Part, Question
from classroom.titles import Titles
from lessons.views.found import reading_language


@dataclass(frozen=True)
class Asked:
    """A grader at one question."""

    teaching: Teaching
    question: Question
    language: str
    grader: Any

    @property
    def cohort(self) -> Cohort:
        return self.teaching.cohort

    @property
    def activity(self) -> str:
        return self.question.activity.id

    @property
    def titles(self) -> Titles:
        return Titles(self.question.shelf, self.language)

    @property
    def title(self) -> str:
        """The step's, which the question stands under."""
        return self.titles.step(self.question.lesson, self.question.step)

    @property
    def lesson_title(self) -> str:
        return self.titles.lesson(self.question.lesson)

    def address(self, name: str, *more: Any) -> str:
        return reverse(f"classroom:{name}", args=[self.cohort.id, self.activity, *more])

    def context(self) -> dict[str, Any]:
        return {
            "teaching": self.teaching,
            "cohort": self.cohort,
            "tab": "queue",
            "asked": self,
            "question": self.question,
        }


@dataclass(frozen=True)
class Choice:
    """Which answers a grader goes through: a part, perhaps only of their own share."""

    part: Part = Part.WAITING
    is_mine: bool = False

    @property
    def query(self) -> str:
        words = {}
        if self.part is not Part.WAITING:
            words["part"] = str(self.part)
        if self.is_mine:
            words["mine"] = "1"
        return f"?{urlencode(words)}" if words else ""


@dataclass(frozen=True)
class Line:
    """The answers in their order as one grader goes through them."""

    entries: list[Entry]  # the chosen part
    everything: list[Entry]  # of the question, in the same order
    mine: frozenset[str]  # refs
    shares: list[Share]  # who has a part of the question, in order

    def entry(self, ref: str) -> Entry | None:
        return next((entry for entry in self.everything if entry.ref == ref), None)

    def after(self, ref: str) -> Entry | None:
        """The next of the chosen part, from the beginning again after the last."""
        return self._beside(ref, self.everything)

    def before(self, ref: str) -> Entry | None:
        return self._beside(ref, self.everything[::-1])

    def _beside(self, ref: str, order: list[Entry]) -> Entry | None:
        chosen = {entry.ref for entry in self.entries} - {ref}
        place = next((i for i, entry in enumerate(order) if entry.ref == ref), -1)
        turned = order[place + 1 :] + order[: max(place, 0)]
        return next((entry for entry in turned if entry.ref in chosen), None)


def find_asked(request: HttpRequest, cohort_id: uuid.UUID, activity: str) -> Asked:
    """Raises Http404."""
    teach = teaching(request, cohort_id)
    try:
        found = queue.question(teach.cohort, activity)
    except NoSuchQuestion as missing:
        raise Http404(activity) from missing
    return Asked(teach, found, reading_language(), request.user)


def choice_of(request: HttpRequest) -> Choice:
    try:
        part = Part(request.GET.get("part", Part.WAITING))
    except ValueError:
        part = Part.WAITING
    return Choice(part, request.GET.get("mine") == "1")


def line(asked: Asked, choice: Choice) -> Line:
    everything = queue.entries(asked.cohort, asked.question)
    part = queue.part_of(everything, choice.part)
    shares = queue.shares_of(asked.cohort, [asked.activity]).get(asked.activity, [])
    own = frozenset(
        entry.ref
        for entry in queue.mine(asked.cohort, asked.activity, everything, asked.grader, shares)
    )
    if choice.is_mine:
        part = [entry for entry in part if entry.ref in own]
    return Line(part, everything, own, shares)
