"""Sizes are bounded before anything is read: a long body costs nobody's disk."""

import asyncio
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from chainrule.bounds import BoundedBodies

MOST = 100
Messages = list[dict[str, Any]]


async def drain(scope: Any, receive: Any, send: Any) -> None:
    """An application that reads its whole body, as Django does."""
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def answered(
    chunks: list[int],
    announced: str | None = None,
    path: str = "/en/account/sign-up/",
    accept: bytes = b"*/*",
) -> Messages:
    headers = [(b"accept", accept)]
    if announced:
        headers.append((b"content-length", announced.encode()))
    messages = [
        {"type": "http.request", "body": b"x" * size, "more_body": index < len(chunks) - 1}
        for index, size in enumerate(chunks)
    ]
    sent: Messages = []

    async def receive() -> dict[str, Any]:
        return messages.pop(0)

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    app = BoundedBodies(drain, MOST)
    asyncio.run(app({"type": "http", "path": path, "headers": headers}, receive, send))
    return sent


@pytest.mark.parametrize(
    ("chunks", "announced", "status"),
    [
        ([100], "100", 200),
        ([0], None, 200),
        ([60, 40], None, 200),
        ([100], "101", 413),
        ([60, 60], None, 413),
        ([50] * 50, None, 413),
    ],
)
def test_a_body_is_read_up_to_its_limit(
    chunks: list[int], announced: str | None, status: int
) -> None:
    assert answered(chunks, announced)[0]["status"] == status


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/en/account/sign-up/", "This is too long to be sent here."),
        ("/fr/account/sign-up/", "C’est trop long pour être envoyé ici."),
        ("/tr/account/sign-up/", "Bu, buraya gönderilemeyecek kadar uzun."),
        ("/elsewhere/", "This is too long to be sent here."),
    ],
)
def test_what_is_too_long_is_refused_in_the_language_of_the_page(path: str, said: str) -> None:
    assert answered([MOST + 1], path=path)[1]["body"].decode() == said + "\n"


def test_who_sent_too_large_a_file_from_a_page_gets_a_page_with_a_way_back() -> None:
    start, body = answered([MOST + 1], path="/fr/classroom/", accept=b"text/html,*/*;q=0.8")
    assert start["status"] == 413
    assert (b"content-type", b"text/html; charset=utf-8") in start["headers"]
    page = body["body"].decode()
    assert "C’est trop long pour être envoyé ici." in page and '<html lang="fr">' in page
    assert '<a class="button" href="/">' in page


@pytest.mark.django_db
def test_a_form_longer_than_any_of_ours_is_refused(client: Client) -> None:
    long = "x" * (settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
    assert client.post("/en/account/sign-up/", {"name": long}).status_code == 400


@pytest.mark.django_db
def test_a_form_with_more_fields_than_any_of_ours_is_refused(client: Client) -> None:
    many = {f"f{index}": "" for index in range(settings.DATA_UPLOAD_MAX_NUMBER_FIELDS + 1)}
    assert client.post("/en/account/sign-up/", many).status_code == 400


def test_the_site_s_limit_lies_above_that_of_its_forms() -> None:
    assert settings.DATA_UPLOAD_MAX_MEMORY_SIZE <= settings.LONGEST_BODY <= 2**20
