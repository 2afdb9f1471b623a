"""Marks on their way to platforms: counted, sent, tried again. `work` is what the reaper calls.

No page waits for a platform. The rows of Score are the outbox: whoever holds the lease of one
sends it, and a process that is killed leaves rows that are due again when their lease is over.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, F, Max, Q, QuerySet
from django.utils import timezone
from lti_tool.models import LtiRegistration
from pylti1p3.assignments_grades import AssignmentsGradesService
from pylti1p3.exception import LtiException, LtiServiceException
from pylti1p3.grade import Grade as AgsGrade
from pylti1p3.lineitem import LineItem
from pylti1p3.service_connector import ServiceConnector
from requests import RequestException
from requests.exceptions import JSONDecodeError

from classroom.lti import counting, storage
from classroom.lti.outgoing import NotThere, Services
from classroom.models import Cohort, Score, SendState

log = logging.getLogger(__name__)

SCOPE = "https://purl.imsglobal.org/spec/lti-ags/scope/score"
AT_ONCE = 20  # scores with one access token, in one slice
LEASE = timedelta(minutes=2)
FIRST_PAUSE = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(hours=6)
MOST_TRIES = 14  # the last about two days after the first
_LATER = {401, 408, 425, 429}  # besides 5xx: not this score's fault


class Later(Exception):
    """The platform cannot be reached or is out of order: its scores wait. Holds a code."""


class Refused(Exception):
    """The platform does not take this score, and would not tomorrow. Holds a code."""


def work() -> bool:
    """A slice: marks that changed, scores that are due. Whether there is more to do at once."""
    looked = counting.look()
    sent = send_due()
    if not looked and not sent:
        storage.forget()
    return looked or sent


def send_due() -> bool:
    """Scores of one platform. Whether there were any."""
    due = _due().select_related("column__line_item__context__deployment__registration").first()
    if due is None:
        return False
    registration = due.column.line_item.context.deployment.registration
    _send_to(registration)
    return True


def send_again(cohort: Cohort) -> int:
    """Whatever a platform refused, once more; how many that is."""
    return Score.objects.filter(
        column__line_item__context__link__cohort=cohort, state=SendState.FAILED
    ).update(state=SendState.WAITING, tries=0, next_at=timezone.now())


@dataclass(frozen=True)
class Standing:
    """Of one lesson's marks at one platform."""

    platform: str
    lesson: str
    sent: int
    waiting: int
    refused: int
    last: datetime | None
    trouble: str  # a code, of one that has not arrived


def standing(cohort: Cohort) -> list[Standing]:
    """By lesson, in one query."""
    column = "column__line_item__context__deployment__registration__name"
    rows = (
        Score.objects.filter(column__line_item__context__link__cohort=cohort)
        .values(column, "column__lesson")
        .annotate(
            sent=Count("pk", filter=Q(state=SendState.SENT)),
            waiting=Count("pk", filter=Q(state=SendState.WAITING)),
            refused=Count("pk", filter=Q(state=SendState.FAILED)),
            last=Max("sent_at"),
            trouble=Max("trouble"),
        )
        .order_by(column, "column__lesson")
    )
    return [
        Standing(
            row[column], row["column__lesson"], row["sent"], row["waiting"], row["refused"],
            row["last"], row["trouble"],
        )
        for row in rows
    ]  # fmt: skip


def _due() -> QuerySet[Score]:
    context = "column__line_item__context"
    return Score.objects.filter(
        state=SendState.WAITING,
        next_at__lte=timezone.now(),
        **{
            f"{context}__link__isnull": False,
            f"{context}__deployment__is_active": True,
            f"{context}__deployment__registration__is_active": True,
        },
    ).order_by("next_at", "pk")


def _of(registration: LtiRegistration) -> Q:
    return Q(column__line_item__context__deployment__registration=registration)


def _send_to(registration: LtiRegistration) -> None:
    """Up to AT_ONCE scores. The first that finds the platform out of order lets all others wait,
    so that a platform that is away costs one attempt and not one for each learner."""
    connector: ServiceConnector | None = None
    for score in _claimed(_due().filter(_of(registration)).select_related(
        "column__line_item", "user"
    )[:AT_ONCE]):  # fmt: skip
        try:
            connector = connector or _connected(registration)
            _post(connector, score)
        except Later as away:
            _put_off(registration, score, str(away))
            return
        except Refused as refusal:
            _settle(score, SendState.FAILED, str(refusal))
        else:
            _settle(score, SendState.SENT)


def _claimed(scores: QuerySet[Score]) -> Iterator[Score]:
    for score in scores:
        mine = Score.objects.filter(
            pk=score.pk, state=SendState.WAITING, version=score.version, next_at=score.next_at
        )
        if mine.update(next_at=timezone.now() + LEASE):
            yield score


def _connected(registration: LtiRegistration) -> ServiceConnector:
    """With an access token, which it keeps for the scores that follow."""
    connector = ServiceConnector(registration.to_registration(), Services(registration))
    try:
        connector.get_access_token([SCOPE])
    except (LtiException, RequestException, KeyError, TypeError, ValueError) as error:
        log.warning("%s gives no access token: %s", registration, str(error)[:300])
        raise Later("token") from error
    return connector


def _post(connector: ServiceConnector, score: Score) -> None:
    address = score.column.line_item.url
    service = AssignmentsGradesService(connector, {"scope": [SCOPE], "lineitem": address})
    try:
        service.put_grade(_as_told(score), LineItem({"id": address}))
    except JSONDecodeError:
        pass  # it was taken; what the platform says about it is of no use to us
    except LtiServiceException as answer:
        code = answer.response.status_code
        log.warning("A platform answers a score with %s.", str(answer)[:300])
        raise (Later if code >= 500 or code in _LATER else Refused)(str(code)) from answer
    except NotThere as detour:
        raise Refused("address") from detour
    except (LtiException, RequestException) as error:
        log.warning("A score did not arrive: %s", str(error)[:300])
        raise Later("unreachable") from error


def _as_told(score: Score) -> AgsGrade:
    """In the service's terms. Where nothing counts yet, no points are told: that is not zero."""
    told = AgsGrade().set_user_id(score.user.sub)
    told.set_timestamp(timezone.now().isoformat(timespec="milliseconds"))
    told.set_activity_progress("Completed" if score.is_complete else "InProgress")
    if score.earned is None or not score.possible:
        return told.set_grading_progress("PendingManual" if score.is_waiting else "NotReady")
    told.set_score_given(float(score.earned)).set_score_maximum(float(score.possible))
    return told.set_grading_progress("PendingManual" if score.is_waiting else "FullyGraded")


def _settle(score: Score, state: SendState, trouble: str = "") -> None:
    """Unless the marks have changed meanwhile: then they are due once more, at once."""
    now = timezone.now()
    values = {"state": state, "trouble": trouble, "tries": score.tries + 1}
    if state == SendState.SENT:
        values |= {"sent_at": now, "tries": 0}
    Score.objects.filter(pk=score.pk, version=score.version).update(**values)


def _put_off(registration: LtiRegistration, score: Score, trouble: str) -> None:
    tries = score.tries + 1
    until = timezone.now() + min(FIRST_PAUSE * 2 ** (tries - 1), LONGEST_PAUSE)
    mine = Score.objects.filter(pk=score.pk, version=score.version)
    if tries >= MOST_TRIES:
        mine.update(state=SendState.FAILED, trouble=trouble, tries=tries)
    else:
        mine.update(next_at=until, trouble=trouble, tries=tries)
    others = Score.objects.filter(_of(registration), state=SendState.WAITING, next_at__lt=until)
    others.update(next_at=until, tries=F("tries") + 1, trouble=trouble)
    others = Score.objects.filter(_of(registration), state=SendState.WAITING)
    others.filter(tries__gte=MOST_TRIES).update(state=SendState.FAILED)
