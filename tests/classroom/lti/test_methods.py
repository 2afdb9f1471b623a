"""Addresses of the site that platforms hold: whoever opens one by hand reads what it is for."""

from typing import Any

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db

# What each is not asked with.
WRONG = [
    ("launch", "GET"), ("launch", "HEAD"), ("launch", "PUT"), ("launch", "OPTIONS"),
    ("login", "DELETE"), ("keys", "POST"), ("deep-link", "PUT"), ("enter", "PATCH"),
    ("link", "DELETE"),
]  # fmt: skip


def asked(place: str, method: str, **options: Any) -> Any:
    return Client().generic(method, f"/lti/{place}/", **options)


@pytest.mark.parametrize(("place", "method"), WRONG)
def test_an_address_asked_in_another_way_answers_with_a_page(place: str, method: str) -> None:
    answer = asked(place, method)
    assert answer.status_code == 405
    assert method not in answer.headers["Allow"].split(", ")
    page = answer.content.decode()
    assert method == "HEAD" or "This address is for learning platforms" in page
    assert method == "HEAD" or "open the lesson there" in page


@pytest.mark.parametrize(
    ("language", "said"),
    [("fr", "Cette adresse est destinée"), ("tr", "öğrenme platformları içindir")],
)
def test_the_page_is_in_the_reader_s_language(language: str, said: str) -> None:
    page = asked("launch", "GET", headers={"Accept-Language": language}).content.decode()
    assert said in page and f'<html lang="{language}"' in page


ONCE = ("Open the lesson again", "This page leads on once")


@pytest.mark.parametrize(
    ("place", "heading", "reason"),
    [
        ("login", "This did not work", "What your learning platform sent could not be accepted"),
        ("deep-link", *ONCE),
        ("enter", *ONCE),
        ("link", *ONCE),
    ],
)
def test_what_is_opened_by_hand_says_what_it_is_and_why_it_leads_nowhere(
    place: str, heading: str, reason: str
) -> None:
    answer = asked(place, "GET")
    page = answer.content.decode()
    assert answer.status_code == 400
    assert f"<h1>{heading}</h1>" in page
    assert f'<p class="lede">{reason}' in page


def test_the_keys_opened_by_hand_are_what_a_platform_reads() -> None:
    answer = asked("keys", "GET")
    assert answer.headers["Content-Type"] == "application/json"
    assert list(answer.json()) == ["keys"]
