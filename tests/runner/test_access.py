"""The one predicate: who may see a Run, and who may steer it."""

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser

from runner import access, api
from tests.runner import rows

pytestmark = pytest.mark.django_db


class Instructor:
    """Somebody to whom a backend grants `runner.view_run` on one Run."""

    is_authenticated = True
    pk = "instructor"

    def __init__(self, run: Any) -> None:
        self.run = run

    def has_perm(self, name: str, run: Any = None) -> bool:
        return name == "runner.view_run" and run == self.run


@pytest.mark.parametrize(
    ("who", "is_recording", "sees", "steers"),
    [
        ("owner", False, True, True),
        ("stranger", False, False, False),
        ("anonymous", False, False, False),
        ("instructor", False, True, False),
        ("superuser", False, True, False),
        ("stranger", True, True, False),
        ("anonymous", True, True, False),
    ],
)
def test_roles(who: str, is_recording: bool, sees: bool, steers: bool) -> None:
    run = rows.an_ended_run(is_recording=is_recording)
    viewer = {
        "owner": lambda: run.owner,
        "stranger": rows.a_guest,
        "anonymous": AnonymousUser,
        "instructor": lambda: Instructor(run),
        "superuser": lambda: superuser(),
    }[who]()
    assert access.may_view(viewer, run) is sees
    assert access.may_steer(viewer, run) is steers
    for door in (api.get, api.snapshot, api.stop, api.checkpoint):
        allowed = sees if door in (api.get, api.snapshot) else steers
        if allowed:
            door(run.id, viewer)
        else:
            with pytest.raises(api.RunNotFound):
                door(run.id, viewer)


def superuser() -> Any:
    person = rows.an_account()
    person.is_superuser = True
    person.save()
    return person


def test_a_missing_run_and_a_malformed_address_read_the_same() -> None:
    for address in ("00000000-0000-0000-0000-000000000000", "no-address", ""):
        with pytest.raises(api.RunNotFound):
            api.get(address, rows.a_guest())
