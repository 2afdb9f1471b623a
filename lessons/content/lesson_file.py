"""`course.yaml` and `lesson.yaml` into the dataclasses of `structure`."""

from collections.abc import Callable
from pathlib import Path

from lessons.calculators import CALCULATORS
from lessons.content import structure as s
from lessons.content.faults import Fault
from lessons.content.fields import read_fields
from lessons.content.strict import Node, load

ENGINES = ("andrea",)  # whose kernels a table can list
RESERVED = {
    "runs",
    "account",
    "classroom",
    "lti",
    "search",
    "source",
    "print",
}  # words of the site's addresses


def read_course(folder: Path, faults: list[Fault]) -> tuple[s.Course, tuple[str, ...]]:
    """The course without its lessons, and the folders of those in order."""
    top = load(folder / "course.yaml", f"{folder.name}/course.yaml", faults)
    course_id = top.slug("id", folder.name)
    if course_id != folder.name:
        top.fault("id", f"“{course_id}” is not the folder's name, “{folder.name}”.")
    if course_id in RESERVED:
        top.fault("id", f"“{course_id}” is a word of the site's own addresses.")
    languages = top.slugs("languages") or ("en",)
    folders = top.slugs("lessons")
    kernels = {str(name): str(place) for name, place in top.mapping("kernels").items()}
    top.end()
    return s.Course(course_id, languages, (), kernels), folders


def read_lesson(folder: Path, faults: list[Fault]) -> s.Lesson:
    top = load(folder / "lesson.yaml", f"{folder.parent.name}/{folder.name}/lesson.yaml", faults)
    slug = folder.name.lstrip("0123456789").lstrip("-")
    lesson_id = top.slug("id", slug)
    if lesson_id != slug:
        top.fault("id", f"“{lesson_id}” is not the folder's name without its number, “{slug}”.")
    minutes = top.whole("minutes", low=1)
    steps = tuple(_step(node) for node in top.nodes("steps"))
    seen: set[str] = set()
    for index, step in enumerate(steps):
        if step.id in seen:
            top.fault(f"steps[{index}].id", f"“{step.id}” is the id of another step.")
        seen.add(step.id)
    top.end()
    return s.Lesson(lesson_id, folder.name, minutes, steps)


def _step(node: Node) -> s.Step:
    step_id = node.slug("id")
    if step_id in RESERVED:
        node.fault("id", f"“{step_id}” is a word of the site's own addresses.")
    items = [_body_item(node, index, item) for index, item in enumerate(node.listing("body"))]
    body = [item for item in items if item is not None]
    run = _run(node) if node.has("run") else None
    activity = _activity(node.node("activity")) if node.has("activity") else None
    asks = sum(isinstance(item, s.Ask) for item in body)
    if asks and activity is None:
        node.fault("body", "“ask” stands here, but the step has no activity.")
    if asks > 1:
        node.fault("body", "“ask” stands twice.")
    if activity and not asks:
        body.append(s.Ask())
    if activity and activity.predict and run is None:
        node.fault("activity.predict", "there is no run that the hypothesis could unlock.")
    node.end()
    return s.Step(step_id, tuple(body), run, activity)


def _body_item(step: Node, index: int, item: object) -> s.BodyItem | None:
    where = f"body[{index}]"
    if item == "ask":
        return s.Ask()
    if not isinstance(item, dict) or len(item) != 1:
        step.fault(where, "write one “kind: what” pair, or “ask”.")
        return None
    node = Node(item, step.file, step.path(where), step.faults)
    (kind,) = item
    read = _ITEMS.get(str(kind))
    if read is None:
        step.fault(where, f"“{kind}” is unknown; known: ask, {', '.join(_ITEMS)}.")
        return None
    return read(node, str(kind))


def _passage(node: Node, kind: str) -> s.Passage:
    return s.Passage(s.PassageKind(kind), node.slug(kind))


def _source(node: Node, kind: str) -> s.SourceRef:
    short = isinstance(node.value[kind], str)
    inner = (
        Node({"ref": node.value[kind]}, node.file, node.path(kind), node.faults)
        if short
        else (node.node(kind))
    )
    path, _, symbol = inner.text("ref").partition("::")
    if not symbol:
        inner.fault("ref", "write file::symbol, as in kernels/rmsnorm.py::forward_kernel.")
    versions = {}
    for number, name in inner.mapping("versions").items():
        if isinstance(number, int) and isinstance(name, str):
            file, _, written = name.rpartition("::")
            versions[number] = s.Symbol(file or path, written)
        else:
            inner.fault("versions", "write version numbers with symbols, or file::symbol.")
    direction = inner.one_of("direction", ("forward", "backward"))
    mark = inner.texts("mark")
    inner.end()
    return s.SourceRef(versions or {1: s.Symbol(path, symbol)}, direction, mark)


def _calculator(node: Node, kind: str) -> s.CalculatorRef | None:
    """`calculator: memory`, or with what its entries hold at first: `{name: memory, batch: 4}`."""
    starts: dict[str, str] = {}
    if isinstance(node.value[kind], str):
        name = node.one_of(kind, tuple(CALCULATORS))
    else:
        inner = node.node(kind)
        name = inner.one_of("name", tuple(CALCULATORS))
        starts = {str(k): str(v) for k, v in inner.value.items() if k != "name"}
        if name is None and not inner.has("name"):
            inner.fault("name", f"is missing: {', '.join(CALCULATORS)}.")
    if name is None:
        return None
    for entry, start in starts.items():
        found = CALCULATORS[name].entry(entry)
        if found is None:
            known = ", ".join(item.name for item in CALCULATORS[name].entries)
            node.fault(kind, f"“{entry}” is no entry of it; known: {known}.")
        elif not found.accepts(start):
            node.fault(kind, f"{entry}: “{start}” is not accepted.")
    return s.CalculatorRef(name, starts)


def _kernels(node: Node, kind: str) -> s.KernelsRef | None:
    engine = node.one_of(kind, ENGINES)
    return s.KernelsRef(engine) if engine else None


_ITEMS: dict[str, Callable[[Node, str], s.BodyItem | None]] = {
    "prose": _passage,
    "example": _passage,
    "rule": _passage,
    "perimeter": _passage,
    "math": lambda node, kind: s.Formula(node.text(kind)),
    "figure": lambda node, kind: s.FigureRef(node.slug(kind)),
    "source": _source,
    "terminal": lambda node, kind: s.Terminal(node.text(kind)),
    "calculator": _calculator,
    "kernels": _kernels,
}


def _run(step: Node) -> s.RunSpec:
    if isinstance(step.value["run"], str):
        return s.RunSpec(step.text("run"))
    node = step.node("run")
    procedure = node.text("procedure")
    parameters = node.mapping("parameters")
    version = node.whole("version", 1, low=1)
    gpu = _on_gpu(node.node("gpu"), procedure, version) if node.has("gpu") else None
    node.end()
    return s.RunSpec(procedure, parameters, version, gpu)


def _on_gpu(node: Node, procedure: str, version: int) -> s.RunSpec:
    """The same Procedure, otherwise: all of its parameters, and a version of its own."""
    parameters = node.mapping("parameters")
    version = node.whole("version", version, low=1)
    node.end()
    return s.RunSpec(procedure, parameters, version)


def _activity(node: Node) -> s.Activity:
    activity_id = node.slug("id")
    predict = node.flag("predict")
    fields = read_fields(node)
    node.end()
    return s.Activity(activity_id, fields, predict)
