"""A sentence that counts says "1 step", not "1 steps": it has both forms, in every language."""

import json
import re

import pytest
from django.conf import settings

from chainrule.translations.sources import Key, marked
from kernels.events import Note
from kernels.marking import Counted
from kernels.messages import MESSAGES, sentence
from runner import api
from runner.shared import forms
from runner.wording import Wording

# A number, and the word after it as several of a thing: "{n} steps", "%(n)s of the {all} steps".
SEVERAL = re.compile(r"(?:%\(\w+\)[sd]|\{\w+\}) (?:new |more |other )?([a-z]+s|of them are)\b")
NOT_COUNTED = {
    "gets",
    "has",
    "holds",
    "is",
    "was",
    "scores",
    "does",
    "times",
}  # verbs, and “three times”
NOT_COUNTED |= {"terms"}  # of a sum, which a kernel takes many at a time
# What is never one: a limit of ours, the weights of a model, the bytes of a tensor.
NEVER_ONE = {
    "%(heads)s heads do not divide a width of %(width)s. These would: %(near)s.",
    "A row of {n} ones in a block of {block}. The wrong kernels are built for this Run; the real "
    "one is not touched.",
    "A rubric point is at most %(n)d characters long.",
    "%(n)d tries",  # said of two and more
    "Every buffer of a run with %(n)s weights",
    "Halted at step {step}: {failures} samples in a row scored below {lowest}.",
    "Line %(line)d has a cell of more than %(n)d characters.",
    "Line %(line)d has more than %(n)d columns.",
    "Median time of forward and backward for three shapes: the reference and {versions} versions "
    "of the kernel.",
    "One answer takes at most %(n)d comments on passages.",
    "Only row 0 was written; {rows} rows were due.",
    "Only the first {tile} of {rows} rows reached dgamma.",
    "The backward pass would need {bytes} bytes of scratch (M × N × 4); the limit is {limit}.",
    "The corpus “{name}” holds {tokens} tokens.",
    "The file has more than %(n)d rows. Send a part of them at a time.",
    "The first line names the columns: Learner key or E-mail, Lesson, Points, and Reason if you "
    "like. The points become the adjustment: 0 takes it away. At most %(most_rows)s lines.",
    "The reason is longer than %(n)d characters.",
    "The reason is too long: %(n)d characters at most.",
    "This model has %(weights)s weights; the file counts to %(most)s at most.",
    "x has {columns} columns; this version accepts at most {limit}.",
    "x has {rows} rows; this version accepts at most {limit}.",
    "{passed} of {total} cases passed, and {special_passed} of {special} special inputs.",
}


def counts(key: Key) -> bool:
    """Whether a string without a second form has a number that several things follow."""
    _context, text = key
    if not isinstance(text, str) or text in NEVER_ONE:
        return False
    return any(word not in NOT_COUNTED for word in SEVERAL.findall(text))


def test_whatever_counts_has_a_form_for_one() -> None:
    assert sorted(key[1] for key in marked(settings.BASE_DIR) if counts(key)) == []


def test_what_is_never_one_is_still_said() -> None:
    assert NEVER_ONE - {text for _context, text in marked(settings.BASE_DIR)} == set()


@pytest.mark.parametrize(
    ("language", "none", "one", "two"),
    [
        ("en", "0 of 0 cases passed.", "1 of 1 case passed.", "1 of 2 cases passed."),
        (
            "fr",
            "Cas réussis\u202f: 0 sur 0.",
            "Cas réussis\u202f: 1 sur 1.",
            "Cas réussis\u202f: 1 sur 2.",
        ),
        (
            "tr",
            "0 durumdan 0 tanesi başarılı.",
            "1 durumdan 1 tanesi başarılı.",
            "2 durumdan 1 tanesi başarılı.",
        ),
    ],
)
def test_a_note_takes_the_form_of_its_number(language: str, none: str, one: str, two: str) -> None:
    wording = Wording(language, api.messages(language))
    for passed, total, said in ((0, 0, none), (1, 1, one), (1, 2, two)):
        note = {"code": "end.cases", "params": {"passed": passed, "total": total}}
        assert wording.note(note) == said


def test_french_counts_nothing_as_one() -> None:
    wording = Wording("fr", api.messages("fr"))
    said = [wording.note({"code": "end.trained", "params": {"steps": n}}) for n in (0, 1, 2)]
    assert ["effectués" in text for text in said] == [False, False, True]


def test_a_terminal_says_it_too() -> None:
    assert sentence(Note("end.stopped", {"done": 1})).endswith("after 1 case.")
    assert sentence(Note("end.stopped", {"done": 2})).endswith("after 2 cases.")


@pytest.mark.parametrize("language", [code for code, _ in settings.LANGUAGES])
def test_the_page_s_script_has_both_forms_of_every_note_that_counts(language: str) -> None:
    counted = {code: text for code, text in MESSAGES.items() if isinstance(text, Counted)}
    assert len(counted) > 5
    for code, template in counted.items():
        found = json.loads(json.dumps(forms(api.messages(language)[code])))
        assert set(found) == {"by", "one", "other"}
        for form in (found["one"], found["other"], template.one):
            assert "{" + template.by + "}" in form and found["by"] == template.by
