"""Comments in Markdown, made safe: no raw HTML, no images, no headings, links that vouch for
nothing. Whatever the converter lets through is cleaned again."""

import re
from xml.etree.ElementTree import Element

import markdown
import nh3
from django.utils.html import linebreaks
from django.utils.safestring import SafeString, mark_safe
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

_TAGS = {
    "p", "br", "em", "strong", "code", "pre", "ul", "ol", "li", "blockquote", "a", "hr",
    "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href"}, "ol": {"start"}, "code": {"dir"}, "pre": {"dir"}}
_SCHEMES = {"http", "https", "mailto"}
_LINK = r"\[([^\[\]\n]{1,300})\]\(((?:https?://|mailto:)[^\s()<>]{1,1000})\)"
_UNWANTED = (
    *("html", "image_link", "image_reference", "short_image_ref"),
    # These look for their closing bracket through the whole text, once for every bracket.
    *("link", "reference", "short_reference"),
)


class _Link(InlineProcessor):
    def handleMatch(  # type: ignore[override]
        self, match: re.Match[str], data: str
    ) -> tuple[Element, int, int]:
        link = Element("a", {"href": match[2]})
        link.text = match[1]
        return link, match.start(0), match.end(0)


class _Plain(Extension):
    def extendMarkdown(self, md: markdown.Markdown) -> None:
        md.preprocessors.deregister("html_block")
        for pattern in _UNWANTED:
            md.inlinePatterns.deregister(pattern)
        md.inlinePatterns.register(_Link(_LINK, md), "link", 160)
        for block in ("hashheader", "setextheader", "reference"):
            md.parser.blockprocessors.deregister(block)


def render(text: str) -> SafeString:
    """HTML of a comment. Raw HTML in it is shown as the text it is."""
    extensions: list[str | Extension] = ["sane_lists", "nl2br", "tables", "fenced_code", _Plain()]
    try:
        html = markdown.markdown(text, extensions=extensions)
    except RecursionError:  # lists inside lists without end
        html = linebreaks(text, autoescape=True)
    clean = nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes=_SCHEMES,
        link_rel="nofollow noopener",
        set_tag_attribute_values={"code": {"dir": "ltr"}, "pre": {"dir": "ltr"}},
    )
    return mark_safe(clean)
