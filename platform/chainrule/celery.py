"""The Celery application. The broker is only a doorbell: the Run's row is the outbox."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chainrule.settings")

app = Celery("chainrule")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.set_default()  # in every thread: what rings a worker may run in any of them
