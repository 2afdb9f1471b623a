"""The gradebook's pages: what stands in them, in which order, and who may open them."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone, translation

from classroom.collation import collation_key
from classroom.gradebook import LEARNERS_A_PAGE, Order, book
from classroom.models import Adjustment, AuditEntry, Deadline, Grade, Release
from tests.classroom.factories import (
    Room,
    a_person,
    a_room,
    activities,
    client_of,
    fill,
    grade,
    join,
    submit,
)

pytestmark = pytest.mark.django_db
QUESTION, LESSON = "two-sizes", "forward"
MOST_QUERIES = 20


def page(room: Room, person: Any = None, name: str = "gradebook", *args: str, **query: Any) -> Any:
    address = reverse(f"classroom:{name}", args=[room.cohort.pk, *args])
    return client_of(person or room.instructor).get(address, query)


def names(room: Room, **query: Any) -> list[str]:
    return [row.name for row in page(room, **query).context["rows"]]


@pytest.fixture
def room() -> Room:
    made = a_room(learners=0, is_anonymous=False)
    for name in ("Zoë", "Çağla", "Ada", "Émile", "Deniz"):
        join(made, a_person(name))
    return made


def test_a_row_says_points_earned_and_possible(room: Room) -> None:
    ada = room.learners[2]
    submit(ada, QUESTION)
    row = next(row for row in page(room).context["rows"] if row.name == "Ada")
    assert row.total.earned == "3"
    cells = [cell.earned for cell in row.cells]
    assert cells.count("3") == 1 and cells.count("–") == len(cells) - 1


def test_names_stand_in_the_reader_s_alphabet_and_either_way(room: Room) -> None:
    assert names(room) == ["Ada", "Çağla", "Deniz", "Émile", "Zoë"]
    assert names(room, down="1") == ["Zoë", "Émile", "Deniz", "Çağla", "Ada"]


def test_the_turkish_alphabet_has_its_own_order() -> None:
    words = ["Şule", "Ilgaz", "İpek", "Sule", "Çağla", "Can", "Deniz", "Ünal", "Umut"]
    ordered = ["Can", "Çağla", "Deniz", "Ilgaz", "İpek", "Sule", "Şule", "Umut", "Ünal"]
    assert sorted(words, key=lambda word: collation_key(word, "tr")) == ordered


def test_points_decide_and_who_has_none_comes_last_either_way(room: Room) -> None:
    for place, question in enumerate(("two-sizes", "forward-address")):
        for person in room.learners[place:3]:
            submit(person, question)
    submit(room.learners[3], "two-sizes", wrong=True)
    up = names(room, sort=LESSON)
    assert up[:2] == ["Émile", "Zoë"] and up[-1] == "Deniz"
    down = names(room, sort="total", down="1")
    assert set(down[:2]) == {"Ada", "Çağla"} and down[-1] == "Deniz"


def test_an_unknown_column_or_page_is_no_mistake(room: Room) -> None:
    assert names(room, sort="nothing", page="999")[0] == "Ada"


def test_a_page_holds_a_hundred_learners_in_as_many_queries_as_one() -> None:
    counts = []
    for many in (3, LEARNERS_A_PAGE + 5):
        room = a_room(learners=many, is_anonymous=False)
        fill(room, activities()[:4])
        client = client_of(room.instructor)
        address = reverse("classroom:gradebook", args=[room.cohort.pk])
        client.get(address)
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(address)
        counts.append(len(queries))
        assert len(answer.context["rows"]) == min(many, LEARNERS_A_PAGE)
    assert counts[0] == counts[1] <= MOST_QUERIES
    assert "101" in client.get(address, {"page": 2}).content.decode()


def test_only_the_learners_of_the_page_are_read_where_the_name_decides() -> None:
    room = a_room(learners=LEARNERS_A_PAGE + 3)
    assert len(book(room.cohort, Order()).work.learners) == LEARNERS_A_PAGE
    assert len(book(room.cohort, Order("total")).work.learners) == LEARNERS_A_PAGE + 3


def test_waiting_held_adjusted_and_missed_stand_below_the_points(room: Room) -> None:
    person = room.learners[0]
    essay = next(
        item.id
        for item in activities()
        if any(type(f).__name__ == "TextField" for f in item.fields)
    )
    grade(room, submit(person, essay), is_published=False)
    lesson = next(
        le.id for le in book(room.cohort, Order()).work.lessons
        if essay in {step.activity.id for step in le.steps if step.activity}
    )  # fmt: skip
    Adjustment.objects.create(cohort=room.cohort, person=person, lesson=lesson, points="-0.5")
    Deadline.objects.create(
        cohort=room.cohort, lesson=lesson, wall="", zone="UTC",
        at=timezone.now() - timedelta(hours=1),
    )  # fmt: skip
    text = page(room).content.decode()
    for words in ("1 held back", "−0.5 adjusted", "✗ missed"):
        assert words in text


@pytest.mark.parametrize(("language", "said"), [("en", "2.5"), ("fr", "2,5"), ("tr", "2,5")])
def test_points_are_written_as_the_reader_writes_numbers(
    room: Room, language: str, said: str
) -> None:
    submit(room.learners[0], QUESTION)
    Adjustment.objects.create(
        cohort=room.cohort, person=room.learners[0], lesson=LESSON, points="-0.5"
    )
    with translation.override(language):
        address = reverse("classroom:gradebook", args=[room.cohort.pk])
    rows = client_of(room.instructor).get(address).context["rows"]
    assert said in [row.total.earned for row in rows]


def test_a_lesson_opens_to_its_questions(room: Room) -> None:
    submit(room.learners[0], QUESTION, wrong=True)
    submit(room.learners[0], QUESTION)
    answer = page(room, None, "gradebook-lesson", LESSON)
    row = next(row for row in answer.context["rows"] if row.name == "Zoë")
    cell = next(cell for cell in row.cells if cell.earned == "3")
    assert [note.text for note in cell.notes] == ["2 tries"]
    assert cell.address.endswith(f"/grade/{QUESTION}/{room.ref(room.learners[0])}/")
    assert page(room, None, "gradebook-lesson", "no-such-lesson").status_code == 404


# Who may


@pytest.mark.parametrize("name", ["gradebook", "gradebook-lesson", "export"])
def test_in_an_anonymous_cohort_an_assistant_opens_no_page_with_names(name: str) -> None:
    args = (LESSON,) if name == "gradebook-lesson" else ()
    for is_anonymous, status in ((True, 404), (False, 200)):
        room = a_room(is_anonymous=is_anonymous)
        address = reverse(f"classroom:{name}", args=[room.cohort.pk, *args])

        def asked(person: Any, address: str = address) -> int:
            client = client_of(person)
            data = {"what": "lessons", "format": "csv"}
            answer = client.post(address, data) if name == "export" else client.get(address)
            return int(answer.status_code)

        assert asked(room.assistant) == status
        assert asked(room.instructor) == 200
        assert asked(room.learner) == asked(a_person()) == 404


def test_that_names_were_looked_up_in_an_anonymous_cohort_is_in_the_audit() -> None:
    room = a_room(is_anonymous=True)
    page(room)
    page(room)
    assert [entry.action for entry in AuditEntry.objects.all()] == ["names-seen"]


# Adjusting by hand


def adjust(room: Room, person: Any = None, **data: str) -> Any:
    address = reverse("classroom:adjust", args=[room.cohort.pk, LESSON])
    values = {"ref": room.ref(room.learner), "seen": "0", "points": "1,5", "reason": "A talk"}
    return client_of(person or room.instructor).post(address, values | data, follow=True)


def test_an_adjustment_is_set_by_hand_and_taken_away_with_zero(room: Room) -> None:
    adjust(room)
    row = Adjustment.objects.get()
    assert (row.points, row.reason, row.made_by) == (Decimal("1.5"), "A talk", room.instructor)
    entry = AuditEntry.objects.get(action="adjusted")
    assert entry.subject == room.ref(room.learner)
    assert entry.data == {"lesson": LESSON, "before": "0", "after": "1.5"}
    assert (
        'name="reason" value="A talk"'
        in page(room, None, "gradebook-lesson", LESSON).content.decode()
    )
    adjust(room, seen="1.5", points="0")
    assert not Adjustment.objects.exists()


@pytest.mark.parametrize("typed", ["", "NaN", "1e999", "Infinity", "two", "1.234", "5000", "=1+1"])
def test_points_that_are_none_are_refused_with_a_sentence(room: Room, typed: str) -> None:
    text = adjust(room, points=typed).content.decode()
    assert "write one like" in text or "points are missing" in text
    assert not Adjustment.objects.exists()


def test_an_adjustment_that_somebody_changed_meanwhile_is_not_overwritten(room: Room) -> None:
    adjust(room, points="1")
    text = adjust(room, points="2").content.decode()  # has seen 0
    assert "it is +1 now" in text
    assert Adjustment.objects.get().points == 1


def test_assistants_and_learners_adjust_and_release_nothing(room: Room) -> None:
    release = reverse("classroom:release", args=[room.cohort.pk])
    for person in (room.assistant, room.learner, a_person()):
        assert adjust(room, person).status_code == 404
        assert client_of(person).post(release, {"lesson": LESSON}).status_code == 404


# Releasing


def test_a_released_lesson_publishes_its_grades_and_no_others() -> None:
    room = a_room(release=Release.HELD)
    here = grade(room, submit(room.learner, QUESTION), is_published=False)
    there = grade(room, submit(room.learner, activities()[0].id), is_published=False)
    assert "Held back" in page(room).content.decode()
    address = reverse("classroom:release", args=[room.cohort.pk])
    client = client_of(room.instructor)
    client.post(address, {"lesson": LESSON})
    client.post(address, {"lesson": LESSON})  # again: nothing is left, nothing is noted
    here.refresh_from_db()
    there.refresh_from_db()
    assert here.published_at and not there.published_at
    entry = AuditEntry.objects.get(action="released")
    assert (entry.subject, entry.data) == (f"lesson {LESSON}", {"grades": 1})


def test_one_question_is_released_by_itself_and_only_of_its_lesson() -> None:
    room = a_room(release=Release.HELD)
    grade(room, submit(room.learner, QUESTION), is_published=False)
    grade(room, submit(room.learner, "forward-address"), is_published=False)
    address = reverse("classroom:release", args=[room.cohort.pk])
    client = client_of(room.instructor)
    assert client.post(address, {"lesson": LESSON, "activity": QUESTION}).status_code == 302
    assert Grade.objects.filter(published_at=None).count() == 1
    assert client.post(address, {"lesson": LESSON, "activity": "elsewhere"}).status_code == 404


def test_the_queue_offers_to_release_where_grades_are_held_back() -> None:
    room = a_room(release=Release.HELD)
    grade(room, submit(room.learner, QUESTION), is_published=False)
    queue = reverse("classroom:queue", args=[room.cohort.pk])
    address = reverse("classroom:release", args=[room.cohort.pk])
    assert address not in client_of(room.assistant).get(queue).content.decode()
    client = client_of(room.instructor)
    assert address in client.get(queue).content.decode()
    answer = client.post(address, {"lesson": LESSON, "from": "queue"})
    assert answer["Location"] == queue
    assert address not in client.get(queue).content.decode()
