"""What a launch says, read with types: the platform's signature holds for who wrote it, not for
what we can store."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lti_tool.lti_core.constants import AgsScope
from pylti1p3.exception import LtiException

from classroom.models import Role

_CORE = "https://purl.imsglobal.org/spec/lti/claim/"
_AGS = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
_NRPS = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"
_DEEP = "https://purl.imsglobal.org/spec/lti-dl/claim/deep_linking_settings"
_MEMBERSHIP = "http://purl.imsglobal.org/vocab/lis/v2/membership"
_ASSISTING = ("teachingassistant", "grader")
LONGEST_ID = 255  # the specification's limit, and the tables'
LONGEST_NAME = 80
MOST_ROLES = 100


class Unreadable(LtiException):
    """A claim that is missing, too long, or of another type than the specification's."""


@dataclass(frozen=True)
class Context:
    """A course of the platform."""

    id: str
    title: str
    label: str
    memberships_url: str  # "": it offers no roster


@dataclass(frozen=True)
class Claims:
    sub: str
    name: str
    locale: str
    role: Role | None  # in this context; None: neither teaches nor learns there
    context: Context | None
    link_id: str
    link_title: str
    line_item: str  # the address of the column for these marks; "": none, or not for us
    custom: Mapping[str, str] = field(default_factory=dict)
    target: str = ""
    deep: Mapping[str, Any] | None = None  # settings of a deep linking request


def read(body: Mapping[str, Any]) -> Claims:
    """Raises Unreadable, with a sentence for the log."""
    link = _object(body, f"{_CORE}resource_link")
    presentation = _object(body, f"{_CORE}launch_presentation")
    deep = _object(body, _DEEP)
    is_deep = body.get(f"{_CORE}message_type") == "LtiDeepLinkingRequest"
    return Claims(
        sub=identifier(body, "sub"),
        name=name_of(body),
        locale=_text(presentation, "locale", 20),
        role=role_of(body.get(f"{_CORE}roles")),
        context=_context(body),
        link_id=_text(link, "id", LONGEST_ID),
        link_title=_text(link, "title", 500),
        line_item=_line_item(body),
        custom={
            key: value
            for key, value in _object(body, f"{_CORE}custom").items()
            if isinstance(value, str) and len(value) <= LONGEST_ID
        },
        target=_text(body, f"{_CORE}target_link_uri", 2000),
        deep=deep if is_deep else None,
    )


def role_of(roles: Any) -> Role | None:
    """What somebody is in the course. Being staff of the institution, or an administrator of the
    system, is no role in a course. Who assists is named an instructor besides: they assist.
    """
    if not isinstance(roles, list) or len(roles) > MOST_ROLES:
        raise Unreadable("The roles are no list.")
    found = {_in_context(role) for role in roles if isinstance(role, str)}
    if any(role.endswith(tuple(f"#{kind}" for kind in _ASSISTING)) for role in found):
        return Role.ASSISTANT
    if any(role.startswith("/instructor#teachingassistant") for role in found):
        return Role.ASSISTANT  # of a group, a section, an offering
    if "#instructor" in found:
        return Role.INSTRUCTOR
    return Role.LEARNER if "#learner" in found else None


def name_of(person: Mapping[str, Any]) -> str:
    """The person's name as this site may keep and show it, whichever claims tell it."""
    name = _any_text(person, "name") or " ".join(
        part for part in (_any_text(person, "given_name"), _any_text(person, "family_name")) if part
    )
    plain = unicodedata.normalize("NFC", name)
    shown = (c for c in plain if c.isspace() or unicodedata.category(c)[0] != "C")
    return " ".join("".join(shown).split())[:LONGEST_NAME].strip()


def identifier(body: Mapping[str, Any], key: str) -> str:
    value = body.get(key)
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_ID or "\0" in value:
        raise Unreadable(f"{key} is no identifier.")
    return value


def _in_context(role: str) -> str:
    if re.fullmatch(r"\w+", role):  # the short form stands for a role in the context
        return f"#{role.lower()}"
    return role.removeprefix(_MEMBERSHIP).lower() if role.startswith(_MEMBERSHIP) else ""


def _context(body: Mapping[str, Any]) -> Context | None:
    context = _object(body, f"{_CORE}context")
    if not context:
        return None
    roster = _object(body, _NRPS)
    return Context(
        identifier(context, "id"),
        _text(context, "title", 500),
        _text(context, "label", LONGEST_ID),
        _text(roster, "context_memberships_url", 2000),
    )


def _line_item(body: Mapping[str, Any]) -> str:
    service = _object(body, _AGS)
    scopes = service.get("scope")
    may_send = isinstance(scopes, list) and AgsScope.PUBLISH_SCORES.value in scopes
    return _text(service, "lineitem", 2000) if may_send else ""


def _object(body: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = body.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Unreadable(f"{key} is no object.")
    return value


def _text(body: Mapping[str, Any], key: str, longest: int) -> str:
    """Cut to what is stored; addresses that are cut would be of no use, and are not accepted."""
    value = _any_text(body, key).replace("\0", "")
    return value[:longest]


def _any_text(body: Mapping[str, Any], key: str) -> str:
    value = body.get(key)
    if value is not None and not isinstance(value, str):
        raise Unreadable(f"{key} is no text.")
    return value or ""
