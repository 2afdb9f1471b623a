"""Faults of the language-neutral side: names that lead nowhere, ids, files, answer keys."""

from collections.abc import Iterator

from kernels import registry
from kernels.procedure import BadParameter
from kernels.registry import UnknownProcedure
from lessons.content import structure as s
from lessons.content.check.blocks import folders
from lessons.content.check.keys import key_faults
from lessons.content.faults import ContentError, Fault
from lessons.content.kernel_table import mapping_faults
from lessons.content.library import Shelf
from lessons.content.page import Renderer, course_links
from lessons.content.prose import Prose
from lessons.content.sources import source_text

FORM_NAMES = {"base", "key", "do", "move", "csrfmiddlewaretoken"}  # fields of the form itself


def structure_faults(shelf: Shelf) -> Iterator[Fault]:
    """Includes what only shows when every step is rendered in every language."""
    yield from _folders_listed(shelf)
    yield from _activity_ids(shelf)
    yield from _figures_used(shelf)
    yield from _kernels(shelf)
    yield from _glossary(shelf)
    for lesson in shelf.course.lessons:
        file = f"{shelf.course.id}/{lesson.folder}/lesson.yaml"
        for step in lesson.steps:
            for sentence in _step(step):
                yield Fault(file, step.id, sentence)
        yield from _rendering(shelf, lesson)
    for folder in folders(shelf):
        source = folder.texts.languages[0]
        if not folder.texts.blocks[source]:
            yield Fault(folder.file(source), "", "the file is missing or holds no block.")
            continue
        for block in sorted(folder.wanted.required - set(folder.texts.blocks[source])):
            yield Fault(folder.file(source), block, "this block is missing.")


def _folders_listed(shelf: Shelf) -> Iterator[Fault]:
    listed = {lesson.folder for lesson in shelf.course.lessons}
    for path in sorted(shelf.folder.glob("*/lesson.yaml")):
        if path.parent.name not in listed:
            yield Fault(
                f"{shelf.course.id}/course.yaml",
                "lessons",
                f"the folder {path.parent.name} is not listed: nobody can reach its steps.",
            )
    seen: set[str] = set()
    for lesson in shelf.course.lessons:
        if lesson.id in seen:
            yield Fault(
                f"{shelf.course.id}/{lesson.folder}/lesson.yaml",
                "id",
                f"“{lesson.id}” is the id of another lesson.",
            )
        seen.add(lesson.id)


def _activity_ids(shelf: Shelf) -> Iterator[Fault]:
    seen: dict[str, str] = {}
    for lesson, step in shelf.course.steps():
        if step.activity is None:
            continue
        place = f"{lesson.id}/{step.id}"
        if step.activity.id in seen:
            yield Fault(
                f"{shelf.course.id}/{lesson.folder}/lesson.yaml",
                f"{step.id}.activity.id",
                f"“{step.activity.id}” is the id of the activity of {seen[step.activity.id]} too.",
            )
        seen.setdefault(step.activity.id, place)


def _figures_used(shelf: Shelf) -> Iterator[Fault]:
    for lesson in shelf.course.lessons:
        used = {
            item.name
            for step in lesson.steps
            for item in step.body
            if isinstance(item, s.FigureRef)
        }
        for path in sorted((shelf.folder / lesson.folder / "figures").glob("*")):
            if path.stem not in used or path.suffix != ".svg":
                name = f"{shelf.course.id}/{lesson.folder}/figures/{path.name}"
                yield Fault(name, "", "no step shows this figure.")


def _kernels(shelf: Shelf) -> Iterator[Fault]:
    shows = any(isinstance(i, s.KernelsRef) for _, step in shelf.course.steps() for i in step.body)
    if shows or shelf.course.kernels:
        for sentence in mapping_faults(shelf.course):
            yield Fault(f"{shelf.course.id}/course.yaml", "kernels", sentence)


def _step(step: s.Step) -> Iterator[str]:
    if step.run:
        yield from _run(step.run)
    for item in step.body:
        if isinstance(item, s.SourceRef):
            yield from _marks(item)
    calculators = [item.name for item in step.body if isinstance(item, s.CalculatorRef)]
    for name in sorted({name for name in calculators if calculators.count(name) > 1}):
        yield f"the calculator “{name}” stands twice: their addresses would be one."
    for field in step.activity.fields if step.activity else ():
        if field.id in FORM_NAMES:
            yield f"a field may not be called “{field.id}”: the form uses that name."
        yield from key_faults(field)


def _run(run: s.RunSpec) -> Iterator[str]:
    try:
        procedure = registry.get(run.procedure)
        registry.parse(procedure, run.parameters)
    except (UnknownProcedure, BadParameter) as error:
        yield str(error)
    else:
        if run.version not in procedure.versions:
            known = ", ".join(str(version) for version in procedure.versions)
            yield f"{run.procedure} has no version {run.version}; it has {known}."
    if run.gpu:
        yield from _run(run.gpu)


def _marks(ref: s.SourceRef) -> Iterator[str]:
    texts = []
    for symbol in ref.versions.values():
        try:
            texts.append(source_text(symbol.path, symbol.name))
        except ContentError:
            return  # reported where the step is rendered
    for mark in ref.mark:
        if not any(mark in text for text in texts):
            yield f"no line of {next(iter(ref.versions.values()))} holds “{mark}”."


def _rendering(shelf: Shelf, lesson: s.Lesson) -> Iterator[Fault]:
    """What only shows when a step is rendered: formulas, links, terms, figures, sources."""
    for language in shelf.course.languages:
        for step in lesson.steps:
            for sentence in Renderer(shelf, lesson, step, language).page().mistakes:
                yield Fault(f"{shelf.course.id}/{lesson.folder}/{language}.md", step.id, sentence)


def _glossary(shelf: Shelf) -> Iterator[Fault]:
    for language in shelf.course.languages:
        prose = Prose(course_links(shelf, language))
        for block in shelf.texts.blocks.get(language, {}).values():
            prose.html(block.text)
            for sentence in prose.mistakes:
                yield Fault(f"{shelf.course.id}/{language}.md", block.id, sentence)
            prose.mistakes.clear()
