"""A table on its way out of the house, sent while it is made."""

from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.utils.cache import patch_vary_headers

from classroom.cells import Dialect, Sheet, Streamed, csv_pieces, dialect_of
from lessons.views.found import reading_language


def csv_response(
    request: HttpRequest, table: Sheet, dialect: Dialect | None = None
) -> HttpResponseBase:
    """As the reader's own spreadsheet reads it, unless another `dialect` is named."""
    zipped = "gzip" in request.headers.get("Accept-Encoding", "")
    pieces = csv_pieces(table, dialect or dialect_of(reading_language()))
    response = StreamingHttpResponse(
        Streamed(pieces, zipped=zipped), content_type="text/csv; charset=utf-8"
    )
    if zipped:
        response["Content-Encoding"] = "gzip"
    patch_vary_headers(response, ["Accept-Encoding"])
    return response
