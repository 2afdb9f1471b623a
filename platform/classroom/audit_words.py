"""What the audit's actions, subjects and details are called, in the reader's language."""

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from classroom.deadlines import zone_names
from classroom.models import Release


def actions() -> dict[str, str]:
    """What each action is called."""
    return _of_grading() | _of_the_cohort()


def _of_grading() -> dict[str, str]:
    """Points, grades, and what they go by."""
    return {
        "adjusted": pgettext("audit", "adjusted points"),
        "graded": pgettext("audit", "graded"),
        "group-decided": pgettext("audit", "graded a group"),
        "group-undone": pgettext("audit", "took back a group’s grade"),
        "import-undone": pgettext("audit", "took back an import"),
        "imported": pgettext("audit", "imported adjustments"),
        "marks-sent-again": pgettext("audit", "sent refused marks again"),
        "recheck-resumed": pgettext("audit", "went on with a re-check"),
        "recheck-stopped": pgettext("audit", "stopped a re-check"),
        "rechecked": pgettext("audit", "re-checked"),
        "regraded": pgettext("audit", "changed a grade"),
        "released": pgettext("audit", "released grades"),
        "rubric-edited": pgettext("audit", "edited a rubric"),
        "second-look-answered": pgettext("audit", "answered a second look"),
        "second-look-asked": pgettext("audit", "asked for a second look"),
        "split": pgettext("audit", "split the grading"),
        "ungraded": pgettext("audit", "took back a grade"),
    }


def _of_the_cohort() -> dict[str, str]:
    """Who is in it, what was set there, and what was looked at."""
    return {
        "archived": pgettext("audit", "archived the cohort"),
        "code-renewed": pgettext("audit", "made a new code"),
        "deadline-set": pgettext("audit", "set a deadline"),
        "exported": pgettext("audit", "exported"),
        "extended": pgettext("audit", "gave more time"),
        "invitation-withdrawn": pgettext("audit", "withdrew an invitation"),
        "invited": pgettext("audit", "invited somebody"),
        "joined": pgettext("audit", "joined"),
        "left": pgettext("audit", "left"),
        "lti-linked": pgettext("audit", "linked a learning platform"),
        "lti-unlinked": pgettext("audit", "unlinked a learning platform"),
        "made": pgettext("audit", "made the cohort"),
        "merged": pgettext("audit", "signed in: two places became one"),
        "names-seen": pgettext("audit", "opened a page with names"),
        "removed": pgettext("audit", "removed somebody"),
        "restored": pgettext("audit", "took the cohort into use again"),
        "role-changed": pgettext("audit", "changed a role"),
        "roster-read": pgettext("audit", "read a platform’s roster"),
        "settings-changed": pgettext("audit", "changed the settings"),
        "viewed-as": pgettext("audit", "viewed as a learner"),
    }


def details() -> dict[str, str]:
    """What stands beside an action."""
    return {
        "adjustment": pgettext("audit", "beside the rubric"),
        "after": pgettext("audit", "after"),
        "answers": pgettext("audit", "answers"),
        "before": pgettext("audit", "before"),
        "changed": pgettext("audit", "changed"),
        "comment": pgettext("audit", "characters of comment"),
        "context": pgettext("audit", "course on the platform"),
        "filter": pgettext("audit", "filter"),
        "format": pgettext("audit", "format"),
        "gained": pgettext("audit", "became right"),
        "gone": pgettext("audit", "gone"),
        "graders": pgettext("audit", "graders"),
        "grades": pgettext("audit", "grades"),
        "kept": pgettext("audit", "kept"),
        "kind": pgettext("audit", "kind"),
        "lesson": pgettext("audit", "lesson"),
        "lost": pgettext("audit", "no longer right"),
        "marks": pgettext("audit", "marks"),
        "passages": pgettext("audit", "passages"),
        "people": pgettext("audit", "people"),
        "points": pgettext("audit", "rubric points"),
        "questions": pgettext("audit", "questions"),
        "reason": pgettext("audit", "reason"),
        "role": pgettext("audit", "role"),
        "rows": pgettext("audit", "rows"),
        "total": pgettext("audit", "in all"),
        "ungradable": pgettext("audit", "could not be graded"),
        "what": pgettext("audit", "what"),
        "zone": pgettext("audit", "time zone"),
    }


def groups() -> dict[str, str]:
    """Who is filtered for, where it is not one person."""
    return {"learners": _("learners"), "others": _("no longer members")}


def subject(action: str, about: str) -> str:
    """Refs and ids as they are; a name that only this program has in words."""
    if action == "import-undone":  # the number of its entry, in those of long ago
        return ""
    if action != "exported":
        return about
    known = {
        "audit": _("Audit"),
        "gradebook lessons": _("Gradebook"),
        "gradebook questions": _("Questions"),
        "gradebook adjustments": _("Adjustments"),
    }
    return known.get(about, about)


def settings() -> dict[str, str]:
    """The settings of a cohort, as their page calls them."""
    return {
        "name": _("Name"),
        "zone": _("Time zone"),
        "is_anonymous": _("Grade without names"),
        "release": _("Learners see a grade"),
        "is_open": _("Let people join with the code"),
    }


def value_of_setting(value: str | bool) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if value in Release.values:
        return str(Release(value).label)
    return value.replace("_", " ") if value in zone_names() else value
