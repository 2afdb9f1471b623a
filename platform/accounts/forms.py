"""Forms of the account pages. A person's mistake becomes a sentence that says what to do."""

import unicodedata
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth import authenticate, password_validation
from django.core.exceptions import ValidationError
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext

from accounts.models import Person, normal_address

LONGEST_PASSWORD = 256  # hashing takes time in proportion


def posted(request: HttpRequest) -> QueryDict | None:
    """What binds a form: everything that was sent, be it nothing at all."""
    return request.POST if request.method == "POST" else None


class EmailField(forms.EmailField):
    def __init__(self, **options: Any) -> None:
        widget = forms.EmailInput(attrs={"autocomplete": "email"})
        messages = {"invalid": _("Write the whole address, like name@example.org.")}
        super().__init__(
            label=_("E-mail address"),
            max_length=254,
            widget=widget,
            error_messages=messages,
            **options,
        )

    def clean(self, value: str) -> str:
        return normal_address(super().clean(value))


class PasswordField(forms.CharField):
    """`new` tells password managers whether to offer one or to make one."""

    def __init__(self, *, new: bool, **options: Any) -> None:
        hint = "new-password" if new else "current-password"
        widget = forms.PasswordInput(attrs={"autocomplete": hint})
        options.setdefault("label", _("Password"))
        super().__init__(strip=False, max_length=LONGEST_PASSWORD, widget=widget, **options)


class NameField(forms.CharField):
    def __init__(self) -> None:
        super().__init__(
            label=_("Name"),
            required=False,
            max_length=80,
            help_text=_("As your instructor should see it. You may leave it empty."),
            widget=forms.TextInput(attrs={"autocomplete": "name"}),
        )

    def clean(self, value: str) -> str:
        text = unicodedata.normalize("NFC", super().clean(value))
        if any(unicodedata.category(letter) in {"Cc", "Cf", "Co", "Cs"} for letter in text):
            raise ValidationError(_("The name contains characters that cannot be shown."))
        return " ".join(text.split())


class SignUpForm(forms.Form):
    name = NameField()
    email = EmailField()
    password = PasswordField(new=True, help_text=_("At least 10 characters."))

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if password := given.get("password"):
            person = Person(email=given.get("email"), name=given.get("name", ""))
            try:
                password_validation.validate_password(password, person)
            except ValidationError as error:
                self.add_error("password", error)
        return given


class SignInForm(forms.Form):
    email = EmailField()
    password = PasswordField(new=False)

    def __init__(self, request: HttpRequest, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.request = request
        self.person: Person | None = None

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if "email" in given and "password" in given:
            found = authenticate(self.request, email=given["email"], password=given["password"])
            if not isinstance(found, Person):
                raise ValidationError(
                    _("The e-mail address and the password do not belong together. Check both.")
                )
            self.person = found
        return given


class ResetForm(forms.Form):
    email = EmailField()


class NewPasswordForm(forms.Form):
    new_password = PasswordField(
        new=True, label=_("New password"), help_text=_("At least 10 characters.")
    )

    def __init__(self, user: Person, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.person = user

    def clean_new_password(self) -> str:
        password: str = self.cleaned_data["new_password"]
        password_validation.validate_password(password, self.person)
        return password

    def save(self) -> Person:
        self.person.set_password(self.cleaned_data["new_password"])
        self.person.save(update_fields=["password"])
        return self.person


class ChangePasswordForm(NewPasswordForm):
    password = PasswordField(new=False, label=_("Current password"))
    field_order = ("password", "new_password")

    def clean_password(self) -> str:
        return _own_password(self.person, self.cleaned_data["password"])


class ProfileForm(forms.Form):
    name = NameField()
    language = forms.ChoiceField(
        label=_("Language"),
        choices=settings.LANGUAGES,
        help_text=_("For the pages and for messages to you."),
    )


class EraseAccountForm(forms.Form):
    """An account is erased by who knows its password."""

    password = PasswordField(new=False)

    def __init__(self, person: Person, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.person = person

    def clean_password(self) -> str:
        return _own_password(self.person, self.cleaned_data["password"])


class EraseGuestForm(forms.Form):
    """Who has no password types a word."""

    word = forms.CharField(max_length=40, widget=forms.TextInput(attrs={"autocomplete": "off"}))

    def __init__(self, person: Person, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.wanted = pgettext("the word a guest types to confirm", "erase")
        self.fields["word"].label = _("To confirm, type “%(word)s”") % {"word": self.wanted}

    def clean_word(self) -> str:
        word: str = self.cleaned_data["word"]
        if _plain(word) != _plain(self.wanted):
            raise ValidationError(
                _("This is another word. Type “%(word)s”.") % {"word": self.wanted}
            )
        return word


def _own_password(person: Person, password: str) -> str:
    if not person.check_password(password):
        raise ValidationError(_("This is not the password of this account."))
    return password


def _plain(word: str) -> str:
    """Without case, accents or space, and with one letter i, whatever the keyboard."""
    letters = unicodedata.normalize("NFKD", word.strip().casefold()).replace("ı", "i")
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
