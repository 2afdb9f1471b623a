"""Overview, gradebook, exports and imports."""

from django.urls import URLPattern, path

from classroom.views import gradebook, overview, transfer

_BOOK = "<uuid:cohort_id>/gradebook/"

urlpatterns: list[URLPattern] = [
    path("<uuid:cohort_id>/overview/", overview.overview_page, name="overview"),
    path(
        "<uuid:cohort_id>/overview/<slug:lesson>/",
        overview.lesson_page,
        name="overview-lesson",
    ),
    path(_BOOK, gradebook.gradebook, name="gradebook"),
    path(f"{_BOOK}export/", transfer.export, name="export"),
    path(f"{_BOOK}import/", transfer.import_page, name="import"),
    path(f"{_BOOK}import/apply/", transfer.import_apply, name="import-apply"),
    path(f"{_BOOK}import/<int:batch>/undo/", transfer.import_undo, name="import-undo"),
    path(f"{_BOOK}release/", gradebook.release_grades, name="release"),
    path(f"{_BOOK}lesson/<slug:lesson>/", gradebook.lesson, name="gradebook-lesson"),
    path(f"{_BOOK}lesson/<slug:lesson>/adjust/", gradebook.adjust_one, name="adjust"),
]
