"""The overview: counts, times, mistakes, and who is stuck."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone, translation

from classroom.leaving import leave_numbers
from classroom.models import Membership, PastWork
from classroom.overview import Tally, lesson_overview, overview, runs_of
from classroom.progress import cohort_work, timed_work
from classroom.stuck import failing, quiet
from lessons import api as lessons_api
from lessons.models import Answer, Visit
from tests.classroom.factories import (
    Room,
    a_room,
    a_run,
    client_of,
    fill,
    submit,
    visit,
)

pytestmark = pytest.mark.django_db
QUESTION, LESSON, STEP = "two-sizes", "forward", "two-sizes"
MOST_QUERIES = 20


def of_lesson(room: Room, lesson: str = LESSON) -> Tally:
    found = overview(room.cohort, runs_of(room.cohort))
    return next(item.tally for item in found.lessons if item.lesson.id == lesson)


def of_question(room: Room, step: str = STEP) -> Tally:
    course = cohort_work(room.cohort).course
    assert course
    named = course.lesson(LESSON)
    assert named
    _work, tallies = lesson_overview(room.cohort, named)
    return next(item.tally for item in tallies if item.step.id == step)


def page(room: Room, *args: str, person: Any = None, language: str = "en") -> Any:
    name = "overview-lesson" if args else "overview"
    with translation.override(language):
        address = reverse(f"classroom:{name}", args=[room.cohort.pk, *args])
    return client_of(person or room.instructor).get(address)


def test_reached_answered_and_right_at_the_first_try_are_counted() -> None:
    room = a_room(learners=4)
    reader, quick, slow, _absent = room.learners
    visit(reader, LESSON, STEP)
    submit(quick, QUESTION)
    submit(slow, QUESTION, wrong=True)
    submit(slow, QUESTION)
    tally = of_question(room)
    assert (tally.reached, tally.answered, tally.right, tally.checked) == (3, 2, 1, 2)
    assert tally.tries == 3
    lesson = of_lesson(room)
    assert (lesson.reached, lesson.answered, lesson.right) == (3, 0, 1)


def test_a_lesson_is_answered_by_who_answered_all_of_it() -> None:
    room = a_room(learners=2)
    course = cohort_work(room.cohort).course
    assert course
    named = course.lesson(LESSON)
    assert named
    first, *others = [step.activity for step in named.steps if step.activity]
    fill(room, others)
    submit(room.learner, first.id)
    assert of_lesson(room).answered == 1
    assert of_lesson(room).median_seconds is None  # nobody opened a page
    for step in named.steps:
        visit(room.learner, LESSON, step.id, at=timezone.now() - timedelta(hours=2))
    Visit.objects.update(first_at=timezone.now() - timedelta(hours=2))
    asked = len(others) + 1
    assert of_lesson(room).median_seconds == pytest.approx(asked * 7200, abs=asked * 20)


def test_time_runs_from_the_first_look_or_draft_to_the_first_answer() -> None:
    room = a_room(learners=3)
    now = timezone.now()
    for person, minutes in zip(room.learners, (4, 10, 60), strict=True):
        seen = visit(person, LESSON, STEP, at=now - timedelta(minutes=minutes))
        type(seen).objects.filter(pk=seen.pk).update(first_at=seen.at, at=now)
        submit(person, QUESTION, at=now)
        submit(person, QUESTION, wrong=True, at=now + timedelta(days=1))
    assert of_question(room).median_seconds == pytest.approx(600, abs=2)


def test_an_answer_of_who_never_opened_the_page_says_nothing_of_time() -> None:
    room = a_room()
    submit(room.learner, QUESTION)
    assert of_question(room).median_seconds is None


def test_runs_are_counted_by_outcome() -> None:
    room, other = a_room(), a_room()
    for outcome in ("passed", "failed", "failed", "timed_out"):
        a_run(room.learner, outcome=outcome)
    a_run(other.learner)
    a_run(room.instructor)
    assert of_question(room).runs == {"passed": 1, "failed": 2, "timed_out": 1}
    assert of_lesson(room).runs == of_question(room).runs
    assert "✗ 2 Failed" in " ".join(page(room).content.decode().split())


def test_who_is_erased_is_counted_in_and_nobody_else_changes() -> None:
    room = a_room(learners=3)
    gone = room.learners[0]
    now = timezone.now()
    for person in room.learners[:2]:
        seen = visit(person, LESSON, STEP, at=now - timedelta(minutes=9))
        type(seen).objects.filter(pk=seen.pk).update(first_at=seen.at)
        submit(person, QUESTION, at=now)
    before = of_question(room), of_lesson(room)
    leave_numbers(Membership.objects.get(cohort=room.cohort, person=gone))
    lessons_api.erase_person(gone)
    gone.delete()
    after = of_question(room), of_lesson(room)
    for old, new in zip(before, after, strict=True):
        assert (new.reached, new.answered, new.right, new.checked, new.tries) == (
            old.reached, old.answered, old.right, old.checked, old.tries,
        )  # fmt: skip
    assert after[0].median_seconds == pytest.approx(before[0].median_seconds, abs=2)
    assert PastWork.objects.exists()
    assert "1 person who is no longer here" in page(room).content.decode()


# Mistakes


def test_wrong_answers_are_counted_by_value_whatever_the_language() -> None:
    room = a_room(learners=4)
    half = {"en": "0.501953125", "fr": "0,501953125", "tr": "0,501953125"}
    for person, (language, typed) in zip(room.learners, half.items(), strict=False):
        submit(person, QUESTION, typed={"mean-n": typed}, language=language)
    submit(room.learners[0], QUESTION, typed={"mean-n": "0.5019531250"})  # the same once more
    submit(room.learners[3], QUESTION, typed={"mean-n": "257", "output": "same"})
    for language, said in (("en", "0.501953125"), ("fr", "0,501953125")):
        questions = page(room, LESSON, language=language).context["questions"]
        fields = next(q["fields"] for q in questions if q["fields"])
        top, second = fields[0].mistakes
        assert (str(top.said), top.learners, second.learners) == (said, 3, 1)
        assert top.hint and second.hint and fields[0].wrong == 4


def test_a_wrong_choice_is_said_by_its_words_and_not_by_its_id() -> None:
    room = a_room()
    submit(room.learner, QUESTION, typed={"output": "smaller"})
    questions = page(room, LESSON, language="tr").context["questions"]
    (field,) = next(q["fields"] for q in questions if q["fields"])
    assert str(field.mistakes[0].said) not in ("", "smaller")
    assert field.mistakes[0].hint


def test_rare_mistakes_stand_together() -> None:
    room = a_room(learners=8)
    for number, person in enumerate(room.learners):
        submit(person, QUESTION, typed={"mean-n": f"{number + 11}"})
    questions = page(room, LESSON).context["questions"]
    (field,) = next(q["fields"] for q in questions if q["fields"])
    assert len(field.mistakes) == 5 and field.others == 3


# Stuck


def test_nothing_for_a_week_is_quiet_and_a_finished_course_is_not() -> None:
    room = a_room(learners=4)
    week = timezone.now() - timedelta(days=8)
    Membership.objects.update(joined_at=week - timedelta(days=1))
    idle, busy, done, running = room.learners
    visit(idle, LESSON, STEP, at=week)
    visit(busy, LESSON, STEP, at=timezone.now())
    only = Room(room.cohort, learners=[done])
    fill(only, at=week)
    a_run(running)
    (found,) = quiet(room.cohort, timed_work(room.cohort), runs_of(room.cohort))
    assert found.learner.person == idle.pk and found.since == week
    assert found.place and found.place[1].id == STEP


@pytest.mark.parametrize("others", [0, 1])
def test_an_answer_to_a_question_that_the_course_dropped_since_is_not_quiet(others: int) -> None:
    room = a_room(learners=2)
    week = timezone.now() - timedelta(days=8)
    Membership.objects.update(joined_at=week)
    busy, idle = room.learners
    for person in (busy, idle):
        for _ in range(others):
            submit(person, "forward-address", at=week)
    with CaptureQueriesContext(connection) as before:
        assert len(quiet(room.cohort, timed_work(room.cohort), [])) == 2
    submit(busy, QUESTION)
    Answer.objects.filter(person=busy, activity=QUESTION).update(activity="of-long-ago")
    with CaptureQueriesContext(connection) as after:
        (found,) = quiet(room.cohort, timed_work(room.cohort), [])
    assert found.learner.person == idle.pk
    assert len(before) == len(after)


def test_five_failed_runs_on_a_step_are_failing_until_one_passes() -> None:
    room = a_room(learners=3)
    stuck, unlucky, happy = room.learners
    for _ in range(5):
        a_run(stuck, outcome="failed")
        a_run(unlucky, outcome="infrastructure_failure")
        a_run(happy, outcome="error_in_code")
    a_run(happy, outcome="passed")
    (found,) = failing(cohort_work(room.cohort), runs_of(room.cohort))
    assert (found.learner.person, found.failures, found.step.id) == (stuck.pk, 5, STEP)


# The pages


@pytest.mark.parametrize("is_anonymous", [True, False])
def test_who_is_stuck_is_said_by_ref_where_grading_goes_without_names(is_anonymous: bool) -> None:
    room = a_room(learners=1, is_anonymous=is_anonymous)
    for _ in range(5):
        a_run(room.learner, outcome="failed")
    for person in (room.instructor, room.assistant):
        text = page(room, person=person).content.decode()
        assert (room.learner.name in text) is not is_anonymous
        assert (room.ref(room.learner) in text) is is_anonymous
        assert room.learner.email not in text  # type: ignore[operator]


def test_a_plot_says_what_it_shows() -> None:
    room = a_room(learners=2)
    submit(room.learner, QUESTION)
    text = page(room, LESSON).content.decode()
    assert 'aria-label="1 of 2 reached it, 1 answered"' in text
    assert 'aria-label="1 of 1 right at the first try"' in text
    assert "style=" not in text.split("<main")[1]


def test_the_pages_take_the_same_few_queries_whatever_the_size() -> None:
    for args in ((), (LESSON,)):
        counts = []
        for many in (2, 12):
            room = a_room(learners=many)
            fill(room, tries=2)
            a_run(room.learner)
            client = client_of(room.instructor)
            name = "overview-lesson" if args else "overview"
            address = reverse(f"classroom:{name}", args=[room.cohort.pk, *args])
            client.get(address)
            with CaptureQueriesContext(connection) as queries:
                client.get(address)
            counts.append(len(queries))
        assert counts[0] == counts[1] <= MOST_QUERIES


def test_an_empty_cohort_and_a_course_that_is_gone_have_their_page() -> None:
    assert "Nobody has joined yet" in page(a_room(learners=0)).content.decode()
    assert page(a_room(course="gone")).status_code == 200
    assert page(a_room(course="gone"), LESSON).status_code == 404
