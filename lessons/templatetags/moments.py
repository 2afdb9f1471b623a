"""`{{ at|when }}` and `{{ at|day }}`: a moment as a <time> in the one style of the site."""

from datetime import datetime

from django import template
from django.utils.safestring import SafeString

from lessons.moments import day_element, element

register = template.Library()


@register.filter
def when(at: datetime | None) -> SafeString:
    return element(at) if at else SafeString("")


@register.filter
def day(at: datetime | None) -> SafeString:
    return day_element(at) if at else SafeString("")
