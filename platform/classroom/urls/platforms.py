"""Learning platforms, as a cohort's instructor sees them."""

from django.urls import URLPattern, path

from classroom.lti.views import cohort

_PLATFORM = "<uuid:cohort_id>/platform/"

urlpatterns: list[URLPattern] = [
    path(_PLATFORM, cohort.platform, name="platform"),
    path(f"{_PLATFORM}<int:link>/roster/", cohort.read_roster, name="roster"),
    path(f"{_PLATFORM}<int:link>/unlink/", cohort.unlink, name="unlink"),
    path(f"{_PLATFORM}send-again/", cohort.send_again, name="send-again"),
]
