"""Requests to a platform: to its registered hosts alone, over HTTPS, short and not redirected.

The addresses of rosters and gradebooks come in a platform's messages. What they say is not where
we go: a host that the operator has not registered is never asked.
"""

import time
from typing import Any
from urllib.parse import urlsplit

import requests
from django.conf import settings
from lti_tool.models import LtiRegistration
from pylti1p3.exception import LtiException

TIMEOUT = (3.05, 8.0)  # seconds: to connect, and between two pieces
LONGEST_SECONDS = 15.0  # of one answer, however it trickles
LONGEST_BODY = 2 * 1024 * 1024
LONGEST_ADDRESS = 200  # what django-lti's tables hold
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class NotThere(LtiException):
    """The address is not on a host of the platform, or answers with a detour."""


class TooMuch(LtiException):
    """The answer is longer, or takes longer, than any honest one."""


def hosts_of(registration: LtiRegistration) -> frozenset[str]:
    """`host:port` of everything the operator has registered for this platform."""
    known = (registration.auth_url, registration.token_url, registration.keyset_url)
    found = {_host(address) for address in known}
    found |= {_host(f"https://{row.host}") for row in registration.hosts.all()}
    return frozenset(host for host in found if host)


def is_of(registration: LtiRegistration, address: Any) -> bool:
    """Whether the address may be asked on behalf of this platform."""
    return is_secure(address) and _host(address) in hosts_of(registration)


def is_secure(address: Any) -> bool:
    """A well-formed HTTPS address; this machine may do without where the settings say so."""
    if not isinstance(address, str) or not 0 < len(address) <= LONGEST_ADDRESS:
        return False
    if "\\" in address or any(letter <= " " or letter == "\x7f" for letter in address):
        return False
    try:
        parts = urlsplit(address)
        host, _port = parts.hostname, parts.port
    except ValueError:
        return False
    if not host or "@" in parts.netloc or parts.fragment:
        return False
    if parts.scheme == "http":
        return bool(settings.LTI_LOOPBACK) and host in _LOOPBACK
    return parts.scheme == "https"


def origin_of(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


class Services(requests.Session):
    """What PyLTI1p3 asks a platform with. Nothing of this machine's surroundings goes along: no
    password of a .netrc, and no proxy but settings.LTI_PROXY."""

    def __init__(self, registration: LtiRegistration) -> None:
        super().__init__()
        self.registration = registration
        self.headers["User-Agent"] = "Chainrule"
        self.trust_env = False
        if settings.LTI_PROXY:
            self.proxies = {"https": settings.LTI_PROXY}  # and none before this machine itself

    def request(self, method: Any, url: Any, *args: Any, **options: Any) -> requests.Response:
        if not is_of(self.registration, url):
            raise NotThere(f"{url} is on no host registered for {self.registration}.")
        until = time.monotonic() + LONGEST_SECONDS
        fixed = {"allow_redirects": False, "timeout": TIMEOUT, "stream": True}
        response = super().request(method, url, *args, **{**options, **fixed})
        with response:
            # So that whoever reads it finds it read, and `stream` shows to nobody.
            response._content = _body(response, until)
        if 300 <= response.status_code < 400:
            raise NotThere(f"{url} answers with a detour.")
        return response


def _body(response: requests.Response, until: float) -> bytes:
    parts, size = [], 0
    for part in response.iter_content(32 * 1024):
        size += len(part)
        if size > LONGEST_BODY or time.monotonic() > until:
            raise TooMuch(f"{response.url} sends too much, or too slowly.")
        parts.append(part)
    return b"".join(parts)


def _host(address: str) -> str:
    parts = urlsplit(address)
    port = parts.port or (80 if parts.scheme == "http" else 443)
    return f"{(parts.hostname or '').lower()}:{port}" if parts.hostname else ""
