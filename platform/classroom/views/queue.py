"""The queue of a cohort, question by question, and the answers to one of them."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from classroom import groups, queue, sharing
from classroom.access import teaching
from classroom.desk import marks_said
from classroom.gradebook import held_lessons
from classroom.groups import Group
from classroom.models import Grade, Release, Share
from classroom.papers import ask_texts, gist, language_name
from classroom.queue import Entry, Part, Question, Tally
from classroom.rubrics import offered, rubric_of
from classroom.titles import Titles, titles_of
from classroom.views.asked import (
    Asked,
    choice_of,
    find_asked,
    line,
)
from lessons.models import Revision
from lessons.views.found import reading_language

PAGE = 50
GROUPS = 8  # shown; the smaller ones are only counted


@dataclass(frozen=True)
class QuestionRow:
    question: Question
    title: str
    tally: Tally
    graders: Sequence[Share]
    is_mine: bool
    address: str


@dataclass(frozen=True)
class LessonRows:
    title: str
    number: int
    rows: list[QuestionRow]

    @property
    def total(self) -> int:
        return sum(row.tally.total for row in self.rows)


@dataclass(frozen=True)
class AnswerRow:
    entry: Entry
    address: str
    gist: SafeString
    marks: str
    language: str
    language_name: str


@require_safe
def queue_page(request: HttpRequest, cohort: uuid.UUID) -> HttpResponse:
    teach = teaching(request, cohort)
    language = reading_language()
    asked = queue.questions(teach.cohort)
    tallies = queue.tallies(teach.cohort, asked)
    shares = queue.shares_of(teach.cohort)
    lessons: dict[str, LessonRows] = {}
    here = reverse("classroom:queue", args=[teach.cohort.id])
    for item in asked:
        titles, name = Titles(item.shelf, language), item.lesson.id
        if name not in lessons:
            number = item.shelf.course.lessons.index(item.lesson) + 1
            lessons[name] = LessonRows(titles.lesson(item.lesson), number, [])
        graders = shares.get(item.activity.id, [])
        own = any(share.grader_id == request.user.pk for share in graders)
        tally, address = tallies[item.activity.id], f"{here}{item.activity.id}/"
        lessons[name].rows.append(
            QuestionRow(item, titles.step(item.lesson, item.step), tally, graders, own, address)
        )
    total = _sum(list(tallies.values()))
    first = next(
        (row for lesson in lessons.values() for row in lesson.rows if row.tally.waiting), None
    )
    context = {
        "teaching": teach,
        "cohort": teach.cohort,
        "tab": "queue",
        "lessons": list(lessons.values()),
        "silent": [lesson for lesson in lessons.values() if not lesson.total],
        "total": total,
        "first": first,
        "graders": sharing.graders(teach.cohort) if teach.is_instructor else [],
        "held": held_lessons(teach.cohort, titles_of(teach.cohort.course))
        if teach.cohort.release == Release.HELD
        else [],
    }
    return render(request, "classroom/queue/queue.html", context)


@require_safe
def question_page(request: HttpRequest, cohort: uuid.UUID, activity: str) -> HttpResponse:
    asked = find_asked(request, cohort, activity)
    choice = choice_of(request)
    here = line(asked, choice)
    shares = here.shares
    page = Paginator(here.entries, PAGE).get_page(request.GET.get("page"))
    rubric = rubric_of(asked.cohort, asked.question.activity)
    same = groups.groups(asked.question, here.everything)
    own = [entry for entry in here.everything if entry.ref in here.mine]
    context = asked.context() | {
        "choice": choice,
        "parts": _parts(own if choice.is_mine else here.everything),
        "page": page,
        "total": len(here.everything),
        "rows": _rows(asked, list(page), rubric),
        "has_share": any(share.grader_id == request.user.pk for share in shares),
        "shares": shares,
        "mine_waiting": len(queue.part_of(own, Part.WAITING)),
        "groups": _with_samples(asked, same[:GROUPS]),
        "more_groups": max(0, len(same) - GROUPS),
        "decisions": groups.recent(asked.cohort, asked.activity),
        "rubric_size": len(offered(rubric)),
        "graders": sharing.graders(asked.cohort) if asked.teaching.is_instructor else [],
        "sharing": {share.grader_id for share in shares},
    }
    return render(request, "classroom/queue/question.html", context)


@require_safe
def next_page(request: HttpRequest, cohort: uuid.UUID, activity: str) -> HttpResponse:
    """The first answer of the chosen part; without one, the question, which says so."""
    asked = find_asked(request, cohort, activity)
    choice = choice_of(request)
    found = line(asked, choice).entries
    if not found:
        return redirect(asked.address("question") + choice.query)
    return redirect(asked.address("grade", found[0].ref) + choice.query)


@require_POST
def split(request: HttpRequest, cohort: uuid.UUID) -> HttpResponse:
    """Share out one question (`activity`), or all of them, among the graders ticked."""
    teach = teaching(request, cohort, instructor=True)
    every = [item.activity.id for item in queue.questions(teach.cohort)]
    named = request.POST.get("activity", "")
    if named and named not in every:
        raise Http404(named)
    people = [found for text in request.POST.getlist("grader") if (found := _uuid(text))]
    count = sharing.split(teach.cohort, request.user, [named] if named else every, people)
    if count:
        messages.success(
            request,
            ngettext(
                "%(n)d grader has all answers now.",
                "The answers are split among %(n)d graders now.",
                count,
            )
            % {"n": count},
        )
    else:
        messages.success(request, _("The answers are split among nobody in particular now."))
    if named:
        return redirect("classroom:question", teach.cohort.id, named)
    return redirect("classroom:queue", teach.cohort.id)


def _rows(asked: Asked, shown: Sequence[Entry], rubric: Any) -> list[AnswerRow]:
    """With their texts and marks, in four queries."""
    revisions = Revision.objects.in_bulk([entry.revision for entry in shown])
    grades = {
        grade.revision_id: grade
        for grade in Grade.objects.filter(
            cohort=asked.cohort, revision__in=list(revisions)
        ).prefetch_related("given")
    }
    texts = ask_texts(asked.question, asked.language)
    start = asked.address("grade", "ref")
    found = []
    for entry in shown:
        row = revisions.get(entry.revision)
        if row is None:  # erased in this moment
            continue
        said = gist(asked.question, row, texts)
        marks = marks_said(asked.question, rubric, row, grades.get(row.pk))
        address = start.replace("/ref/", f"/{entry.ref}/")
        name = language_name(row.language)
        found.append(AnswerRow(entry, address, said, marks, row.language, name))
    return found


def _with_samples(asked: Asked, same: Sequence[Group]) -> list[tuple[Group, SafeString]]:
    """Each group with one of its answers, in one query."""
    rows = Revision.objects.in_bulk([group.sample.revision for group in same])
    found = ((group, rows.get(group.sample.revision)) for group in same)
    texts = ask_texts(asked.question, asked.language)
    return [(group, gist(asked.question, row, texts)) for group, row in found if row]


def _parts(found: list[Entry]) -> list[tuple[Part, str, int]]:
    words = {
        Part.WAITING: _("Waiting"),
        Part.GRADED: _("Graded"),
        Part.UNGRADABLE: _("Could not be graded"),
        Part.LOOKS: _("Second looks"),
        Part.ALL: _("All"),
    }
    return [(part, words[part], len(queue.part_of(found, part))) for part in Part]


def _sum(tallies: Sequence[Tally]) -> Tally:
    names = ("total", "waiting", "graded", "checked", "ungradable", "looks")
    return Tally(*(sum(getattr(tally, name) for tally in tallies) for name in names))


def _uuid(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None
