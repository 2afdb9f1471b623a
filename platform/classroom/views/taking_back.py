"""Undo: the last grade (or decision over a group) of this session can be taken back once."""

import uuid
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from classroom import grading, groups
from classroom.access import teaching
from classroom.desk import judged
from classroom.grading import AnswerGone, Conflict, Judgement, Written
from classroom.models import Cohort, GroupDecision
from classroom.passages import Passage

_SESSION = "last-graded"


@dataclass(frozen=True)
class Remembered:
    """What would be taken back, for the page that offers it."""

    activity: str
    ref: str  # "" for a group
    decision: str = ""


def remember_grade(request: HttpRequest, activity: str, ref: str, written: Written) -> None:
    request.session[_SESSION] = {
        "cohort": str(written.grade.cohort_id),
        "activity": activity,
        "ref": ref,
        "revision": str(written.grade.revision_id),
        "seen": written.grade.version,
        "before": judged(written.before) if written.before else None,
    }


def remember_decision(request: HttpRequest, decision: GroupDecision) -> None:
    request.session[_SESSION] = {
        "cohort": str(decision.cohort_id),
        "activity": decision.activity,
        "ref": "",
        "decision": str(decision.pk),
    }


def remembered(request: HttpRequest, cohort: Cohort) -> Remembered | None:
    kept = request.session.get(_SESSION)
    if not kept or kept["cohort"] != str(cohort.id):
        return None
    return Remembered(kept["activity"], kept["ref"], kept.get("decision", ""))


@require_POST
def undo(request: HttpRequest, cohort: uuid.UUID) -> HttpResponse:
    """Take back what this session graded last."""
    teach = teaching(request, cohort)
    kept = request.session.get(_SESSION)
    if not kept or kept["cohort"] != str(teach.cohort.id):
        messages.info(request, _("There is nothing to take back."))
        return redirect("classroom:queue", teach.cohort.id)
    del request.session[_SESSION]
    if kept.get("decision"):
        return undone(request, teach.cohort, uuid.UUID(kept["decision"]))
    try:
        grading.take_back(
            teach.cohort, request.user, uuid.UUID(kept["revision"]), _judgement(kept["before"]),
            kept["seen"],
        )  # fmt: skip
    except Conflict:
        messages.error(
            request, _("This grade was changed since: it is not taken back. Here it stands.")
        )
    except AnswerGone:
        messages.error(request, _("The answer is gone, and its grade with it."))
        return redirect("classroom:question", teach.cohort.id, kept["activity"])
    else:
        messages.success(
            request, _("Your last grade is taken back. This is the answer it was for.")
        )
    return redirect("classroom:grade", teach.cohort.id, kept["activity"], kept["ref"])


@require_POST
def undo_decision(request: HttpRequest, cohort: uuid.UUID, decision: uuid.UUID) -> HttpResponse:
    return undone(request, teaching(request, cohort).cohort, decision)


def undone(request: HttpRequest, cohort: Cohort, decision_id: uuid.UUID) -> HttpResponse:
    done = groups.undo(cohort, request.user, decision_id)
    decision = GroupDecision.objects.filter(cohort=cohort, pk=decision_id).first()
    if done is None or decision is None:
        messages.info(request, _("This decision was taken back before."))
    else:
        _say_undone(request, *done)
    if decision is None:
        return redirect("classroom:queue", cohort.id)
    return redirect("classroom:question", cohort.id, decision.activity)


def _say_undone(request: HttpRequest, gone: int, kept: int) -> None:
    said = ngettext(
        "The decision is taken back: %(n)d answer waits again.",
        "The decision is taken back: %(n)d answers wait again.",
        gone,
    ) % {"n": gone}
    if kept:
        said += " " + ngettext(
            "%(n)d grade was edited since and stays.",
            "%(n)d grades were edited since and stay.",
            kept,
        ) % {"n": kept}
    messages.success(request, said)


def _judgement(kept: dict[str, Any] | None) -> Judgement | None:
    if kept is None:
        return None
    return Judgement(
        points=frozenset(kept["points"]),
        adjustment=Decimal(kept["adjustment"]),
        comment=kept["comment"],
        is_ungradable=kept["is_ungradable"],
        passages=tuple(Passage(**passage) for passage in kept["passages"]),
    )
