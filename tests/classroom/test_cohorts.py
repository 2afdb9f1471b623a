"""Making a cohort, joining it by code or link, roles, leaving; what a guest keeps."""

import pytest
from django.urls import reverse

from classroom.models import AuditEntry, Cohort, Membership, Role
from tests.classroom import factories as f

pytestmark = pytest.mark.django_db


def test_pages_open() -> None:
    room = f.a_room()
    teacher = f.client_of(room.instructor)
    for name in ("cohort", "members", "deadlines", "settings", "leave"):
        assert teacher.get(reverse(f"classroom:{name}", args=[room.cohort.pk])).status_code == 200
    ref = room.ref(room.learner)
    for name in ("extensions", "remove"):
        address = reverse(f"classroom:{name}", args=[room.cohort.pk, ref])
        assert teacher.get(address).status_code == 200
    learner = f.client_of(room.learner)
    for name in ("home", "new"):
        assert learner.get(reverse(f"classroom:{name}")).status_code == 200
    assert learner.get(reverse("classroom:cohort", args=[room.cohort.pk])).status_code == 200
    visitor = f.client_of(None)
    assert visitor.get(reverse("classroom:join", args=[room.cohort.code])).status_code == 200
    assert visitor.get("/en/rmsnorm/forward/two-sizes/").status_code == 200
    assert learner.get("/en/rmsnorm/forward/two-sizes/").status_code == 200
