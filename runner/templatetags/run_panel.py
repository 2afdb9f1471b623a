"""`{% run_panel %}` draws the bench of a step, `{% show_run %}` that of a Run's own page."""

from typing import Any

from django import template

from runner import panel
from runner.api import Origin, Snapshot

register = template.Library()


@register.inclusion_tag("runner/_panel.html", takes_context=True)
def run_panel(
    context: dict[str, Any],
    procedure: str,
    *,
    action: str,
    course: str = "",
    lesson: str = "",
    step: str = "",
    locked: bool = False,
) -> dict[str, Any]:
    person = context["request"].user
    origin = Origin(course, lesson, step)
    drawn = panel.step_panel(person, procedure, origin, action, locked=locked)
    return {"panel": drawn, "origin": origin, "csrf_token": context.get("csrf_token")}


@register.inclusion_tag("runner/_panel.html", takes_context=True)
def show_run(context: dict[str, Any], snapshot: Snapshot, level: int = 2) -> dict[str, Any]:
    drawn = panel.run_panel(snapshot, context["request"].user, level)
    return {"panel": drawn, "csrf_token": context.get("csrf_token")}


@register.inclusion_tag("runner/_shared.html")
def run_words() -> dict[str, Any]:
    """Once on a page that has a panel: what all its panels share."""
    return {"shared": panel.shared_data()}
