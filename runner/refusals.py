"""Why a Run was not taken, in a sentence for the person who asked for it."""

from dataclasses import dataclass

from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from runner import api
from runner.api import ActiveRun, BadParameter, NotResumable, NoWorker, QuotaSpent, RunRefused
from runner.wording import Wording

REFUSED = (RunRefused, BadParameter)


@dataclass(frozen=True)
class Refusal:
    """`code`, `status` and `run` are for the page's script."""

    code: str
    status: int
    sentence: str
    url: str = ""  # of the Run that is in the way
    run: str = ""  # which one that is

    def data(self) -> dict[str, str]:
        return {"error": self.sentence, "code": self.code, "url": self.url, "run": self.run}


def refusal(error: RunRefused | BadParameter, bad_parameter: str) -> Refusal:
    """What to answer to that; what a wrong parameter means, only whoever asked can say."""
    match error:
        case QuotaSpent():
            return Refusal("quota", 429, quota_sentence(error))
        case ActiveRun():
            url = reverse("runner:run", args=[error.run_id]) if error.run_id else ""
            sentence = _("One Run at a time: another one of yours is queued or running.")
            return Refusal("active", 409, sentence, url, str(error.run_id or ""))
        case NoWorker():
            return Refusal("no-worker", 503, worker_sentence(error))
        case NotResumable():
            language = get_language() or "en"
            wording = Wording(language, api.messages(language))
            return Refusal("not-resumable", 409, wording.note({"code": error.code}))
    return Refusal("bad-parameter", 400, bad_parameter)


def quota_sentence(spent: QuotaSpent) -> str:
    at = date_format(timezone.localtime(spent.resets_at), "TIME_FORMAT")
    return ngettext(
        "Today’s %(n)d Run is used up. The next one is free from %(time)s UTC.",
        "Today’s %(n)d Runs are used up. The next ones are free from %(time)s UTC.",
        spent.limit,
    ) % {"n": spent.limit, "time": at}


def worker_sentence(missing: NoWorker) -> str:
    if missing.device == "gpu" and "cpu" in missing.alternatives:
        return _("No GPU is online now. You may choose Triton’s interpreter on the CPU instead.")
    return _("No worker for this device is online now. Try again in a while.")
