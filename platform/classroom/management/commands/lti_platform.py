"""`manage.py lti_platform add|list|remove`: the learning platforms that people may come from."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse
from lti_tool.models import LtiRegistration

from classroom.lti import platforms
from classroom.lti.platforms import BadPlatform, Platform


class Command(BaseCommand):
    help = "Registers learning platforms (LTI 1.3): add, list, remove."

    def add_arguments(self, parser: ArgumentParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True)
        add = acts.add_parser("add", help="add a platform, or change one: same issuer and client")
        add.add_argument("--name", required=True, help="what people call it")
        add.add_argument("--issuer", required=True, help="the platform id")
        add.add_argument("--client-id", required=True)
        add.add_argument("--auth-url", required=True, help="its authentication request URL")
        add.add_argument("--token-url", required=True, help="its access token URL")
        add.add_argument("--keyset-url", required=True, help="its public keyset URL (JWKS)")
        add.add_argument("--deployment", action="append", default=[], help="each deployment id")
        add.add_argument(
            "--host", action="append", default=[],
            help="a further host of its rosters and gradebooks, if they are elsewhere",
        )  # fmt: skip
        add.add_argument("--audience", default="", help="of access tokens, if not the token URL")
        acts.add_parser("list", help="show what is registered")
        remove = acts.add_parser("remove", help="let nobody in from a platform any more")
        remove.add_argument("number", type=int, help="as `list` shows it")
        remove.add_argument(
            "--erase", action="store_true",
            help="forget its courses, rosters and who its people are: they cannot come back",
        )  # fmt: skip

    def handle(self, *args: Any, act: str, **options: Any) -> None:
        {"add": self._add, "list": self._list, "remove": self._remove}[act](options)

    def _add(self, given: dict[str, Any]) -> None:
        platform = Platform(
            name=given["name"],
            issuer=given["issuer"],
            client_id=given["client_id"],
            auth_url=given["auth_url"],
            token_url=given["token_url"],
            keyset_url=given["keyset_url"],
            deployments=given["deployment"],
            hosts=given["host"],
            audience=given["audience"],
        )
        try:
            registration, is_new = platforms.register(platform)
        except BadPlatform as bad:
            raise CommandError("\n".join(bad.faults)) from bad
        self.stdout.write(
            f"{registration.name} is {'registered' if is_new else 'changed'}: "
            f"number {registration.pk}.\n"
            "What the platform asks for, each after this site's own https:// address:\n"
            f"  login initiation    {reverse('lti:login')}\n"
            f"  launch, redirect    {reverse('lti:launch')}\n"
            f"  public keyset       {reverse('lti:keys')}\n"
            f"  content selection   {reverse('lti:deep-link')}"
        )

    def _list(self, given: dict[str, Any]) -> None:
        rows = LtiRegistration.objects.prefetch_related("deployments", "hosts").order_by("pk")
        for row in rows:
            deployments = ", ".join(item.deployment_id for item in row.deployments.all())
            hosts = ", ".join(item.host for item in row.hosts.all())
            shut = "" if row.is_active else "   removed: nobody comes from it"
            self.stdout.write(f"{row.pk}  {row.name}{shut}")
            self.stdout.write(f"   issuer {row.issuer}   client {row.client_id}")
            self.stdout.write(f"   deployments {deployments or 'none'}")
            if hosts:
                self.stdout.write(f"   further hosts {hosts}")
        if not rows:
            self.stdout.write("No platform is registered. `lti_platform add --help` says how.")

    def _remove(self, given: dict[str, Any]) -> None:
        row = LtiRegistration.objects.filter(pk=given["number"]).first()
        if row is None:
            raise CommandError(f"No platform has number {given['number']}: see `list`.")
        if given["erase"]:
            people = row.users.exclude(auth_user=None).count()
            row.delete()
            self.stdout.write(f"{row.name} is erased. {people} people came from it.")
            return
        platforms.shut(row)
        self.stdout.write(f"Nobody comes from {row.name} any more. `add` lets them in again.")
