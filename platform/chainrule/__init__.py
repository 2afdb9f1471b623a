"""The site's wiring: settings, addresses, entry points and the `serve` command."""

from chainrule.celery import app as celery_app

__all__ = ["celery_app"]
