"""Messages to people, in their language."""

import sys
from concurrent.futures import Future, ThreadPoolExecutor
from logging import getLogger
from typing import Any

from django.contrib.auth.tokens import default_token_generator
from django.core.mail import EmailMessage
from django.core.mail.backends.console import EmailBackend
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _

from accounts.models import Person

PRINTING_BACKEND = "accounts.mail.PrintingBackend"
log = getLogger(__name__)
# Sending takes a second or so, and only where there is somebody to send to: waiting for it
# would tell who has an account.
_outgoing = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mail")


def reset_message(request: HttpRequest, person: Person) -> EmailMessage:
    """The link with which this person chooses a new password."""
    with translation.override(person.language):
        path = reverse(
            "accounts:reset-confirm",
            kwargs={
                "uidb64": urlsafe_base64_encode(force_bytes(person.pk)),
                "token": default_token_generator.make_token(person),
            },
        )
        context = {"person": person, "link": request.build_absolute_uri(path)}
        body = render_to_string("accounts/mail/reset.txt", context)
        return EmailMessage(_("Your new password for Chainrule"), body, to=[str(person.email)])


def send_later(message: EmailMessage) -> "Future[None]":
    """Send from another thread; a failure is ours, and logged."""
    return _outgoing.submit(_send, message)


def _send(message: EmailMessage) -> None:
    try:
        message.send()
    except Exception:  # a thread of its own has nobody above it to tell
        log.exception("An e-mail could not be sent: check EMAIL_HOST and the settings beside it.")


class PrintingBackend(EmailBackend):
    """For a machine without a mail server: prints each message, and says that it did."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"stream": sys.stderr, **options})

    def write_message(self, message: EmailMessage) -> None:
        self.stream.write(
            f"EMAIL_HOST is not set: this message to {', '.join(message.to)} "
            "is printed here and sent to nobody.\n"
        )
        super().write_message(message)
