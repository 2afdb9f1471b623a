"""`{{ at|when }}`: a moment as a <time> in the one style of the site."""

from datetime import datetime

from django import template
from django.utils.safestring import SafeString

from lessons.moments import element

register = template.Library()


@register.filter
def when(at: datetime | None) -> SafeString:
    return element(at) if at else SafeString("")
