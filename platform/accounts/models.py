"""A person: a guest from the first thing they write, an account once they sign up."""

import uuid
from typing import Any, ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models
from django.db.models.functions import Lower
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _


class PersonManager(BaseUserManager["Person"]):
    def create_guest(self, language: str, first_write: str | None = None) -> "Person":
        """A person with no address and no usable password."""
        guest = self.model(email=None, is_guest=True, language=language, first_write=first_write)
        guest.set_unusable_password()
        guest.save(force_insert=True)
        return guest

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "Person":
        person = self.model(email=normal_address(email), **fields)
        person.set_password(password)
        person.save(force_insert=True)
        return person

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "Person":
        return self.create_user(email, password, is_superuser=True, **fields)

    def create_outsider(self, name: str, language: str) -> "Person":
        """An account for whom another site vouches: no address, no password, they come from there.

        No address that the other site may have told: whoever reads its mail could take the
        account, and its real owner would find the address taken here.
        """
        person = self.model(email=None, name=name, language=language)
        person.set_unusable_password()
        person.save(force_insert=True)
        return person

    def get_by_natural_key(self, username: str | None) -> "Person":
        return self.get(email=normal_address(username or ""))


class Person(AbstractBaseUser, PermissionsMixin):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    email = models.EmailField(_("e-mail address"), unique=True, null=True, blank=True)
    name = models.CharField(_("name"), max_length=80, blank=True)
    is_guest = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    language = models.CharField(max_length=8, default="en")
    created_at = models.DateTimeField(auto_now_add=True)
    # What two first writes of one browser have in common, so that they make one guest.
    first_write = models.CharField(
        max_length=64, unique=True, null=True, blank=True, editable=False
    )

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects = PersonManager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(Lower("email"), name="person_email_whatever_its_case"),
            models.CheckConstraint(
                condition=models.Q(is_guest=False) | models.Q(email=None),
                name="a_guest_has_no_address",
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.email or str(self.id)[:8]

    @property
    def is_outsider(self) -> bool:
        """They sign in through another site (`create_outsider`) and have no password here."""
        return not self.is_guest and self.email is None

    @property
    def display_name(self) -> str:
        """What the site calls this person to themselves."""
        return self.name or self.email or gettext("Guest")


class Tally(models.Model):
    """How often one client did one thing in one window of time (see `accounts.throttle`)."""

    client = models.CharField(max_length=64)  # a keyed hash: addresses are not kept
    window_end = models.DateTimeField(db_index=True)
    used = models.PositiveIntegerField(default=1)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["client", "window_end"], name="one_count_per_window")
        ]

    def __str__(self) -> str:
        return f"{self.used} until {self.window_end}"


def normal_address(email: str) -> str:
    """One spelling for one mailbox: no surrounding space, lower case throughout."""
    return email.strip().lower()
