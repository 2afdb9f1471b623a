"""Search over all lessons."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from lessons.content.library import library
from lessons.content.search import search as search_library
from lessons.views.found import reading_language

SHOWN = 30  # the best of them


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    query = request.GET.get("q", "").strip()
    language = reading_language()
    hits = search_library(library(), query, language) if query else []
    context = {"query": query, "hits": hits[:SHOWN], "total": len(hits), "reader": language}
    return render(request, "lessons/search.html", context)
