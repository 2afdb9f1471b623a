"""A person's language: chosen with the switch, kept in a cookie and on their row."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from accounts.models import Person


def remember(request: HttpRequest, response: HttpResponse, language: str) -> None:
    """Keep the choice: in this browser, and for the person wherever they sign in."""
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        language,
        max_age=settings.SESSION_COOKIE_AGE,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    user = request.user
    if isinstance(user, Person) and user.language != language:
        user.language = language
        user.save(update_fields=["language"])


def chosen(request: HttpRequest) -> str | None:
    """The language chosen in this browser, if one was."""
    language = request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME)
    return language if language in dict(settings.LANGUAGES) else None
