"""Answering over HTTP: with a script and without, in three languages, nothing lost."""

import re
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from lessons import answers
from lessons.models import Revision

ASK = "small/first/ask/"
RIGHT: dict[str, Any] = {
    "mean": "0.502", "size": "131584", "where": "n", "both": ["a", "c"],
    "steps": ["load", "sum", "store"], "why": "because of the mask", "base": "0",
    "key": "11111111-1111-1111-1111-111111111111", "do": "submit",
}  # fmt: skip
JSON = {"accept": "application/json"}


def post(client: Client, language: str = "en", headers: Any = None, **changed: Any) -> Any:
    return client.post(f"/{language}/{ASK}answer/", RIGHT | changed, headers=headers)


def page(client: Client, language: str = "en") -> str:
    return client.get(f"/{language}/{ASK}").content.decode()


def test_a_plain_form_is_stored_and_leads_back_to_the_question(reader: Client) -> None:
    response = post(reader)
    assert (response.status_code, response["Location"]) == (303, f"/en/{ASK}#ask")
    html = page(reader)
    assert len(re.findall('class="result right"', html)) == 5
    assert 'class="result waiting"' in html
    assert Revision.objects.get().content_hash[:8] in html
    assert "It is 257 over 512." in html


@pytest.mark.parametrize(
    ("language", "mean", "size"),
    [
        ("en", "0.502", "131,584"),
        ("tr", "0,502", "131.584"),
        ("en", "0.502", "131584"),
        ("fr", "0,502", "128,5 Kio"),
        ("tr", "0,502", "128,5 KiB"),
        ("tr", "٠٫٥٠٢", "131584 bayt"),
        ("fr", "257/512", "131\u202f584 o"),
    ],
)
def test_the_verdict_is_the_same_whatever_the_language(
    reader: Client, language: str, mean: str, size: str
) -> None:
    post(reader, language, mean=mean, size=size)
    verdicts = Revision.objects.get().verdicts
    assert verdicts["mean"] == verdicts["size"] == {"verdict": "right"}


def test_a_wrong_answer_gets_its_hint_and_the_explanation_waits(reader: Client) -> None:
    post(reader, mean="1", where="block")
    html = page(reader)
    assert "That is the quotient by N." in html
    assert "Never the block." in html
    assert re.search(r"<details[^>]*class=\"explain\"", html)
    assert "Gives a reason" not in html


def test_what_was_understood_is_shown(reader: Client) -> None:
    post(reader, "fr", size="128,5 Kio")
    assert "131\u202f584\u00a0octets" in page(reader, "fr")


@pytest.mark.parametrize(
    ("language", "typed", "words"),
    [
        ("en", "131.584", ("131,584, a whole number", "131.584, with decimals")),
        ("fr", "131,584", ("131\u202f584, nombre entier", "131,584, nombre décimal")),
        ("tr", "131,584", ("131.584, tam sayı", "131,584, ondalıklı sayı")),
    ],
)
def test_an_unclear_number_is_asked_and_one_click_answers(
    reader: Client, language: str, typed: str, words: tuple[str, str]
) -> None:
    response = post(reader, language, size=typed)
    html = response.content.decode()
    assert response.status_code == 422
    buttons = re.findall(r'<button[^>]* name="size.reading" value="([^"]+)">([^<]+)</button>', html)
    assert buttons == [("131584", words[0]), ("131.584", words[1])]
    assert f'value="{typed}"' in html
    assert "because of the mask" in html
    assert not Revision.objects.exists()
    chosen = {"size": typed, "size.of": typed, "size.reading": "131584", "do": ""}
    assert post(reader, language, **chosen).status_code == 303
    stored = Revision.objects.get()
    assert stored.content["size"] == {"raw": typed, "reading": "131584", "value": "131584/1"}
    assert stored.verdicts["size"] == {"verdict": "right"}
    assert 'name="size.reading" value="131584"' in page(reader, language)  # sent again, not asked


def test_enter_sends_the_form_and_chooses_no_reading(reader: Client) -> None:
    """Enter in a field presses the first button of its form."""
    asked = {"sum": "257,123", "do": "submit", "base": "0"}
    html = reader.post("/en/small/second/predict/answer/", asked).content.decode()
    form = html[html.index("data-answer") :]
    assert 'name="sum.reading"' in form
    assert 'name="do" value="submit"' in form[form.index("<button") :].split(">")[0]


def test_a_choice_made_is_kept_while_another_line_needs_a_change(reader: Client) -> None:
    chosen = {"size": "131.584", "size.of": "131.584", "size.reading": "131.584"}
    html = post(reader, mean="half", **chosen).content.decode()
    assert html.count('name="size.reading"') == 1
    assert '<input type="hidden" name="size.reading" value="131.584">' in html


def test_a_choice_of_reading_does_not_outlive_its_text(reader: Client) -> None:
    stale = {"size": "131.500", "size.of": "131.584", "size.reading": "131584"}
    assert post(reader, **stale).status_code == 422


@pytest.mark.parametrize("language", ["en", "fr", "tr"])
def test_every_field_that_needs_a_change_says_so_and_nothing_is_lost(
    reader: Client, language: str
) -> None:
    response = post(reader, language, mean="half", size="5 parsecs", where="", both=[], why="short")
    html = response.content.decode()
    assert response.status_code == 422
    assert len(re.findall('class="errorlist"', html)) == 5
    for kept in ('value="half"', 'value="5 parsecs"', ">short</textarea>"):
        assert kept in html


def test_an_error_for_a_script_is_json(reader: Client) -> None:
    response = post(reader, headers=JSON, size="131.584", why="")
    assert response.status_code == 422
    assert set(response.json()["errors"]) == {"size", "why"}
    assert response.json()["readings"] == {"size": ["131584", "131.584"]}


def test_a_draft_saves_itself_and_is_there_on_the_next_page(reader: Client) -> None:
    first = post(reader, headers=JSON, do="draft", why="half a sen")
    assert first.json()["base"] == 1
    second = post(reader, headers=JSON, do="draft", why="half a sentence", base="1")
    assert second.json()["hash"] == Revision.objects.get().content_hash
    html = page(reader, "fr")
    assert "half a sentence</textarea>" in html
    assert 'name="base" value="2"' in html
    assert 'class="result' not in html


def test_a_draft_says_how_its_numbers_are_read(reader: Client) -> None:
    saved = post(reader, "fr", headers=JSON, do="draft", mean="0,5", size="128,5 Kio").json()
    assert saved["understood"]["mean"] == ""
    assert "131\u202f584\u00a0octets" in saved["understood"]["size"]


def test_a_draft_of_nothing_makes_no_guest(reader: Client) -> None:
    # The order field always holds something, so this needs an activity without one.
    response = reader.post(
        "/en/small/second/predict/answer/", {"do": "draft", "sum": ""}, headers=JSON
    )
    assert response.json() == {"saved": None, "base": 0, "hash": ""}
    assert not get_user_model().objects.exists()


def test_a_double_click_makes_one_revision(reader: Client) -> None:
    first, second = post(reader, headers=JSON), post(reader, headers=JSON)
    assert first.json() == second.json()
    assert Revision.objects.count() == 1


@pytest.mark.parametrize("language", ["en", "fr", "tr"])
def test_a_conflict_shows_both_texts(reader: Client, language: str) -> None:
    post(reader, headers=JSON, do="draft", why="from the other tab")
    response = post(reader, language, why="from this tab")
    html = response.content.decode()
    assert response.status_code == 409
    assert "from the other tab" in html
    assert "from this tab</textarea>" in html
    assert 'name="base" value="1"' in html
    assert Revision.objects.get().content["why"]["raw"] == "from the other tab"


def test_a_conflict_for_a_script_is_json(reader: Client) -> None:
    post(reader, headers=JSON, do="draft", why="from the other tab")
    response = post(reader, headers=JSON, do="draft", why="from this tab")
    assert response.status_code == 409
    assert response.json()["stored"]["why"] == "from the other tab"
    assert ["Divide by", "the data"] in response.json()["lines"]
    assert response.json()["base"] == 1


def test_earlier_answers_stay_readable(reader: Client) -> None:
    post(reader, why="my first thought")
    post(reader, why="my second thought", base="1", key="2" * 32)
    html = page(reader)
    assert "my first thought" in html
    assert "read → add up → write" in html
    assert "my second thought</textarea>" in html


def test_lines_move_without_a_script(reader: Client) -> None:
    response = post(reader, steps=["load", "sum", "store"], move="steps:sum:up")
    assert response.status_code == 303
    assert Revision.objects.get().content["steps"]["raw"] == ["sum", "load", "store"]
    assert re.findall(r'data-item="(\w+)"', page(reader)) == ["sum", "load", "store"]


def test_an_order_is_never_shown_solved(reader: Client) -> None:
    first = re.findall(r'data-item="(\w+)"', page(reader))
    assert sorted(first) == ["load", "store", "sum"]
    assert first != ["load", "sum", "store"]
    assert re.findall(r'data-item="(\w+)"', page(reader, "tr")) == first


@pytest.mark.parametrize(
    "hostile",
    ["<script>alert(1)</script>", "{{ settings.SECRET_KEY }}", "\x00nul", "a\ud83d\ude00", "‮rtl"],
)
def test_what_people_type_is_shown_as_text(reader: Client, hostile: str) -> None:
    hostile = hostile.encode("utf-16", "surrogatepass").decode("utf-16")
    assert post(reader, why=hostile + " and a reason").status_code == 303
    html = page(reader)
    assert "<script>alert" not in html
    assert "and a reason</textarea>" in html


def test_line_endings_and_accents_are_stored_one_way(reader: Client) -> None:
    post(reader, why="cafe\u0301 noir\r\nsecond line")
    assert Revision.objects.get().content["why"]["raw"] == "caf\u00e9 noir\nsecond line"


def test_a_text_too_long_says_by_how_much(reader: Client) -> None:
    response = post(reader, why="x" * 205)
    assert "5 characters too long" in response.content.decode()


def test_an_endless_draft_is_refused(reader: Client) -> None:
    assert post(reader, headers=JSON, do="draft", why="x" * 20_001).status_code == 422


@pytest.mark.parametrize("language", ["en", "fr", "tr"])
def test_too_many_answers_get_a_sentence(
    reader: Client, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "MOST_REVISIONS", 1)
    post(reader, language)
    full = {"base": "1", "key": "3" * 32, "why": "one more reason"}
    assert post(reader, language, headers=JSON, **full).status_code == 429
    assert post(reader, language, **full).status_code == 303
    assert 'class="notice error"' in page(reader, language)
    assert Revision.objects.count() == 1


def test_one_persons_answer_is_on_nobody_elses_page(reader: Client) -> None:
    post(reader, why="a secret of mine")
    for other in (Client(), guest(), guest(is_superuser=True)):
        html = page(other)
        assert "a secret of mine" not in html
        assert 'name="base" value="0"' in html


def guest(**fields: Any) -> Client:
    person = get_user_model().objects.create_guest("en")
    get_user_model().objects.filter(pk=person.pk).update(**fields)
    client = Client()
    client.force_login(person, "django.contrib.auth.backends.ModelBackend")
    return client


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/en/small/first/read/answer/", 404),  # asks nothing
        ("/en/small/first/nothing/answer/", 404),
        ("/en/nothing/first/ask/answer/", 404),
    ],
)
def test_there_is_no_answer_where_nothing_is_asked(
    reader: Client, address: str, status: int
) -> None:
    assert reader.post(address, RIGHT).status_code == status
    assert not get_user_model().objects.exists()


def test_an_answer_is_not_given_by_a_link(reader: Client) -> None:
    response = reader.get(f"/en/{ASK}answer/", RIGHT)
    assert response["Location"] == f"/en/{ASK}#ask"
    assert not Revision.objects.exists()


def test_a_form_from_another_site_is_refused(reader: Client) -> None:
    strict = Client(enforce_csrf_checks=True)
    assert post(strict).status_code == 403
    assert not Revision.objects.exists()
