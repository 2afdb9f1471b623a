"""A forgotten password: a link by e-mail, which tells nobody who has an account."""

from typing import Any

from axes.utils import reset as reset_attempts
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import PasswordResetConfirmView
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse, reverse_lazy
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts import mail, throttle
from accounts.forms import NewPasswordForm, ResetForm, posted
from accounts.models import Person


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def reset(request: HttpRequest) -> HttpResponse:
    """Ask for the link. The answer is the same whether or not the address has an account."""
    form = ResetForm(posted(request))
    if request.method == "POST":
        throttle.take_for_network(throttle.RESETS, request)
        if form.is_valid():
            _send_link(request, form.cleaned_data["email"])
            return HttpResponseRedirect(reverse("accounts:reset-sent"))
    status = 422 if form.errors else 200
    return render(request, "accounts/reset.html", {"form": form}, status=status)


def _send_link(request: HttpRequest, address: str) -> None:
    try:
        throttle.take(throttle.RESETS_TO_ONE_ADDRESS, address)
    except throttle.TooMany:
        return  # the messages of this hour are in the mailbox
    person = Person.objects.filter(email=address, is_active=True).first()
    if person is not None:
        mail.send_later(mail.reset_message(request, person))


@never_cache
@require_safe
def reset_sent(request: HttpRequest) -> HttpResponse:
    context = {"printed": settings.EMAIL_BACKEND == mail.PRINTING_BACKEND}
    return render(request, "accounts/reset_sent.html", context)


class ResetConfirm(PasswordResetConfirmView):
    """The page behind the link: a new password, asked for once."""

    form_class = NewPasswordForm  # type: ignore[assignment]
    template_name = "accounts/reset_confirm.html"
    success_url = reverse_lazy("accounts:sign-in")

    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        reset_attempts(username=form.person.email)  # who could not get in may try at once
        messages.success(self.request, _("Your new password is saved. You can sign in with it."))
        return response
