"""The websocket's address."""

from django.urls import path

from runner.sockets import follow

websocket_urlpatterns = [path("ws/runs/<uuid:run_id>/", follow)]
