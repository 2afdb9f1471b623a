"""A forgotten password: a message in the person's language, which tells nobody who has one."""

import re

import pytest
from django.core.mail import EmailMessage
from django.test import Client, override_settings

from accounts import mail
from accounts.models import Person
from tests.accounts.conftest import PASSWORD

RESET = "/en/account/reset/"
Outbox = list[EmailMessage]


def ask(client: Client, email: str) -> None:
    answer = client.post(RESET, {"email": email})
    assert (answer.status_code, answer["Location"]) == (302, "/en/account/reset/sent/")
    mail._outgoing.submit(int).result(5)  # the queue is empty up to here


def link(message: EmailMessage) -> str:
    found = re.search(r"http://testserver(\S+)", str(message.body))
    assert found
    return found[1]


def test_the_message_speaks_the_person_s_language_and_its_link_changes_the_password_once(
    client: Client, account: Person, outbox: Outbox
) -> None:
    ask(client, "ADA@example.org")
    (message,) = outbox
    assert message.to == ["ada@example.org"]
    address = link(message)
    assert address.startswith("/fr/account/reset/")
    page = client.get(address, follow=True)
    assert address not in page.redirect_chain[0][0]  # the token does not stay in the address
    where = page.redirect_chain[0][0]
    weak = client.post(where, {"new_password": "1234567890"})
    assert account.check_password(PASSWORD) and weak.status_code == 200
    client.post(where, {"new_password": "quite another one"})
    account.refresh_from_db()
    assert account.check_password("quite another one")
    used = client.get(address, follow=True)
    assert "/account/reset/" in used.content.decode()
    assert used.context["validlink"] is False


def test_an_unknown_address_gets_the_same_answer_and_no_message(
    client: Client, account: Person, outbox: Outbox
) -> None:
    ask(client, "nobody@example.org")
    assert not outbox


def test_one_address_gets_three_messages_an_hour_and_the_fourth_is_not_told(
    client: Client, account: Person, outbox: Outbox
) -> None:
    for _ in range(5):
        ask(client, "ada@example.org")
    assert len(outbox) == 3


def test_a_new_password_opens_a_locked_sign_in(
    client: Client, account: Person, outbox: Outbox
) -> None:
    wrong = {"email": "ada@example.org", "password": "wrong"}
    for _ in range(9):
        client.post("/en/account/sign-in/", wrong)
    ask(client, "ada@example.org")
    where = client.get(link(outbox[0]), follow=True).redirect_chain[0][0]
    client.post(where, {"new_password": "quite another one"})
    right = {"email": "ada@example.org", "password": "quite another one"}
    assert client.post("/en/account/sign-in/", right).status_code == 302


@pytest.mark.django_db
def test_without_a_mail_server_the_message_is_printed_and_both_ends_say_so(
    client: Client, account: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    with override_settings(EMAIL_BACKEND=mail.PRINTING_BACKEND):
        ask(client, "ada@example.org")
        page = client.get("/en/account/reset/sent/")
    assert "printed in the terminal" in page.content.decode()
    assert "EMAIL_HOST is not set" in capsys.readouterr().err
