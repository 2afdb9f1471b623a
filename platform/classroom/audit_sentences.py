"""An entry of the audit in words: what was done, in the reader's language.

What a sentence does not say (of an entry of long ago, or of another hand) is said by its name.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from classroom.audit_given import Given
from classroom.audit_words import actions, groups, settings, value_of_setting
from classroom.models import Cohort, RecheckKind, Role
from classroom.titles import titles_of


@dataclass(frozen=True)
class Told:
    """A sentence or two, and a line for each thing of many."""

    sentence: str = ""
    lines: tuple[str, ...] = ()


class Teller:
    """Of one cohort, in the language of now; its lessons are named once."""

    def __init__(self, cohort: Cohort) -> None:
        titles = titles_of(cohort.course)
        lessons = titles.shelf.course.lessons if titles else ()
        self.lessons = {lesson.id: titles.lesson(lesson) for lesson in lessons if titles}

    def tell(self, action: str, data: Mapping[str, Any]) -> Told:
        given = Given(data, self.lessons)
        sentences = _SAYS[action](given) if action in _SAYS else []
        if rest := given.rest():
            sentences = [*sentences, f"{'; '.join(rest)}."]
        return Told(" ".join(filter(None, sentences)), tuple(given.lines))


def _adjusted(given: Given) -> list[str]:
    return [
        _("Points in “%(lesson)s”: from %(before)s to %(after)s.")
        % {
            "lesson": given.lesson(),
            "before": given.points("before"),
            "after": given.points("after"),
        }
    ]


def _imported(given: Given) -> list[str]:
    rows = given.parts("rows")
    given.lines += [f"{row.text('ref')} · {_adjusted(row)[0]}" for row in rows]
    return [_adjustments(len(rows))] if rows else []


def _import_undone(given: Given) -> list[str]:
    count = given.count("rows")
    sentence = ngettext(
        "%(n)d adjustment is as it was before.", "%(n)d adjustments are as they were before.", count
    )
    return [sentence % {"n": count}]


def _adjustments(count: int) -> str:
    return ngettext("%(n)d adjustment.", "%(n)d adjustments.", count) % {"n": count}


def _judgement(given: Given) -> list[str]:
    """What was given to an answer; no words of it are in the audit."""
    given.count("version")
    none = _("no point of the rubric") if given.has("points") else ""
    found = []
    if points := given.count("points"):
        found.append(
            ngettext("%(n)d point of the rubric", "%(n)d points of the rubric", points)
            % {"n": points}
        )
    if (adjustment := given.points("adjustment")) not in ("0", "–"):
        found.append(_("%(points)s beside the rubric") % {"points": adjustment})
    if comment := given.count("comment"):
        found.append(
            ngettext("a comment of %(n)d character", "a comment of %(n)d characters", comment)
            % {"n": comment}
        )
    if passages := given.count("passages"):
        found.append(
            ngettext("%(n)d remark on a passage", "%(n)d remarks on passages", passages)
            % {"n": passages}
        )
    said = [_("Could not be graded.")] if given.is_true("ungradable") else []
    what = ", ".join(found) or ("" if said else none)
    return [*said, _("Given: %(what)s.") % {"what": what}] if what else said


def _group(given: Given) -> list[str]:
    answers = given.texts("answers")
    given.lines += answers
    sentence = ngettext(
        "%(n)d answer graded as one.", "%(n)d answers graded as one.", len(answers)
    ) % {"n": len(answers)}
    return [sentence, *_judgement(given)]


def _group_undone(given: Given) -> list[str]:
    gone, kept = given.count("gone"), given.count("kept")
    said = [ngettext("%(n)d grade went.", "%(n)d grades went.", gone) % {"n": gone}]
    if kept:
        said.append(ngettext("%(n)d grade stays.", "%(n)d grades stay.", kept) % {"n": kept})
    return said


def _end(given: Given) -> list[str]:
    """A deadline, or an extension."""
    before, after = given.wall("before"), given.wall("after")
    zone = given.text("zone").replace("_", " ")
    if not after:
        return [_("Taken away; it was %(when)s.") % {"when": before}] if before else []
    until = _("%(when)s (%(zone)s)") % {"when": after, "zone": zone}
    if not before:
        return [_("Open until %(when)s.") % {"when": until}]
    return [_("From %(before)s to %(after)s.") % {"before": before, "after": until}]


def _exported(given: Given) -> list[str]:
    said = []
    if format_ := given.text("format"):
        name = _("CSV for programs") if format_ == "plain" else format_.upper()
        said.append(_("As %(format)s.") % {"format": name})
    for part in given.parts("filter"):
        who, action, ref = (part.text(name) for name in ("who", "action", "ref"))
        words = filter(None, (groups().get(who, who), actions().get(action, action), ref))
        if chosen := ", ".join(words):
            said.append(_("Only what the filter lets through: %(filter)s.") % {"filter": chosen})
    return said


def _settings(given: Given) -> list[str]:
    said = []
    for name, label in settings().items():
        if pair := given.pair(name):
            before, after = map(value_of_setting, pair)
            said.append(
                _("%(what)s: %(before)s → %(after)s.")
                % {"what": label, "before": before, "after": after}
            )
    return said


def _role_changed(given: Given) -> list[str]:
    before, after = (_role(given.text(name)) for name in ("before", "after"))
    if not (before and after):
        return []
    return [_("From %(before)s to %(after)s.") % {"before": before, "after": after}]


def _as_role(given: Given) -> list[str]:
    role = given.text("role")
    return [_("Role: %(role)s.") % {"role": _role(role)}] if role else []


def _role(role: str) -> str:
    return str(Role(role).label) if role in Role.values else role


def _merged(given: Given) -> list[str]:
    ref = given.text("gone")
    return [_("The place of %(ref)s is gone.") % {"ref": ref}] if ref else []


def _archived(given: Given) -> list[str]:
    return [_("Its last instructor’s account was erased.")] if given.text("reason") else []


def _released(given: Given) -> list[str]:
    count = given.count("grades")
    return [
        ngettext("%(n)d grade reached its learner.", "%(n)d grades reached their learners.", count)
        % {"n": count}
    ]


def _rechecked(given: Given) -> list[str]:
    total, kind = given.count("total"), given.text("kind")
    if kind == RecheckKind.RUNS:
        again = ngettext("%(n)d Run was run again", "%(n)d Runs were run again", total)
    else:
        again = ngettext(
            "%(n)d answer was checked again", "%(n)d answers were checked again", total
        )
    return [
        _("%(again)s: %(changed)d changed, %(gained)d became right, %(lost)d no longer right.")
        % {
            "again": again % {"n": total},
            "changed": given.count("changed"),
            "gained": given.count("gained"),
            "lost": given.count("lost"),
        }
    ]


def _roster(given: Given) -> list[str]:
    count = given.count("people")
    return [ngettext("%(n)d person is in it.", "%(n)d people are in it.", count) % {"n": count}]


def _marks(given: Given) -> list[str]:
    count = given.count("marks")
    return [ngettext("%(n)d mark.", "%(n)d marks.", count) % {"n": count}]


def _platform(given: Given) -> list[str]:
    course = given.text("context")
    return [_("Its course there: %(course)s.") % {"course": course}] if course else []


def _split(given: Given) -> list[str]:
    graders, questions = given.count("graders"), given.count("questions")
    said = ngettext("%(n)d question", "%(n)d questions", questions) % {"n": questions}
    if not graders:
        return [_("%(questions)s: nobody’s in particular any more.") % {"questions": said}]
    among = ngettext("%(n)d grader", "%(n)d graders", graders) % {"n": graders}
    return [_("%(questions)s among %(graders)s.") % {"questions": said, "graders": among}]


def _rubric(given: Given) -> list[str]:
    match given.text("what"):
        case "added":
            return [_("Added: %(point)s.") % {"point": _point(given)}]
        case "edited":
            before, after = (_point(*given.parts(name)) for name in ("before", "after"))
            said = _("From %(before)s to %(after)s.") % {"before": before, "after": after}
            return [said, _remarked(given.count("remarked"))]
        case "retired":
            count = given.count("kept")
            return [
                ngettext(
                    "Offered no more; %(n)d grade keeps it.",
                    "Offered no more; %(n)d grades keep it.",
                    count,
                )
                % {"n": count}
            ]
        case "restored":
            return [_("Offered again.")]
        case other:
            return [other]


def _remarked(count: int) -> str:
    return ngettext("%(n)d grade was re-marked.", "%(n)d grades were re-marked.", count) % {
        "n": count
    }


def _point(given: Given | None = None) -> str:
    """“Names the mask”, +1; one of the lesson's own has no words of its own."""
    if given is None:
        return "–"
    text, points = given.text("text"), given.points("points")
    return _("“%(text)s”, %(points)s") % {"text": text, "points": points} if text else points


_SAYS: Mapping[str, Callable[[Given], list[str]]] = {
    "adjusted": _adjusted,
    "archived": _archived,
    "deadline-set": _end,
    "exported": _exported,
    "extended": _end,
    "graded": _judgement,
    "group-decided": _group,
    "group-undone": _group_undone,
    "import-undone": _import_undone,
    "imported": _imported,
    "invited": _as_role,
    "joined": _as_role,
    "left": _as_role,
    "lti-linked": _platform,
    "lti-unlinked": _platform,
    "marks-sent-again": _marks,
    "merged": _merged,
    "rechecked": _rechecked,
    "regraded": _judgement,
    "released": _released,
    "removed": _as_role,
    "role-changed": _role_changed,
    "roster-read": _roster,
    "rubric-edited": _rubric,
    "settings-changed": _settings,
    "split": _split,
}
