"""SVG figures, inlined with the texts of the reader's language.

A figure's file holds `{{t:name}}` where a text stands. It is checked against a list of what a
drawing needs: no script, no style (the page's policy forbids it), nothing from elsewhere.
"""

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

from lessons.content.faults import ContentError

_SVG = "{http://www.w3.org/2000/svg}"
_PLACEHOLDER = re.compile(r"\{\{t:([a-z0-9.-]+)\}\}")
_ELEMENTS = set(
    "svg g defs title desc path rect circle ellipse line polyline polygon text tspan marker use "
    "linearGradient radialGradient stop clipPath mask pattern symbol".split()
)
_URL = re.compile(r"url\(\s*['\"]?#([^'\")\s]+)['\"]?\s*\)")
_XLINK_HREF = "{http://www.w3.org/1999/xlink}href"


def placeholders(file: Path) -> list[str]:
    """The names of the texts in a figure, in order, each once."""
    return list(dict.fromkeys(_PLACEHOLDER.findall(_read(file))))


def inline(file: Path, text: Callable[[str], str], *, alt: str, prefix: str) -> str:
    """The figure as an `<svg>` element for a page; `prefix` keeps its ids apart from others'.

    Raises ContentError when the file holds anything but a drawing.
    """
    root = _parse(file)
    ids = {element.get("id") for element in root.iter() if element.get("id")}
    for element in root.iter():
        _check(element, file.name, ids)
        element.tag = str(element.tag).removeprefix(_SVG)
        for key, value in list(element.attrib.items()):
            if key == _XLINK_HREF:
                del element.attrib[key]
                key = "href"
            element.set(key, _apart(key, _fill(value, text), prefix))
        element.text = element.text and _fill(element.text, text)
        element.tail = element.tail and _fill(element.tail, text)
    if not root.get("viewBox"):
        raise ContentError(f"{file.name}: the svg element needs a viewBox.")
    root.attrib.pop("height", None)
    root.set("width", "100%")
    root.set("role", "img")
    root.set("aria-label", alt)
    return ElementTree.tostring(root, encoding="unicode")


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ContentError(f"there is no figure figures/{file.name}.") from error


def _parse(file: Path) -> ElementTree.Element:
    text = _read(file)
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ContentError(f"{file.name}: no DOCTYPE and no entities.")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ContentError(f"{file.name} is not well-formed: {error}.") from error
    if root.tag != f"{_SVG}svg":
        raise ContentError(f"{file.name}: the first element must be svg, with its namespace.")
    return root


def _check(element: ElementTree.Element, name: str, ids: set[str | None]) -> None:
    tag = str(element.tag).removeprefix(_SVG)
    if tag not in _ELEMENTS:
        raise ContentError(f"{name}: a figure may not hold <{tag}>.")
    for key, value in element.attrib.items():
        if key.lower().startswith("on") or key in ("style", "src"):
            raise ContentError(f"{name}: the attribute {key} is not allowed on <{tag}>.")
        if key in ("href", _XLINK_HREF) and not value.startswith("#"):
            raise ContentError(f"{name}: <{tag}> may refer only to the figure itself.")
        target = value[1:] if key in ("href", _XLINK_HREF) else None
        if match := _URL.search(value):
            target = match[1]
        elif "url(" in value:
            raise ContentError(f"{name}: {key}=“{value}” refers to something outside the figure.")
        if target is not None and target not in ids:
            raise ContentError(f"{name}: nothing in it has the id “{target}”.")


def _fill(value: str, text: Callable[[str], str]) -> str:
    return _PLACEHOLDER.sub(lambda match: text(match[1]), value)


def _apart(key: str, value: str, prefix: str) -> str:
    if key == "id":
        return f"{prefix}-{value}"
    if key == "href":
        return f"#{prefix}-{value[1:]}"
    return _URL.sub(lambda match: f"url(#{prefix}-{match[1]})", value)
