"""Overview, gradebook, exports and imports."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
