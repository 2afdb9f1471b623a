"""Prose, formulas, figures and sources become HTML that a page can trust."""

import ast
import re
from pathlib import Path

import pytest
from django.conf import settings

from lessons.content.faults import ContentError
from lessons.content.formulas import formula
from lessons.content.highlight import code_lines, for_readers
from lessons.content.page import Renderer
from lessons.content.parts import FigurePart, PassagePart, SourcePart, StepPage
from lessons.content.prose import Links, Prose, plain
from lessons.content.sources import source_text
from tests.lessons.small_course import SmallCourse


def known(target: str) -> str:
    if target == "nowhere":
        raise ContentError("there is no such thing")
    return f"#{target}"


def prose() -> Prose:
    return Prose(Links(step=known, term=known, source=known))


def page(small: SmallCourse, step: str = "read", language: str = "en") -> StepPage:
    shelf = small.shelf()
    lesson = shelf.course.lesson("first")
    assert lesson is not None
    found = lesson.step(step)
    assert found is not None
    return Renderer(shelf, lesson, found, language).page()


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a <script>alert(1)</script> b", "&lt;script&gt;"),
        ("<div onclick='x'>hi</div>", "&lt;div"),
        ("![x](y.png)", "![x]"),
        ("`a < b`", '<code dir="ltr" translate="no">a &lt; b</code>'),
        ("$N=257$", "<math><mi>N</mi><mo>=</mo><mn>257</mn></math>"),
        ("$$x^2$$", '<math display="block">'),
        ("with $d$, then", "</math>,</span> then"),
        ("bu $d$’nin payı", "</math>’nin</span> payı"),
        ("`$x` and \\$5", "$5"),
        ("[bad](javascript:alert(1))", 'href="#"'),
        ("[word](term:mask)", 'class="term" href="#mask"'),
        ("```python\n@jit\ndef f(): return 1  # one\n```", '<span class="c">@jit</span>'),
        ("```python\ndef f(): return 1\n```", '<span class="k">def</span>'),
        ("8. bayttan sonra", "<p>8. bayttan sonra</p>"),
        ("36. Widths follow.\n\n```text\n5. five\n```", ">5. five</pre>"),
        ("1. one\n2. two", "<ol>\n<li>one</li>"),
        ("| a | b |\n|---|---|\n| 1 | $x$ |", '<div class="scroll" tabindex="0"><table>'),
    ],
)
def test_markdown_becomes_safe_html(text: str, html: str) -> None:
    assert html in prose().html(text)


@pytest.mark.parametrize("text", ["<script>x</script>", "[a](javascript:b)", "x <img src=y> z"])
def test_no_markup_of_an_author_passes_as_markup(text: str) -> None:
    html = prose().html(text)
    assert not re.search(r"<(script|img)|javascript:", html)


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("$\\nope$", "Unknown command"),
        ("[a](step:nowhere)", "there is no such thing"),
        ("[a](ftp://x)", "is none of"),
        ("```klingon\nx\n```", "not a language"),
        ("# Too big", "begin headings in prose with ##"),
    ],
)
def test_a_mistake_is_remembered_and_the_rest_still_shows(text: str, mistake: str) -> None:
    writer = prose()
    html = writer.html(f"{text}\n\nafter")
    assert "<p>after</p>" in html
    assert mistake in writer.mistakes[0]


def test_terms_are_collected_once_in_the_order_they_are_met() -> None:
    writer = prose()
    writer.html("[masks](term:mask), [a block](term:block), [mask](term:mask)")
    assert writer.terms == ["mask", "block"]


def test_a_definition_stands_under_its_own_word_not_under_the_one_that_was_inflected(
    small: SmallCourse,
) -> None:
    small.change("small/01-first/tr.md", "[Maske](term:mask)", "[Maskenin](term:mask) şeridi")
    assert [item.word for item in page(small, language="tr").definitions] == ["maske"]


def test_plain_text_has_no_markdown_left() -> None:
    text = "## A [link](x), **bold**, `code`\n\n- item\n\n```python\nx = 1\n```"
    assert plain(text) == "A link, bold, code item x = 1"
    assert plain("1. one\n2. two") == "one two"
    assert plain("8. bayttan sonra") == "8. bayttan sonra"


def test_a_figure_speaks_the_readers_language(small: SmallCourse) -> None:
    for language, label in (("en", "the word"), ("fr", "le mot"), ("tr", "sözcük")):
        figure = next(p for p in page(small, language=language).parts if isinstance(p, FigurePart))
        assert f">{label}</text>" in figure.svg
        assert 'role="img"' in figure.svg
        assert "xmlns" not in figure.svg


def test_texts_in_a_figure_are_escaped(small: SmallCourse) -> None:
    small.change("small/01-first/en.md", "the word", 'a < b & "c"')
    figure = next(p for p in page(small).parts if isinstance(p, FigurePart))
    assert "a &lt; b &amp; " in figure.svg


def test_ids_of_figures_never_meet(small: SmallCourse) -> None:
    small.change(
        "small/01-first/lesson.yaml", "- figure: box", "- figure: box\n      - figure: box"
    )
    html = "".join(p.svg for p in page(small).parts if isinstance(p, FigurePart))
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids)) == 2
    assert re.findall(r"url\(#([^)]+)\)", html) == ids


def test_a_source_is_the_text_of_its_file(small: SmallCourse) -> None:
    source = next(p for p in page(small).parts if isinstance(p, SourcePart))
    shown = re.sub(r"<[^>]+>", "", source.versions[0].lines.replace('</span><span class="l', "\n<"))
    text = source_text("kernels/rmsnorm.py", "forward_kernel")
    assert text.startswith("@triton.jit") or "@triton.jit" in text
    assert len(re.findall('<span class="l', source.versions[0].lines)) == text.count("\n") + 1
    assert 'class="l hl"' in source.versions[0].lines
    assert "tl.sum(" in shown


def test_a_later_version_may_stand_in_another_file(small: SmallCourse) -> None:
    small.change(
        "small/01-first/lesson.yaml",
        "kernels/rmsnorm.py::forward_kernel', ",
        "kernels/rmsnorm.py::forward_kernel', versions: {1: forward_kernel, "
        "2: 'kernels/rmsnorm_fast.py::forward_rows_kernel'}, ",
    )
    source = next(p for p in page(small).parts if isinstance(p, SourcePart))
    assert [str(version.symbol) for version in source.versions] == [
        "kernels/rmsnorm.py::forward_kernel",
        "kernels/rmsnorm_fast.py::forward_rows_kernel",
    ]
    assert "forward_rows_kernel" in source.versions[1].lines


def test_a_source_outside_the_kernels_is_never_read() -> None:
    for path in ("platform/chainrule/settings.py", "../etc/passwd", "/etc/passwd", "kernels"):
        with pytest.raises(ContentError):
            source_text(path, "SECRET_KEY")


def test_definitions_of_the_terms_used_stand_on_the_page(small: SmallCourse) -> None:
    (definition,) = page(small, language="fr").definitions
    assert (definition.word, str(definition.text)) == ("masque", "Ce qui ferme des places.")


def test_a_missing_passage_carries_its_own_language_and_a_mark(small: SmallCourse) -> None:
    small.remove_block("small/01-first/fr.md", "words")
    passage = next(p for p in page(small, language="fr").parts if isinstance(p, PassagePart))
    assert passage.text.attributes == ' lang="en" dir="ltr"'
    assert passage.text.mark
    assert "closes 255 lanes" in passage.text.html


def test_the_key_is_nowhere_in_a_rendered_step(small: SmallCourse) -> None:
    """The explanation and the hints are texts of the page, but not parts that it shows."""
    parts = repr(page(small, "ask").parts)
    assert "257 over 512" not in parts
    assert "0.501953125" not in parts


@pytest.mark.parametrize(("language", "shown"), [("en", "0.999"), ("fr", "0,999"), ("tr", "0,999")])
def test_decimals_of_a_formula_bear_the_sign_of_the_language(language: str, shown: str) -> None:
    for html in (
        formula("1-0.999^t", display=True, language=language),
        Prose(prose().links, language).html("It is $1-0.999^t$."),
    ):
        assert f"<mn>{shown}</mn>" in html


def test_columns_of_a_table_are_aligned_without_inline_style() -> None:
    html = prose().html("| a | b | c | d |\n|---|--:|:-:|:--|\n| 1 | 2 | 3 | 4 |")
    assert "style" not in html
    assert [html.count(f'<{tag} class="n">') for tag in ("th", "td")] == [1, 1]


def test_a_formula_that_needs_inline_style_is_refused() -> None:
    assert "<math" in formula(r"\mathrm{softmax}\left(x\right)", display=True)
    with pytest.raises(ContentError, match="inline style"):
        formula(r"\mathrm{softmax}\!\left(x\right)", display=True)


TOOLS = r"# ?(?:fmt|noqa|type: ?ignore|mypy|ruff)\b"


def test_what_is_said_to_tools_is_shown_to_no_reader() -> None:
    """Of every kernel, and nothing else is left out."""
    for file in Path(settings.BASE_DIR, "kernels").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        shown = for_readers(text)
        assert not re.search(TOOLS, shown), file
        assert ast.dump(ast.parse(shown)) == ast.dump(ast.parse(text)), file
        assert len(shown) >= len(text) - sum(map(len, re.findall(rf".*{TOOLS}.*\n", text)))
    assert "fmt" not in code_lines("# fmt: off\nx = f(\n    1\n)  # fmt: skip", "python")
    assert "# fmt: skip" in code_lines("# fmt: skip", "yaml")
