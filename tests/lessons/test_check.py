"""`manage.py courses check` finds each kind of fault, once planted, and nothing else."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.lessons.small_course import SmallCourse

FIRST = "small/01-first/lesson.yaml"
SECOND = "small/02-second/lesson.yaml"
EN, FR, TR = (f"small/01-first/{language}.md" for language in ("en", "fr", "tr"))
BOX = "small/01-first/figures/box.svg"
WORDS, MORE = "- prose: words", "- prose: words\n      - "
TYPICAL = "{value: 1, abs: 0.001, hint: by-n}"

# What is changed (file, old text, new text), and what the check must say.
PLANTED = [
    # The yaml files
    ("small/course.yaml", "id: small", "id: large", "“large” is not the folder's name"),
    ("small/course.yaml", "lessons:", "leçons: 1\nlessons:", "leçons: unknown key"),
    ("small/course.yaml", "02-second]", "02-secnd]", "lesson.yaml: the file does not exist"),
    ("small/course.yaml", ", 02-second]", "]", "the folder 02-second is not listed"),
    (FIRST, "minutes: 20", "minutes: soon", "write a whole number of at least 1, not “soon”"),
    (FIRST, "minutes: 20", "minuets: 20", "minuets: unknown key; did you mean “minutes”?"),
    (FIRST, "minutes: 20", "minutes: 20\nminutes: 30", "the key 'minutes' stands twice"),
    (FIRST, "minutes: 20", "minutes: [20", "not valid yaml"),
    (FIRST, "- id: read", "- id: ask", "“ask” is the id of another step"),
    (FIRST, "- id: read", "- id: Read", "use small letters"),
    (FIRST, "- id: read", "- id: print", "a word of the site's own addresses"),
    (FIRST, "prose: words", "prsoe: words", "“prsoe” is unknown"),
    (FIRST, "options: [n, block], answer: n,", "options: [n, no], answer: n,", "is not an id"),
    (FIRST, "answer: n,", "answer: m,", "“m” is not one of the options"),
    (FIRST, "answer: [a, c]", "answer: [a, d]", "“d” is not one of the options"),
    (FIRST, "hints: {block: not-block}", "hints: {n: not-block}", "it needs no hint"),
    (FIRST, "answer: [load, sum, store]", "answer: [load, store]", "it must hold every item once"),
    (FIRST, "unit: bytes", "unit: octets", "“octets” is unknown"),
    (FIRST, "id: size", "id: mean", "“mean” is the id of another field"),
    (FIRST, "id: size", "id: base", "a field may not be called “base”"),
    (FIRST, "min: 10", "min: 300", "300 is more than max"),
    (FIRST, "rubric: [reason]", "rubric: []", "has no rubric"),
    (SECOND, "predict: true", "predict: perhaps", "write true or false, not “perhaps”"),
    (SECOND, "    run: {procedure: rmsnorm.exercise}\n", "", "there is no run that the hypothesis"),
    (SECOND, "id: guess", "id: all-kinds", "is the id of the activity of first/ask too"),
    # Calculators, the table of kernels, the glossary
    (FIRST, WORDS, MORE + "calculator: memroy", "write checkpoint, memory"),
    (
        FIRST,
        WORDS,
        MORE + "calculator: {name: memory, bach: 3}",
        "“bach” is no entry of it; known: config, precision, batch",
    ),
    (
        FIRST,
        WORDS,
        MORE + "calculator: {name: schedule, floor: 2}",
        "floor: “2” is not accepted",
    ),
    (
        FIRST,
        WORDS,
        MORE + "calculator: memory\n      - calculator: memory",
        "the calculator “memory” stands twice",
    ),
    (FIRST, WORDS, MORE + "kernels: bread", "write andrea, not “bread”"),
    (FIRST, WORDS, MORE + "kernels: andrea", "which step is about “loss”"),
    ("small/en.md", "block word.mask", "block word.msak", "word.mask: this block is missing"),
    # Names that lead somewhere else
    (SECOND, "rmsnorm.exercise", "rmsnorm.excercise", "no Procedure 'rmsnorm.excercise'"),
    (
        SECOND,
        "{procedure: rmsnorm.check-forward}",
        "{procedure: rmsnorm.check-forward, version: 99}",
        "rmsnorm.check-forward has no version 99",
    ),
    (
        SECOND,
        "{procedure: rmsnorm.exercise}",
        "{procedure: rmsnorm.exercise, parameters: {m: 3}}",
        "rmsnorm.exercise has no parameter 'm'",
    ),
    (
        SECOND,
        "{procedure: rmsnorm.check-forward}",
        "{procedure: rmsnorm.check-forward, gpu: {version: 98}}",
        "rmsnorm.check-forward has no version 98",
    ),
    (FIRST, "::forward_kernel", "::sideward_kernel", "has no “sideward_kernel”"),
    (FIRST, "kernels/rmsnorm.py", "../../etc/passwd", "there is no file ../../etc/passwd to show"),
    (FIRST, "'tl.sum('", "'tl.prod('", "holds “tl.prod(”"),
    (EN, "(term:mask)", "(term:masque)", "the glossary has no term “masque”"),
    (EN, "(step:first/ask)", "(step:first/answer)", "there is no step “first/answer”"),
    (EN, "rmsnorm.py::backward_kernel", "rmsnorm.py::nothing", "has no “nothing”"),
    (EN, "(step:first/ask)", "(javascript:alert(1))", "is none of https:, step:, term:, source:"),
    (EN, "$N=257$", "$N=\\fraq{1}{2}$", "the formula “N=\\fraq{1}{2}” has an error"),
    (FIRST, "\\frac{1}", "\\frac{1", "has an error"),
    # Keys
    (FIRST, TYPICAL, "{value: 0.502, hint: by-n}", "0.502 of “mean” passes as right"),
    (
        FIRST,
        "abs: 0.0005, decimals: 4",
        "abs: 0.0000005, decimals: 4",
        "typed as 0.5020, fails its own check",
    ),
    # Figures
    (FIRST, "figure: box", "figure: bax", "there is no figure figures/bax.svg"),
    (FIRST, "figure: box", "figure: bax", "no step shows this figure"),
    (BOX, "<rect", "<script>1</script><rect", "may not hold <script>"),
    (BOX, "<rect", '<rect style="x"', "the attribute style"),
    (BOX, "<rect", '<rect onclick="x"', "the attribute onclick"),
    (BOX, "<rect", "<image/><rect", "may not hold <image>"),
    (BOX, "<rect", "<foreignObject/><rect", "not hold <foreignObject>"),
    (BOX, "<rect", '<use href="https://x.y/z"/><rect', "may refer only"),
    (BOX, "url(#tip)", "url(#top)", "nothing in it has the id “top”"),
    (BOX, "url(#tip)", "url(https://x.y/#a)", "outside the figure"),
    (BOX, ' viewBox="0 0 100 40"', "", "needs a viewBox"),
    (BOX, "</svg>", "", "is not well-formed"),
    (BOX, "{{t:label}}", "{{t:lable}}", "figure.box.lable: this block"),
    # Blocks
    (EN, "<!-- block words -->", "<!-- block wrods -->", "read/words: this block is missing"),
    (EN, "<!-- block words -->", "<!-- block wrods -->", "read/wrods: nothing shows this block"),
    (EN, "<!-- block lede -->", "<!-- block title -->", "the block “title” stands twice"),
    (EN, "<!-- block lede -->", "<!-- blok lede -->", "write <!-- block id -->"),
    (EN, "<!-- block title -->", "Adrift.\n<!-- block title -->", "this text stands in no block"),
    (EN, "The first lesson", "", "the block “title” is empty"),
    (EN, "The first lesson", "The first\nlesson", "a title is one line"),
    # Translations
    (EN, "A naïve reader", "Every naïve reader", "fr.md: ask/words: stale"),
    (FR, "`BLOCK`", "`BLOC`", "code differ from the source: lost “BLOCK”, added “BLOC”"),
    (FR, "$N=257$", "$N=256$", "formulas differ from the source"),
    (FR, "(step:first/ask)", "(step:first/read)", "links differ from the source"),
    (FR, "255 places", "256 places", "numbers differ from the source: lost “255”, added “256”"),
    (TR, "1.234 sözcük", "1.235 sözcük", "numbers differ from the source: lost “1234”"),
    (TR, "Saf bir", "Saf {name} bir", "placeholders differ from the source"),
    # The small signs
    (EN, "naïve reader", "reader's reader", "a straight apostrophe"),
    (EN, "naïve reader", '"naïve" reader', "a straight quotation mark"),
    (EN, "naïve reader", "<b>naïve</b> reader", "raw HTML is not allowed"),
    (FR, "C’est le quotient", "C'est le quotient", "a straight apostrophe"),
    (FR, "Lesquels\u202f?", "Lesquels ?", "write U+202F before ; ! ?"),
    (FR, "Lesquels\u202f?", "Lesquels?", "write U+202F before ; ! ?"),
    (FR, "Un lecteur naïf", "Un lecteur : naïf", "write U+202F before :"),
    (FR, "Un lecteur naïf", "Un lecteur « naïf »", "write U+202F after «"),
    (FR, "Un lecteur naïf", "Un lecteur “naïf”", "English quotation marks"),
    (FR, "Un lecteur naïf", "Un lecteur à 0.5", "a decimal point; write a comma"),
    (FR, "1\u202f234 mots", "1 234 mots", "thousands with an ordinary space"),
    (TR, "Saf bir", "Saf 35% bir", "write the percent sign first"),
    (TR, "Saf bir", "Saf 0.5 bir", "a decimal point; write a comma"),
    (TR, "Saf bir", "«Saf» bir", "guillemets"),
]  # fmt: skip


def test_the_small_course_has_no_fault(small: SmallCourse) -> None:
    assert small.faults() == []


@pytest.mark.parametrize(("file", "old", "new", "sentence"), PLANTED)
def test_a_planted_fault_is_found(
    small: SmallCourse, file: str, old: str, new: str, sentence: str
) -> None:
    small.change(file, old, new)
    assert sentence in "\n".join(small.faults())


@pytest.mark.parametrize(
    ("file", "block", "sentence"),
    [
        (EN, "ask.where.option.block", "ask/ask.where.option.block: this block is missing"),
        (EN, "ask.mean.hint.by-n", "ask/ask.mean.hint.by-n: this block is missing"),
        (EN, "figure.box.alt", "read/figure.box.alt: this block is missing"),
        (FR, "words", "fr.md: read/words: not translated"),
        ("small/tr.md", "term.mask", "tr.md: term.mask: not translated"),
    ],
)
def test_a_block_taken_out_is_missed(
    small: SmallCourse, file: str, block: str, sentence: str
) -> None:
    small.remove_block(file, block)
    assert sentence in "\n".join(small.faults())


def test_a_translation_nobody_stamped_is_said_once(small: SmallCourse) -> None:
    text = small.read(FR)
    small.write(FR, "\n".join(line.split(" of=")[0] + " -->" if " of=" in line else line
                              for line in text.splitlines()))  # fmt: skip
    assert [fault for fault in small.faults() if "no hash" in fault] == [
        "small/01-first/fr.md: 31 blocks carry no hash; run `manage.py courses stamp` once."
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Triton 3.6 et Python 3.12",  # names, not numbers
        "à 16:9 ou `a ? b` ou $a ; b$",
        "fini\u202f! Vraiment\u202f?! Oui.",
        "de 1\u202f000\u202f000 à 3,14",
        "«\u202fbien\u202f»",
        "voir https\u202f: non",
    ],
)
def test_good_french_passes(small: SmallCourse, text: str) -> None:
    small.change(FR, "Un lecteur naïf", text)
    small.change(EN, "A naïve reader", text if "1\u202f" not in text else "1,000,000, 3.14")
    assert not [fault for fault in small.faults() if "write" in fault and "/fr.md" in fault]


def test_a_small_number_may_be_written_out_in_another_language(small: SmallCourse) -> None:
    small.change(EN, "A naïve reader", "One naïve reader of two")
    small.change(TR, "Saf bir okur", "2 okurdan 1 saf okur")
    assert not [fault for fault in small.faults() if "numbers differ" in fault]


def test_the_command_lists_faults_and_fails(small: SmallCourse) -> None:
    small.change(EN, "(term:mask)", "(term:masque)")
    out = StringIO()
    with pytest.raises(CommandError) as failed:
        call_command("courses", "check", "small", stdout=out, no_color=True)
    assert failed.value.returncode == 1
    assert "small/01-first/en.md: read: the glossary has no term “masque”." in out.getvalue()


def test_the_command_says_when_all_is_well(small: SmallCourse) -> None:
    out = StringIO()
    call_command("courses", "check", stdout=out, no_color=True)
    assert out.getvalue() == "small: 2 lessons, 4 steps, en, fr, tr\nNo faults.\n"


def test_stamping_leaves_a_stale_block_stale_unless_told(small: SmallCourse) -> None:
    small.change(EN, "A naïve reader", "Every naïve reader")
    call_command("courses", "stamp", "small", stdout=StringIO())
    assert any("stale" in fault for fault in small.faults())
    call_command("courses", "stamp", "small", again=True, stdout=StringIO())
    assert small.faults() == []
