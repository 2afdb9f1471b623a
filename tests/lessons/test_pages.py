"""The pages of the lessons, in three languages, as readers and guests get them."""

import re

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from lessons.models import Visit
from tests.lessons.small_course import SmallCourse

TITLES = {
    "en": ("A small course", "Reading with a mask"),
    "fr": ("Un petit cours", "Lire avec un masque"),
    "tr": ("Küçük bir kurs", "Maskeyle okumak"),
}


@pytest.fixture
def guest(reader: Client) -> Client:
    reader.force_login(
        get_user_model().objects.create_guest("en"), "django.contrib.auth.backends.ModelBackend"
    )
    return reader


def text(client: Client, address: str, status: int = 200) -> str:
    response = client.get(address)
    assert response.status_code == status, response
    return response.content.decode()


@pytest.mark.parametrize("language", ["en", "fr", "tr"])
def test_every_page_speaks_the_readers_language(reader: Client, language: str) -> None:
    course, step = TITLES[language]
    for address in ("", "small/", "small/first/print/", "small/first/read/"):
        html = text(reader, f"/{language}/{address}")
        assert course in html
        assert f'<html lang="{language}"' in html
    assert f"<h1>{step}</h1>" in text(reader, f"/{language}/small/first/read/")


@pytest.mark.parametrize("language", ["en", "fr", "tr"])
@pytest.mark.parametrize(
    "address",
    [
        "nothing/",
        "small/nothing/",
        "small/first/nothing/",
        "source/platform/chainrule/settings.py",
        "source/kernels/%00",
        "source/..%2f..%2fetc/passwd",
        "source/kernels/" + "x" * 400,
    ],  # fmt: skip
)
def test_what_is_not_there_is_a_404_in_that_language(
    reader: Client, language: str, address: str
) -> None:
    assert f'<html lang="{language}"' in text(reader, f"/{language}/{address}", 404)


def test_switching_the_language_keeps_the_step(reader: Client) -> None:
    response = reader.post("/language/", {"language": "tr", "next": "/fr/small/first/read/"})
    assert response["Location"] == "/tr/small/first/read/"


def test_the_bar_says_how_far_one_is(reader: Client) -> None:
    html = text(reader, "/en/small/first/ask/")
    assert "2 / 2" in html
    assert len(re.findall('class="tick', html)) == 2
    assert 'aria-current="step"' in html


def test_steps_lead_to_each_other_across_lessons(reader: Client) -> None:
    html = text(reader, "/en/small/first/ask/")
    assert re.search('rel="prev" href="/en/small/first/read/"', html)
    assert re.search('rel="next" href="/en/small/second/predict/"', html)
    assert 'rel="prev"' not in text(reader, "/en/small/first/read/")


def test_a_reader_comes_back_to_where_they_left_without_a_row(reader: Client) -> None:
    text(reader, "/en/small/first/ask/")
    assert reader.get("/fr/small/first/")["Location"] == "/fr/small/first/ask/"
    assert reader.get("/fr/small/second/")["Location"] == "/fr/small/second/predict/"
    assert not get_user_model().objects.exists()


def test_a_guest_comes_back_to_where_they_left(guest: Client) -> None:
    text(guest, "/en/small/first/ask/")
    text(guest, "/en/small/second/check/")
    assert guest.get("/fr/small/first/")["Location"] == "/fr/small/first/ask/"
    assert "/tr/small/second/check/" in text(guest, "/tr/")


def test_reading_the_same_page_again_writes_nothing(
    guest: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    text(guest, "/en/small/first/read/")
    at = Visit.objects.get().at
    text(guest, "/en/small/first/read/")
    assert Visit.objects.get().at == at


def test_a_step_is_done_when_read_or_answered(guest: Client) -> None:
    assert "0 of 4 steps done" in text(guest, "/en/small/")
    text(guest, "/en/small/first/read/")
    text(guest, "/en/small/second/predict/")  # it asks something: reading is not enough
    assert "1 of 4 steps done" in text(guest, "/en/small/")
    guest.post("/en/small/second/predict/answer/", {"sum": "257", "base": "0", "do": "submit"})
    assert "2 of 4 steps done" in text(guest, "/en/small/")


@pytest.mark.parametrize("address", ["small/first/read/", "small/first/ask/"])
def test_a_step_takes_few_queries(
    guest: Client, address: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(8):
        text(guest, f"/en/{address}")


@pytest.mark.parametrize("address", ["small/second/predict/", "small/second/check/"])
def test_a_step_with_a_bench_takes_at_most_twelve(
    guest: Client, address: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(12):
        text(guest, f"/en/{address}")


def test_the_key_is_not_in_the_page_before_the_answer(guest: Client) -> None:
    html = text(guest, "/en/small/first/ask/")
    for secret in ("0.501953125", "131584", "257 over 512", "quotient by N", "Never the block",
                   "Gives a reason"):  # fmt: skip
        assert secret not in html


def test_no_id_stands_twice_when_a_lesson_is_printed(small: SmallCourse, reader: Client) -> None:
    item = "      - figure: box\n      - source: {ref: 'kernels/rmsnorm.py::forward_kernel'}\n"
    small.change(
        "small/01-first/lesson.yaml", "  - id: ask\n    body:\n", f"  - id: ask\n    body:\n{item}"
    )
    for address in ("print/", "read/", "ask/"):
        ids = re.findall(r'\sid="([^"]+)"', text(reader, f"/en/small/first/{address}"))
        assert len(ids) == len(set(ids))


def test_the_goal_of_a_lesson_stands_on_its_first_step(reader: Client) -> None:
    assert "You will be able to read." in text(reader, "/en/small/first/read/")
    assert "You will be able to read." not in text(reader, "/en/small/first/ask/")


def test_print_shows_every_step_and_no_key(reader: Client) -> None:
    html = text(reader, "/en/small/first/print/")
    assert "Reading with a mask" in html
    assert "Answering" in html
    assert "257 over 512" not in html
    assert "Gives a reason" not in html


def test_a_translation_behind_its_source_carries_a_mark(small: SmallCourse, reader: Client) -> None:
    small.change("small/01-first/en.md", "A naïve reader", "Any reader")
    small.remove_block("small/01-first/fr.md", "ask.explain")
    small.remove_block("small/01-first/tr.md", "words")
    assert 'class="tag"' in text(reader, "/fr/small/first/ask/")
    fallback = text(reader, "/tr/small/first/read/")
    assert '<div lang="en" dir="ltr">' in fallback
    assert "closes 255 lanes" in fallback


def test_a_lesson_with_a_mistake_says_which(small: SmallCourse, reader: Client) -> None:
    small.change("small/01-first/lesson.yaml", "minutes: 20", "minutes: soon")
    html = text(reader, "/en/small/first/read/", 500)
    assert "minutes: write a whole number" in html
    assert "A guess first" in text(reader, "/en/small/second/predict/")


def test_a_source_link_opens_the_file_at_the_function(reader: Client) -> None:
    html = text(reader, "/en/source/kernels/rmsnorm.py?symbol=backward_kernel")
    assert 'id="here"' in html
    assert "backward_kernel" in html.split('id="here"')[1][:400]


def test_versions_of_a_source_are_links_that_need_no_script(
    small: SmallCourse, reader: Client
) -> None:
    small.change(
        "small/01-first/lesson.yaml",
        "ref: 'kernels/rmsnorm.py::forward_kernel',",
        "ref: 'kernels/rmsnorm.py::forward_kernel', "
        "versions: {1: forward_kernel, 2: backward_kernel},",
    )
    html = text(reader, "/en/small/first/read/?version=2")
    assert re.search(r'data-version="2" aria-current="true"', html)
    assert re.search(r'<pre[^>]*data-version="1" hidden>', html)
    assert not re.search(r'<pre[^>]*data-version="2" hidden>', html)
    assert text(reader, f"/en/small/first/read/?version={'9' * 5000}")


def test_the_run_is_met_before_what_leads_on(reader: Client) -> None:
    """As the page is read and as a phone shows it: text, Run, words of the page, next step."""
    page = text(reader, "/en/small/second/check/")
    parts = ["<article", 'class="bench"', 'class="turn"', "<footer"]
    assert (places := [page.index(part) for part in parts]) == sorted(places)
