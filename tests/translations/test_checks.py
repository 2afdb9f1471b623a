"""What a translation can get wrong is found: placeholders, tags, plurals, typography."""

from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.pofile import read_po
from django.core.management import CommandError, call_command
from django.test import override_settings

from chainrule.translations import catalogue, checks
from chainrule.translations.sources import Key
from chainrule.translations.typography import typography_faults

N = "\u202f"  # narrow no-break space


def faults(language: str, source: str, target: str) -> list[str]:
    quoted = [text.replace('"', '\\"') for text in (source, target)]
    text = catalogue.header(language) + 'msgid "{}"\nmsgstr "{}"\n'.format(*quoted)
    catalog = read_po(BytesIO(text.encode()), locale=language)
    return [fault.what for fault in checks.faults(language, catalog, {("", source)})]


@pytest.mark.parametrize(
    ("source", "target", "fault"),
    [
        ("Run", "", "not translated"),
        ("{done} cases", "{fait} cas", "placeholders differ ({done}, {fait})"),
        ("%(n)s cases", "%(m)s cas", "placeholders differ (%(m)s, %(n)s)"),
        ("Up to {x:.2f}", "Jusqu’à {x}", "placeholders differ ({x:.2f}, {x})"),
        ("<b>Run</b> it", "<i>Lancer</i>", "tags differ"),
        ("beyond 65,504", "au-delà de 65505", "numbers differ"),
        ("Run ", "Exécuter", "begins or ends with other space"),
        ("Saved.", "Enregistré", "ends with other punctuation"),
        ("A name for this Run", "A name for this Run", "the same as in English"),
        ("Why?", "Pourquoi?", "no narrow no-break space before ; : ! ?"),
        ("Why?", "Pourquoi ?", "no narrow no-break space before ; : ! ?"),
        ("A: {b}", "A : {b}", "no narrow no-break space before ; : ! ?"),
        ("A “b”", "A « b »", "no narrow no-break space inside « »"),
        ("It is", "C'est", "a straight apostrophe (’)"),
        ("35%", "35%", "no no-break space before %"),
        ("wait…", "attendez...", "three full stops for an ellipsis (…)"),
    ],
)
def test_a_fault_in_french_is_named(source: str, target: str, fault: str) -> None:
    assert fault in faults("fr", source, target)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Why?", f"Pourquoi{N}?"),
        ("{a}: “b”!", f"{{a}}{N}: «{N}b{N}»{N}!"),
        ("At 14:32 see https://a.b/c?d", "À 14:32 voyez https://a.b/c?d"),
        ("35% of it", f"35{N}% du tout"),
        ('<a href="x">it</a>', '<a href="x">cela</a>'),
        ("Chainrule", "Chainrule"),
        ("65,504 and 0.5", f"65{N}504 et 0,5"),
        ("Why?!", f"Pourquoi{N}?!"),
    ],
)
def test_good_french_passes(source: str, target: str) -> None:
    assert faults("fr", source, target) == []


@pytest.mark.parametrize(
    ("target", "fault"),
    [
        ("35% tamam", "a percent sign after its number (%35)"),
        ("« Çalıştır »", "French quotation marks"),
        ("Neden ?", "a space before punctuation"),
        ("Chainrule'un", "a straight apostrophe (’)"),
    ],
)
def test_a_fault_in_turkish_is_named(target: str, fault: str) -> None:
    assert fault in typography_faults("tr", target)


def test_good_turkish_passes() -> None:
    assert list(typography_faults("tr", "Chainrule’un %35’i: “Çalıştır”, sonra bekleyin…")) == []


def test_one_form_of_a_plural_may_leave_out_its_number_and_the_other_may_not() -> None:
    def plural(one: str, many: str) -> list[str]:
        text = catalogue.header("fr") + (
            'msgid "%(n)s case"\nmsgid_plural "%(n)s cases"\n'
            f'msgstr[0] "{one}"\nmsgstr[1] "{many}"\n'
        )
        catalog = read_po(BytesIO(text.encode()), locale="fr")
        keys: set[Key] = {("", ("%(n)s case", "%(n)s cases"))}
        return [fault.what for fault in checks.faults("fr", catalog, keys)]

    assert plural("un cas", "%(n)s cas") == []
    assert plural("un cas", "des cas") == ["placeholders differ (%(n)s)"]
    assert plural("un cas", "") == ["not translated"]


def test_fuzzy_obsolete_and_uncollected_strings_are_faults() -> None:
    text = catalogue.header("fr") + (
        '#, fuzzy\nmsgid "Run"\nmsgstr "Exécuter"\n\n'
        'msgid "Gone"\nmsgstr "Parti"\n\n#~ msgid "Old"\n#~ msgstr "Vieux"\n'
    )
    catalog = read_po(BytesIO(text.encode()), locale="fr")
    found = [str(f) for f in checks.faults("fr", catalog, {("", "Run"), ("", "New")})]
    assert found == [
        'fr: not collected: "New"',
        'fr: no longer in the sources: "Gone"',
        'fr: fuzzy: "Run"',
        'fr: obsolete: "Old"',
    ]


def test_the_command_fails_where_a_string_waits_and_passes_once_it_is_translated(
    tmp_path: Path,
) -> None:

    page = tmp_path / "templates" / "a.html"
    page.parent.mkdir()
    page.write_text("{% translate 'Stop' %}")
    with override_settings(BASE_DIR=tmp_path):
        call_command("translations", "extract")
        with pytest.raises(CommandError, match="2 faults"):
            call_command("translations", "check")
        for language, word in (("fr", "Arrêter"), ("tr", "Durdur")):
            file = catalogue.po_file(tmp_path, language)
            file.write_text(
                file.read_text()
                .replace('msgstr ""\n', f'msgstr "{word}"\n')
                .replace(f'msgid ""\nmsgstr "{word}"', 'msgid ""\nmsgstr ""')
            )
        call_command("translations", "check")
        page.write_text("")
        call_command("translations", "extract")
        with pytest.raises(CommandError, match="2 faults"):
            call_command("translations", "check")  # obsolete in both
        call_command("translations", "extract", "--drop-obsolete")
        call_command("translations", "check")
        call_command("translations", "compile")
        assert catalogue.po_file(tmp_path, "tr").with_suffix(".mo").exists()
