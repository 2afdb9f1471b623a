"""Catalogues are compiled where they are stale, and English in their place is never silent."""

import gettext
import os
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client

from chainrule.translations import catalogue, compiling

SOURCE = 'msgid ""\nmsgstr "Language: fr\\n"\n\nmsgid "Run"\nmsgstr "{}"\n'


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for language in compiling.translated():
        write(tmp_path, language, "Exécuter", 1_000)
    return tmp_path


def write(base: Path, language: str, word: str, at: int) -> None:
    source = catalogue.po_file(base, language)
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(SOURCE.format(word), encoding="utf-8")
    os.utime(source, (at, at))


def shown(base: Path) -> str:
    with compiling.compiled_file(base, "fr").open("rb") as file:
        return gettext.GNUTranslations(file).gettext("Run")


def test_what_is_missing_or_older_than_its_source_is_compiled(base: Path) -> None:
    assert compiling.compile_stale(base) == {}
    assert shown(base) == "Exécuter"
    write(base, "fr", "Lancer", compiling.compiled_file(base, "fr").stat().st_mtime_ns // 10**9 + 9)
    compiling.compile_stale(base)
    assert shown(base) == "Lancer"


def test_what_is_fresh_is_left_alone_and_nothing_lies_beside_it(base: Path) -> None:
    compiling.compile_stale(base)
    before = compiling.compiled_file(base, "fr").stat()
    compiling.compile_stale(base)
    assert compiling.compiled_file(base, "fr").stat() == before
    assert sorted(file.name for file in compiling.compiled_file(base, "fr").parent.iterdir()) == [
        *("django.mo", "django.po")
    ]


def test_a_catalogue_of_somebody_else_that_holds_the_same_is_good(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiling.compile_stale(base)
    made = compiling.compiled_file(base, "fr").stat().st_mtime_ns
    write(base, "fr", "Exécuter", made // 10**9 + 9)

    def refuse(file: Path) -> None:
        raise PermissionError(1, "Operation not permitted", str(file))

    monkeypatch.setattr(os, "utime", refuse)
    assert compiling.compile_stale(base) == {}


def test_what_cannot_be_written_leaves_nothing_beside_it(base: Path) -> None:
    compiling.compiled_file(base, "fr").mkdir()
    assert set(compiling.compile_stale(base)) == {"fr"}
    assert sorted(file.name for file in compiling.compiled_file(base, "fr").parent.iterdir()) == [
        *("django.mo", "django.po")
    ]


def test_what_cannot_be_written_is_said_at_the_terminal(
    base: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    db: None,
) -> None:
    compiling.compiled_file(base, "fr").mkdir()  # in its place, whoever runs this
    monkeypatch.setattr(settings, "BASE_DIR", base)
    monkeypatch.setattr(settings, "DEBUG", True)
    call_command("prepare")
    said = capsys.readouterr().err
    assert said.count("could not be compiled") == 1
    assert "into fr" in said and "translations compile" in said


@pytest.mark.django_db
@pytest.mark.parametrize(("language", "word"), [("fr", "en anglais"), ("tr", "İngilizce")])
def test_a_page_without_its_catalogue_says_so_in_its_language(
    monkeypatch: pytest.MonkeyPatch, language: str, word: str
) -> None:
    address = f"/{language}/"
    assert compiling.NOTICE[language] not in Client().get(address).content.decode()
    monkeypatch.setattr(compiling, "is_compiled", lambda language: language == "en")
    page = Client().get(address).content.decode()
    assert compiling.NOTICE[language] in page and word in compiling.NOTICE[language]
    assert "derlenmemiş" not in Client().get("/en/").content.decode()


def test_every_language_with_a_catalogue_has_its_sentence() -> None:
    assert set(compiling.NOTICE) == set(compiling.translated())
