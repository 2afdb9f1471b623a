"""The gradebook leaves the house, and adjustments come back: export, import, undo."""

import uuid
from typing import Any

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import (
    FileResponse,
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
)
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from classroom import audit
from classroom.access import Teaching
from classroom.adjusting import (
    BadToken,
    Stale,
    TooLarge,
    UndoneBefore,
    apply,
    imports,
    seal,
    undo,
    unseal,
)
from classroom.amounts import signed
from classroom.cells import PLAIN, Sheet, xlsx_file
from classroom.exporting import Format, What, file_name, sheet
from classroom.importing import Plan, changes_of, plan
from classroom.models import Import
from classroom.reading import MOST_ROWS, Unreadable, read_table
from classroom.views.book_cells import name_of
from classroom.views.gradebook import JUST_IMPORTED, keeper
from classroom.views.sending import csv_response

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@never_cache
@require_POST
def export(request: HttpRequest, cohort_id: uuid.UUID) -> HttpResponseBase:
    """A table as a file. A POST, for it is written down who took it."""
    here = keeper(request, cohort_id)
    try:
        what, format_ = What(request.POST.get("what", "")), Format(request.POST.get("format", ""))
    except ValueError as unknown:
        raise Http404(str(unknown)) from unknown
    table = sheet(here.cohort, what)
    audit.record(here.cohort, request.user, "exported", f"gradebook {what}", format=str(format_))
    if format_ is Format.XLSX:
        response = _workbook(table)
    else:
        response = csv_response(request, table, PLAIN if format_ is Format.PLAIN else None)
    name = file_name(here.cohort, what, format_)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@require_http_methods(["GET", "HEAD", "POST"])
def import_page(request: HttpRequest, cohort_id: uuid.UUID) -> HttpResponse:
    """The form; a POST of a file answers with what it would change."""
    here = keeper(request, cohort_id, instructor=True)
    if request.method != "POST":
        return _form(request, here)
    file = request.FILES.get("file")
    if not isinstance(file, UploadedFile) or file.size is None:
        return _form(request, here, _("Choose a file first."))
    try:
        found = plan(here.cohort, read_table(file.name or "", file, file.size))
        token = seal(here.cohort, request.user, changes_of(found)) if found.is_fit else ""
    except Unreadable as unreadable:
        return _form(request, here, str(unreadable))
    except TooLarge:
        return _form(request, here, _("This is too much to be confirmed at once. Send the file in "
                                      "parts, or with shorter reasons."))  # fmt: skip
    context = _context(here) | {"plan": found, "lines": _lines(found), "token": token,
                                "file_name": file.name}  # fmt: skip
    return render(request, "classroom/gradebook/preview.html", context)


@require_POST
def import_apply(request: HttpRequest, cohort_id: uuid.UUID) -> HttpResponse:
    here = keeper(request, cohort_id, instructor=True)
    try:
        changes = unseal(here.cohort, request.user, request.POST.get("token", ""))
        batch = apply(here.cohort, request.user, changes)
    except BadToken:
        messages.error(request, _("This preview is older than an hour. Send the file once more."))
    except Stale as stale:
        messages.error(
            request,
            _(
                "Nothing was written: since the preview somebody changed the adjustments of %(who)s"
                ", or they left. Send the file once more to see how it stands."
            )
            % {"who": _some(stale.refs)},
        )
    else:
        sentence = ngettext(
            "%(n)d adjustment is written.", "%(n)d adjustments are written.", len(changes)
        )
        messages.success(request, sentence % {"n": len(changes)})
        request.session[JUST_IMPORTED] = batch.pk
        return HttpResponseRedirect(reverse("classroom:gradebook", args=[cohort_id]))
    return HttpResponseRedirect(reverse("classroom:import", args=[cohort_id]))


@require_POST
def import_undo(request: HttpRequest, cohort_id: uuid.UUID, batch: int) -> HttpResponse:
    here = keeper(request, cohort_id, instructor=True)
    found = Import.objects.filter(cohort=here.cohort, pk=batch).first()
    if found is None:
        raise Http404(str(batch))
    try:
        count = undo(here.cohort, request.user, found)
    except UndoneBefore:
        messages.info(request, _("This import was taken back before."))
    except Stale as stale:
        messages.error(
            request,
            _(
                "Nothing was taken back: the adjustments of %(who)s were changed after the import. "
                "Set those by hand."
            )
            % {"who": _some(stale.refs)},
        )
    else:
        sentence = ngettext(
            "%(n)d adjustment is as it was before.",
            "%(n)d adjustments are as they were before.",
            count,
        )
        messages.success(request, sentence % {"n": count})
    return HttpResponseRedirect(reverse("classroom:import", args=[cohort_id]))


def _workbook(table: Sheet) -> HttpResponseBase:
    return FileResponse(xlsx_file([table]), content_type=XLSX)


def _form(request: HttpRequest, here: Teaching, error: str = "") -> HttpResponse:
    context = _context(here) | {"error": error, "imports": imports(here.cohort),
                                "most_rows": MOST_ROWS}  # fmt: skip
    return render(request, "classroom/gradebook/import.html", context, status=422 if error else 200)


def _context(here: Teaching) -> dict[str, Any]:
    return {"cohort": here.cohort, "teaching": here, "tab": "gradebook"}


def _lines(found: Plan) -> list[dict[str, Any]]:
    return [
        {
            "number": number,
            "name": name_of(learner),
            "ref": learner.ref,
            "lesson": title,
            "before": signed(change.before),
            "after": signed(change.after),
            "reason": change.reason,
        }
        for number, learner, title, change in found.changes
    ]


def _some(refs: list[str]) -> str:
    return ", ".join(refs[:5]) + (" …" if len(refs) > 5 else "")
