"""The backprop lesson of the ANDREA course: read from end to end in each language, its four
questions answered badly, in part and well; and the calculators, with and without a script."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from lessons.content.blocks import read_blocks
from lessons.content.prose import plain
from tests.browser.conftest import ended
from tests.stack import ROOT, Stack

LESSON = "/{}/andrea/backprop/"
FOLDER = ROOT / "lessons" / "courses" / "andrea" / "07-backprop"
LANGUAGES = ["en", "fr", "tr"]
LONG = "One scalar loss and very many weights: one walk back from the loss reaches them all."
BACKWARD = ["add-mlp", "mlp", "ln2", "add-attn", "attn-out", "attn", "attn-qkv", "ln1"]
# The same three amounts as people write them: 240 MB, 960 MB and the passes of a step.
RIGHT_SIZES = {
    "en": ["240 MB", "915.5 MiB", "4", "4", "1"],
    "fr": ["0,24 Go", "960", "4", "4", "1"],
    "tr": ["228,9 MiB", "0,96 GB", "4", "4", "1"],
}
WRONG_SIZES = {
    "en": ["480 MB", "720", "1", "12", "4"],
    "fr": ["0,48 Go", "720 Mo", "1", "12", "4"],
    "tr": ["480", "0,72 GB", "1", "12", "4"],
}
WEIGHTS = {"en": "120,000,000", "fr": "120 000 000", "tr": "1,2·10⁸"}


def hint(language: str, step: str, block: str) -> str:
    """The hint as it stands in the language's file, without its Markdown."""
    blocks = read_blocks(Path(FOLDER / f"{language}.md"), language, [])
    return plain(blocks[f"{step}/ask.{block}"].text)


def field(page: Page, name: str) -> Locator:
    return page.locator(f'.ask [data-field="{name}"]')


def send(page: Page) -> None:
    """Press the button and wait for the page that comes back."""
    with page.expect_navigation():
        page.locator(".ask .actions button").first.click()


def hears(page: Page, name: str, sentence: str) -> None:
    expect(field(page, name).locator(".result.wrong .hint")).to_have_text(sentence)


def arrange(page: Page, order: list[str]) -> None:
    """Put the lines in this order with the keyboard."""
    for place, item in enumerate(order):
        line = page.locator(f'[data-order] li[data-item="{item}"]')
        at = page.locator("[data-order] li").evaluate_all(
            "(lines, item) => lines.findIndex((line) => line.dataset.item === item)", item
        )
        line.locator("button").first.focus()
        for _press in range(at - place):
            page.keyboard.press("ArrowUp")
    items = page.locator("[data-order] li").all()
    assert [line.get_attribute("data-item") for line in items] == order


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_lesson_is_read_step_by_step(page: Page, language: str) -> None:
    page.goto(LESSON.format(language) + "local-gradients/")
    expect(page.locator("html")).to_have_attribute("lang", language)
    titles = []
    for number in range(1, 9):
        expect(page.locator(".steps .count")).to_have_text(f"{number} / 8")
        titles.append(page.locator("h1").inner_text())
        expect(page.locator(".fallback, .read > .tag, .fault")).to_have_count(0)
        page.wait_for_load_state()  # a key that comes before the script is nobody's
        if number < 8:
            page.keyboard.press("ArrowRight")
    assert len(set(titles)) == 8


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_first_question_swapped_in_part_and_right(page: Page, language: str) -> None:
    page.goto(LESSON.format(language) + "why-reverse/")
    page.locator("#field-forward-passes").fill("1")
    page.locator("#field-reverse-passes").fill(WEIGHTS[language])
    page.locator('[name="price"][value="nothing"]').check()
    page.locator("#field-compare").fill(LONG)
    send(page)
    for name, block in (
        ("forward-passes", "forward-passes.hint.swapped"),
        ("reverse-passes", "reverse-passes.hint.swapped"),
        ("price", "price.hint.needs-values"),
    ):
        hears(page, name, hint(language, "why-reverse", block))
    expect(field(page, "compare").locator(".result.waiting")).to_have_count(1)

    page.locator("#field-forward-passes").fill(WEIGHTS[language])
    page.locator('[name="price"][value="saved"]').check()
    page.locator("#field-reverse-passes").fill("12")
    send(page)
    expect(page.locator(".ask .result.right")).to_have_count(2)
    hears(page, "reverse-passes", hint(language, "why-reverse", "reverse-passes.hint.layers"))

    page.locator("#field-reverse-passes").fill("1")
    send(page)
    expect(page.locator(".ask .result.right")).to_have_count(3)
    expect(page.locator("div.explain")).to_be_visible()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_second_question_is_a_hypothesis_that_its_run_answers(
    page: Page, language: str
) -> None:
    page.goto(LESSON.format(language) + "trace/")
    arrange(page, BACKWARD[::-1])
    page.locator("#field-pairing").fill(LONG)
    send(page)
    expect(page.locator(".ask .result.wrong")).to_have_count(0)  # not before the Run has spoken
    page.locator("[data-run]").click()
    ended(page)
    page.reload()
    hears(page, "order", hint(language, "trace", "order.hint.forward"))

    arrange(page, [*BACKWARD[3:], *BACKWARD[:3]])
    send(page)
    hears(page, "order", hint(language, "trace", "order.hint.attention-first"))
    arrange(page, BACKWARD)
    send(page)
    expect(field(page, "order").locator(".result.right")).to_have_count(1)
    expect(field(page, "pairing").locator(".result.waiting")).to_have_count(1)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_third_question_takes_sizes_as_they_are_written(page: Page, language: str) -> None:
    names = ["gradient", "four-buffers", "forward-calls", "backward-calls", "optimizer-calls"]
    page.goto(LESSON.format(language) + "sizing/")
    for name, typed in zip(names, WRONG_SIZES[language], strict=True):
        page.locator(f"#field-{name}").fill(typed)
    page.locator("#field-work").fill(LONG)
    send(page)
    for name, block in zip(
        names, ["fp32", "one-missing", "one-each", "layers", "after-each"], strict=True
    ):
        hears(page, name, hint(language, "sizing", f"{name}.hint.{block}"))

    page.locator("#field-gradient").fill(RIGHT_SIZES[language][0])
    page.locator("#field-four-buffers").fill(RIGHT_SIZES[language][1])
    send(page)
    expect(page.locator(".ask .result.right")).to_have_count(2)
    for name, typed in zip(names, RIGHT_SIZES[language], strict=True):
        page.locator(f"#field-{name}").fill(typed)
    send(page)
    expect(page.locator(".ask .result.right")).to_have_count(5)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_fourth_question_says_when_something_is_missing(page: Page, language: str) -> None:
    page.goto(LESSON.format(language) + "why-kernels/")
    page.locator('[name="family"][value="bit-exact"]').check()
    page.locator('[name="alone"][value="years-later"]').check()
    for name in ("memory-or-precision", "lasting"):
        page.locator(f"#field-{name}").fill(LONG)
    send(page)
    hears(page, "family", hint(language, "why-kernels", "family.hint.other-slot"))
    hears(page, "alone", hint(language, "why-kernels", "alone.hint.stands"))

    page.locator('[name="family"][value="bit-exact"]').uncheck()
    page.locator('[name="family"][value="reserved"]').check()
    page.locator('[name="alone"][value="faster"]').check()
    send(page)
    expect(field(page, "family").locator(".result.wrong .hint")).not_to_be_empty()
    expect(page.locator(".ask .result.right")).to_have_count(1)

    for option in ("per-tensor", "no-fragments"):
        page.locator(f'[name="family"][value="{option}"]').check()
    send(page)
    expect(page.locator(".ask .result.right")).to_have_count(2)
    expect(page.locator(".ask .result.waiting")).to_have_count(2)


MEMORY = "/en/andrea/memory/what-if/"
SAYS = "#calc-memory-says"


def test_a_calculator_answers_while_one_types_and_the_address_follows(page: Page) -> None:
    page.goto(MEMORY)
    expect(page.locator(SAYS)).to_contain_text("Every one of these cards holds it.")
    page.locator("#calc-memory-batch").fill("100")
    expect(page.locator(SAYS)).to_contain_text("Only the card with 80")
    expect(page).to_have_url(re.compile(r"calc\.memory\.batch=100"))
    expect(page.locator("#calc-memory-batch")).to_be_focused()

    page.locator("#calc-memory-heads").fill("7")
    heads = page.locator("#calc-memory-heads-error")
    expect(heads).to_contain_text("7 heads do not divide")
    expect(page.locator("#calc-memory-heads")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#calc-memory-batch")).to_have_value("100")
    page.locator("#calc-memory-heads").fill("")
    expect(heads).to_be_empty()
    expect(page.locator("#calc-memory-heads")).not_to_have_attribute("aria-invalid", "true")

    page.locator("[data-menu] summary").first.click()
    page.locator("button[lang=tr]").click()
    expect(page.locator("html")).to_have_attribute("lang", "tr")
    expect(page.locator("#calc-memory-batch")).to_have_value("100")


def test_a_schedule_is_drawn_anew_in_the_readers_notation(page: Page) -> None:
    page.goto("/fr/andrea/schedule/only-the-step/")
    before = page.locator(".curve .rate").get_attribute("points")
    page.locator("#calc-schedule-steps").fill("400 000")
    page.locator("#calc-schedule-at").fill("100 000")
    expect(page.locator("tr.sought td").nth(1)).to_have_text("0,000260459")
    assert page.locator(".curve .rate").get_attribute("points") != before


def test_calculators_work_without_a_script(browser: Browser, stack: Stack) -> None:
    context = browser.new_context(base_url=stack.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/tr/andrea/checkpoints/layout/")
    page.locator("#calc-checkpoint-weights").fill("120.000.000")
    page.locator("#calc-checkpoint button").click()
    expect(page.locator("#calc-checkpoint-says")).to_contain_text("1.440.000.008")
    page.locator("#calc-checkpoint-step").fill("on")
    page.locator("#calc-checkpoint button").click()
    expect(page.locator("#calc-checkpoint-step-error")).not_to_be_empty()
    expect(page.locator("#calc-checkpoint-weights")).to_have_value("120.000.000")
    page.locator("#calc-checkpoint .actions a").click()
    expect(page.locator("#calc-checkpoint-says")).to_contain_text("1.184.845.832")
    context.close()
