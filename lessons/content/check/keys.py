"""Answer keys that fail their own check, and wrong answers that pass it."""

from collections.abc import Iterator

from lessons.checking import Checked, Typed, Verdict, check, read
from lessons.content import structure as s
from lessons.numbers import show_number


def key_faults(field: s.Field) -> Iterator[str]:
    match field:
        case s.NumberField():
            yield from _number(field)
        case s.ChoiceField():
            answer: list[str] = list(field.answer)
            given = answer if field.multiple else answer[0]
            if _checked(field, given) != Checked(Verdict.RIGHT):
                yield f"the answer of “{field.id}” fails its own check."
            if len(field.options) < 2:
                yield f"“{field.id}” offers no choice."
        case s.OrderField():
            if _checked(field, list(field.answer)) != Checked(Verdict.RIGHT):
                yield f"the answer of “{field.id}” fails its own check."
            for pair in field.before:
                if field.answer.index(pair[0]) > field.answer.index(pair[1]):
                    yield f"the answer of “{field.id}” breaks its own rule {list(pair)}."
        case s.TextField():
            if not field.rubric:
                yield f"“{field.id}” has no rubric: an instructor would grade by nothing."


def _number(field: s.NumberField) -> Iterator[str]:
    for key in (field.answer, *field.accept):
        for language in ("en", "fr", "tr"):
            # The key as a reader would type it, with the decimals the field shows.
            typed = show_number(key, language, field.decimals)
            found = _checked(field, typed.replace(".", "") if language == "tr" else typed, language)
            if found is None and language == "en":
                continue  # 1,234: the page would ask
            if found != Checked(Verdict.RIGHT):
                yield f"the key {key} of “{field.id}”, typed as {typed}, fails its own check."
                break
    for typical in field.typical:
        found = _checked(field, repr(float(typical.value)))
        if found is not None and found.verdict is Verdict.RIGHT:
            yield f"the typical error {typical.value} of “{field.id}” passes as right."
        elif found is not None and found.hint != typical.hint:
            yield f"the typical error {typical.value} of “{field.id}” gets another one’s hint."


def _checked(field: s.Field, raw: str | list[str], language: str = "en") -> Checked | None:
    activity = s.Activity("key", (field,))
    reading = read(activity, {field.id: Typed(raw)}, language)
    return None if reading.problems else check(activity, reading.content)[field.id]
