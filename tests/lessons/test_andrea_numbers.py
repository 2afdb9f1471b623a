"""The right answers of the ANDREA course are what the engine itself computes.

Figures about these models circulate that do not agree with each other; these tests pin the
ones that the lessons call right.
"""

import math
import re
from pathlib import Path

import pytest
from django.conf import settings

from kernels.andrea import schedule, schedule_tables
from kernels.andrea.checkpoint_size import file_size
from kernels.andrea.config import Config, preset
from kernels.andrea.corpus import tokenise
from kernels.andrea.layout import layout, parameter_count
from kernels.andrea.plan import Plan, aligned, plan
from kernels.andrea.scoring import FAILURES_TO_HALT, LOWEST_PASS
from kernels.registry import PROCEDURES
from lessons.content import structure as s
from lessons.content.library import Shelf, read_shelf

MB = 1e6
ROUND = 120_000_000  # the weights that questions about "120M" count with
BIG = preset("120M")


@pytest.fixture(scope="module")
def shelf() -> Shelf:
    return read_shelf(Path(settings.COURSES_DIR) / "andrea")


def number(shelf: Shelf, place: str) -> s.NumberField:
    """The number field at `lesson/step/field`."""
    lesson_id, step_id, field_id = place.split("/")
    lesson = shelf.course.lesson(lesson_id)
    step = lesson.step(step_id) if lesson else None
    assert step is not None and step.activity is not None, place
    (field,) = [field for field in step.activity.fields if field.id == field_id]
    assert isinstance(field, s.NumberField)
    return field


MICRO = preset("micro")
LONGER = preset("120M", {"steps": 400_000})
TWELVE = preset("12M", {"vocabulary": 2305})  # as published; our own preset reads bytes
FOUR_SMALL = preset("120M", {"batch": 2, "micro_batches": 4})
ATTENTION = ("h0.w_q", "h0.w_k", "h0.w_v", "h0.w_o")
OWN_TWELVE = preset("12M")
ONE_BY_ONE = preset("12M", {"batch": 1, "micro_batches": 8})
SCORES = [62.0, 29.4, 28.1, 30.0, 27.5, 22.0, 18.3, 12.6, 9.9, 31.2]
CAUGHT = 80_000 + (FAILURES_TO_HALT - 1) * 200  # where the first run would have halted


def block(config: Config) -> int:
    return sum(slot.count for slot in layout(config) if slot.name.startswith("h0."))


def starts(made: Plan) -> dict[str, int]:
    """At which byte of the allocation each buffer begins, and `end`."""
    found, at = {}, 0
    for buffer in made.buffers:
        found[buffer.name] = at
        at += aligned(buffer.bytes)
    return found | {"end": at}


def failures(scores: list[float]) -> list[int]:
    """The count of failures in a row after each sample."""
    counts = [0]
    for score in scores:
        counts.append(0 if score >= LOWEST_PASS else counts[-1] + 1)
    return counts[1:]


DUE = {
    "origins/names/other-vocabulary": parameter_count(
        preset("12M", {"vocabulary": 4353, "tied": False})
    ),
    "origins/days/at-nine": 200_000 / 9 / 1440,
    "origins/days/first-rate": 165_000 / 16.1 / 1440,
    "origins/arithmetic/all-tokens": BIG.rows * BIG.steps,
    "origins/first-run/after-collapse": (165_000 - 80_000) * 16.1 / 165_000,
    "origins/this-course/our-twelve": parameter_count(preset("12M")),
    "tokens/bytes/already": len(tokenise("déjà".encode())),
    "tokens/table/small": layout(TWELVE)[0].count,
    "tokens/table/bytes": layout(BIG)[0].count * 4 / MB,
    "attention/causal/counted": BIG.context * (BIG.context + 1) / 2,
    "attention/in-tiles/table": BIG.batch * BIG.heads * BIG.context**2 * 2 / MB,
    "heads/divide/possible": sum(BIG.width % n == 0 for n in range(1, BIG.width + 1)),
    "heads/qkv/four": sum(slot.count for slot in layout(BIG) if slot.name in ATTENTION),
    "block/layernorm/kept": 2 * BIG.rows * 4,
    "block/mlp/hidden": BIG.rows * BIG.hidden * 4 / MB,
    "block/count/small": block(TWELVE),
    "block/count/share": 100 * 8 * BIG.width**2 / block(BIG),
    "block/count/sixteen": parameter_count(preset("120M", {"layers": 16})),
    "backprop/why-reverse/forward-passes": ROUND,
    "backprop/why-reverse/reverse-passes": 1,
    "backprop/sizing/gradient": ROUND * 2 / MB,
    "backprop/sizing/four-buffers": ROUND * 2 * 4 / MB,
    "backprop/sizing/forward-calls": 4,
    "backprop/sizing/backward-calls": 4,
    "loss/next-token/rows": BIG.rows,
    "loss/chance/micro": math.log(MICRO.vocabulary),
    "loss/chance/hesitates": math.exp(3.23),
    "loss/in-place/gpt2": preset("gpt2-124M").rows * 50_257 * 4 / MB,
    "precision/who-lives-where/budget": ROUND * (4 * 4 + 2) / MB,
    "adamw/correction/m-factor": schedule_tables.corrections(BIG)[1, 0],
    "adamw/correction/v-factor": schedule_tables.corrections(BIG)[1, 1],
    "adamw/one-pass/time": parameter_count(BIG) * 34 / 1e12 * 1e3,  # ms at 1,000 GB a second
    "adamw/resume/size": file_size(ROUND) / MB,
    "accumulation/what-adds/saved": (plan(BIG).bytes - plan(FOUR_SMALL).bytes) / MB,
    "checkpoints/layout/micro": file_size(parameter_count(MICRO)),
    "training-run/laid-over/factor": 1 / 18.4,  # clip over norm
    "samples/the-count/halts": failures(SCORES).index(FAILURES_TO_HALT) + 1,
    "samples/the-count/spared": (165_000 - CAUGHT) * 16.1 / 165_000,
    "memory/one-piece/next": starts(plan(OWN_TWELVE))["schedule"],
    "memory/one-piece/own-scratch": (
        (OWN_TWELVE.layers - 1) * plan(OWN_TWELVE).by_owner()["scratch"] / MB
    ),
    "memory/the-plan/total": plan(BIG).bytes,
    "memory/what-if/twelve": plan(preset("120M", {"batch": 12})).bytes / MB,
    "schedule/cosine/half": schedule.learning_rate(BIG, 100_000),
    "schedule/product/micro": schedule.learning_rate(MICRO, 2),
    "schedule/days/six": 200_000 / 6 / 1440,
    "schedule/days/pace": 165_000 / 16.1 / 1440,
    "schedule/only-the-step/jump": (
        schedule.learning_rate(LONGER, 100_000) / schedule.learning_rate(BIG, 100_000)
    ),
}


@pytest.mark.parametrize("place", DUE)
def test_a_key_is_what_the_engine_computes(shelf: Shelf, place: str) -> None:
    field = number(shelf, place)
    allowed = field.tolerance.absolute + field.tolerance.relative * abs(field.answer)
    assert abs(DUE[place] - field.answer) <= allowed + 1e-6 * abs(field.answer)


def test_the_weights_behind_the_name_120m_are_the_two_counts_also_accepted(shelf: Shelf) -> None:
    untied = Config(**{**vars(BIG), "tied": False})
    accepted = number(shelf, "backprop/why-reverse/forward-passes").accept
    assert set(accepted) == {parameter_count(BIG), parameter_count(untied)}


def test_the_published_counts_are_those_of_an_untied_12m_and_120m_and_a_tied_480m() -> None:
    large = Config(vocabulary=16_641, width=1536, heads=24, layers=16, context=1024)
    untied = [Config(**{**vars(config), "tied": False}) for config in (TWELVE, BIG)]
    assert [parameter_count(config) for config in untied] == [12_790_272, 98_737_152]
    assert parameter_count(large) == 480_219_648
    assert block(BIG) == 7_080_960


def test_the_loss_of_knowing_nothing_is_9_04() -> None:
    assert round(math.log(BIG.vocabulary), 4) == 9.0418


def test_the_plan_of_120m_is_about_3_9_gb_of_which_the_layers_save_1_8() -> None:
    buffers = plan(BIG)
    saved = sum(b.bytes for b in buffers.buffers if b.whose.startswith("layer"))
    assert round(buffers.bytes / 1e9, 1) == 3.9
    assert round(saved / 1e9, 1) == 1.8


def test_what_decays_and_what_is_spared_is_as_the_adamw_lesson_says() -> None:
    decaying = sum(slot.count for slot in layout(BIG) if slot.decays)
    assert (decaying, parameter_count(BIG) - decaying) == (91_423_488, 824_832)


def test_the_plans_told_in_prose_are_those_of_the_engine(shelf: Shelf) -> None:
    """What a reader compares with the Run or the calculator beside it, to the byte."""
    longer, doubled = preset("120M", {"context": 2048}), preset("120M", {"batch": 16})
    told = {
        "memory/what-if/straight-line": [
            plan(doubled).bytes - plan(BIG).bytes,
            (plan(doubled).bytes - plan(BIG).bytes) // 8,
            plan(longer).bytes,
        ],
        "memory/what-if/cards": [plan(preset("12M")).bytes],
        "memory/the-plan/ask.explain": [plan(BIG).bytes],
        "memory/one-piece/micro-map": [
            *list(starts(plan(MICRO)).values())[1:5],
            plan(MICRO).bytes,
            plan(MICRO).padding,
            plan(OWN_TWELVE).padding,
            plan(OWN_TWELVE).bytes,
        ],
        "memory/one-piece/lent": [
            plan(OWN_TWELVE).by_owner()["layers"],
            plan(OWN_TWELVE).by_owner()["scratch"],
            plan(ONE_BY_ONE).bytes,
        ],
        "memory/one-piece/ask.next.label": [starts(plan(OWN_TWELVE))["corrections"]],
        "accumulation/what-adds/two-plans": [
            plan(BIG).bytes,
            plan(FOUR_SMALL).bytes,
            plan(preset("120M", {"micro_batches": 4})).bytes,
        ],
    }
    for place, sizes in told.items():
        lesson, _, block = place.partition("/")
        text = shelf.lesson_texts[lesson].get(block, "en").markdown
        assert [f"{size:,}" for size in sizes if f"{size:,}" not in text] == [], place


def test_the_row_of_scores_to_judge_is_the_one_that_halts(shelf: Shelf) -> None:
    """And resumed from sample 7 the count is the 3 of its answer."""
    prompt = shelf.lesson_texts["samples"].get("the-count/ask.prompt", "en").markdown
    assert "; ".join(map(str, SCORES)) in prompt
    assert failures(SCORES)[6] == 3


NAMED_WEIGHTS = re.compile(
    r"`(micro|12M|120M|gpt2-124M)`[^.|]{0,60}?\b(?:has|with|:) ([\d,]{5,}) weights"
)


def test_wherever_a_preset_s_weights_are_told_they_are_those_of_the_engine(shelf: Shelf) -> None:
    told = []
    for texts in shelf.lesson_texts.values():
        for block in texts.blocks["en"].values():
            told += NAMED_WEIGHTS.findall(block.text)
    assert len(told) >= 4
    assert [one for one in told if one[1] != f"{parameter_count(preset(one[0])):,}"] == []


SQUARES_IN_ALL = re.compile(r"(?:of|of the|formats,|formats:) (\d+) squares")


def test_the_squares_that_a_step_counts_are_those_of_its_run(shelf: Shelf) -> None:
    counted = {}
    for lesson in shelf.course.lessons:
        blocks = shelf.lesson_texts[lesson.id].blocks["en"]
        for step in lesson.steps:
            said = [b.text for key, b in blocks.items() if key.startswith(f"{step.id}/")]
            grid = PROCEDURES[step.run.procedure].grid if step.run else None
            if grid and (found := SQUARES_IN_ALL.findall(" ".join(said))):
                counted[f"{lesson.id}/{step.id}"] = ({int(number) for number in found}, len(grid))
    assert len(counted) >= 5
    assert {place: told for place, (told, due) in counted.items() if told != {due}} == {}
