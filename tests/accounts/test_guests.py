"""Guests: made lazily, once, not by the thousand; forgotten when nobody can come back."""

from datetime import timedelta

import pytest
from django.conf import settings as conf
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.db import SessionStore
from django.core.management import call_command
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory, override_settings
from django.utils import timezone, translation

from accounts import throttle
from accounts.addresses import client_ip
from accounts.guests import ensure_person, forget_guests
from accounts.middleware import PersonMiddleware
from accounts.models import Person, Tally

SECRET = "s" * 32


def request(secret: str = "", address: str = "192.0.2.1", **headers: str) -> HttpRequest:
    """A newcomer's request, as the middleware before ours leaves it."""
    made = RequestFactory().post("/en/", REMOTE_ADDR=address, headers=headers)
    made.session = SessionStore()
    made.user = AnonymousUser()
    if secret:
        made.META["CSRF_COOKIE"] = secret
    return made


@pytest.mark.django_db
def test_reading_makes_nobody(client: Client) -> None:
    client.get("/en/account/sign-in/")
    client.get("/en/account/")
    assert not Person.objects.exists()


@pytest.mark.django_db
def test_the_first_write_makes_a_guest_in_the_page_s_language_and_signs_them_in() -> None:
    newcomer = request()
    with translation.override("tr"):
        guest = ensure_person(newcomer)
    assert guest.is_guest and guest.language == "tr" and not guest.has_usable_password()
    assert newcomer.user == guest
    assert newcomer.session[SESSION_KEY] == str(guest.pk)
    assert ensure_person(newcomer) == guest
    assert Person.objects.count() == 1


@pytest.mark.django_db
def test_becoming_a_guest_leaves_the_page_s_csrf_token_valid() -> None:
    newcomer = request(SECRET)
    ensure_person(newcomer)
    assert newcomer.META["CSRF_COOKIE"] == SECRET


@pytest.mark.django_db
def test_two_first_writes_of_one_browser_make_one_guest() -> None:
    first = ensure_person(request(SECRET))
    assert ensure_person(request(SECRET)) == first
    assert ensure_person(request("t" * 32)) != first


@pytest.mark.django_db
def test_two_first_writes_at_the_very_same_moment_make_one_guest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    twins: list[Person] = []

    def other_request_wins(limit: throttle.Limit, asked: HttpRequest) -> None:
        monkeypatch.undo()
        twins.append(ensure_person(request(SECRET)))

    monkeypatch.setattr(throttle, "take_for_network", other_request_wins)
    assert [ensure_person(request(SECRET))] == twins == list(Person.objects.all())


@pytest.mark.django_db
def test_a_browser_whose_guest_signed_out_long_ago_gets_a_new_guest() -> None:
    first = ensure_person(request(SECRET))
    Person.objects.filter(pk=first.pk).update(created_at=timezone.now() - timedelta(hours=1))
    assert ensure_person(request(SECRET)) != first


@pytest.mark.django_db
def test_a_network_that_makes_too_many_guests_is_refused_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few = throttle.Limit("guest", ((throttle.HOUR, 3),), throttle.GUESTS.sentence)
    monkeypatch.setattr(throttle, "GUESTS", few)

    def write(asked: HttpRequest) -> HttpResponse:
        asked.ensure_person()  # type: ignore[attr-defined]
        return HttpResponse("written")

    def answer(asked: HttpRequest) -> HttpResponse:
        middleware = PersonMiddleware(write)
        try:
            return middleware(asked)
        except throttle.TooMany as refusal:
            refused = middleware.process_exception(asked, refusal)
            assert refused is not None
            return refused

    codes = [answer(request()).status_code for _ in range(5)]
    assert codes == [200, 200, 200, 429, 429]
    assert Person.objects.count() == 3
    page = answer(request())
    assert "Sign in to go on now" in page.content.decode()
    assert int(page["Retry-After"]) <= 3600
    asked_by_script = answer(request(accept="application/json"))
    assert b"nothing was saved" in asked_by_script.content
    assert asked_by_script["Content-Type"] == "application/json"
    assert answer(request(address="192.0.2.2")).status_code == 200


@pytest.mark.django_db
def test_one_ipv6_host_cannot_be_a_new_network_with_each_of_its_addresses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few = throttle.Limit("guest", ((throttle.HOUR, 1),), "")
    throttle.take_for_network(few, request(address="2001:db8::1"))
    with pytest.raises(throttle.TooMany):
        throttle.take_for_network(few, request(address="2001:db8::2"))
    throttle.take_for_network(few, request(address="2001:db8:1::1"))


@pytest.mark.parametrize(
    ("proxies", "forwarded", "client"),
    [
        (0, "203.0.113.9", "192.0.2.1"),
        (1, "203.0.113.9", "203.0.113.9"),
        (1, "6.6.6.6, 203.0.113.9", "203.0.113.9"),
        (2, "6.6.6.6, 203.0.113.9, 198.51.100.1", "203.0.113.9"),
        (2, "203.0.113.9", "192.0.2.1"),
        (1, "nonsense", "192.0.2.1"),
        (1, "", "192.0.2.1"),
        (1, " fe80::1%eth0", "fe80::1"),
        (1, "::ffff:203.0.113.9", "203.0.113.9"),
    ],
)
def test_forwarded_addresses_are_believed_only_as_far_as_our_own_proxies_wrote_them(
    proxies: int, forwarded: str, client: str
) -> None:
    with override_settings(TRUSTED_PROXIES=proxies):
        assert client_ip(request(x_forwarded_for=forwarded)) == client


def test_a_peer_without_an_address_has_one_all_the_same() -> None:
    assert client_ip(request(address="")) == "0.0.0.0"  # a unix socket


@pytest.mark.django_db
def test_addresses_of_clients_are_not_kept() -> None:
    ensure_person(request(address="192.0.2.77"))
    assert not any("192.0.2" in tally.client for tally in Tally.objects.all())


@pytest.mark.django_db
def test_idle_and_unreachable_guests_are_forgotten_and_nobody_else() -> None:
    now = timezone.now()
    year = timedelta(seconds=conf.SESSION_COOKIE_AGE)

    def person(ago: timedelta, email: str | None = None) -> Person:
        made = Person.objects.create_user(email) if email else Person.objects.create_guest("en")
        Person.objects.filter(pk=made.pk).update(last_login=now - ago)
        return made

    idle = person(timedelta(days=31))
    fresh = person(timedelta(days=29))
    unreachable = person(year + timedelta(days=31))
    account = person(year * 3, "ada@example.org")
    Tally.objects.create(client="old", window_end=now - timedelta(hours=1))
    done = forget_guests()
    left = set(Person.objects.all())
    assert (done.idle, done.unreachable) == (2, 0)  # without work, both are idle
    assert left == {fresh, account}
    assert idle not in left and unreachable not in left
    assert not Tally.objects.exists()


@pytest.mark.django_db
def test_forget_guests_says_how_many_are_gone(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("forget_guests")
    assert capsys.readouterr().out.startswith("0 guests without work")


@pytest.mark.django_db
def test_who_comes_back_after_a_month_has_a_whole_year_again(client: Client, guest: Person) -> None:
    long_ago = timezone.now() - timedelta(days=31)
    Person.objects.filter(pk=guest.pk).update(last_login=long_ago)
    answer = client.get("/en/account/")
    guest.refresh_from_db()
    assert guest.last_login and guest.last_login > long_ago
    assert answer.cookies["sessionid"]["max-age"] == conf.SESSION_COOKIE_AGE
    assert "sessionid" not in client.get("/en/account/").cookies
