"""The audit: read by instructors, filtered, and taken away as a table."""

import uuid

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from classroom import audit as records
from classroom.access import teaching
from classroom.auditing import Reader, Wanted
from classroom.exporting import named
from classroom.views.sending import csv_response

PAGE = 50
LONGEST = 40  # characters of a filter: anything longer matches nothing


@require_safe
def audit(request: HttpRequest, cohort_id: uuid.UUID) -> HttpResponse:
    here = teaching(request, cohort_id, instructor=True)
    reader, wanted = Reader(here.cohort), _wanted(request.GET)
    page = Paginator(reader.entries(wanted), PAGE).get_page(request.GET.get("page"))
    context = {
        "cohort": here.cohort,
        "teaching": here,
        "tab": "audit",
        "wanted": wanted,
        "query": f"{urlencode(wanted.query)}&" if wanted.query else "",
        "teachers": reader.teachers,
        "actions": reader.actions,
        "page": page,
        "entries": list(reader.read(page)),
    }
    return render(request, "classroom/records/audit.html", context)


@require_POST
def audit_export(request: HttpRequest, cohort_id: uuid.UUID) -> HttpResponseBase:
    """What the filter lets through as CSV; that it was taken is an entry itself."""
    here = teaching(request, cohort_id, instructor=True)
    wanted = _wanted(request.POST)
    records.record(here.cohort, request.user, "exported", "audit", filter=wanted.query)
    response = csv_response(request, Reader(here.cohort).sheet(wanted))
    name = named(here.cohort, "audit", "csv")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["Cache-Control"] = "no-store"
    return response


def _wanted(given: QueryDict) -> Wanted:
    return Wanted(*(given.get(name, "")[:LONGEST].strip() for name in ("who", "action", "ref")))
