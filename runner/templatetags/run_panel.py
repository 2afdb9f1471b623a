"""`{% show_run %}` draws the bench of a Run's own page; that of a step is made by its view."""

from typing import Any

from django import template

from runner import panel, shared
from runner.api import Snapshot

register = template.Library()


@register.inclusion_tag("runner/_panel.html", takes_context=True)
def show_run(context: dict[str, Any], snapshot: Snapshot, level: int = 2) -> dict[str, Any]:
    drawn = panel.run_panel(snapshot, context["request"].user, level)
    return {"panel": drawn, "csrf_token": context.get("csrf_token")}


@register.inclusion_tag("runner/_shared.html")
def run_words() -> dict[str, Any]:
    """Once on a page that has a panel: what all its panels share."""
    return {"shared": shared.shared_data()}
