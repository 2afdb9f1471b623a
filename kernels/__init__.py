"""Kernels, their checks and the training engine. No Django, Celery or Channels in here."""
