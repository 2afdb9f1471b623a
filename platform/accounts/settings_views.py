"""A person's settings: name, language, password; their data, exported and erased."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib import messages
from django.contrib.auth import logout, update_session_auth_hash
from django.contrib.auth.views import redirect_to_login
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
    StreamingHttpResponse,
)
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from accounts import holdings, language, throttle
from accounts.exporting import Export
from accounts.forms import ChangePasswordForm, EraseAccountForm, EraseGuestForm, ProfileForm, posted
from accounts.models import Person

P = ParamSpec("P")


def for_a_person(
    view: Callable[Concatenate[HttpRequest, Person, P], HttpResponseBase],
) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
    """Only for somebody we know, guest or account; others are sent to sign in."""

    @wraps(view)
    def inner(request: HttpRequest, *args: P.args, **options: P.kwargs) -> HttpResponseBase:
        if not isinstance(request.user, Person):
            return redirect_to_login(request.get_full_path(), reverse("accounts:sign-in"))
        return view(request, request.user, *args, **options)

    return inner


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@for_a_person
def settings(request: HttpRequest, person: Person) -> HttpResponse:
    form = ProfileForm(posted(request), initial={"name": person.name, "language": person.language})
    if request.method == "POST" and form.is_valid():
        person.name, person.language = form.cleaned_data["name"], form.cleaned_data["language"]
        person.save(update_fields=["name", "language"])
        with translation.override(person.language):
            messages.success(request, _("Saved."))
            response = HttpResponseRedirect(reverse("accounts:settings"))
        language.remember(request, response, person.language)
        return response
    return _form(request, "accounts/settings.html", form)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters("password", "new_password")
@for_a_person
def password(request: HttpRequest, person: Person) -> HttpResponse:
    if person.is_guest:
        return HttpResponseRedirect(reverse("accounts:sign-up"))
    if person.is_outsider:
        return HttpResponseRedirect(reverse("accounts:settings"))
    form = ChangePasswordForm(person, posted(request))
    if request.method == "POST":
        throttle.take(throttle.PASSWORD_CHECKS, str(person.pk))
        if form.is_valid():
            form.save()
            update_session_auth_hash(request, person)  # here; every other session ends
            messages.success(
                request, _("Your password is changed. You are signed out everywhere else.")
            )
            return HttpResponseRedirect(reverse("accounts:settings"))
    return _form(request, "accounts/password.html", form)


@never_cache
@require_safe
@for_a_person
def export(request: HttpRequest, person: Person) -> StreamingHttpResponse:
    """Everything we hold of this person, as a JSON file. A HEAD makes none."""
    zipped = "gzip" in request.headers.get("Accept-Encoding", "")
    content = () if request.method == "HEAD" else Export(person, zipped=zipped)
    response = StreamingHttpResponse(content, content_type="application/json")
    if zipped:
        response["Content-Encoding"] = "gzip"
    patch_vary_headers(response, ["Accept-Encoding"])
    name = f"chainrule-{timezone.now():%Y-%m-%d}.json"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters("password")
@for_a_person
def erase(request: HttpRequest, person: Person) -> HttpResponse:
    has_no_password = person.is_guest or person.is_outsider
    form_class = EraseGuestForm if has_no_password else EraseAccountForm
    form = form_class(person, posted(request))
    if request.method == "POST":
        throttle.take(throttle.PASSWORD_CHECKS, str(person.pk))
        if form.is_valid():
            holdings.erase(person)
            logout(request)
            messages.info(request, _("Everything we held about you is erased."))
            return HttpResponseRedirect(reverse("lessons:catalogue"))
    return _form(request, "accounts/erase.html", form)


def _form(
    request: HttpRequest,
    template: str,
    form: ProfileForm | ChangePasswordForm | EraseAccountForm | EraseGuestForm,
) -> HttpResponse:
    return render(request, template, {"form": form}, status=422 if form.errors else 200)
