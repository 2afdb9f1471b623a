"""Platforms, as an operator registers them."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from lti_tool.models import Key, LtiDeployment, LtiRegistration

from classroom.lti import outgoing
from classroom.lti.claims import LONGEST_ID
from classroom.models import PlatformHost


@dataclass(frozen=True)
class Platform:
    """What a platform tells whoever registers a tool with it."""

    name: str
    issuer: str
    client_id: str
    auth_url: str
    token_url: str
    keyset_url: str
    deployments: Sequence[str]
    hosts: Sequence[str] = ()  # further ones, where it offers rosters and gradebooks
    audience: str = ""


class BadPlatform(Exception):
    """Holds a sentence for each thing that is wrong."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__(" ".join(faults))
        self.faults = tuple(faults)


@transaction.atomic
def register(platform: Platform) -> tuple[LtiRegistration, bool]:
    """Add it, or change what is known of it: deployments and hosts are added to. Tells whether
    it is new. Raises BadPlatform."""
    if faults := _faults(platform):
        raise BadPlatform(faults)
    if not Key.objects.active().exists():
        Key.objects.generate()
    registration, is_new = LtiRegistration.objects.update_or_create(
        issuer=platform.issuer,
        client_id=platform.client_id,
        defaults={
            "name": platform.name,
            "auth_url": platform.auth_url,
            "token_url": platform.token_url,
            "keyset_url": platform.keyset_url,
            "audience": platform.audience,
            "is_active": True,
        },
    )
    for deployment in platform.deployments:
        LtiDeployment.objects.update_or_create(
            registration=registration, deployment_id=deployment, defaults={"is_active": True}
        )
    for host in platform.hosts:
        PlatformHost.objects.get_or_create(registration=registration, host=host.lower())
    return registration, is_new


def shut(registration: LtiRegistration) -> None:
    """Nobody comes from it any more and nothing goes there; what is known stays."""
    LtiRegistration.objects.filter(pk=registration.pk).update(is_active=False)


def _faults(platform: Platform) -> list[str]:
    faults = []
    for option, value in (
        ("--name", platform.name),
        ("--issuer", platform.issuer),
        ("--client-id", platform.client_id),
        ("--audience", platform.audience),
    ):
        if not value.strip() and option != "--audience":
            faults.append(f"{option} is empty.")
        elif len(value) > LONGEST_ID:
            faults.append(f"{option} is longer than {LONGEST_ID} characters.")
    for option, address in (
        ("--auth-url", platform.auth_url),
        ("--token-url", platform.token_url),
        ("--keyset-url", platform.keyset_url),
    ):
        if not outgoing.is_secure(address):
            faults.append(
                f"{option} has to be an https:// address of at most "
                f"{outgoing.LONGEST_ADDRESS} characters, not {address[:80]!r}."
            )
    if not platform.deployments:
        faults.append("--deployment is missing: the platform shows a deployment id; give each one.")
    for deployment in platform.deployments:
        if not 0 < len(deployment) <= LONGEST_ID:
            faults.append(f"--deployment is empty or longer than {LONGEST_ID} characters.")
    for host in platform.hosts:
        if "/" in host or not outgoing.is_secure(f"https://{host}"):
            faults.append(f"--host is a host alone, like school.example.org, not {host[:80]!r}.")
    return faults
