"""NUL characters: no text has any, and PostgreSQL refuses them where SQLite would store them."""

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponse, QueryDict

NUL = "\x00"


class WithoutNulls:
    """Takes them out of what is typed and of queries; an address with one leads nowhere."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if NUL in request.path_info:
            raise Http404("an address with a NUL in it")
        if _holds(request.GET):
            request.GET = _without(request.GET)  # type: ignore[assignment]
        if request.method == "POST" and _holds(request.POST):
            request.POST = _without(request.POST)  # type: ignore[assignment]
        return self.get_response(request)


def _holds(given: QueryDict) -> bool:
    return any(NUL in key or any(NUL in value for value in values) for key, values in given.lists())


def _without(given: QueryDict) -> QueryDict:
    clean = QueryDict(mutable=True)
    for key, values in given.lists():
        clean.setlist(key.replace(NUL, ""), [value.replace(NUL, "") for value in values])
    clean._mutable = False
    return clean
