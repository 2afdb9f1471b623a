"""Addresses that platforms have: whoever opens one by hand, or asks it in another way, reads what
it is for."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

READS = ("GET", "HEAD")
View = Callable[..., HttpResponse]


def only(*methods: str) -> Callable[[View], View]:
    """Django's `require_http_methods`, with a page in place of its empty answer."""

    def decorated(view: View) -> View:
        @wraps(view)
        def asked(request: HttpRequest, *args: Any, **named: Any) -> HttpResponse:
            if request.method in methods:
                return view(request, *args, **named)
            response = render(request, "classroom/lti/astray.html", status=405)
            response.headers["Allow"] = ", ".join(methods)
            return response

        return asked

    return decorated
