"""Search in the reader's language."""

import pytest
from django.test import Client

from lessons.content.folding import casefold, fold
from lessons.content.library import Library
from lessons.content.search import Hit, search
from tests.lessons.small_course import SmallCourse


@pytest.fixture
def library(small: SmallCourse) -> Library:
    return Library({"small": small.shelf()})


def found(hits: list[Hit]) -> list[str]:
    return [hit.entry.step for hit in hits]


def test_title_comes_before_heading_before_prose(small: SmallCourse) -> None:
    small.change("small/02-second/en.md", "Press Run.", "Press Run. Mind the mask.")
    small.change(
        "small/02-second/en.md", "A guess first\n", "A guess first\n<!-- block lede -->\nMask\n"
    )
    library = Library({"small": small.shelf()})
    assert found(search(library, "mask", "en")) == ["read", "predict", "check"]


@pytest.mark.parametrize(
    ("query", "language", "steps"),
    [
        ("MASK", "en", ["read"]),
        ("mas", "en", ["read"]),
        ("naive", "en", ["ask"]),
        ("naïve reader", "en", ["ask"]),
        ("masque naif", "fr", []),  # every word must be found in one step
        ("repondre", "fr", ["ask", "read"]),  # the lesson promises it
        ("ecrivez", "fr", ["predict"]),
        ("ışık", "tr", ["ask"]),  # written IŞIK
        ("isik", "tr", ["ask"]),
        ("IŞIK", "tr", ["ask"]),
        ("çekirdek", "tr", ["ask", "read"]),  # written çekirdeğin, çekirdeğe
        ("ÇALIŞTIR", "tr", ["check"]),
        ("çalıştır", "en", []),
        ("", "en", []),
        ("( [ * \\", "en", []),
        ("x" * 5000, "en", []),
    ],
)
def test_words_are_found_without_case_and_accents(
    library: Library, query: str, language: str, steps: list[str]
) -> None:
    assert sorted(found(search(library, query, language))) == sorted(steps)


def test_the_excerpt_marks_the_words_and_escapes_the_rest(small: SmallCourse) -> None:
    small.change("small/01-first/en.md", "A naïve reader", "If a < b, a naïve reader")
    hit = search(Library({"small": small.shelf()}), "naive", "en")[0]
    assert "a &lt; b, a <mark>naïve</mark> reader" in hit.excerpt


def test_the_excerpt_repeats_no_title(library: Library) -> None:
    """The titles of step and lesson stand above it."""
    by_lesson = search(library, "first", "en")
    assert by_lesson and all(
        "The <mark>first</mark> lesson" not in hit.excerpt for hit in by_lesson
    )
    (by_step,) = [hit for hit in search(library, "mask", "en") if hit.entry.step == "read"]
    assert by_step.excerpt.startswith("The <mark>mask</mark> closes")


def test_answers_are_not_found(library: Library) -> None:
    for secret in ("quotient", "reason", "over 512"):
        assert search(library, secret, "en") == []


def test_a_query_of_many_words_is_searched_by_its_first_ones(library: Library) -> None:
    assert found(search(library, "mask mask mask", "en")) == found(search(library, "mask", "en"))
    assert found(search(library, "mask a b c d e f g zzz", "en")) == found(
        search(library, "mask a b c d e f g", "en")
    )


def test_turkish_capitals_fold_as_in_turkish() -> None:
    assert casefold("IĞDIR İZMİR", "tr") == "ığdır izmir"
    assert casefold("ISTANBUL", "en") == "istanbul"
    assert fold("IŞIK", "tr")[0] == fold("ışık", "tr")[0] == "isik"


def test_folding_remembers_where_each_letter_stood() -> None:
    folded, places = fold("Straße é", "en")
    assert folded == "strasse e"
    assert places == [0, 1, 2, 3, 4, 4, 5, 6, 7]


def test_the_page_counts_all_and_says_how_many_it_shows(
    small: SmallCourse, reader: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = reader.get("/en/search/", {"q": "first"}).content.decode()
    count = whole.count('class="where"')
    assert count > 1 and f"{count} steps found." in whole and "are shown" not in whole
    shelf = small.shelf()
    course = shelf.texts.get("title", "en").markdown
    assert whole.count(f'<p class="where">{course} · ') == count
    monkeypatch.setattr("lessons.views.search.SHOWN", 1)
    cut = reader.get("/en/search/", {"q": "first"}).content.decode()
    assert cut.count('class="where"') == 1
    assert f"{count} steps found. The first 1 are shown." in cut


def test_a_long_word_is_not_repeated_whole(reader: Client) -> None:
    said = reader.get("/en/search/", {"q": "x" * 90}).content.decode().split('id="hits"')[1]
    assert "x" * 25 in said and "x" * 31 not in said
