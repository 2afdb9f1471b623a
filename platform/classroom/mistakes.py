"""Wrong answers that many arrive at, said in the reader's language with the hint they get."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from classroom.models import Cohort
from classroom.overview import learner_ids
from lessons import checking
from lessons.checking import Verdict
from lessons.content import structure as s
from lessons.content.parts import AskTexts, FieldTexts
from lessons.content.written import Written
from lessons.models import Revision, State
from lessons.numbers import show_quantity
from lessons.views.found import reading_language

MOST_SHOWN = 5  # of one field


@dataclass(frozen=True)
class Mistake:
    """A wrong value of a field, and how many learners gave it at some try."""

    said: SafeString
    learners: int
    hint: Written | None


@dataclass(frozen=True)
class FieldMistakes:
    label: Written
    mistakes: Sequence[Mistake]
    others: int  # learners with rarer wrong values only
    wrong: int  # learners with any


def read_wrong(
    cohort: Cohort, asked: Iterable[s.Activity]
) -> dict[str, dict[str, dict[Any, set[uuid.UUID]]]]:
    """By Activity and field: each wrong value, with the people who gave it."""
    found: dict[str, dict[str, dict[Any, set[uuid.UUID]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(set))
    )
    fields = {activity.id: {item.id: item for item in activity.fields} for activity in asked}
    rows = Revision.objects.filter(
        answer__course=cohort.course,
        answer__activity__in=list(fields),
        answer__person__in=learner_ids(cohort),
        state=State.SUBMITTED,
    ).values_list("answer__activity", "answer__person_id", "content", "verdicts")
    for activity, person, content, verdicts in rows.iterator(chunk_size=500):
        for name, item in fields[activity].items():
            if verdicts.get(name, {}).get("verdict") != Verdict.WRONG:
                continue
            value = content.get(name, {}).get("value")
            if value is not None:
                found[activity][name][_canonical(item, value)].add(person)
    return found


def mistakes(
    activity: s.Activity, texts: AskTexts, wrong: dict[str, dict[Any, set[uuid.UUID]]]
) -> list[FieldMistakes]:
    """The most frequent wrong values of each field. A value that the key calls right by now is
    no mistake any more."""
    found = []
    for item in activity.fields:
        values = {
            value: people
            for value, people in wrong.get(item.id, {}).items()
            if _verdict(item, value).verdict == Verdict.WRONG
        }
        if not values:
            continue
        ranked = sorted(values.items(), key=lambda pair: (-len(pair[1]), str(pair[0])))
        shown, rest = ranked[:MOST_SHOWN], ranked[MOST_SHOWN:]
        told = set().union(*(people for _value, people in shown))
        texts_here = texts.fields[item.id]
        found.append(
            FieldMistakes(
                texts_here.label,
                [_mistake(item, texts_here, value, len(people)) for value, people in shown],
                len(set().union(*(people for _value, people in rest)) - told),
                len(set().union(*values.values())),
            )
        )
    return found


def _mistake(item: s.Field, texts: FieldTexts, value: Any, count: int) -> Mistake:
    hint = _verdict(item, value).hint
    return Mistake(_said(item, texts, value), count, texts.hints.get(hint) if hint else None)


def _canonical(item: s.Field, value: Any) -> Any:
    """One key for one value, whatever language it was typed in."""
    if isinstance(item, s.ChoiceField) and isinstance(value, list):
        return tuple(option for option in item.options if option in value)
    return tuple(value) if isinstance(value, list) else value


def _verdict(item: s.Field, value: Any) -> checking.Checked:
    """By the key as it is now: its hint is the one that is shown today."""
    plain = list(value) if isinstance(value, tuple) else value
    activity = s.Activity("", (item,))
    return checking.check(activity, {item.id: {"value": plain}})[item.id]


def _said(item: s.Field, texts: FieldTexts, value: Any) -> SafeString:
    if isinstance(item, s.NumberField):
        return format_html("{}", show_quantity(Fraction(value), item.unit, reading_language()))
    chosen = value if isinstance(value, tuple) else (value,)
    joint = " → " if isinstance(item, s.OrderField) else ", "
    words = ((texts.options[option].html,) for option in chosen if option in texts.options)
    return format_html_join(joint, "{}", words)
