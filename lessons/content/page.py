"""A step rendered in one language, kept until a file of its course changes."""

from collections.abc import Iterable, Mapping
from urllib.parse import quote

from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import override

from lessons.checking import INCOMPLETE
from lessons.content import parts as p
from lessons.content import structure as s
from lessons.content.faults import ContentError
from lessons.content.figures import inline as inline_figure
from lessons.content.formulas import formula
from lessons.content.highlight import code_lines
from lessons.content.kernel_table import KernelTable, kernel_table
from lessons.content.library import Library, Shelf, State, Text
from lessons.content.prose import Links, Prose, plain
from lessons.content.sources import source_text
from lessons.content.written import Written, written


def step_page(
    library: Library, shelf: Shelf, lesson: s.Lesson, step: s.Step, language: str
) -> p.StepPage:
    key = ("step", shelf.course.id, lesson.id, step.id, language)
    return library.keep(key, lambda: Renderer(shelf, lesson, step, language).page())


def course_links(shelf: Shelf, language: str, shown: Mapping[str, str] | None = None) -> Links:
    """Where links in this course lead; `shown` are the sources on the page, with their ids."""
    course = shelf.course

    def step_address(target: str) -> str:
        lesson_id, _, step_id = target.partition("/")
        lesson = course.lesson(lesson_id)
        if lesson is None or (step_id and lesson.step(step_id) is None):
            raise ContentError(f"there is no step “{target}” to link to.")
        name, place = (
            ("step", (course.id, lesson_id, step_id))
            if step_id
            else (
                "lesson",
                (course.id, lesson_id),
            )
        )
        with override(language):
            return reverse(f"lessons:{name}", args=place)

    def term_anchor(term: str) -> str:
        if not shelf.texts.get(f"term.{term}", language):
            raise ContentError(f"the glossary has no term “{term}”.")
        return f"#term-{term}"

    def source_address(target: str) -> str:
        path, _, symbol = target.partition("::")
        source_text(path, symbol)
        if shown and target in shown:
            return f"#{shown[target]}"
        with override(language):
            return f"{reverse('lessons:source', args=[path])}?symbol={quote(symbol)}#here"

    return Links(step_address, term_anchor, source_address)


class Renderer:
    """Renders one step; what went wrong on the way is in `prose.mistakes`."""

    def __init__(self, shelf: Shelf, lesson: s.Lesson, step: s.Step, language: str) -> None:
        self.shelf, self.lesson, self.step, self.language = shelf, lesson, step, language
        self.texts = shelf.lesson_texts[lesson.id]
        shown = {
            str(symbol): self.source_id(item)
            for item in step.body
            if isinstance(item, s.SourceRef)
            for symbol in item.versions.values()
        }
        self.links = course_links(shelf, language, shown)
        self.prose = Prose(self.links, language)
        self.names: set[str] = set()

    def page(self) -> p.StepPage:
        title = self.inline("title")
        lede = self.inline("lede")
        parts = tuple(self.part(item) for item in self.step.body)
        ask = self.ask(self.step.activity) if self.step.activity else None
        first = self.step == self.lesson.steps[0]
        return p.StepPage(
            goal=self.whole("goal") if first else None,
            title=title,
            lede=lede,
            parts=parts,
            ask=ask,
            definitions=self.definitions(),
            mistakes=tuple(dict.fromkeys(self.prose.mistakes)),
        )

    def text(self, block: str) -> Text:
        return self.texts.get(f"{self.step.id}/{block}", self.language)

    def inline(self, block: str) -> Written:
        text = self.text(block)
        return written(self.prose.inline(text.markdown) if text else "", text, self.language)

    def block(self, block: str) -> Written:
        text = self.text(block)
        return written(self.prose.html(text.markdown) if text else "", text, self.language)

    def whole(self, block: str) -> Written:
        """A block of the lesson itself."""
        text = self.texts.get(block, self.language)
        return written(self.prose.inline(text.markdown) if text else "", text, self.language)

    def part(self, item: s.BodyItem) -> p.Part:
        match item:
            case s.Passage(kind, block):
                return p.PassagePart(str(kind), self.block(block))
            case s.Formula(latex):
                return p.FormulaPart(self.formula(latex))
            case s.FigureRef(name):
                return self.figure(name)
            case s.SourceRef():
                return self.source(item)
            case s.Terminal(command):
                return p.TerminalPart(command)
            case s.CalculatorRef(name, starts):
                return p.CalculatorPart(name, starts)
            case s.KernelsRef():
                return self.kernels()
            case s.Ask():
                return p.AskPart()

    def formula(self, latex: str) -> SafeString:
        try:
            html = formula(latex, display=True, language=self.language)
        except ContentError as error:
            html = self.prose.mistake(error)
        return mark_safe(html)

    def figure(self, name: str) -> p.FigurePart:
        file = self.shelf.folder / self.lesson.folder / "figures" / f"{name}.svg"
        block = f"figure.{name}"
        try:
            svg = inline_figure(
                file,
                lambda text: plain(self.text(f"{block}.{text}").markdown),
                alt=plain(self.text(f"{block}.alt").markdown),
                prefix=self.unique(f"figure-{self.step.id}-{name}"),
            )
        except ContentError as error:
            svg = self.prose.mistake(error)
        return p.FigurePart(name, mark_safe(svg), self.inline(f"{block}.caption"))

    def source(self, ref: s.SourceRef) -> p.SourcePart:
        versions = []
        for number, symbol in sorted(ref.versions.items()):
            try:
                lines = code_lines(source_text(symbol.path, symbol.name), "python", ref.mark)
            except ContentError as error:
                lines = self.prose.mistake(error)
            versions.append(p.SourceVersion(number, symbol, mark_safe(lines)))
        name = self.unique(self.source_id(ref))
        current = versions[0].number
        return p.SourcePart(name, ref.direction, tuple(versions), current)

    def kernels(self) -> p.KernelsPart:
        try:
            return p.KernelsPart(kernel_table(self.shelf, self.links, self.language))
        except ContentError as error:
            self.prose.mistake(error)
            return p.KernelsPart(KernelTable((), ()))

    def source_id(self, ref: s.SourceRef) -> str:
        """Steps stand together when a lesson is printed, so an id names its step."""
        symbol = ref.versions[min(ref.versions)].name.replace(".", "-")
        return f"source-{self.step.id}-{symbol}"

    def unique(self, name: str) -> str:
        """The name, numbered when the page has it already: ids must not repeat."""
        candidate, count = name, 1
        while candidate in self.names:
            count += 1
            candidate = f"{name}-{count}"
        self.names.add(candidate)
        return candidate

    def ask(self, activity: s.Activity) -> p.AskTexts:
        return p.AskTexts(
            title=self.inline("ask.title"),
            prompt=self.block("ask.prompt"),
            explain=self.block("ask.explain"),
            fields={field.id: self.field_texts(field) for field in activity.fields},
        )

    def field_texts(self, field: s.Field) -> p.FieldTexts:
        listed, hints = parts_of(field)
        base = f"ask.{field.id}"
        return p.FieldTexts(
            label=self.inline(f"{base}.label"),
            options={
                name: self.inline(f"{base}.{kind}.{name}")
                for kind, name in listed
                if kind != "rubric"  # for instructors; never on a learner's page
            },
            hints=self.own_hints(field)
            | {hint: self.block(f"{base}.hint.{hint}") for hint in hints},
        )

    def own_hints(self, field: s.Field) -> dict[str, Written]:
        """Hints that are the site's own words."""
        if not isinstance(field, s.ChoiceField) or not field.multiple:
            return {}
        with override(self.language):
            sentence = escape(_("All that you ticked is right. It is not everything yet."))
        return {INCOMPLETE: Written(sentence, self.language, self.language, State.FRESH)}

    def definitions(self) -> tuple[p.Definition, ...]:
        """Of every term the page used; a definition may itself use terms, shown as well."""
        found: list[p.Definition] = []
        for term in self.prose.terms:  # grows while definitions are rendered
            text = self.shelf.texts.get(f"term.{term}", self.language)
            html = self.prose.inline(text.markdown)
            word = plain(self.shelf.texts.get(f"word.{term}", self.language).markdown)
            found.append(p.Definition(term, word or term, written(html, text, self.language)))
        return tuple(found)


def parts_of(field: s.Field) -> tuple[list[tuple[str, str]], list[str]]:
    """The (kind, id) of a field's listed texts, and the ids of its hints, each once."""
    match field:
        case s.ChoiceField():
            return [("option", o) for o in field.options], _once(field.hints.values())
        case s.OrderField():
            return [("item", i) for i in field.items], _once(t.hint for t in field.typical)
        case s.TextField():
            return [("rubric", r) for r in field.rubric], []
        case s.NumberField():
            return [], _once(t.hint for t in field.typical)


def _once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
