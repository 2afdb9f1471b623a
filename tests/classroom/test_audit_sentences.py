"""An entry of the audit is a sentence in the reader's language, whatever its data holds."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest
from django.utils.translation import override

import classroom
from classroom.audit_sentences import Teller, Told
from classroom.audit_words import actions
from tests.classroom import factories
from tests.classroom.factories import Room

pytestmark = pytest.mark.django_db

POINT = {"points": "1.00", "text": "Names the mask"}
GIVEN = {"points": [12, 14], "adjustment": "-0.5", "ungradable": False, "comment": 120,
         "passages": 1, "version": 2}  # fmt: skip
ROWS = [
    {"ref": f"0a1b2c3d4e5{n}", "lesson": "forward", "before": "0", "after": "2.5"} for n in range(7)
]
MOVED = {"before": "2026-12-01T23:59", "after": "2026-12-08T23:59", "zone": "America/New_York"}
SETTINGS = {"name": ["Autumn", "Winter"], "is_anonymous": [True, False],
            "release": ["at_once", "held"], "zone": ["UTC", "America/New_York"]}  # fmt: skip
RECHECKED = {"kind": "answers", "total": 40, "changed": 3, "gained": 2, "lost": 1}

# What the program writes with each action; several where they differ.
ENTRIES: dict[str, list[dict[str, Any]]] = {
    "adjusted": [{"lesson": "forward", "before": "0", "after": "-1.50"}],
    "archived": [{}, {"reason": "its last instructor was erased"}],
    "code-renewed": [{}],
    "deadline-set": [MOVED, MOVED | {"before": ""}, MOVED | {"after": "", "zone": ""}],
    "exported": [{"format": "xlsx"}, {"format": "plain"},
                 {"filter": {"who": "learners", "action": "graded", "ref": "0a1b"}},
                 {"filter": {}}],
    "extended": [MOVED],
    "graded": [GIVEN, GIVEN | {"points": [], "ungradable": True}],
    "group-decided": [GIVEN | {"answers": [f"0a1b2c3d4e5{n}#1" for n in range(6)]}],
    "group-undone": [{"gone": 5, "kept": 1}],
    "import-undone": [{"rows": 7}],
    "imported": [{"rows": ROWS}, {"rows": ROWS[:1]}],
    "invitation-withdrawn": [{}],
    "invited": [{"role": "assistant"}],
    "joined": [{}, {"role": "instructor"}],
    "left": [{"role": "learner"}],
    "lti-linked": [{"context": "Kernels 101"}],
    "lti-unlinked": [{"context": "Kernels 101"}],
    "made": [{}],
    "marks-sent-again": [{"marks": 3}],
    "merged": [{"gone": "0a1b2c3d4e5f"}],
    "names-seen": [{}],
    "recheck-resumed": [{}],
    "recheck-stopped": [{}],
    "rechecked": [RECHECKED, RECHECKED | {"kind": "runs"}],
    "regraded": [GIVEN],
    "released": [{"grades": 12}],
    "removed": [{"role": "assistant"}],
    "restored": [{}],
    "role-changed": [{"before": "learner", "after": "assistant"}],
    "roster-read": [{"people": 31}],
    "rubric-edited": [{"what": "added", **POINT},
                      {"what": "edited", "before": POINT, "after": POINT | {"points": "2"},
                       "remarked": 4},
                      {"what": "edited", "before": POINT, "after": {"points": "2", "text": ""},
                       "remarked": 0},
                      {"what": "retired", "kept": 4}, {"what": "restored"}],
    "second-look-answered": [{}],
    "second-look-asked": [{}],
    "settings-changed": [SETTINGS],
    "split": [{"graders": 2, "questions": 20}, {"graders": 0, "questions": 1}],
    "ungraded": [{}],
    "viewed-as": [{}],
}  # fmt: skip
# Names of fields and values that are the program's own.
CODE = re.compile(
    r"""[{}\[\]_]|['"]|None|True|False
    |(^|[.;]\ )(rows|before|after|remarked|what|kind|total|gained|lost|gone|kept|ungradable
    |adjustment|points|passages|version|format|filter|plain|zone|release|role|reason|name):""",
    re.VERBOSE,
)
NAMES = ("audit.record", "records.record")
EXAMPLES = [(action, data) for action, cases in ENTRIES.items() for data in cases]


@pytest.fixture
def room() -> Room:
    return factories.a_room(learners=0)


def told(room: Room, action: str, data: dict[str, Any], language: str = "en") -> Told:
    with override(language):
        return Teller(room.cohort).tell(action, data)


def test_every_action_that_is_written_has_its_words_and_an_example_here() -> None:
    written: set[Any] = set()
    for path in Path(classroom.__file__).parent.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and ast.unparse(call.func) in NAMES:
                words = ast.walk(call.args[2])  # a name, or one of two
                written |= {word.value for word in words if isinstance(word, ast.Constant)}
    assert len(written) > 25 and written <= set(actions())
    assert set(ENTRIES) == set(actions())


@pytest.mark.parametrize("language", ["en", "fr", "tr"])
@pytest.mark.parametrize(("action", "data"), EXAMPLES)
def test_it_is_said_in_words(room: Room, action: str, data: dict[str, Any], language: str) -> None:
    said = told(room, action, data, language)
    whole = " ".join((said.sentence, *said.lines))
    assert not CODE.search(whole)
    assert not said.sentence or said.sentence.endswith(".")
    assert bool(whole) == any(data.values())
    english = told(room, action, data)
    assert language == "en" or not said.sentence or said.sentence != english.sentence


def test_an_import_says_each_adjustment_and_a_group_each_answer(room: Room) -> None:
    said = told(room, "imported", {"rows": ROWS})
    assert said.sentence == "7 adjustments." and len(said.lines) == 7
    assert said.lines[0].startswith("0a1b2c3d4e50 · ") and "from 0 to +2.5" in said.lines[0]
    said = told(room, "group-decided", ENTRIES["group-decided"][0])
    assert said.sentence.startswith("6 answers graded as one. Given: 2 points of the rubric")
    assert "−0.5 beside the rubric" in said.sentence and said.lines[5] == "0a1b2c3d4e55#1"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (GIVEN | {"points": [], "ungradable": True}, "Could not be graded. Given: −0.5 beside"),
        ({"points": [], "ungradable": True}, "Could not be graded."),
        ({"points": [], "adjustment": "0", "ungradable": False}, "Given: no point of the rubric."),
        ({"points": [4]}, "Given: 1 point of the rubric."),
        ({}, ""),
    ],
)
def test_a_judgement_that_gives_nothing_says_so(
    room: Room, data: dict[str, Any], said: str
) -> None:
    assert told(room, "graded", data).sentence.startswith(said)


@pytest.mark.parametrize(
    "data",
    [
        {"points": 2, "note": {"seen": [1, 2], "by": "hand"}},
        {"rows": "many", "answers": [1, {"a": None}], "before": None, "after": 7},
        {"rows": [1], "filter": ["x"], "gone": "x", "total": True, "role": "emperor"},
        {"is_open": [True], "zone": ["a", "b", "c"], "name": "x" * 5000},
    ],
)
@pytest.mark.parametrize("action", sorted(ENTRIES) + ["unheard-of"])
def test_what_no_sentence_knows_is_said_by_its_name_and_nothing_breaks(
    room: Room, action: str, data: dict[str, Any]
) -> None:
    said = told(room, action, data)
    whole = " ".join((said.sentence, *said.lines))
    assert not re.search(r"[{}\[\]]", whole) and len(whole) < 1000
    if "note" in data:
        assert "seen: 1, 2" in whole and "hand" in whole
