"""Where to go on: the page asked for, if it is ours."""

from django.http import HttpRequest
from django.urls import resolve, reverse, translate_url
from django.urls.exceptions import Resolver404
from django.utils import translation
from django.utils.http import url_has_allowed_host_and_scheme


def next_page(request: HttpRequest, language: str | None = None) -> str:
    """The address in `next`, in that language; the catalogue where it is not a page of ours."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    safe = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    target = wanted if safe and _is_page(wanted) else reverse("lessons:catalogue")
    return in_language(target, language) if language else target


def in_language(address: str, language: str) -> str:
    """The same page in another language; an address without a language stays as it is.

    Django finds an address only while its own language is active.
    """
    spoken = translation.get_language_from_path(_path(address))
    if not spoken:
        return address
    with translation.override(spoken):
        return translate_url(address, language)


def _is_page(address: str) -> bool:
    """Whether it is a path of the site to look at, and not one of the account's own."""
    path = _path(address)
    spoken = translation.get_language_from_path(path)
    if not path.startswith("/") or not spoken:
        return False
    with translation.override(spoken):
        try:
            return resolve(path).app_name != "accounts"
        except Resolver404:
            return False


def _path(address: str) -> str:
    return address.partition("#")[0].partition("?")[0]
