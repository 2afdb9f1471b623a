"""A language's catalogue: read, brought up to date, written, compiled.

The files hold no dates and no line numbers, so that a change of a string changes one entry.
"""

from collections.abc import Set
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from chainrule.translations.sources import Id, Key

# As in Django's own catalogues, with which ours are merged.
PLURALS = {"fr": "nplurals=2; plural=(n > 1);", "tr": "nplurals=2; plural=(n > 1);"}
HEADER = """\
msgid ""
msgstr ""
"Language: {language}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: {plurals}\\n"

"""
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)  # a compiled catalogue depends on its source alone


def po_file(base: Path, language: str) -> Path:
    return base / "locale" / language / "LC_MESSAGES" / "django.po"


def read(base: Path, language: str) -> Catalog:
    """The catalogue of that language, empty where there is none yet."""
    file = po_file(base, language)
    text = file.read_bytes() if file.exists() else header(language).encode()
    return read_po(BytesIO(text), locale=language)


def header(language: str) -> str:
    return HEADER.format(language=language, plurals=PLURALS[language])


def update(old: Catalog, language: str, keys: Set[Key]) -> Catalog:
    """The catalogue with exactly `keys`; what is no longer marked is kept as obsolete."""
    new = read_po(BytesIO(header(language).encode()), locale=language)
    known = {key_of(message): message for message in old if message.id}
    gone = {key_of(message): message for message in old.obsolete.values()}
    for key in keys:
        context, text = key
        before = known.get(key) or gone.get(key)
        new.add(text, before.string if before else None, context=context or None)
    for key, message in {**gone, **known}.items():
        if key not in keys and translated(message):
            new.obsolete[str(key)] = message
    return new


def key_of(message: Message) -> Key:
    text: Id = message.id if isinstance(message.id, str) else (message.id[0], message.id[1])
    return message.context or "", text


def forms(message: Message) -> list[str]:
    """The translation: one text, or one for each plural form; empty where it is missing."""
    given = message.string or ""
    return [given] if isinstance(given, str) else list(given)


def translated(message: Message) -> bool:
    return all(forms(message))


def written(catalog: Catalog, language: str) -> bytes:
    """The text of the catalogue's .po file: sorted, long lines unbroken."""
    body = BytesIO()
    for message in (*catalog, *catalog.obsolete.values()):
        message.flags.discard("python-format")  # guessed from a %; says nothing that we check
        message.flags.discard("python-brace-format")
        message.user_comments.clear()
    write_po(body, catalog, width=0, no_location=True, omit_header=True, sort_output=True)
    return header(language).encode() + body.getvalue().strip() + b"\n"


def compiled(catalog: Catalog) -> bytes:
    """The .mo file: fuzzy and missing entries are left out, so that the source is shown."""
    catalog.creation_date = catalog.revision_date = LONG_AGO
    out = BytesIO()
    write_mo(out, catalog)
    return out.getvalue()
