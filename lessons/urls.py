"""Addresses of the lessons. Courses may not be called search or source (content/lesson_file)."""

from django.urls import path

from lessons.views import answer, calculating, catalogue, run, search, source, step

app_name = "lessons"
urlpatterns = [
    path("", catalogue.catalogue, name="catalogue"),
    path("search/", search.search, name="search"),
    path("source/<path:path>", source.source, name="source"),
    path("<slug:course>/", catalogue.course, name="course"),
    path("<slug:course>/<slug:lesson>/", step.lesson, name="lesson"),
    path("<slug:course>/<slug:lesson>/print/", step.printed, name="print"),
    path("<slug:course>/<slug:lesson>/<slug:step>/", step.step, name="step"),
    path("<slug:course>/<slug:lesson>/<slug:step>/answer/", answer.answer, name="answer"),
    path(
        "<slug:course>/<slug:lesson>/<slug:step>/calculate/",
        calculating.calculate,
        name="calculate",
    ),
    path("<slug:course>/<slug:lesson>/<slug:step>/run/", run.run, name="run"),
]
