"""Signing up and signing in: how a guest becomes an account, or part of one."""

from dataclasses import dataclass

from django.contrib.auth import login
from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction
from django.http import HttpRequest

from accounts.guests import BACKEND
from accounts.holdings import merge
from accounts.models import Person, normal_address


class AddressTaken(Exception):
    """Another account has this e-mail address."""


@dataclass(frozen=True)
class NewAccount:
    email: str
    password: str
    name: str
    language: str


def sign_up(request: HttpRequest, account: NewAccount) -> Person:
    """Make the guest's own row an account, so that nothing has to move; sign it in.

    Raises AddressTaken, and leaves the guest as they were.
    """
    try:
        with transaction.atomic():
            person = _account_of(request, account)
    except IntegrityError as error:
        raise AddressTaken from error
    login(request, person, backend=BACKEND)
    return person


def _account_of(request: HttpRequest, account: NewAccount) -> Person:
    fields = {
        "email": normal_address(account.email),
        "password": make_password(account.password),
        "name": account.name,
        "language": account.language,
    }
    user = request.user
    if isinstance(user, Person) and user.is_guest:
        mine = Person.objects.filter(pk=user.pk, is_guest=True)
        # Conditional: a second click finds no guest any more.
        if mine.update(is_guest=False, first_write=None, **fields):
            return Person.objects.get(pk=user.pk)
    return Person.objects.create(**fields)


def sign_in(request: HttpRequest, person: Person) -> bool:
    """Sign the account in, with what a guest did before; tells whether a guest was merged."""
    user = request.user
    guest = user if isinstance(user, Person) and user.is_guest else None
    if guest is not None:
        merge(guest, person)
    login(request, person, backend=BACKEND)
    return guest is not None
