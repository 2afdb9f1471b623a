"""Calculators answer with the engine's own figures, in the reader's language, within bounds."""

import re

import pytest
from django.test import Client
from django.utils.translation import override

from kernels.andrea.config import preset
from kernels.andrea.plan import plan
from lessons.calculators import CALCULATORS
from lessons.calculators.checkpoint import CheckpointFile
from lessons.calculators.memory import Memory
from lessons.calculators.schedule import Schedule
from lessons.calculators.shown import Shown, shown

STEPS = {
    "memory": "andrea/memory/what-if/",
    "schedule": "andrea/schedule/only-the-step/",
    "checkpoint": "andrea/checkpoints/layout/",
}


def asked(name: str, language: str = "en", kept: str = "", **entries: str) -> Shown:
    query = {f"calc.{name}.{entry.rstrip('_')}": typed for entry, typed in entries.items()}
    with override(language):
        return shown(name, {}, query, kept, language)


def errors(calculator: Shown) -> dict[str, str]:
    return {line.entry.name: line.error for line in calculator.lines if line.error}


def memory(**entries: str) -> Memory:
    result = asked("memory", **entries).result
    assert isinstance(result, Memory)
    return result


def schedule(**entries: str) -> Schedule:
    result = asked("schedule", **entries).result
    assert isinstance(result, Schedule)
    return result


def checkpoint(**entries: str) -> CheckpointFile:
    result = asked("checkpoint", **entries).result
    assert isinstance(result, CheckpointFile)
    return result


def test_memory_is_the_engines_plan_to_the_byte_and_its_rows_add_up() -> None:
    found = memory(config="120M", batch="12")
    assert found.total == f"{plan(preset('120M', {'batch': 12})).bytes:,}"
    assert sum(int(row.bytes.replace(",", "")) for row in found.rows) == int(
        found.total.replace(",", "")
    )


@pytest.mark.parametrize(
    ("batch", "holding", "sentence"),
    [
        ("8", [True, True, True, True], "Every one of these cards holds it."),
        ("21", [False, True, True, True], "Cards with 16\u00a0GB or more hold it."),
        ("100", [False, False, False, True], "Only the card with 80\u00a0GB holds it."),
        ("300", [False, False, False, False], "None of these cards holds it."),
    ],
)
def test_the_cards_that_hold_a_plan_are_named(
    batch: str, holding: list[bool], sentence: str
) -> None:
    found = memory(config="120M", batch=batch)
    assert [card.holds for card in found.cards] == holding
    assert sentence in found.sentence


def test_a_card_holds_its_largest_batch_and_no_sequence_more() -> None:
    for index, card in enumerate(memory(config="120M").cards):
        most = int(card.largest)
        assert memory(config="120M", batch=str(most)).cards[index].holds
        assert not memory(config="120M", batch=str(most + 1)).cards[index].holds


def test_a_schedule_gives_the_values_of_the_lesson() -> None:
    rows = {row.place: row for row in schedule(steps="60", peak="0.003", at="2").rows}
    assert (rows["highest"].step, rows["highest"].rate) == ("5", "0.002954")
    assert rows["asked for"].rate == "0.0014963"
    assert rows["last step"].step == "59"


@pytest.mark.parametrize(
    ("entries", "total"),
    [
        ({"config": "micro"}, "422,024"),
        ({"config": "120M", "tied": "no"}, "1,184,845,832"),
        ({"config": "120M"}, "1,106,979,848"),
        ({"config": "12M", "tied": "no", "vocabulary": "2305"}, "153,483,272"),
        ({"weights": "120,000,000"}, "1,440,000,008"),
    ],
)
def test_a_checkpoint_has_the_bytes_that_the_course_says(
    entries: dict[str, str], total: str
) -> None:
    assert checkpoint(**entries).total == total


def test_the_name_of_a_checkpoint_is_that_of_its_step() -> None:
    assert checkpoint(step="112619").name == "step_112619.bin"


@pytest.mark.parametrize(
    ("name", "entries", "wrong"),
    [
        ("memory", {"batch": "0"}, "batch"),
        ("memory", {"batch": "1.5"}, "batch"),
        ("memory", {"batch": "40000"}, "batch"),
        ("memory", {"batch": "eight"}, "batch"),
        ("memory", {"batch": ""}, "batch"),
        ("memory", {"batch": "9" * 500}, "batch"),
        ("memory", {"layers": "1e9"}, "layers"),
        ("memory", {"config": "13M"}, "config"),
        ("memory", {"precision": "<b>"}, "precision"),
        ("memory", {"heads": "7"}, "heads"),
        ("schedule", {"peak": "0"}, "peak"),
        ("schedule", {"peak": "nan"}, "peak"),
        ("schedule", {"floor": "1.1"}, "floor"),
        ("schedule", {"steps": "-5"}, "steps"),
        ("schedule", {"steps": "100", "warmup": "101"}, "warmup"),
        ("schedule", {"steps": "100", "at": "100"}, "at"),
        ("checkpoint", {"weights": "2147483648"}, "weights"),
        ("checkpoint", {"width": "16384", "vocabulary": "1000000"}, "width"),
    ],
)
def test_bad_input_gets_a_sentence_at_its_line_and_the_rest_is_kept(
    name: str, entries: dict[str, str], wrong: str
) -> None:
    found = asked(name, **entries)
    assert list(errors(found)) == [wrong]
    assert found.result is None
    typed = {line.entry.name: line.typed for line in found.lines}
    assert {k: typed[k] for k in entries} == {k: v[:80] for k, v in entries.items()}


def test_heads_that_do_not_divide_hear_which_would() -> None:
    sentence = errors(asked("memory", heads="7"))["heads"]
    assert sentence == "7 heads do not divide a width of 768. These would: 3; 4; 6; 8."


@pytest.mark.parametrize("name", CALCULATORS)
@pytest.mark.parametrize("extreme", ["low", "high"])
def test_every_entry_takes_its_bounds(name: str, extreme: str) -> None:
    for entry in CALCULATORS[name].entries:
        if entry.options:
            continue
        found = asked(name, **{entry.name: repr(getattr(entry, extreme))})
        assert errors(found).get(entry.name, "").startswith("Write") is False


@pytest.mark.parametrize(
    ("language", "typed"),
    [("en", "200,000"), ("fr", "200 000"), ("fr", "200 000"), ("tr", "200.000"), ("tr", "2e5")],
)
def test_numbers_are_read_in_the_readers_language(language: str, typed: str) -> None:
    found = asked("schedule", language, steps=typed, in_=language)
    assert isinstance(found.result, Schedule)
    assert re.sub(r"\D", "", found.result.last) == "200000"


def test_an_address_says_in_which_language_its_numbers_are_written() -> None:
    """A link that a Turkish reader sends means the same to an English one."""
    sent = asked("schedule", "tr", steps="150.000", peak="0,002", in_="tr")
    query = dict(pair.split("=") for pair in sent.state(whole=False).split("&"))
    assert query["calc.schedule.in"] == "tr"
    read = asked("schedule", "en", steps="150.000", peak="0,002", in_="tr")
    typed = {line.entry.name: line.typed for line in read.lines}
    assert (typed["steps"], typed["peak"]) == ("150,000", "0.002")
    assert not errors(read)


def page(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("language", ["en", "fr", "tr"])
@pytest.mark.parametrize("name", STEPS)
def test_a_step_shows_its_calculator_and_answers_the_address(
    client: Client, name: str, language: str
) -> None:
    html = page(client, f"/{language}/{STEPS[name]}")
    assert f'id="calc-{name}"' in html
    assert 'role="status"' in html


@pytest.mark.django_db
def test_the_form_works_without_a_script(client: Client) -> None:
    html = page(client, f"/en/{STEPS['memory']}?calc.memory.in=en&calc.memory.batch=300")
    assert "None of these cards holds it." in html
    assert 'name="calc.memory.batch" value="300"' in html


@pytest.mark.django_db
def test_what_is_typed_is_escaped(client: Client) -> None:
    html = page(client, f'/en/{STEPS["memory"]}?calc.memory.batch="><script>x</script>')
    assert "<script>x" not in html


@pytest.mark.django_db
def test_the_print_view_shows_the_last_values(client: Client) -> None:
    page(client, f"/en/{STEPS['memory']}?calc.memory.in=en&calc.memory.batch=300")
    assert "None of these cards holds it." in page(client, "/en/andrea/memory/print/")
    assert "None of these cards holds it." in page(client, f"/en/{STEPS['memory']}")
    again = page(client, f"/en/{STEPS['memory']}?calc.memory")
    assert "Every one of these cards holds it." in again


@pytest.mark.django_db
def test_the_swapped_part_tells_the_address_of_the_page(client: Client) -> None:
    address = f"/en/{STEPS['memory']}calculate/?calc=memory&calc.memory.in=en&calc.memory.batch=9"
    response = client.get(address + "&version=2&csrf=x")
    assert b"<section" in response.content and b"<html" not in response.content
    expected = f"/en/{STEPS['memory']}?calc.memory.in=en&calc.memory.batch=9&version=2"
    assert response["HX-Replace-Url"] == expected


@pytest.mark.django_db
@pytest.mark.parametrize("query", ["", "?calc=schedule", "?calc=nothing"])
def test_a_calculator_that_a_step_has_not_is_a_404(client: Client, query: str) -> None:
    assert client.get(f"/en/{STEPS['memory']}calculate/{query}").status_code == 404


@pytest.mark.django_db
def test_a_broken_cookie_harms_nobody(client: Client) -> None:
    client.cookies["calc.memory"] = "calc.memory.batch=%FF%00&=&;;" + "x" * 3000
    page(client, f"/en/{STEPS['memory']}")
