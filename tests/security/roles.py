"""Who may do what: one row for each address and method, one status for each role.

A new address fails `test_every_address_has_a_row` until it has a row here.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Role(StrEnum):
    VISITOR = "visitor"  # nobody yet
    GUEST = "guest"  # a guest who owns nothing here
    ACCOUNT = "account"  # an account that owns nothing here
    OWNER = "owner"  # the account that the Run and its files belong to: a learner of the cohort
    LEARNER = "learner"  # another learner of that cohort
    ASSISTANT = "assistant"  # of that cohort
    TEACHER = "teacher"  # an instructor of that cohort
    STRANGER = "stranger"  # an instructor of another cohort of the same course


@dataclass(frozen=True)
class Row:
    name: str
    method: str = "GET"
    args: tuple[str, ...] = ()  # words in capitals stand for what the test has made (`Made`)
    data: dict[str, str] = field(default_factory=dict)
    everyone: int = 200
    differs: dict[Role, int] = field(default_factory=dict)

    def status(self, role: Role) -> int:
        return self.differs.get(role, self.everyone)

    @property
    def insider(self) -> Role:
        """Who is let in: the Run's owner, or else an instructor of the cohort."""
        taught = self.name.startswith("classroom:") and self.status(Role.OWNER) == 404
        return Role.TEACHER if taught else Role.OWNER

    def __str__(self) -> str:
        return f"{self.method} {self.name}"


STEP = ("rmsnorm", "forward", "two-sizes")
WHAT_IF = ("andrea", "memory", "what-if")
KNOWN = {role: 200 for role in Role if role is not Role.VISITOR}
ACCOUNTS = tuple(role for role in Role if role not in (Role.VISITOR, Role.GUEST))
TEACHERS = (Role.ASSISTANT, Role.TEACHER)  # who grade in the cohort
INSTRUCTORS = (Role.TEACHER,)
LEARNERS = (Role.OWNER, Role.LEARNER)
MEMBERS = (*LEARNERS, *TEACHERS)
VIEWERS = dict.fromkeys((Role.OWNER, *TEACHERS), 200)
ASKED = "what-drift"  # the question that the owner answered
GIVEN = {"revision": "REVISION", "seen": "1"}
NOBODY_S = "00000000-0000-0000-0000-000000000000"
SIGN_UP = {"email": "new@example.org", "password": "a long sentence 42"}


def of_a_run(name: str, *more: str) -> Row:
    """What belongs to a Run: its owner sees it and who may view it; to others it is not there."""
    return Row(f"runner:{name}", args=("RUN", *more), everyone=404, differs=VIEWERS)


def of_a_cohort(
    name: str,
    *more: str,
    method: str = "GET",
    who: tuple[Role, ...] = TEACHERS,
    data: dict[str, str] | None = None,
    status: int = 200,
) -> Row:
    """What belongs to a cohort: to everybody but `who` it is not there."""
    differs = dict.fromkeys(who, status)
    return Row(f"classroom:{name}", method, ("COHORT", *more), data or {}, 404, differs)


def for_accounts(status: int) -> dict[Role, int]:
    return dict.fromkeys(ACCOUNTS, status)


ROWS: list[Row] = [
    Row("root", everyone=302),
    Row("health"),
    Row("language", "POST", data={"language": "fr", "next": "/en/"}, everyone=302),
    # Lessons: for everybody
    Row("lessons:catalogue"),
    Row("lessons:search", data={"q": "mean"}),
    Row("lessons:source", args=("kernels/rmsnorm.py",)),
    Row("lessons:course", args=STEP[:1]),
    Row("lessons:lesson", args=STEP[:2], everyone=302),
    Row("lessons:print", args=STEP[:2]),
    Row("lessons:step", args=STEP),
    Row("lessons:calculate", args=WHAT_IF, data={"calc": "memory"}),
    Row("lessons:answer", args=STEP, everyone=302),  # back to the step
    Row("lessons:answer", "POST", STEP, {"do": "draft", "mean-n": "1"}, everyone=303),
    Row("lessons:run", "POST", STEP, {"device": "cpu"}, everyone=303),
    # Runs: for their owner
    Row("runner:history"),
    Row("runner:compare", data={"a": "RUN"}, everyone=404, differs=VIEWERS),
    of_a_run("run"),
    of_a_run("events"),
    of_a_run("log"),
    of_a_run("artifact", "loss.svg"),
    Row("runner:stop", "POST", ("RUN",), everyone=404, differs={Role.OWNER: 302}),
    Row("runner:checkpoint", "POST", ("RUN",), everyone=404, differs={Role.OWNER: 302}),
    Row("runner:resume", "POST", ("RUN",), everyone=404, differs={Role.OWNER: 303}),
    Row("runner:prove", "POST", ("RUN",), everyone=404, differs={Role.OWNER: 303}),
    # Accounts: each person their own
    Row("accounts:sign-up", differs=for_accounts(302)),
    Row("accounts:sign-up", "POST", data=SIGN_UP, everyone=302),
    Row("accounts:sign-in", differs=for_accounts(302)),
    Row("accounts:sign-in", "POST", data=SIGN_UP, everyone=422),
    Row("accounts:sign-out", differs={Role.VISITOR: 302}),
    Row("accounts:sign-out", "POST", everyone=302, differs={Role.GUEST: 200}),
    Row("accounts:settings", everyone=302, differs=KNOWN),
    Row("accounts:settings", "POST", data={"language": "fr"}, everyone=302),
    Row("accounts:password", everyone=302, differs=for_accounts(200)),
    Row("accounts:password", "POST", everyone=302, differs=for_accounts(422)),
    Row("accounts:export", everyone=302, differs=KNOWN),
    Row("accounts:erase", everyone=302, differs=KNOWN),
    Row("accounts:erase", "POST", everyone=422, differs={Role.VISITOR: 302}),
    Row("accounts:reset"),
    Row("accounts:reset", "POST", data={"email": "nobody@example.org"}, everyone=302),
    Row("accounts:reset-sent"),
    Row("accounts:reset-confirm", args=("MQ", "a-b")),
    Row("accounts:reset-confirm", "POST", ("MQ", "a-b")),
    # Cohorts: joining is for everybody, the rest for members in their roles
    Row("classroom:home"),
    Row("classroom:make", everyone=404, differs=dict.fromkeys((Role.TEACHER, Role.STRANGER), 200)),
    Row(
        "classroom:make",
        "POST",
        everyone=404,
        differs=dict.fromkeys((Role.TEACHER, Role.STRANGER), 422),
    ),
    Row("classroom:join-by-code"),
    Row("classroom:join-by-code", "POST", data={"code": "CODE"}, everyone=302),
    Row("classroom:join", args=("CODE",), differs=dict.fromkeys(MEMBERS, 302)),
    Row("classroom:join", "POST", ("CODE",), everyone=302),
    Row("classroom:invitation", args=("INVITATION",)),
    Row(
        "classroom:invitation",
        "POST",
        ("INVITATION",),
        everyone=302,
        differs=dict.fromkeys((Role.VISITOR, Role.GUEST), 200),
    ),
    of_a_cohort("cohort", who=MEMBERS),
    of_a_cohort("leave", who=MEMBERS),
    of_a_cohort("leave", who=MEMBERS, method="POST", status=302),
    of_a_cohort("settings", who=INSTRUCTORS),
    of_a_cohort("settings", who=INSTRUCTORS, method="POST", status=422),
    of_a_cohort("renew-code", who=INSTRUCTORS, method="POST", status=302),
    of_a_cohort("archive", who=INSTRUCTORS, method="POST", status=302),
    of_a_cohort("deadlines"),
    of_a_cohort("deadlines", who=INSTRUCTORS, method="POST", status=302),
    of_a_cohort("members", who=INSTRUCTORS),  # it is anonymous
    of_a_cohort("members", who=INSTRUCTORS, method="POST", status=422),
    of_a_cohort("withdraw", "1", who=INSTRUCTORS, method="POST", status=302),
    of_a_cohort("change-role", "REF", who=INSTRUCTORS, method="POST", status=302),
    of_a_cohort("remove", "REF", who=INSTRUCTORS),
    of_a_cohort("remove", "REF", who=INSTRUCTORS, method="POST", status=302),
    of_a_cohort("extensions", "REF", who=INSTRUCTORS),
    of_a_cohort("extensions", "REF", who=INSTRUCTORS, method="POST", status=302),
    of_a_cohort("view-as", "REF", who=INSTRUCTORS),
    of_a_cohort("view-as", "REF", *STEP[1:], who=INSTRUCTORS),
    # The queue: for who grades there
    of_a_cohort("queue"),
    of_a_cohort("split", who=INSTRUCTORS, method="POST", status=302),
    of_a_cohort("preview", method="POST", data={"comment": "x"}),
    of_a_cohort("undo", method="POST", status=302),
    of_a_cohort("undo-decision", NOBODY_S, method="POST", status=302),
    of_a_cohort("question", ASKED),
    of_a_cohort("next", ASKED, status=302),
    of_a_cohort("rubric", ASKED),
    of_a_cohort("rubric", ASKED, method="POST", status=422),
    of_a_cohort("rubric-point", ASKED, "1", status=302),
    of_a_cohort("rubric-point", ASKED, "1", method="POST", status=404),  # no such point
    of_a_cohort("group", ASKED, "none", status=302),
    of_a_cohort("group", ASKED, "none", method="POST", status=302),
    of_a_cohort("grade", ASKED, "REF"),
    of_a_cohort("grade", ASKED, "REF", method="POST", status=302, data=GIVEN),
    of_a_cohort("grade-run", ASKED, "REF", data={"revision": "1"}),
    # Overview and gradebook. In this cohort, which is anonymous, names are for instructors alone
    of_a_cohort("overview"),
    of_a_cohort("overview-lesson", STEP[1]),
    of_a_cohort("gradebook", who=INSTRUCTORS),
    of_a_cohort("gradebook-lesson", STEP[1], who=INSTRUCTORS),
    of_a_cohort(
        "export", who=INSTRUCTORS, method="POST", data={"what": "lessons", "format": "csv"}
    ),
    of_a_cohort("import", who=INSTRUCTORS),
    of_a_cohort("import", who=INSTRUCTORS, method="POST", status=422),
    of_a_cohort("import-apply", who=INSTRUCTORS, method="POST", status=302),
    of_a_cohort("import-undo", "1", who=INSTRUCTORS, method="POST", status=404),  # no such import
    of_a_cohort("release", who=INSTRUCTORS, method="POST", status=302, data={"lesson": STEP[1]}),
    of_a_cohort("adjust", STEP[1], who=INSTRUCTORS, method="POST", status=302, data={"ref": "REF"}),
    # Re-checks and the audit: for instructors alone
    of_a_cohort("rechecks", who=INSTRUCTORS),
    of_a_cohort("rechecks", who=INSTRUCTORS, method="POST", status=302),
    of_a_cohort("recheck", "RECHECK", who=INSTRUCTORS),
    of_a_cohort(
        "recheck", "RECHECK", who=INSTRUCTORS, method="POST", status=302, data={"do": "stop"}
    ),
    of_a_cohort("audit", who=INSTRUCTORS),
    of_a_cohort("audit-export", who=INSTRUCTORS, method="POST"),
    # Learning platforms: their courses and the marks sent there are for instructors; launches are
    # for who comes from one, and hold a token of the platform's
    of_a_cohort("platform", who=INSTRUCTORS),
    of_a_cohort("roster", "LINK", who=INSTRUCTORS, method="POST", status=302),
    of_a_cohort("unlink", "LINK", who=INSTRUCTORS, method="POST", status=302),
    of_a_cohort("send-again", who=INSTRUCTORS, method="POST", status=302),
    Row("lti:keys"),
    *(
        Row(f"lti:{name}", method, everyone=400)
        for name in ("login", "enter", "link", "deep-link")
        for method in ("GET", "POST")
    ),
    Row("lti:launch", "POST", everyone=400),
    # What came back to a learner: for who gave the answer
    Row("classroom:new"),
    Row("classroom:seen", "POST", everyone=302),
    Row("classroom:look", args=("GRADE",), everyone=404, differs={Role.OWNER: 200}),
    Row("classroom:look", "POST", ("GRADE",), everyone=404, differs={Role.OWNER: 422}),
]

# Platforms post the first two from their own pages: a state in a cookie, a nonce and a signature
# stand in for the page's token. The third stands in a platform's frame, where no cookie is: its
# form holds a secret that is good for one answer.
EXEMPT = {"lti:login", "lti:launch", "lti:deep-link"}
SOCKETS = {Role.OWNER, *TEACHERS}  # who may follow the Run


def filled(words: Any, made: dict[str, str]) -> Any:
    """The row's words with what the test has made in place of the capitals."""
    if isinstance(words, dict):
        return {key: made.get(value, value) for key, value in words.items()}
    return tuple(made.get(word, word) for word in words)
