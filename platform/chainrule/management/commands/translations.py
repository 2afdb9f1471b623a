"""`manage.py translations extract | check | compile`: the interface in every language."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from chainrule.translations import catalogue, checks, compiling, sources


class Command(BaseCommand):
    help = "Collects interface strings, checks their translations, compiles them."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("what", choices=("extract", "check", "compile"))
        parser.add_argument(
            "--drop-obsolete",
            action="store_true",
            help="with extract: forget translations of strings that are gone",
        )

    def handle(self, *args: Any, what: str, drop_obsolete: bool, **options: Any) -> None:
        base: Path = settings.BASE_DIR
        languages = compiling.translated()
        if what == "extract":
            self.extract(base, languages, drop_obsolete)
        elif what == "check":
            self.check_all(base, languages)
        else:
            for language in languages:
                compiling.compile_one(base, language)

    def extract(self, base: Path, languages: list[str], drop_obsolete: bool) -> None:
        keys = sources.marked(base)
        for language in languages:
            catalog = catalogue.update(catalogue.read(base, language), language, keys)
            if drop_obsolete:
                catalog.obsolete.clear()
            missing = sum(not catalogue.translated(message) for message in catalog if message.id)
            _write(catalogue.po_file(base, language), catalogue.written(catalog, language))
            self.stdout.write(
                f"{language}: {len(keys)} strings, {missing} to translate, "
                f"{len(catalog.obsolete)} obsolete"
            )

    def check_all(self, base: Path, languages: list[str]) -> None:
        keys = sources.marked(base)
        faults = checks.source_faults(keys)
        for language in languages:
            faults += checks.faults(language, catalogue.read(base, language), keys)
        for fault in faults:
            self.stdout.write(str(fault))
        if faults:
            raise CommandError(
                f"{len(faults)} faults in the interface's strings. `make messages` collects new "
                "strings into locale/; translate them there. `manage.py translations extract "
                "--drop-obsolete` forgets those that are gone."
            )
        self.stdout.write(f"{len(keys)} strings, complete in {', '.join(languages)}.")


def _write(file: Path, content: bytes) -> None:
    if file.exists() and file.read_bytes() == content:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
