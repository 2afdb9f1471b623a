"""Addresses below /<language>/runs/."""

from django.urls import path

from runner import views

app_name = "runner"
urlpatterns = [
    path("", views.history, name="history"),
    path("compare/", views.compare, name="compare"),
    path("<uuid:run_id>/", views.run, name="run"),
    path("<uuid:run_id>/stop/", views.stop, name="stop"),
    path("<uuid:run_id>/checkpoint/", views.checkpoint, name="checkpoint"),
    path("<uuid:run_id>/resume/", views.resume, name="resume"),
    path("<uuid:run_id>/prove/", views.prove, name="prove"),
    path("<uuid:run_id>/events.jsonl", views.events, name="events"),
    path("<uuid:run_id>/log.txt", views.log, name="log"),
    path("<uuid:run_id>/files/<path:name>", views.artifact, name="artifact"),
]
