"""A file of the kernels, whole, with one function lit: what a lesson's source link opens."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_safe

from lessons.content.faults import ContentError
from lessons.content.highlight import code_lines
from lessons.content.sources import source_file, source_text


@require_safe
def source(request: HttpRequest, path: str) -> HttpResponse:
    try:
        file = source_file(path)
    except ContentError as error:
        raise Http404(path) from error
    text = file.read_text(encoding="utf-8").rstrip("\n")
    language = {".py": "python", ".yaml": "yaml"}.get(file.suffix, "text")
    before, here, after = _cut(path, text, request.GET.get("symbol", ""))
    context = {
        "path": path,
        "pieces": [
            (piece is here, mark_safe(code_lines(piece, language)))
            for piece in (before, here, after)
            if piece
        ],
    }
    return render(request, "lessons/source.html", context)


def _cut(path: str, text: str, symbol: str) -> tuple[str, str, str]:
    """What stands before the symbol, the symbol, and what stands after it."""
    if not symbol:
        return text, "", ""
    try:
        here = source_text(path, symbol)
    except ContentError:
        return text, "", ""
    before, found, after = text.partition(here)
    return (before.rstrip("\n"), here, after.lstrip("\n")) if found else (text, "", "")
