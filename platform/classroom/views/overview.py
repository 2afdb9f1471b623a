"""The overview: how a cohort gets on, lesson by lesson and question by question."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from classroom import amounts
from classroom.access import Teaching, teaching
from classroom.mistakes import mistakes, read_wrong
from classroom.overview import LessonTally, Tally, lesson_overview, overview, runs_of
from classroom.plots import Part, nested, stacked
from classroom.progress import Learner, activities, course_of
from classroom.stuck import Failing, Quiet, failing, quiet
from classroom.titles import Titles, titles_of
from classroom.views.book_cells import name_of
from kernels.events import Outcome
from lessons.content.structure import Lesson, Step
from lessons.views.found import find
from runner.api import outcome_word


@dataclass(frozen=True)
class Shown:
    """A tally in words and bars."""

    reached: int
    answered: int
    bar: SafeString
    right: str  # how many of how many
    right_share: str
    right_bar: SafeString
    tries: str
    time: str
    runs: list[tuple[str, str, int]]  # sign, word, count
    runs_bar: SafeString


@require_safe
def overview_page(request: HttpRequest, cohort_id: uuid.UUID) -> HttpResponse:
    here = teaching(request, cohort_id)
    runs = runs_of(here.cohort)
    found = overview(here.cohort, runs)
    titles = titles_of(here.cohort.course)
    context = _context(here) | {
        "people": len(found.work.learners),
        "past": found.past,
        "lessons": [
            _lesson_line(here, titles, item, found.people, place)
            for place, item in enumerate(found.lessons, start=1)
        ],
        "quiet": [_quiet(here, titles, item) for item in quiet(here.cohort, found.work, runs)],
        "failing": [_failing(here, titles, item) for item in failing(found.work, runs)],
    }
    return render(request, "classroom/overview/overview.html", context)


@require_safe
def lesson_page(request: HttpRequest, cohort_id: uuid.UUID, lesson: str) -> HttpResponse:
    here = teaching(request, cohort_id)
    course = course_of(here.cohort)
    named = course.lesson(lesson) if course else None
    titles = titles_of(here.cohort.course)
    if course is None or named is None or titles is None or lesson in titles.shelf.broken:
        raise Http404(lesson)
    work, tallies = lesson_overview(here.cohort, named)
    wrong = read_wrong(here.cohort, activities(named))
    course_pages = find(here.cohort.course)
    questions = []
    for place, item in enumerate(tallies, start=1):
        step, activity = item.step, item.step.activity
        ask = course_pages.page(named, step).ask if activity else None
        questions.append(
            {
                "number": place,
                "title": titles.question(named, step) if activity else titles.step(named, step),
                "address": reverse("lessons:step", args=[course.id, named.id, step.id]),
                "queue": _queue(here, activity.id) if activity else "",
                "asks": activity is not None,
                "shown": shown(item.tally, len(work.learners)),
                "fields": mistakes(activity, ask, wrong[activity.id]) if activity and ask else [],
            }
        )
    context = _context(here) | {
        "lesson": named,
        "lesson_title": titles.lesson(named),
        "number": course.lessons.index(named) + 1,
        "people": len(work.learners),
        "questions": questions,
    }
    return render(request, "classroom/overview/lesson.html", context)


def shown(tally: Tally, people: int, answers: int | None = None) -> Shown:
    """`answers`: of a lesson, all answers to its questions; of a question its own."""
    total = max(people, tally.reached, 1)
    count = tally.answered if answers is None else answers
    said = _("%(reached)d of %(total)d reached it, %(answered)d answered") % {
        "reached": tally.reached,
        "total": total,
        "answered": tally.answered,
    }
    right = _("%(right)d of %(checked)d") % {"right": tally.right, "checked": tally.checked}
    right_said = _("%(right)d of %(checked)d right at the first try") % {
        "right": tally.right,
        "checked": tally.checked,
    }
    runs = list(_runs(tally))
    return Shown(
        reached=tally.reached,
        answered=tally.answered,
        bar=nested(total, [Part("reached", tally.reached), Part("done", tally.answered)], said),
        right=right if tally.checked else amounts.NOTHING,
        right_share=amounts.share(tally.right, tally.checked),
        right_bar=nested(tally.checked, [Part("pass", tally.right)], right_said),
        tries=amounts.number(tally.tries / count) if count else amounts.NOTHING,
        time=amounts.duration(tally.median_seconds),
        runs=[(sign, word, count) for _kind, sign, word, count in runs],
        runs_bar=stacked(
            tally.runs.total(),
            [Part(kind, count) for kind, _sign, _word, count in runs],
            ", ".join(f"{count} {word}" for _kind, _sign, word, count in runs),
        ),
    )


def _runs(tally: Tally) -> Iterator[tuple[str, str, str, int]]:
    """Class, sign, word and count of each outcome there is, in the order of Outcome."""
    kinds = {Outcome.PASSED: ("pass", "✓"), Outcome.FAILED: ("fail", "✗"),
             Outcome.ERROR_IN_CODE: ("fail", "✗")}  # fmt: skip
    for outcome in Outcome:
        if count := tally.runs[outcome]:
            kind, sign = kinds.get(outcome, ("other", "·"))
            yield kind, sign, outcome_word(outcome), count


def _context(here: Teaching) -> dict[str, Any]:
    return {"cohort": here.cohort, "teaching": here, "tab": "overview"}


def _lesson_line(
    here: Teaching, titles: Titles | None, item: LessonTally, people: int, place: int
) -> dict[str, Any]:
    return {
        "number": place,
        "title": titles.lesson(item.lesson) if titles else item.lesson.id,
        "address": reverse("classroom:overview-lesson", args=[here.cohort.pk, item.lesson.id]),
        "shown": shown(item.tally, people, item.answers),
    }


def _queue(here: Teaching, activity: str) -> str:
    return reverse("classroom:question", args=[here.cohort.pk, activity])


def _who(here: Teaching, learner: Learner) -> str:
    """By ref where grading goes without names: for instructors too, outside Members and
    Gradebook."""
    return "" if here.cohort.is_anonymous else name_of(learner)


def _quiet(here: Teaching, titles: Titles | None, item: Quiet) -> dict[str, Any]:
    return {
        "name": _who(here, item.learner),
        "ref": item.learner.ref,
        "days": (timezone.now() - item.since).days,
        **_place(here, titles, item.place),
    }


def _failing(here: Teaching, titles: Titles | None, item: Failing) -> dict[str, Any]:
    return {
        "name": _who(here, item.learner),
        "ref": item.learner.ref,
        "failures": item.failures,
        **_place(here, titles, (item.lesson, item.step)),
    }


def _place(
    here: Teaching, titles: Titles | None, place: tuple[Lesson, Step] | None
) -> dict[str, str]:
    if place is None or titles is None:
        return {"place": "", "address": ""}
    lesson, step = place
    address = reverse("lessons:step", args=[here.cohort.course, lesson.id, step.id])
    return {"place": f"{titles.lesson(lesson)} · {titles.step(lesson, step)}", "address": address}
