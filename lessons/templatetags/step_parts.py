"""`{% step_parts as beside %}` in the question of a step: `beside.above`, `beside.below`, …"""

from typing import Any

from django import template

from lessons.beside import Beside, beside

register = template.Library()


@register.simple_tag(takes_context=True)
def step_parts(context: dict[str, Any]) -> Beside:
    return beside(context["request"], context["course"], context["lesson"], context["step"])
