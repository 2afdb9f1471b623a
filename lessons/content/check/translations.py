"""Blocks that are missing, stale or nobody's, and literals that a translation changed."""

from collections.abc import Iterator

from lessons.content.check.blocks import Folder, folders
from lessons.content.check.literals import differences
from lessons.content.faults import Fault
from lessons.content.library import Shelf


def translation_faults(shelf: Shelf) -> Iterator[Fault]:
    for folder in folders(shelf):
        source = folder.texts.languages[0]
        yield from _orphans(folder, source)
        for language in folder.texts.languages[1:]:
            yield from _orphans(folder, language)
            yield from _against_source(folder, source, language)


def _orphans(folder: Folder, language: str) -> Iterator[Fault]:
    for block in folder.texts.blocks[language]:
        if not folder.knows(block):
            yield Fault(folder.file(language), block, "nothing shows this block.")


def _against_source(folder: Folder, source: str, language: str) -> Iterator[Fault]:
    originals, translations = folder.texts.blocks[source], folder.texts.blocks[language]
    file = folder.file(language)
    if not translations:
        yield Fault(file, "", "not translated.")
        return
    unstamped = sum(block.of is None for block in translations.values())
    if unstamped:
        yield Fault(
            file, "", f"{unstamped} blocks carry no hash; run `manage.py courses stamp` once."
        )
    for block_id, original in originals.items():
        translation = translations.get(block_id)
        if translation is None:
            yield Fault(file, block_id, "not translated.")
            continue
        if translation.of is not None and translation.of != original.hash:
            yield Fault(
                file,
                block_id,
                f"stale: made from {translation.of}, the source is now {original.hash}.",
            )
        for sentence in differences(original.text, source, translation.text, language):
            yield Fault(file, block_id, sentence)
    for block_id in translations:
        if block_id not in originals and folder.knows(block_id):
            yield Fault(file, block_id, "the source has no such block.")
