"""Compiled catalogues: made where one is missing or older than its source, and what a reader is
told where there is none, because Django shows English then and says nothing."""

import os
from contextlib import suppress
from functools import cache
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import get_language

from chainrule.translations import catalogue

# In the readers' own language, which their catalogue cannot give here.
NOTICE = {
    "fr": "L’interface s’affiche en anglais\u202f: ses traductions ne sont pas compilées sur ce "
    "serveur. Les leçons, elles, sont en français.",
    "tr": "Arayüz İngilizce görünüyor: çevirileri bu sunucuda derlenmemiş. Dersler yine Türkçedir.",
}


def translated() -> list[str]:
    """The languages that have a catalogue."""
    return [code for code, _name in settings.LANGUAGES if code != settings.LANGUAGE_CODE]


def compiled_file(base: Path, language: str) -> Path:
    return catalogue.po_file(base, language).with_suffix(".mo")


def compile_stale(base: Path) -> dict[str, OSError]:
    """Compile what has to be; by language, why it could not be written."""
    refused = {}
    for language in translated():
        if is_fresh(base, language):
            continue
        try:
            compile_one(base, language)
        except OSError as error:
            refused[language] = error
    return refused


def is_fresh(base: Path, language: str) -> bool:
    file, source = compiled_file(base, language), catalogue.po_file(base, language)
    return file.is_file() and file.stat().st_mtime_ns > source.stat().st_mtime_ns


def compile_one(base: Path, language: str) -> None:
    file = compiled_file(base, language)
    content = catalogue.compiled(catalogue.read(base, language))
    if file.is_file() and file.read_bytes() == content:
        with suppress(PermissionError):  # another's file, but nothing in it is old
            os.utime(file)
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    # Whole or not at all: another process may be reading it.
    beside = file.with_suffix(f".{os.getpid()}")
    try:
        beside.write_bytes(content)
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)


def notice(request: HttpRequest) -> dict[str, str]:
    """For every page: the sentence for a reader whose language is not compiled, or nothing."""
    language = get_language() or settings.LANGUAGE_CODE
    return {"not_compiled": "" if is_compiled(language) else NOTICE.get(language, "")}


@cache
def is_compiled(language: str) -> bool:
    """As this process found it: Django reads a catalogue once as well."""
    return language not in translated() or compiled_file(settings.BASE_DIR, language).is_file()
