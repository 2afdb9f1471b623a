"""Which blocks a course, a lesson and a step need, and which they may have."""

from collections.abc import Iterator
from dataclasses import dataclass

from lessons.content import structure as s
from lessons.content.faults import ContentError
from lessons.content.figures import placeholders
from lessons.content.library import Shelf, Texts
from lessons.content.page import parts_of


@dataclass(frozen=True)
class Wanted:
    """The block ids of one folder's language files."""

    required: frozenset[str]
    optional: frozenset[str]


@dataclass(frozen=True)
class Folder:
    """A folder with language files: the course's own, or a lesson's."""

    name: str  # as in Fault.file, without the language file
    texts: Texts
    wanted: Wanted
    glossary: bool = False

    def file(self, language: str) -> str:
        return f"{self.name}/{language}.md"

    def knows(self, block: str) -> bool:
        source = self.texts.languages[0]
        return (
            block in self.wanted.required
            or block in self.wanted.optional
            or (self.glossary and block.startswith("term."))
            or (
                self.glossary and f"term.{block.removeprefix('word.')}" in self.texts.blocks[source]
            )
        )


def folders(shelf: Shelf) -> Iterator[Folder]:
    course = shelf.course
    source = shelf.texts.blocks[course.source_language]
    words = {block.replace("term.", "word.", 1) for block in source if block.startswith("term.")}
    wanted = Wanted(frozenset({"title", "lede"} | words), frozenset({"audience"}))
    yield Folder(course.id, shelf.texts, wanted, glossary=True)
    for lesson in course.lessons:
        name = f"{course.id}/{lesson.folder}"
        yield Folder(name, shelf.lesson_texts[lesson.id], lesson_blocks(shelf, lesson))


def lesson_blocks(shelf: Shelf, lesson: s.Lesson) -> Wanted:
    required = {"title", "lede"}
    optional = {"goal"}
    for step in lesson.steps:
        required |= {f"{step.id}/{block}" for block in _required(shelf, lesson, step)}
        optional |= {f"{step.id}/{block}" for block in ("lede", "ask.title", "ask.explain")}
    return Wanted(frozenset(required), frozenset(optional - required))


def _required(shelf: Shelf, lesson: s.Lesson, step: s.Step) -> Iterator[str]:
    yield "title"
    for item in step.body:
        if isinstance(item, s.Passage):
            yield item.block
        elif isinstance(item, s.FigureRef):
            yield f"figure.{item.name}.caption"
            yield f"figure.{item.name}.alt"
            yield from _figure_texts(shelf, lesson, item)
    if step.activity:
        yield "ask.prompt"
        for field in step.activity.fields:
            base = f"ask.{field.id}"
            yield f"{base}.label"
            listed, hints = parts_of(field)
            yield from (f"{base}.{kind}.{name}" for kind, name in listed)
            yield from (f"{base}.hint.{hint}" for hint in hints)


def _figure_texts(shelf: Shelf, lesson: s.Lesson, figure: s.FigureRef) -> Iterator[str]:
    file = shelf.folder / lesson.folder / "figures" / f"{figure.name}.svg"
    try:
        yield from (f"figure.{figure.name}.{name}" for name in placeholders(file))
    except ContentError:
        return  # reported where the figure is rendered
