"""The fields of an Activity, read from `lesson.yaml`."""

from collections.abc import Callable

from lessons.content import structure as s
from lessons.content.strict import Node
from lessons.units import UNITS


def read_fields(activity: Node) -> tuple[s.Field, ...]:
    fields: list[s.Field] = []
    for index, node in enumerate(activity.nodes("fields")):
        field_id = node.slug("id")
        if any(field.id == field_id for field in fields):
            activity.fault(f"fields[{index}].id", f"“{field_id}” is the id of another field.")
        kind = node.one_of("kind", tuple(_KINDS))
        if kind is None:
            if not node.has("kind"):
                node.fault("kind", f"is missing: {', '.join(_KINDS)}.")
            continue
        fields.append(_KINDS[kind](node, field_id))
        node.end()
    return tuple(fields)


def _number(node: Node, field_id: str) -> s.NumberField:
    unit = node.optional_text("unit")
    if unit is not None and unit not in UNITS:
        node.fault("unit", f"“{unit}” is unknown; known: {', '.join(UNITS)}.")
        unit = None
    return s.NumberField(
        id=field_id,
        answer=node.number("answer"),
        accept=node.numbers("accept"),
        tolerance=_tolerance(node),
        unit=unit,
        decimals=node.whole("decimals") if node.has("decimals") else None,
        typical=tuple(_typical_number(item) for item in node.nodes("typical", required=False)),
        reveals=node.optional_text("reveals"),
    )


def _typical_number(node: Node) -> s.TypicalNumber:
    typical = s.TypicalNumber(node.number("value"), _tolerance(node), node.slug("hint"))
    node.end()
    return typical


def _tolerance(node: Node) -> s.Tolerance:
    return s.Tolerance(node.number("abs", 0.0), node.number("rel", 0.0))


def _choice(node: Node, field_id: str) -> s.ChoiceField:
    options = node.slugs("options")
    multiple = node.flag("multiple")
    answer = node.slugs("answer") if multiple else (node.slug("answer"),)
    for option in answer:
        if option not in options:
            node.fault("answer", f"“{option}” is not one of the options.")
    hints = {str(option): str(hint) for option, hint in node.mapping("hints").items()}
    for option in hints:
        if option not in options:
            node.fault("hints", f"“{option}” is not one of the options.")
        elif option in answer and not multiple:  # of several, it says what is missing
            node.fault("hints", f"“{option}” is the answer: it needs no hint.")
    reveals = node.optional_text("reveals")
    return s.ChoiceField(field_id, options, answer, multiple, hints, reveals)


def _order(node: Node, field_id: str) -> s.OrderField:
    items = node.slugs("items")
    answer = node.slugs("answer")
    if set(answer) != set(items):
        node.fault("answer", "it must hold every item once.")
    before: list[tuple[str, str]] = []
    for index, pair in enumerate(node.listing("before", required=False)):
        if isinstance(pair, list) and len(pair) == 2 and set(pair) <= set(items):
            before.append((pair[0], pair[1]))
        else:
            node.fault(f"before[{index}]", "write a pair of items: [earlier, later].")
    typical = []
    for item in node.nodes("typical", required=False):
        typical.append(s.TypicalOrder(item.slugs("order"), item.slug("hint")))
        item.end()
    return s.OrderField(field_id, items, answer, tuple(before), tuple(typical))


def _text(node: Node, field_id: str) -> s.TextField:
    low, high = node.whole("min", 1, low=1), node.whole("max", 4000, low=1)
    if low > high:
        node.fault("min", f"{low} is more than max, {high}.")
    if high > 20_000:
        node.fault("max", "at most 20000 characters can be stored.")
    return s.TextField(field_id, low, high, node.slugs("rubric", required=False))


_KINDS: dict[str, Callable[[Node, str], s.Field]] = {
    "number": _number,
    "choice": _choice,
    "order": _order,
    "text": _text,
}
