"""An instructor who came from a course that is not linked yet chooses its cohort, once."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from lti_tool.models import LtiContext

from classroom.cohort_forms import CohortForm
from classroom.cohorts import usual_zone
from classroom.deadlines import zone_names
from classroom.lti import linking
from classroom.lti.places import Place
from classroom.lti.views.entering import lost
from classroom.lti.views.methods import READS, only
from classroom.models import ContextLink
from classroom.titles import courses


@never_cache
@only(*READS, "POST")
def link(request: HttpRequest) -> HttpResponse:
    """What may be linked stands in the session: only an instructor's launch puts it there."""
    kept = request.session.get("lti-link")
    context = LtiContext.objects.filter(pk=kept["context"]).first() if kept else None
    if kept is None or context is None or not request.user.is_authenticated:
        return lost(request)
    form = _form(request, context, Place.from_json(kept["place"]).course)
    trouble = ""
    if request.method == "POST":
        try:
            if made := _linked(request, context, form):
                del request.session["lti-link"]
                messages.success(request, _("The course and the cohort are linked."))
                page = reverse("classroom:platform", args=[made.cohort_id])
                return HttpResponseRedirect(page)
            if not form.is_bound:
                trouble = _("Choose one of your cohorts.")
        except linking.LinkedAlready:
            trouble = _("Somebody else has just linked this course. Open it again.")
    shown = {
        "context": context,
        "platform": context.deployment.registration,
        "cohorts": linking.instructed_by(request.user),
        "form": form,
        "zones": sorted(zone_names()),
        "trouble": trouble,
    }
    status = 422 if form.errors else 409 if trouble else 200
    return render(request, "classroom/lti/link.html", shown, status=status)


def _form(request: HttpRequest, context: LtiContext, course: str) -> CohortForm:
    choices = [(item.id, item.title) for item in courses()]
    initial = {"name": str(context)[:120], "course": course}
    given = request.POST if request.POST.get("do") == "make" else None
    return CohortForm(choices, given, initial=initial, zone=usual_zone(request.user))


def _linked(request: HttpRequest, context: LtiContext, form: CohortForm) -> ContextLink | None:
    if form.is_bound:
        if not form.is_valid():
            return None
        return linking.link_to_new(context, request.user, **form.cleaned_data)
    for cohort in linking.instructed_by(request.user):
        if str(cohort.pk) == request.POST.get("cohort"):
            return linking.link(context, request.user, cohort)
    return None
