"""Addresses below /lti/, without a language: platforms have them registered."""

from django.urls import path

from classroom.lti.views import deep, entering, launch, linking

app_name = "lti"
urlpatterns = [
    path("login/", launch.login, name="login"),
    path("launch/", launch.launch, name="launch"),
    path("keys/", launch.keys, name="keys"),
    path("enter/", entering.enter, name="enter"),
    path("link/", linking.link, name="link"),
    path("deep-link/", deep.pick, name="deep-link"),
]
