"""From a launch into the site: who was here before in this browser is asked, not overwritten."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from accounts import language, throttle
from accounts.forms import PasswordField, posted
from accounts.guests import BACKEND
from accounts.holdings import has_work, merge
from accounts.models import Person
from classroom.lti import arrivals, linking, tickets
from classroom.lti.tickets import Ticket
from classroom.lti.views.methods import READS, only
from classroom.models import Role


class ConnectForm(forms.Form):
    """Whoever connects an account proves that it is theirs."""

    password = PasswordField(new=False)

    def __init__(self, person: Person, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.person = person

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        if not self.person.check_password(password):
            raise forms.ValidationError(_("This is not the password of this account."))
        return password


@never_cache
@only(*READS, "POST")
@sensitive_post_parameters("password")
def enter(request: HttpRequest) -> HttpResponse:
    ticket = tickets.read(request)
    if ticket is None:
        return lost(request)
    here = request.user if isinstance(request.user, Person) else None
    owner = ticket.user.auth_user
    if owner is not None and not owner.is_active:
        return lost(request)
    spoken = language.chosen(request) or arrivals.language_of(ticket.locale) or _spoken(owner)
    with translation.override(spoken):
        if here is not None and here.is_guest and has_work(here):
            return _met_a_guest(request, ticket, here)
        if here is not None and not here.is_guest and here != owner:
            return _met_an_account(request, ticket, here)
        return _go_in(request, ticket)


def _met_a_guest(request: HttpRequest, ticket: Ticket, guest: Person) -> HttpResponse:
    """Their work comes along only if they say that it is theirs."""
    act = request.POST.get("do")
    if request.method != "POST" or act not in ("bring", "leave"):
        return render(request, "classroom/lti/guest.html", _named(ticket))
    return _go_in(request, ticket, guest=guest if act == "bring" else None)


def _met_an_account(request: HttpRequest, ticket: Ticket, here: Person) -> HttpResponse:
    """Somebody signed in who is not (yet) who the platform says."""
    may_connect = ticket.user.auth_user is None and here.has_usable_password()
    form = ConnectForm(here, posted(request) if request.POST.get("do") == "connect" else None)
    if request.method == "POST" and request.POST.get("do") == "other":
        return _go_in(request, ticket)
    if form.is_bound and may_connect:
        throttle.take(throttle.PASSWORD_CHECKS, str(here.pk))
        if form.is_valid():
            return _go_in(request, ticket, account=here)
    context = _named(ticket) | {"account": here, "form": form if may_connect else None}
    status = 422 if form.errors else 200
    return render(request, "classroom/lti/account.html", context, status=status)


def _go_in(
    request: HttpRequest,
    ticket: Ticket,
    *,
    guest: Person | None = None,
    account: Person | None = None,
) -> HttpResponse:
    """Spend the ticket, sign them in, give them their place, and on to where they wanted."""
    if not tickets.spend(ticket):
        return lost(request)
    if account is not None and not arrivals.connect(ticket.user, account):
        return lost(request)
    person = account or arrivals.person_of(ticket.user, ticket.locale)
    if guest is not None:
        merge(guest, person)
        messages.success(request, _("What you did as a guest is now in your account."))
    login(request, person, backend=BACKEND)
    spoken = language.chosen(request) or person.language
    with translation.override(spoken):
        response = HttpResponseRedirect(_onward(request, ticket, person))
        language.remember(request, response, spoken)
    response.delete_cookie(tickets.COOKIE, path="/lti/")
    return response


def _onward(request: HttpRequest, ticket: Ticket, person: Person) -> str:
    link = linking.link_of(ticket.context) if ticket.context else None
    if link is not None:
        arrivals.seat(person, link, ticket.role)
    if ticket.context is None or ticket.role is None:
        return ticket.place.address()
    if link is None and ticket.role == Role.INSTRUCTOR:
        place = ticket.place.to_json()
        request.session["lti-link"] = {"context": ticket.context.pk, "place": place}
        return reverse("lti:link")
    if link is None:
        messages.info(
            request,
            _(
                "Your course is not linked with a cohort yet. Work as you like: once your "
                "instructor has linked it, what you did counts."
            ),
        )
    return ticket.place.address()


def _named(ticket: Ticket) -> dict[str, Any]:
    return {"platform": ticket.user.registration.name, "name": ticket.user.name}


def _spoken(owner: Person | None) -> str:
    return owner.language if owner else translation.get_language() or "en"


def lost(request: HttpRequest) -> HttpResponse:
    """There is nothing (any more) to go on with. No 404: the languages' middleware would look for
    this address below a language."""
    return render(request, "classroom/lti/lost.html", status=400)
