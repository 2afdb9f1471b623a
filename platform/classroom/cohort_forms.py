"""Forms of a cohort's pages. A person's mistake becomes a sentence that says what to do."""

import unicodedata
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from accounts.forms import EmailField, NameField
from classroom.cohorts import Settings
from classroom.deadlines import zone_names
from classroom.feedback import LONGEST_REASON
from classroom.models import Release, Role

HIDDEN = {"Cc", "Cf", "Co", "Cs"}  # categories of characters that cannot be shown


class TitleField(forms.CharField):
    """A line of text that people read: no control characters, one space between words."""

    def clean(self, value: Any) -> str:
        text = unicodedata.normalize("NFC", super().clean(value))
        if any(unicodedata.category(letter) in HIDDEN for letter in text):
            raise ValidationError(_("The name contains characters that cannot be shown."))
        return " ".join(text.split())


class ZoneField(forms.CharField):
    """An IANA zone, typed with the browser's help or chosen from its list."""

    def __init__(self) -> None:
        super().__init__(
            label=_("Time zone"),
            max_length=64,
            help_text=_("Deadlines are set in this zone, like Europe/Paris or Europe/Istanbul."),
            widget=forms.TextInput(attrs={"list": "zones", "autocomplete": "off"}),
        )

    def clean(self, value: Any) -> str:
        name: str = super().clean(value).strip().replace(" ", "_")
        known = {zone.lower(): zone for zone in zone_names()}
        if name.lower() not in known:
            raise ValidationError(
                _("There is no time zone of that name. Choose one from the list.")
            )
        return known[name.lower()]


class CohortForm(forms.Form):
    """`zone`: the one that this person usually takes. Without one the site's stands there, until
    a script puts the browser's in its place (static/js/site.js)."""

    name = TitleField(label=_("Name"), max_length=120)
    course = forms.ChoiceField(label=_("Course"))
    zone = ZoneField()

    def __init__(
        self,
        courses: list[tuple[str, str]],
        data: Any = None,
        *,
        zone: str = "",
        initial: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(data, initial=(initial or {}) | {"zone": zone or settings.TIME_ZONE})
        field = self.fields["course"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = courses
        if not zone and not self.is_bound:
            self.fields["zone"].widget.attrs["data-zone-guess"] = True


class SettingsForm(forms.Form):
    name = TitleField(label=_("Name"), max_length=120)
    zone = ZoneField()
    is_anonymous = forms.BooleanField(
        label=_("Grade without names"),
        required=False,
        help_text=_("Whoever grades sees a code in place of each learner’s name."),
    )
    release = forms.ChoiceField(
        label=_("Learners see a grade"), choices=Release.choices, widget=forms.RadioSelect
    )
    is_open = forms.BooleanField(
        label=_("Let people join with the code"),
        required=False,
    )

    def settings(self) -> Settings:
        return Settings(**self.cleaned_data)


class CodeForm(forms.Form):
    code = forms.CharField(
        label=_("Code"),
        max_length=40,
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "characters", "spellcheck": "false"}
        ),
    )


class GuestJoinForm(forms.Form):
    """A guest may say who they are; with or without a name they join as they are."""

    name = NameField()


class InvitationForm(forms.Form):
    role = forms.ChoiceField(
        label=_("Role"),
        choices=[(Role.ASSISTANT, Role.ASSISTANT.label), (Role.INSTRUCTOR, Role.INSTRUCTOR.label)],
    )
    email = EmailField(
        required=False,
        help_text=_("With an address the invitation is sent there, and only its account can take "
                    "it up. Without one you get a link to pass on."),
    )  # fmt: skip

    def clean_email(self) -> str:
        return self.cleaned_data.get("email") or ""


class LookForm(forms.Form):
    reason = forms.CharField(
        label=_("What should be looked at again, and why?"),
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 6}),
    )
