"""A block rendered for a reader: its HTML, the language it is in, and how fresh it is."""

from dataclasses import dataclass

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language_info, gettext, override

from lessons.content.library import State, Text


@dataclass(frozen=True)
class Written:
    html: SafeString
    language: str
    reader: str
    state: State

    def __str__(self) -> str:
        return self.html

    def __bool__(self) -> bool:
        return self.state is not State.ABSENT

    @property
    def attributes(self) -> SafeString:
        """`lang` and `dir` where the text is not in the reader's own language."""
        if self.language == self.reader or not self:
            return SafeString("")
        direction = "rtl" if get_language_info(self.language)["bidi"] else "ltr"
        return format_html(' lang="{}" dir="{}"', self.language, direction)

    @property
    def mark(self) -> str:
        """The quiet sentence under a text that is out of date or not translated."""
        with override(self.reader):
            if self.state is State.STALE:
                return gettext("The original of this passage has changed since it was translated.")
            if self.state is State.MISSING:
                return gettext("This passage is not translated yet; here is the original.")
        return ""


def written(html: str, text: Text, reader: str) -> Written:
    return Written(mark_safe(html), text.language, reader, text.state)
