"""The table of kernels in the backprop lesson: made from the sources, with no link that fails."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from kernels.andrea import listing
from lessons.content.kernel_table import mapping_faults, running
from lessons.content.library import Shelf, read_shelf
from tests.lessons.small_course import SmallCourse

TABLE = re.compile(r'<div class="scroll kernels".*?</div>', re.DOTALL)


@pytest.fixture(scope="module")
def shelf() -> Shelf:
    return read_shelf(Path(settings.COURSES_DIR) / "andrea")


def table(client: Client, language: str) -> str:
    html = client.get(f"/{language}/andrea/backprop/twins/").content.decode()
    found = TABLE.search(html)
    assert found
    return found[0]


@pytest.mark.django_db
@pytest.mark.parametrize("language", ["en", "fr", "tr"])
def test_every_kernel_stands_in_it_and_every_link_resolves(client: Client, language: str) -> None:
    html = table(client, language)
    for row in (*listing.pairs(), *listing.left_out()):
        for kernel in (*row.forward, *row.backward, *row.beside, *row.faster):
            assert f">{kernel.name}</code></a>" in html
    for address in sorted(set(re.findall(r'href="([^"]+)"', html))):
        if address.startswith("#"):
            whole = client.get(f"/{language}/andrea/backprop/twins/").content.decode()
            assert f'id="{address[1:]}"' in whole
        else:
            response = client.get(address.replace("&amp;", "&"))
            assert response.status_code == 200, address
            if "symbol=" in address:
                assert 'id="here"' in response.content.decode(), address


@pytest.mark.django_db
def test_a_check_leads_to_the_step_that_runs_it_or_names_its_command(
    client: Client, shelf: Shelf
) -> None:
    html = table(client, "en")
    for row in (*listing.pairs(), *listing.left_out()):
        place = running(shelf.course, row.check)
        assert (
            f'href="/en/andrea/{place}/"' if place else f"python -m kernels {row.check}"
        ) in html


def test_the_step_that_runs_a_check_as_it_stands_comes_before_one_with_a_mistake(
    shelf: Shelf,
) -> None:
    assert running(shelf.course, "andrea.check-residual") == "backprop/twins"
    assert running(shelf.course, "andrea.check-attn-qkv") == ""


def test_the_course_says_of_every_operator_which_step_is_about_it(shelf: Shelf) -> None:
    assert list(mapping_faults(shelf.course)) == []


def test_a_mapping_that_leads_nowhere_is_a_fault(small: SmallCourse) -> None:
    text = small.read("small/course.yaml")
    small.write("small/course.yaml", text + "kernels: {embed: first/nothing, bread: first/read}\n")
    faults = "\n".join(small.faults())
    assert "kernels.embed: there is no step “first/nothing”" in faults
    assert "there is no operator “bread”" in faults
    assert "say which step is about “loss”" in faults
