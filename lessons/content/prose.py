"""Markdown to HTML: tables, fenced code, inline math, links to steps, terms and sources.

Raw HTML is shown as text, never passed on. A mistake (a formula, a link, an unknown term)
becomes a visible mark in the page and a sentence in `Prose.mistakes`, so that a page never
falls over and the content check misses nothing.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any
from xml.etree.ElementTree import Element

import markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.treeprocessors import Treeprocessor

from lessons.content.faults import ContentError
from lessons.content.formulas import formula
from lessons.content.highlight import code_block

_MATH = r"(?<![\\$])(?:\$\$(.+?)\$\$|\$(?![\s$])(.+?)(?<![\s\\])\$(?![\d$]))"
_NUMBERED = re.compile(r"^(\d+)([.)])(?=[ \t])", re.MULTILINE)
_FENCED = re.compile(r"(^```.*?^```[ \t]*$)", re.DOTALL | re.MULTILINE)
_WRAPPING = re.compile(r"^<p>(.*)</p>$", re.DOTALL)
_TAIL = re.compile(r"’\w+[,.;:!?)]*|\u202f?[,.;:!?)»”]+")  # what stays beside a formula


@dataclass(frozen=True)
class Links:
    """Where links lead; each function raises ContentError when the target does not exist."""

    step: Callable[[str], str]  # "lesson/step" -> address
    term: Callable[[str], str]  # term id -> anchor of its definition
    source: Callable[[str], str]  # "path::symbol" -> address


@dataclass
class Prose:
    """One page's Markdown: remembers the terms it used and the mistakes it met."""

    links: Links
    language: str = "en"
    terms: list[str] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)

    def html(self, text: str) -> str:
        return self._convert(text)

    def inline(self, text: str) -> str:
        """A single paragraph without its <p>: titles, labels, captions."""
        html = self._convert(text)
        match = _WRAPPING.match(html)
        return match[1] if match and "<p>" not in match[1] else html

    def mistake(self, error: ContentError) -> str:
        self.mistakes.append(str(error))
        return f'<strong class="fault">{escape(str(error))}</strong>'

    def _convert(self, text: str) -> str:
        return self._converter.reset().convert(_numbers_kept(text))

    @cached_property
    def _converter(self) -> markdown.Markdown:
        """One a page: making it takes longer than what most blocks need."""
        fences = [{"name": "*", "class": "code", "format": self._fence}]
        return markdown.Markdown(
            extensions=["tables", "sane_lists", "pymdownx.superfences", _OurMarkdown(self)],
            extension_configs={"pymdownx.superfences": {"custom_fences": fences}},
            output_format="html",
        )

    def _fence(self, code: str, language: str, *rest: Any, **options: Any) -> str:
        try:
            html = code_block(code, language)
            return f'<div class="highlight"><pre dir="ltr" tabindex="0">{html}</pre></div>'
        except ContentError as error:
            return self.mistake(error)


class _OurMarkdown(Extension):
    def __init__(self, prose: Prose) -> None:
        super().__init__()
        self.prose = prose

    def extendMarkdown(self, md: markdown.Markdown) -> None:
        md.preprocessors.deregister("html_block")
        for pattern in ("html", "image_link", "image_reference", "short_image_ref"):
            md.inlinePatterns.deregister(pattern)
        md.block_level_elements = [name for name in md.block_level_elements if name != "math"]
        md.ESCAPED_CHARS = [*md.ESCAPED_CHARS, "$"]
        # After code spans (190), before backslash escapes (180): LaTeX is full of backslashes.
        md.inlinePatterns.register(_Math(self.prose, md), "math", 185)
        md.treeprocessors.register(_Tidy(self.prose, md), "tidy", 5)


class _Math(InlineProcessor):
    def __init__(self, prose: Prose, md: markdown.Markdown) -> None:
        super().__init__(_MATH, md)
        self.prose = prose

    def handleMatch(  # type: ignore[override]
        self, match: re.Match[str], data: str
    ) -> tuple[str, int, int]:
        try:
            html = formula(
                (match[1] or match[2]).strip(),
                display=match[1] is not None,
                language=self.prose.language,
            )
        except ContentError as error:
            html = self.prose.mistake(error)
        # Lines break around a formula, even before the comma that follows it.
        tail = _TAIL.match(data, match.end(0))
        if tail is None:
            return self.md.htmlStash.store(html), match.start(0), match.end(0)
        whole = f'<span class="whole">{html}{tail[0]}</span>'
        return self.md.htmlStash.store(whole), match.start(0), tail.end()


class _Tidy(Treeprocessor):
    """Resolves links, and lets wide things scroll by themselves and by keyboard."""

    def __init__(self, prose: Prose, md: markdown.Markdown) -> None:
        super().__init__(md)
        self.prose = prose

    def run(self, root: Element) -> None:
        for parent in list(root.iter()):
            for index, element in enumerate(list(parent)):
                if element.tag == "a":
                    self._resolve(element)
                elif element.tag == "code":
                    element.set("dir", "ltr")
                    element.set("translate", "no")
                elif element.tag == "h1":
                    self.prose.mistake(ContentError("begin headings in prose with ##, not with #."))
                elif element.tag == "table":
                    parent[index] = _scrolling(element)
                elif "text-align" in (style := element.attrib.pop("style", "")):
                    # A class in its place: the page's policy refuses inline style.
                    if "right" in style:
                        element.set("class", "n")

    def _resolve(self, link: Element) -> None:
        href = link.get("href", "")
        scheme, _, target = href.partition(":")
        links = self.prose.links
        try:
            if scheme == "term":
                link.set("href", links.term(target))
                link.set("class", "term")
                link.set("aria-describedby", links.term(target).lstrip("#"))
                if target not in self.prose.terms:
                    self.prose.terms.append(target)
            elif scheme == "step":
                link.set("href", links.step(target))
            elif scheme == "source":
                link.set("href", links.source(target))
                link.set("class", "to-source")
            elif scheme not in ("https", "http", "mailto"):
                raise ContentError(f"the link “{href}” is none of https:, step:, term:, source:.")
        except ContentError as error:
            self.prose.mistakes.append(str(error))
            link.set("class", "fault")
            link.set("href", "#")


def _numbers_kept(text: str) -> str:
    """Where a sentence begins with a number (“36. Widths …”, “8. bayttan …”) no list begins:
    a list counts 1, 2."""
    if {"1", "2"} <= {match[1] for match in _NUMBERED.finditer(text)}:
        return text
    pieces = _FENCED.split(text)  # every other one is fenced code
    pieces[::2] = [_NUMBERED.sub(r"\1\\\2", piece) for piece in pieces[::2]]
    return "".join(pieces)


def _scrolling(table: Element) -> Element:
    box = Element("div", {"class": "scroll", "tabindex": "0"})
    box.append(table)
    box.tail, table.tail = table.tail, None
    return box


def plain(text: str) -> str:
    """The words of a Markdown text: for search, for labels read aloud, for a page's title."""
    text = re.sub(r"^```.*$", "", _numbers_kept(text), flags=re.MULTILINE)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"(?m)^\s*(?:#{1,6}|[-*+]|\d+[.)])\s+", "", text)
    text = re.sub(r"(?m)^\s*\|?[\s:|-]{3,}\|?\s*$", "", text)
    text = re.sub(r"\*\*|__|`|(?<!\w)[*_]|[*_](?!\w)", "", text)
    text = re.sub(r"\\([\\`*_{}\[\]()#+.!$-])", r"\1", text)
    return re.sub(r"[ \t\n|]+", " ", text).strip()
