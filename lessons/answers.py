"""Answers: drafts that save themselves, submissions that cannot double, conflicts that show.

Every write says which `version` of the Answer its page had seen. If somebody (the same person
in another tab) has written since, nothing is overwritten: the write raises Conflict with what
stands there. A write of what is stored already is no write, so that a retry is harmless.
"""

import hashlib
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from lessons import checking
from lessons.checking import Problem, Typed
from lessons.content.structure import Activity
from lessons.models import Answer, Revision, State

LONGEST_FIELD = 20_000  # characters; what a person may type anywhere, a draft too
HISTORY = 20  # revisions that a page shows
MOST_REVISIONS = 500  # of one answer; nobody needs as many

Content = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Stored:
    """A revision as it stands in the database."""

    number: int
    state: str
    content: Content
    hash: str
    language: str
    verdicts: Mapping[str, Mapping[str, str]]
    at: datetime  # when it was last written

    @property
    def is_draft(self) -> bool:
        return self.state == State.DRAFT

    @property
    def is_aside(self) -> bool:
        return self.state == State.ASIDE

    @property
    def fingerprint(self) -> str:
        """The part of the hash that people compare."""
        return self.hash[:8]


@dataclass(frozen=True)
class History:
    """An Answer as a page sees it: its version, its draft and what was submitted, oldest first."""

    version: int = 0
    draft: Stored | None = None
    submitted: tuple[Stored, ...] = ()
    aside: tuple[Stored, ...] = ()  # drafts that gave way to another when accounts were merged

    @property
    def earlier(self) -> list[Stored]:
        """Everything kept that the form does not hold: under a draft, all that was submitted."""
        behind = self.submitted if self.draft else self.submitted[:-1]
        return sorted((*behind, *self.aside), key=lambda old: old.number)

    @property
    def last(self) -> Stored | None:
        return self.submitted[-1] if self.submitted else None

    @property
    def current(self) -> Stored | None:
        """What the form holds: the draft, or else what was submitted last."""
        return self.draft or self.last


NOTHING = History()


class Conflict(Exception):
    """Another page has written since; `stored` is what stands there now."""

    def __init__(self, stored: Stored, version: int) -> None:
        super().__init__("the answer has changed since the page was opened")
        self.stored, self.version = stored, version


class Refused(Exception):
    """What was typed cannot be submitted yet: a Problem for each field that needs a change."""

    def __init__(self, problems: Mapping[str, Problem]) -> None:
        super().__init__(", ".join(problems))
        self.problems = problems


class Full(Exception):
    """The answer has as many revisions as are kept."""


@dataclass(frozen=True)
class Saved:
    stored: Stored
    version: int


def history(person: Any, course: str, activity: str) -> History:
    """This person's revisions of the Activity, in one query."""
    if not person.is_authenticated:
        return NOTHING
    rows = list(
        Revision.objects.filter(
            answer__person=person, answer__course=course, answer__activity=activity
        )
        .select_related("answer")
        .order_by("-number")[: HISTORY + 1]
    )
    if not rows:
        return NOTHING
    rows.reverse()
    submitted = tuple(_stored(row) for row in rows if row.state == State.SUBMITTED)
    aside = tuple(_stored(row) for row in rows if row.state == State.ASIDE)
    draft = next((row for row in rows if row.state == State.DRAFT), None)
    return History(rows[0].answer.version, _stored(draft) if draft else None, submitted, aside)


def save_draft(
    person: Any,
    course: str,
    activity: Activity,
    typed: Mapping[str, Typed],
    base: int,
    language: str,
) -> Saved:
    """Keep what was typed so far. Raises Conflict, or Refused when a field is far too long."""
    _require_size(typed)
    content = _raw(typed)
    digest = content_hash(content)
    with transaction.atomic():
        answer = _locked(person, course, activity)
        draft = answer.revisions.filter(state=State.DRAFT).first()
        current = draft or answer.revisions.filter(state=State.SUBMITTED).last()
        if current and current.content_hash == digest:
            return Saved(_stored(current), answer.version)
        _require_base(answer, current, base)
        now = timezone.now()
        draft = draft or Revision(answer=answer, number=_next(answer), created_at=now)
        draft.content, draft.content_hash, draft.language = content, digest, language
        draft.saved_at = now
        draft.save()
        return Saved(_stored(draft), _grown(answer))


def submit(
    person: Any,
    course: str,
    activity: Activity,
    typed: Mapping[str, Typed],
    base: int,
    key: uuid.UUID,
    language: str,
    run: uuid.UUID | None = None,
) -> Saved:
    """Check and store what was typed, once per `key`; `run` is the Run the person had seen.

    Raises Refused, Conflict or Full.
    """
    reading = require_complete(activity, typed, language)
    digest = content_hash(_raw(typed))
    with transaction.atomic():
        answer = _locked(person, course, activity)
        draft = answer.revisions.filter(state=State.DRAFT).first()
        last = answer.revisions.filter(state=State.SUBMITTED).last()
        current = draft or last
        if last and _same(last, digest, activity):  # a double click, or the other tab was first
            return _again(answer, last, draft, digest, base)
        if answer.revisions.filter(key=key).exists():  # this page's first click is in already
            assert current is not None
            raise Conflict(_stored(current), answer.version)
        if not (draft and draft.content_hash == digest):
            _require_base(answer, current, base)
        now = timezone.now()
        row = draft or Revision(answer=answer, number=_next(answer), created_at=now)
        row.state, row.key, row.language, row.run = State.SUBMITTED, key, language, run
        row.content, row.content_hash = reading.content, digest
        row.saved_at = row.submitted_at = now
        _check(row, activity)
        row.save()
        return Saved(_stored(row), _grown(answer))


def require_complete(
    activity: Activity, typed: Mapping[str, Typed], language: str
) -> checking.Reading:
    """What was typed, read. Raises Refused while a field cannot be submitted."""
    _require_size(typed)
    reading = checking.read(activity, dict(typed), language)
    if reading.problems:
        raise Refused(reading.problems)
    return reading


def content_hash(content: Mapping[str, Any]) -> str:
    """SHA-256 of what was typed, as canonical JSON. The values read from it are not part of it."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _raw(typed: Mapping[str, Typed]) -> Content:
    return {name: item.to_json() for name, item in typed.items()}


def _require_size(typed: Mapping[str, Typed]) -> None:
    problems = {
        name: Problem("text-too-long", str(len(item.raw) - LONGEST_FIELD))
        for name, item in typed.items()
        if len(item.raw) > LONGEST_FIELD
    }
    if problems:
        raise Refused(problems)


def _locked(person: Any, course: str, activity: Activity) -> Answer:
    """The Answer's row, which nobody else writes until the transaction ends."""
    Answer.objects.get_or_create(person=person, course=course, activity=activity.id)
    return Answer.objects.select_for_update().get(
        person=person, course=course, activity=activity.id
    )


def _require_base(answer: Answer, current: Revision | None, base: int) -> None:
    if current is not None and answer.version != base:
        raise Conflict(_stored(current), answer.version)


def _again(answer: Answer, last: Revision, draft: Revision | None, digest: str, base: int) -> Saved:
    """What is sent is what was sent last: nothing new, and a draft in between is taken back."""
    if draft is None:
        return Saved(_stored(last), answer.version)
    if draft.content_hash != digest:
        _require_base(answer, draft, base)
    draft.delete()
    return Saved(_stored(last), _grown(answer))


def _check(row: Revision, activity: Activity) -> None:
    row.checked_as = checking.key_hash(activity)
    verdicts = checking.check(activity, row.content)
    row.verdicts = {name: verdict.to_json() for name, verdict in verdicts.items()}


def _same(last: Revision, digest: str, activity: Activity) -> bool:
    return last.content_hash == digest and last.checked_as == checking.key_hash(activity)


def _next(answer: Answer) -> int:
    last = answer.revisions.last()
    if last and last.number >= MOST_REVISIONS:
        raise Full
    return last.number + 1 if last else 1


def _grown(answer: Answer) -> int:
    answer.version += 1
    answer.save(update_fields=["version"])
    return answer.version


def _stored(row: Revision) -> Stored:
    return Stored(
        number=row.number,
        state=row.state,
        content=row.content,
        hash=row.content_hash,
        language=row.language,
        verdicts=row.verdicts,
        at=row.submitted_at or row.saved_at,
    )
