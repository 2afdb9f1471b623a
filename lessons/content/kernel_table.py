"""The table of an engine's kernels, made from `kernels/` and from where a course speaks of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kernels import registry
from kernels.andrea import listing
from lessons.content import structure as s
from lessons.content.faults import ContentError
from lessons.content.library import Shelf
from lessons.content.prose import Links, plain


@dataclass(frozen=True)
class Link:
    words: str
    address: str


@dataclass(frozen=True)
class Check:
    """Where the check runs on a page, if a step runs it; and at a terminal, always."""

    name: str
    step: Link | None
    command: str


@dataclass(frozen=True)
class Row:
    forward: tuple[Link, ...]
    backward: tuple[Link, ...]
    beside: tuple[Link, ...]  # kernels without a twin
    faster: tuple[Link, ...]
    weights: tuple[str, ...]
    saved: tuple[str, ...]
    check: Check
    lesson: Link

    @property
    def more(self) -> bool:
        """Whether a second line has something to say."""
        return bool(self.faster or (self.forward and self.beside))


@dataclass(frozen=True)
class KernelTable:
    pairs: tuple[Row, ...]
    left_out: tuple[Row, ...]  # what lists of eight pairs leave out, utilities among it


def kernel_table(shelf: Shelf, links: Links, language: str) -> KernelTable:
    """Raises ContentError where the course does not say which step is about an operator."""
    maker = _Maker(shelf, links, language)
    return KernelTable(
        tuple(maker.row(item) for item in listing.pairs()),
        tuple(maker.row(item) for item in listing.left_out()),
    )


def mapping_faults(course: s.Course) -> Iterator[str]:
    """What is wrong with the `kernels` of a course.yaml, where it shows the table."""
    known = [item.name for item in (*listing.pairs(), *listing.left_out())]
    for name in known:
        if name not in course.kernels:
            yield f"kernels: say which step is about “{name}”: {name}: lesson/step."
    for name, place in course.kernels.items():
        if name not in known:
            yield f"kernels: there is no operator “{name}”; known: {', '.join(known)}."
        elif _step(course, place) is None:
            yield f"kernels.{name}: there is no step “{place}”."


class _Maker:
    def __init__(self, shelf: Shelf, links: Links, language: str) -> None:
        self.shelf, self.links, self.language = shelf, links, language

    def row(self, item: listing.Listed) -> Row:
        place = self.shelf.course.kernels.get(item.name, "")
        if not place:
            raise ContentError(f"course.yaml does not say which step is about “{item.name}”.")
        return Row(
            forward=self.sources(item.forward),
            backward=self.sources(item.backward),
            beside=self.sources(item.beside),
            faster=self.sources(item.faster),
            weights=item.weights,
            saved=item.saved,
            check=self.check(item.check),
            lesson=Link(self.short_title(place.partition("/")[0]), self.links.step(place)),
        )

    def sources(self, kernels: tuple[listing.Kernel, ...]) -> tuple[Link, ...]:
        return tuple(Link(kernel.name, self.links.source(str(kernel))) for kernel in kernels)

    def check(self, name: str) -> Check:
        registry.get(name)  # raises UnknownProcedure: a test keeps the names true
        place = running(self.shelf.course, name)
        step = None
        if place:
            lesson_id, _, step_id = place.partition("/")
            step = Link(self.title(lesson_id, f"{step_id}/title"), self.links.step(place))
        return Check(name, step, f"python -m kernels {name}")

    def short_title(self, lesson_id: str) -> str:
        """What stands before the colon of a lesson's title."""
        return self.title(lesson_id).partition(":")[0].strip()

    def title(self, lesson_id: str, block: str = "title") -> str:
        return plain(self.shelf.lesson_texts[lesson_id].get(block, self.language).markdown)


def running(course: s.Course, procedure: str) -> str:
    """The step that runs a Procedure: rather as it stands than one of its wrong versions."""
    found: Mapping[bool, str] = {
        "mutant" in step.run.parameters: f"{lesson.id}/{step.id}"
        for lesson, step in reversed(list(course.steps()))
        if step.run and step.run.procedure == procedure
    }
    return found.get(False) or found.get(True, "")


def _step(course: s.Course, place: str) -> s.Step | None:
    lesson_id, _, step_id = place.partition("/")
    lesson = course.lesson(lesson_id)
    return lesson.step(step_id) if lesson else None
