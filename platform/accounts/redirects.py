"""Where to go on: the page asked for, if it is ours."""

from django.conf import settings
from django.http import HttpRequest
from django.urls import ResolverMatch, resolve, reverse, translate_url
from django.urls.exceptions import Resolver404
from django.utils import translation
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.module_loading import import_string

CATALOGUE = "lessons:catalogue"


def next_page(request: HttpRequest, language: str | None = None) -> str:
    """The page asked for, in that language; without one where settings.LANDINGS send this person,
    or the catalogue."""
    target = wish(request) or _landing(request) or reverse(CATALOGUE)
    return in_language(target, language) if language else target


def wish(request: HttpRequest) -> str:
    """The address in `next`; "" where it is not a page of ours, or only the catalogue, from which
    everybody sets out."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    safe = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    place = _place(wanted) if safe else None
    return wanted if place and place.view_name != CATALOGUE else ""


def _landing(request: HttpRequest) -> str:
    found = (import_string(name)(request.user) for name in settings.LANDINGS)
    return next(filter(None, found), "")


def in_language(address: str, language: str) -> str:
    """The same page in another language; an address without a language stays as it is.

    Django finds an address only while its own language is active.
    """
    spoken = translation.get_language_from_path(_path(address))
    if not spoken:
        return address
    with translation.override(spoken):
        return translate_url(address, language)


def _place(address: str) -> ResolverMatch | None:
    """The page of the site at that path; None: there is none, or it is one of the account's own."""
    path = _path(address)
    spoken = translation.get_language_from_path(path)
    if not path.startswith("/") or not spoken:
        return None
    with translation.override(spoken):
        try:
            found = resolve(path)
        except Resolver404:
            return None
    return found if found.app_name != "accounts" else None


def _path(address: str) -> str:
    return address.partition("#")[0].partition("?")[0]
