"""The grading queue, rubrics, second looks."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
