"""Signing up, in and out."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import authenticate, logout
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import translation
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from accounts import joining, language, throttle
from accounts.forms import SignInForm, SignUpForm, posted
from accounts.holdings import erase
from accounts.models import Person
from accounts.redirects import next_page, wish


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters("password")
def sign_up(request: HttpRequest) -> HttpResponse:
    if _is_account(request):
        return HttpResponseRedirect(next_page(request))
    form = SignUpForm(posted(request))
    if request.method == "POST":
        throttle.take_for_network(throttle.SIGN_UPS, request)
        if form.is_valid():
            if response := _sign_up(request, form):
                return response
    return _page(request, "accounts/sign_up.html", form=form)


def _sign_up(request: HttpRequest, form: SignUpForm) -> HttpResponse | None:
    given = form.cleaned_data
    account = joining.NewAccount(
        email=given["email"],
        password=given["password"],
        name=given["name"],
        language=get_language() or "en",
    )
    try:
        joining.sign_up(request, account)
    except joining.AddressTaken:
        # Somebody who signs up twice with the right password wanted to sign in.
        person = authenticate(request, email=account.email, password=account.password)
        if isinstance(person, Person):
            return _signed_in(request, person)
        form.add_error("email", _("This address already has an account. Sign in instead."))
        return None
    messages.success(request, _("Your account is ready, with everything you did before."))
    return HttpResponseRedirect(next_page(request))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters("password")
def sign_in(request: HttpRequest) -> HttpResponse:
    if request.method != "POST" and _is_account(request):
        return HttpResponseRedirect(next_page(request))
    form = SignInForm(request, posted(request))
    if request.method == "POST":
        throttle.take_for_network(throttle.SIGN_INS, request)
        if form.is_valid() and form.person:
            return _signed_in(request, form.person)
    return _page(request, "accounts/sign_in.html", form=form)


def _signed_in(request: HttpRequest, person: Person) -> HttpResponse:
    """Go on in the language chosen in this browser, or else in the account's."""
    spoken = language.chosen(request) or person.language
    if joining.sign_in(request, person):
        with translation.override(spoken):  # the page that follows speaks it
            messages.success(request, _("What you did as a guest is now in your account."))
    response = HttpResponseRedirect(next_page(request, spoken))
    language.remember(request, response, spoken)
    return response


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_out(request: HttpRequest) -> HttpResponse:
    """Sign out. A guest is warned first: nobody could come back to their work, so it goes."""
    user = request.user
    if not isinstance(user, Person):
        return HttpResponseRedirect(next_page(request))
    if request.method != "POST" or (user.is_guest and request.POST.get("confirm") != "yes"):
        return _page(request, "accounts/sign_out.html")
    if user.is_guest:
        erase(user)
    logout(request)
    messages.info(request, _("You are signed out."))
    return HttpResponseRedirect(next_page(request))


def _is_account(request: HttpRequest) -> bool:
    return isinstance(request.user, Person) and not request.user.is_guest


def _page(request: HttpRequest, template: str, **context: Any) -> HttpResponse:
    status = 422 if (form := context.get("form")) and form.is_bound and form.errors else 200
    return render(request, template, {"next": wish(request), **context}, status=status)
