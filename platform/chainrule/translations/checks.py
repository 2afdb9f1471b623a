"""What can be wrong with a translation, and is found without knowing the language."""

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass

from babel.messages.catalog import Catalog, Message

from chainrule.translations.catalogue import forms, key_of, translated
from chainrule.translations.sources import Key, shown
from chainrule.translations.typography import typography_faults

# %(name)s, %s and {name}; a doubled sign is text.
PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]|(?<!%)%[sd]|(?<!\{)\{\w*(?::[^{}]*)?\}(?!\})")
TAG = re.compile(r"</?[a-zA-Z][^>]*>")
NUMBER = re.compile(r"\d(?:[\d.,\u202f\u00a0]*\d)?")  # with the marks of any of our languages
END = re.compile(r"[.:?!…,;]$")


@dataclass(frozen=True)
class Fault:
    language: str
    what: str
    text: str

    def __str__(self) -> str:
        return f"{self.language}: {self.what}: {self.text}"


def source_faults(keys: Set[Key]) -> list[Fault]:
    """Typographical faults of the English strings themselves."""
    return [
        Fault("en", what, shown(key))
        for key in sorted(keys, key=str)
        for text in _texts(key)
        for what in typography_faults("en", text)
    ]


def faults(language: str, catalog: Catalog, keys: Set[Key]) -> list[Fault]:
    """What keeps this catalogue from being complete and right."""
    entries = {key_of(message): message for message in catalog if message.id}
    found = [Fault(language, "not collected", shown(key)) for key in _sorted(keys - set(entries))]
    found += [
        Fault(language, "no longer in the sources", shown(key))
        for key in _sorted(set(entries) - keys)
    ]
    for key in _sorted(set(entries) & keys):
        found += [
            Fault(language, what, shown(key))
            for what in _message_faults(language, key, entries[key])
        ]
    obsolete = (shown(key_of(message)) for message in catalog.obsolete.values())
    return found + [Fault(language, "obsolete", text) for text in obsolete]


def _message_faults(language: str, key: Key, message: Message) -> Iterator[str]:
    if message.fuzzy:
        yield "fuzzy"
    if not translated(message):
        yield "not translated"
        return
    sources = _texts(key)
    given = forms(message)
    if len(sources) == 2 and len(given) != 2:
        yield f"{len(given)} plural forms where there are 2"
    for index, form in enumerate(given):
        source = sources[min(index, len(sources) - 1)]
        yield from _pair_faults(source, form, singular=len(sources) == 2 and index == 0)
        yield from typography_faults(language, form)


def _pair_faults(source: str, form: str, *, singular: bool) -> Iterator[str]:
    wanted, given = set(PLACEHOLDER.findall(source)), set(PLACEHOLDER.findall(form))
    # "One case" may leave out its number.
    if wanted != given and not (singular and given <= wanted):
        yield f"placeholders differ ({', '.join(sorted(wanted ^ given))})"
    if sorted(TAG.findall(source)) != sorted(TAG.findall(form)):
        yield "tags differ"
    if not singular and _numbers(source) != _numbers(form):
        yield "numbers differ"
    if _edges(source) != _edges(form):
        yield "begins or ends with other space"
    if bool(END.search(source)) != bool(END.search(form)):
        yield "ends with other punctuation"
    if source == form and len(re.findall(r"[a-zA-Z]{2,}", TAG.sub("", source))) > 3:
        yield "the same as in English"


def _numbers(text: str) -> list[str]:
    return sorted(re.sub(r"\D", "", number) for number in NUMBER.findall(TAG.sub("", text)))


def _edges(text: str) -> tuple[str, str]:
    return text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]


def _texts(key: Key) -> list[str]:
    return [key[1]] if isinstance(key[1], str) else list(key[1])


def _sorted(keys: Set[Key]) -> list[Key]:
    return sorted(keys, key=str)
