"""Cohorts, members, deadlines, feedback to learners."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
