"""Cohorts, members, deadlines, feedback to learners."""

from django.urls import URLPattern, path

from classroom.views import cohorts, deadlines, feedback, joining, members, viewing

urlpatterns: list[URLPattern] = [
    path("", cohorts.home, name="home"),
    path("new/", cohorts.make, name="make"),
    path("feedback/", feedback.new, name="new"),
    path("feedback/seen/", feedback.seen, name="seen"),
    path("feedback/<int:grade_id>/look/", feedback.look, name="look"),
    path("join/", joining.join_by_code, name="join-by-code"),
    path("join/<slug:code>/", joining.join, name="join"),
    path("invitation/<slug:code>/", joining.invitation, name="invitation"),
    path("<uuid:cohort_id>/", cohorts.cohort, name="cohort"),
    path("<uuid:cohort_id>/leave/", joining.leave, name="leave"),
    path("<uuid:cohort_id>/settings/", cohorts.settings, name="settings"),
    path("<uuid:cohort_id>/settings/code/", cohorts.renew_code, name="renew-code"),
    path("<uuid:cohort_id>/settings/archive/", cohorts.archive, name="archive"),
    path("<uuid:cohort_id>/deadlines/", deadlines.deadlines, name="deadlines"),
    path("<uuid:cohort_id>/members/", members.members, name="members"),
    path(
        "<uuid:cohort_id>/members/invitations/<int:number>/withdraw/",
        members.withdraw,
        name="withdraw",
    ),
    path("<uuid:cohort_id>/members/<slug:ref>/role/", members.change_role, name="change-role"),
    path("<uuid:cohort_id>/members/<slug:ref>/remove/", members.remove, name="remove"),
    path("<uuid:cohort_id>/members/<slug:ref>/time/", deadlines.extensions, name="extensions"),
    path("<uuid:cohort_id>/as/<slug:ref>/", viewing.view_as, name="view-as"),
    path(
        "<uuid:cohort_id>/as/<slug:ref>/<slug:lesson>/<slug:step>/", viewing.view_as, name="view-as"
    ),
]
