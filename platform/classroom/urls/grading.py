"""The grading queue, rubrics, second looks."""

from django.urls import URLPattern, path

from classroom.views import grade, group, queue, rubric, taking_back

_QUEUE = "<uuid:cohort>/queue/"
_ASKED = f"{_QUEUE}<slug:activity>/"
_ANSWER = "<uuid:cohort>/grade/<slug:activity>/<slug:ref>/"

urlpatterns: list[URLPattern] = [
    path(_QUEUE, queue.queue_page, name="queue"),
    path("<uuid:cohort>/split/", queue.split, name="split"),
    path("<uuid:cohort>/preview/", grade.preview, name="preview"),
    path("<uuid:cohort>/undo/", taking_back.undo, name="undo"),
    path(
        "<uuid:cohort>/decision/<uuid:decision>/undo/",
        taking_back.undo_decision,
        name="undo-decision",
    ),
    path(_ASKED, queue.question_page, name="question"),
    path(f"{_ASKED}next/", queue.next_page, name="next"),
    path(f"{_ASKED}rubric/", rubric.rubric_page, name="rubric"),
    path(f"{_ASKED}rubric/<int:point>/", rubric.point, name="rubric-point"),
    path(f"{_ASKED}group/<slug:likeness>/", group.group_page, name="group"),
    path(_ANSWER, grade.grade_page, name="grade"),
    path(f"{_ANSWER}run/", grade.run_part, name="grade-run"),
]
