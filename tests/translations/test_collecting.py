"""Collecting strings, keeping translations, compiling: without GNU gettext."""

from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

from chainrule.translations import catalogue, sources
from chainrule.translations.sources import Key


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('_("Run")', ("", "Run")),
        ('gettext_lazy("Two " "parts")', ("", "Two parts")),
        ('gettext_noop("{n} cases")', ("", "{n} cases")),
        ('ngettext("%(n)s case", "%(n)s cases", n)', ("", ("%(n)s case", "%(n)s cases"))),
        ('counted("n", "{n} case", "{n} cases")', ("", ("{n} case", "{n} cases"))),
        ('pgettext("verb", "Run")', ("verb", "Run")),
        ('npgettext("verb", "Run", "Runs", n)', ("verb", ("Run", "Runs"))),
    ],
)
def test_every_way_to_mark_a_string_in_python_is_found(source: str, found: Key) -> None:
    assert list(sources.in_python(source)) == [found]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('{% translate "Run" %}', ("", "Run")),
        ("<a title=\"{% translate 'Where' %}\">", ("", "Where")),
        ('{% translate "Run" context "verb" %}', ("verb", "Run")),
        ('{{ _("Run")|upper }}', ("", "Run")),
        (
            "{% blocktranslate with a=b %}It’s {{ a }}{% endblocktranslate %}",
            ("", "It’s %(a)s"),
        ),
        (
            "{% blocktranslate trimmed %}\n   one\n   two\n{% endblocktranslate %}",
            ("", "one two"),
        ),
        (
            "{% blocktranslate count n=n %}{{ n }} case{% plural %}{{ n }} cases"
            "{% endblocktranslate %}",
            ("", ("%(n)s case", "%(n)s cases")),
        ),
        ("{# a note #}\n   <p>\n {% if x %}\n  {% translate 'Run' %}", ("", "Run")),
        ("<p>don't</p> {% translate 'Run' %} <p>(\"</p>", ("", "Run")),
    ],
)
def test_every_way_to_mark_a_string_in_a_template_is_found(source: str, found: Key) -> None:
    assert list(sources.in_template(source)) == [found]


def french(*entries: tuple[str, str]) -> Catalog:
    text = catalogue.header("fr") + "".join(
        f'msgid "{source}"\nmsgstr "{target}"\n\n' for source, target in entries
    )
    return read_po(BytesIO(text.encode()), locale="fr")


def reread(catalog: Catalog) -> Catalog:
    return read_po(BytesIO(catalogue.written(catalog, "fr")), locale="fr")


def test_translations_are_kept_new_strings_wait_and_old_ones_become_obsolete() -> None:
    old = french(("Run", "Exécuter"), ("Stop", "Arrêter"))
    new = reread(catalogue.update(old, "fr", {("", "Run"), ("", "Case")}))
    assert new["Run"].string == "Exécuter"
    assert new["Case"].string == ""
    assert [message.id for message in new.obsolete.values()] == ["Stop"]


def test_an_obsolete_translation_comes_back_with_its_string() -> None:
    without = reread(catalogue.update(french(("Stop", "Arrêter")), "fr", set()))
    again = catalogue.update(without, "fr", {("", "Stop")})
    assert again["Stop"].string == "Arrêter"
    assert not again.obsolete


def test_the_same_text_in_two_contexts_is_two_entries() -> None:
    catalog = catalogue.update(french(), "fr", {("verb", "Run"), ("noun", "Run"), ("", "Run")})
    assert len(reread(catalog)) == 3


def test_a_catalogue_file_holds_no_dates_and_no_places_and_is_stable() -> None:
    catalog = catalogue.update(french(("Run", "Exécuter")), "fr", {("", "Run"), ("", "100 %")})
    text = catalogue.written(catalog, "fr")
    assert catalogue.written(reread(catalog), "fr") == text
    assert b"Date" not in text and b"#:" not in text and b"format" not in text


def test_compiling_twice_gives_the_same_bytes_and_gettext_reads_them() -> None:
    catalog = french(("Run", "Exécuter"), ("Case", ""))
    compiled = catalogue.compiled(catalog)
    assert catalogue.compiled(reread(catalog)) == compiled
    translations = GNUTranslations(BytesIO(compiled))
    assert translations.gettext("Run") == "Exécuter"
    assert translations.gettext("Case") == "Case"  # not translated: shown as it is


def test_sources_are_collected_from_every_folder_that_speaks(tmp_path: Path) -> None:
    for name, text in {
        "platform/app/views.py": '_("A")',
        "lessons/api.py": '_("B")',
        "runner/api.py": '_("C")',
        "kernels/messages.py": 'gettext_noop("D")',
        "templates/app/page.html": '{% translate "E" %}',
        "templates/app/mail.txt": '{% translate "F" %}',
        "tests/test_app.py": '_("not this")',
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert {text for _context, text in sources.marked(tmp_path)} == set("ABCDEF")
