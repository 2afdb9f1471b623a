"""Re-checks and the audit."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
