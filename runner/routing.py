"""The websocket's address."""

from typing import Any

from django.urls import path

from runner.sockets import follow

asgi: Any = follow  # Channels routes to ASGI applications with Django's `path`
websocket_urlpatterns = [path("ws/runs/<uuid:run_id>/", asgi)]
