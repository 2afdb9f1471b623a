"""Addresses below /<language>/classroom/, one module an area."""

from classroom.urls import cohorts, gradebook, grading, platforms, records

app_name = "classroom"
urlpatterns = [
    *cohorts.urlpatterns,
    *grading.urlpatterns,
    *gradebook.urlpatterns,
    *records.urlpatterns,
    *platforms.urlpatterns,
]
