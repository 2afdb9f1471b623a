"""Health, the language switch and the error pages."""

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import check_for_language
from django.views.decorators.http import require_POST, require_safe

from accounts.language import remember
from accounts.redirects import in_language


@require_safe
def health(request: HttpRequest) -> JsonResponse:
    """200 when the database answers; what a load balancer or compose asks."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return JsonResponse({"ok": True})


@require_POST
def choose_language(request: HttpRequest) -> HttpResponse:
    """The same page in the language chosen; the choice is remembered."""
    language = request.POST.get("language", "")
    target = request.POST.get("next", "/")
    if not url_has_allowed_host_and_scheme(target, allowed_hosts={request.get_host()}):
        target = "/"
    if not check_for_language(language) or language not in dict(settings.LANGUAGES):
        return HttpResponseRedirect(target)
    response = HttpResponseRedirect(in_language(target, language))
    remember(request, response, language)
    return response


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "errors/400.html", status=400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "errors/403.html", status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "errors/404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    return render(request, "errors/500.html", status=500)
