"""What comes back to a learner: on the step's page, in the list of what is new, once more asked."""

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from classroom import feedback, grading, rubrics
from classroom.grading import Judgement
from classroom.models import Adjustment, AuditEntry, Cohort, Deadline, Grade, SecondLook
from classroom.passages import Passage
from lessons.models import Revision
from tests.classroom import factories as f
from tests.classroom.factories import Room, client_of

pytestmark = pytest.mark.django_db

ACTIVITY = "contract-upstream"


@pytest.fixture
def room() -> Room:
    return f.a_room(learners=2)


def text_field() -> str:
    return next(item.id for item in f.an_activity(ACTIVITY).fields if hasattr(item, "rubric"))


def grade(room: Room, revision: Revision, **given: Any) -> Grade:
    return grading.write(
        room.cohort, room.instructor, revision.pk, Judgement(**given), seen=0
    ).grade


def points(room: Room) -> list[int]:
    return [point.pk for point in rubrics.rubric_of(room.cohort, f.an_activity(ACTIVITY))]


def step_page(room: Room, language: str = "en", activity: str = ACTIVITY) -> str:
    lesson, step = f.place_of(activity)
    address = f"/{language}/{f.COURSE}/{lesson.id}/{step.id}/"
    answer = client_of(room.learner).get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def news(room: Room) -> str:
    return client_of(room.learner).get(reverse("classroom:new")).content.decode()


def test_points_comment_and_passages_stand_below_the_question(room: Room) -> None:
    revision = f.submit(
        room.learner,
        ACTIVITY,
        text="The mean is taken over N, the width.\nNot over BLOCK, which is a power of two.",
    )
    passage = Passage(text_field(), 4, 8, "mean", "Which *mean*?")
    grade(
        room, revision, points=frozenset(points(room)[:1]), adjustment=Decimal("-0.5"),
        comment="Nearly **there** <script>alert(1)</script>", passages=(passage,),
    )  # fmt: skip
    page = step_page(room)
    assert "On answer 1" in page and "<strong>there</strong>" in page
    assert "<script>alert(1)" not in page
    assert "<blockquote>mean</blockquote>" in page and "<em>mean</em>" in page
    assert "+1" in page and "−0.5" in page
    assert "beside the criteria" in page


def test_a_text_that_was_graded_waits_for_nobody_until_it_is_sent_again(room: Room) -> None:
    first = f.submit(room.learner, ACTIVITY)
    assert "Waiting for an instructor" in step_page(room)
    grade(room, first)
    page = step_page(room)
    assert "Waiting for an instructor" not in page and 'href="#feedback"' in page
    f.submit(room.learner, ACTIVITY, text="Another attempt, long enough to be sent once more.")
    page = step_page(room)
    assert "Waiting for an instructor" in page and 'href="#feedback"' not in page


def test_a_draft_does_not_hide_the_answer_that_feedback_is_about(room: Room) -> None:
    sent = "What was sent in, and what an instructor has read and judged."
    grade(room, f.submit(room.learner, ACTIVITY, text=sent))
    f.draft(room.learner, ACTIVITY, text="Begun once more, and by no means finished.")
    page = step_page(room)
    assert "Begun once more" in page and "1 earlier answer" in page
    assert page.index("1 earlier answer") < page.index(sent)


def test_feedback_stays_with_its_revision_and_a_new_one_shows_both(room: Room) -> None:
    first = f.submit(
        room.learner,
        ACTIVITY,
        text="A first attempt, which is long enough to be sent to an instructor.",
    )
    grade(room, first, comment="About the first")
    second = f.submit(
        room.learner,
        ACTIVITY,
        text="A second attempt, which says more than the first one did before.",
    )
    assert "About the first" in step_page(room)
    grade(room, second, comment="About the second")
    page = step_page(room)
    assert page.index("About the second") < page.index("On earlier answers")
    assert page.index("On earlier answers") < page.index("About the first")
    assert "On answer 1" in page and "On answer 2" in page


@pytest.mark.parametrize(
    ("language", "written"),
    [("en", r"[A-Z][a-z]+ \d+, \d{4}, \d\d:\d\d"), ("fr", r"\d+(?:er)? [a-zéû]+ \d{4}, \d\d:\d\d"),
     ("tr", r"\d+ \w+ \d{4}, \d\d:\d\d")],
)  # fmt: skip
def test_every_moment_of_an_answer_is_written_in_one_way(
    room: Room, language: str, written: str
) -> None:
    lesson, _step = f.place_of(ACTIVITY)
    at = timezone.now() + timedelta(days=1)
    Deadline.objects.create(
        cohort=room.cohort, lesson=lesson.id, wall="2026-12-01T10:00", zone="Europe/Paris", at=at
    )
    for text in ("A first attempt", "A second attempt"):
        grade(room, f.submit(room.learner, ACTIVITY, text=f"{text}, {'long enough ' * 5}"))
    f.draft(room.learner, ACTIVITY, text="And begun again")
    page = step_page(room, language)
    found = re.findall(r"<time[^>]*>([^<]*)</time>", page[page.index('id="ask"') :])
    assert len(found) >= 6  # the end, the draft, two answers, two grades
    assert [
        said for said in found if not re.match(written + r" (UTC|\(Europe/Paris\))$", said)
    ] == []


def test_feedback_on_many_answers_takes_no_more_queries_than_on_one(
    room: Room, django_assert_max_num_queries: Any
) -> None:
    for number in range(4):
        text = f"Attempt {number}, which is long enough to be sent to an instructor."
        given = frozenset(points(room)[:1])
        grade(room, f.submit(room.learner, ACTIVITY, text=text), points=given, comment="Read")
        feedback.of_step(room.learner, f.COURSE, ACTIVITY, "en")
        with django_assert_max_num_queries(5):
            found = feedback.of_step(room.learner, f.COURSE, ACTIVITY, "en")
        assert len(found) == number + 1 and all(item.may_ask for item in found)


def test_what_could_not_be_graded_is_not_called_zero(room: Room) -> None:
    grade(room, f.submit(room.learner, ACTIVITY), is_ungradable=True)
    page = step_page(room)
    assert "could not be graded" in page and "not zero" in page


def test_a_grade_that_is_held_back_is_seen_by_nobody(room: Room) -> None:
    Cohort.objects.update(release="held")
    room.cohort.refresh_from_db()
    grade(room, f.submit(room.learner, ACTIVITY), comment="Wait for it")
    assert "Wait for it" not in step_page(room)
    assert "Nothing yet" in news(room)
    Grade.objects.update(published_at=timezone.now())
    assert "Wait for it" in step_page(room)


def test_news_are_counted_listed_and_gone_once_seen(room: Room) -> None:
    given = grade(room, f.submit(room.learner, ACTIVITY), comment="Good")
    client = client_of(room.learner)
    menu = client.get("/en/").content.decode()
    assert "1 new piece of feedback" in menu
    assert 'class="new"' in news(room)
    assert Grade.objects.get(pk=given.pk).seen_at is None  # the list is not the feedback
    step_page(room)
    assert Grade.objects.get(pk=given.pk).seen_at is not None
    assert "new piece of feedback" not in client.get("/en/").content.decode()
    assert 'class="new"' not in news(room) and "Good" in step_page(room)


def test_a_grade_that_changes_is_news_again(room: Room) -> None:
    given = grade(room, f.submit(room.learner, ACTIVITY), comment="Good")
    step_page(room)
    grading.write(
        room.cohort, room.instructor, given.revision_id, Judgement(comment="Better"), given.version
    )
    assert "1 new piece of feedback" in client_of(room.learner).get("/en/").content.decode()


def test_all_can_be_marked_as_read_and_only_one_s_own(room: Room) -> None:
    for learner in room.learners:
        grade(room, f.submit(learner, ACTIVITY), comment="Good")
    client_of(room.learner).post(reverse("classroom:seen"))
    assert Grade.objects.filter(seen_at=None).count() == 1


def test_a_removed_learner_keeps_what_was_written(room: Room) -> None:
    grade(room, f.submit(room.learner, ACTIVITY), comment="Good")
    room.membership(room.learner).delete()
    assert "Good" in step_page(room) and "Ask for another look" not in step_page(room)


# Another look ---------------------------------------------------------------------------------


def look(room: Room, given: Grade, reason: str = "My unit was right.") -> Any:
    address = reverse("classroom:look", args=[given.pk])
    return client_of(room.learner).post(address, {"reason": reason})


def test_another_look_is_asked_for_once_with_a_reason(room: Room) -> None:
    given = grade(room, f.submit(room.learner, ACTIVITY), comment="Good")
    assert "Ask for another look" in step_page(room)
    assert look(room, given).status_code == 302
    assert look(room, given, "And again").status_code == 302
    assert SecondLook.objects.get().reason == "My unit was right."
    page = step_page(room)
    assert "My unit was right." in page and "Nobody has answered yet" in page
    assert "Ask for another look" not in page
    entry = AuditEntry.objects.get(action="second-look-asked")
    assert entry.subject == f"{ACTIVITY}/{room.ref(room.learner)}#1"


@pytest.mark.parametrize("reason", ["", "   ", "x" * 2001])
def test_a_reason_that_cannot_be_kept_is_shown_again(room: Room, reason: str) -> None:
    given = grade(room, f.submit(room.learner, ACTIVITY))
    answer = look(room, given, reason)
    assert answer.status_code == 422 and reason.strip() in answer.content.decode()
    assert not SecondLook.objects.exists()


def test_the_answer_to_it_is_news_and_stands_with_the_grade(room: Room) -> None:
    given = grade(room, f.submit(room.learner, ACTIVITY), comment="Good")
    look(room, given)
    step_page(room)
    grading.reply(room.cohort, room.instructor, given, "You are **right**.")
    assert 'class="new"' in news(room)
    assert "<strong>right</strong>" in step_page(room)


@pytest.mark.parametrize("who", ["other", "teacher", "visitor", "held", "archived", "left"])
def test_another_look_is_the_learner_s_alone(room: Room, who: str) -> None:
    given = grade(room, f.submit(room.learner, ACTIVITY))
    person = {"other": room.learners[1], "teacher": room.instructor, "visitor": None}.get(
        who, room.learner
    )
    if who == "held":
        Grade.objects.update(published_at=None)
    elif who == "archived":
        Cohort.objects.update(archived_at=timezone.now())
    elif who == "left":
        room.membership(room.learner).delete()
    answer = client_of(person).post(reverse("classroom:look", args=[given.pk]), {"reason": "Why"})
    assert answer.status_code == 404 and not SecondLook.objects.exists()


# Their points ---------------------------------------------------------------------------------


def test_a_learner_reads_their_points_lesson_by_lesson(room: Room) -> None:
    lesson, _step = f.place_of(ACTIVITY)
    given = grade(room, f.submit(room.learner, ACTIVITY), points=frozenset(points(room)[:2]))
    Adjustment.objects.create(
        cohort=room.cohort, person=room.learner, lesson=lesson.id, points=2, reason="spoke up"
    )
    address = reverse("classroom:cohort", args=[room.cohort.pk])

    def row() -> str:
        page = client_of(room.learner).get(address).content.decode()
        start = page.index(f'href="/en/{f.COURSE}/{lesson.id}/"')
        return page[start : page.index("</tr>", start)]

    assert "5 / " in row() and "+2: spoke up" in row()
    Grade.objects.filter(pk=given.pk).update(published_at=None)  # held back: as if not given
    assert "3 / " in row() and "1 waiting" in row()
    assert "spoke up" not in client_of(room.learners[1]).get(address).content.decode()
