"""`manage.py courses check | stamp | new`: what an author needs."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from lessons.content.blocks import read_blocks, stamp
from lessons.content.check import check
from lessons.content.library import Shelf, read_shelf


class Command(BaseCommand):
    help = "Checks the courses, and stamps translations with the hash of what they translate."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        checks = actions.add_parser(
            "check", help="list every fault; exit status 1 if there are any"
        )
        checks.add_argument("course", nargs="?", help="one course (all when left out)")
        checks.add_argument("--lesson", help="only files of this lesson (id or folder)")
        stamps = actions.add_parser(
            "stamp", help="write of=<hash> into the blocks of a translation that have none"
        )
        stamps.add_argument("course")
        stamps.add_argument("--language", help="one language (all translations when left out)")
        stamps.add_argument("--lesson", help="one lesson (id or folder)")
        stamps.add_argument(
            "--again",
            action="store_true",
            help="also blocks that are stale: they were retranslated",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["action"] == "check":
            self.check_courses(options["course"], options["lesson"])
        else:
            self.stamp_course(options)

    def check_courses(self, only: str | None, lesson: str | None) -> None:
        root = Path(settings.COURSES_DIR)
        folders = [path.parent for path in sorted(root.glob("*/course.yaml"))]
        folders = [folder for folder in folders if only in (None, folder.name)]
        if not folders:
            raise CommandError(f"There is no course {only or ''} in {root}.")
        faults = []
        for folder in folders:
            shelf = read_shelf(folder)
            faults += check(shelf)
            steps = sum(len(item.steps) for item in shelf.course.lessons)
            self.stdout.write(
                f"{shelf.course.id}: {len(shelf.course.lessons)} lessons, {steps} steps, "
                f"{', '.join(shelf.course.languages)}"
            )
        if lesson:
            faults = [fault for fault in faults if lesson in _names(fault.file)]
        for fault in faults:
            self.stdout.write(self.style.ERROR(f"  {fault}"))
        if faults:
            raise CommandError(f"{len(faults)} faults.", returncode=1)
        self.stdout.write(self.style.SUCCESS("No faults."))

    def stamp_course(self, options: dict[str, Any]) -> None:
        folder = Path(settings.COURSES_DIR) / options["course"]
        if not (folder / "course.yaml").exists():
            raise CommandError(f"There is no course {options['course']}.")
        shelf = read_shelf(folder)
        languages = shelf.course.languages[1:]
        if options["language"] and options["language"] not in languages:
            raise CommandError(f"{options['language']} is none of {', '.join(languages)}.")
        count = 0
        for path in _folders(shelf, options["lesson"]):
            for language in [options["language"]] if options["language"] else languages:
                count += self.stamp_file(path, shelf, language, options["again"])
        self.stdout.write(f"{count} blocks stamped.")

    def stamp_file(self, folder: Path, shelf: Shelf, language: str, again: bool) -> int:
        file = folder / f"{language}.md"
        if not file.exists():
            return 0
        source = read_blocks(folder / f"{shelf.course.source_language}.md", "", [])
        hashes = {block.id: block.hash for block in source.values()}
        text, stamped = stamp(file.read_text(encoding="utf-8"), hashes, again=again)
        if stamped:
            file.write_text(text, encoding="utf-8")
        return len(stamped)


def _folders(shelf: Shelf, lesson: str | None) -> list[Path]:
    if lesson is None:
        return [shelf.folder, *(shelf.folder / item.folder for item in shelf.course.lessons)]
    found = [item for item in shelf.course.lessons if lesson in (item.id, item.folder)]
    if not found:
        raise CommandError(f"There is no lesson {lesson}.")
    return [shelf.folder / found[0].folder]


def _names(file: str) -> set[str]:
    folder = file.split("/")[1]
    return {folder, folder.lstrip("0123456789").lstrip("-")}
