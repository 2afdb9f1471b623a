"""Language files are cut into blocks, and translations stamped with what they translate."""

from lessons.content.blocks import block_hash, read_blocks, stamp
from lessons.content.library import State, Texts
from tests.lessons.small_course import SmallCourse


def test_a_hash_ignores_what_a_reader_cannot_see() -> None:
    assert block_hash("a  \nb\n\n") == block_hash("\na\nb")
    assert block_hash("cafe\u0301") == block_hash("caf\u00e9")
    assert block_hash("a b") != block_hash("a  b")
    assert len(block_hash("a")) == 8


def test_markers_inside_fenced_code_are_text(small: SmallCourse) -> None:
    small.write("x.md", "<!-- block a -->\n```\n<!-- block b -->\n```\n<!-- block c -->\nlast\n")
    blocks = read_blocks(small.root / "x.md", "x.md", [])
    assert list(blocks) == ["a", "c"]
    assert blocks["a"].text == "```\n<!-- block b -->\n```"


def test_blocks_after_a_step_marker_belong_to_it(small: SmallCourse) -> None:
    small.write("x.md", "<!-- block title -->\nOne\n<!-- step s -->\n<!-- block title -->\nTwo\n")
    blocks = read_blocks(small.root / "x.md", "x.md", [])
    assert {name: block.text for name, block in blocks.items()} == {
        "title": "One",
        "s/title": "Two",
    }


def test_stamping_writes_the_hash_of_the_source_and_touches_nothing_else() -> None:
    text = "<!-- block a -->\nun\n<!-- step s -->\n<!-- block a of=00000000 -->\ndeux\n"
    done, ids = stamp(text, {"a": "11111111", "s/a": "22222222"})
    assert ids == ["a"]
    assert done == text.replace("block a -->", "block a of=11111111 -->", 1)
    assert stamp(text, {"a": "11111111", "s/a": "22222222"}, again=True)[1] == ["a", "s/a"]


def test_a_missing_block_falls_back_to_the_source_and_says_so(small: SmallCourse) -> None:
    small.remove_block("small/01-first/fr.md", "words")
    text = small.shelf().lesson_texts["first"].get("read/words", "fr")
    assert (text.language, text.state) == ("en", State.MISSING)


def test_a_block_whose_source_changed_is_stale_in_every_translation(small: SmallCourse) -> None:
    small.change("small/01-first/en.md", "A naïve reader", "Any reader")
    texts: Texts = small.shelf().lesson_texts["first"]
    assert texts.get("ask/words", "en").state is State.FRESH
    assert texts.get("ask/words", "fr").state is State.STALE
    assert texts.get("ask/words", "tr").language == "tr"
