"""The corpus: any UTF-8 text, and one clear sentence for what is none."""

from pathlib import Path

import numpy as np
import pytest

from kernels.andrea.corpus import survey, text_of, tokenise
from kernels.andrea.tokens import BOS
from kernels.procedure import BadParameter


def test_bytes_and_a_beginning_for_each_file(tmp_path: Path) -> None:
    source = tmp_path / "text"
    source.mkdir()
    (source / "b.txt").write_text("é")
    (source / "a.txt").write_text("xy")
    (source / ".hidden").write_bytes(b"\xff")
    made = survey(str(source), 257, 3).lay(tmp_path)
    assert made.tokens.tolist() == [BOS, ord("x"), ord("y"), BOS, 0xC3, 0xA9]
    assert made.tokens.dtype == np.uint16 and isinstance(made.tokens, np.memmap)
    assert made.name == "text"


def test_the_same_text_has_the_same_digest_and_another_has_not(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    digests = []
    for content in ("one text", "one text", "one texu"):
        file.write_text(content)
        digests.append(survey(str(file), 257, 3).digest)
    assert digests[0] == digests[1] != digests[2]


def test_tokens_that_are_there_stay_and_a_damaged_file_is_made_again(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("some text")
    text = survey(str(file), 257, 3)
    assert sorted(tmp_path.iterdir()) == [file]  # looking writes nothing
    path = Path(str(text.lay(tmp_path).tokens.filename))
    whole, made = path.read_bytes(), path.stat().st_ino
    assert text.lay(tmp_path).tokens.tobytes() == whole and path.stat().st_ino == made
    path.write_bytes(whole[:-2])
    assert text.lay(tmp_path).tokens.tobytes() == whole


def test_a_text_that_changes_meanwhile_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    file, out = tmp_path / "a.txt", tmp_path / "out"
    out.mkdir()
    file.write_text("some text")
    text = survey(str(file), 257, 3)
    file.write_text("another text")
    with pytest.raises(BadParameter, match="corpus changed while it was read; accepted: "):
        text.lay(out)
    assert list(out.iterdir()) == []


def test_the_default_is_the_standard_library(tmp_path: Path) -> None:
    made = survey("", 257, 33).lay(tmp_path)
    assert made.name == "python"
    assert len(made) > 1_000_000
    assert (made.tokens[:100_000] < 257).all()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"\xff\xfe12345", "is not UTF-8 text (byte 0)"),
        (b"abc\0def", "is binary"),
        (b"too short", "is too short: 10 tokens; accepted: at least 33"),
        (None, "is not there"),
    ],
)
def test_what_is_no_text_is_refused_in_a_sentence(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    file = tmp_path / "a.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(BadParameter, match="accepted: ") as refused:
        survey(str(file), 257, 33)
    assert said in str(refused.value) and str(refused.value).startswith("corpus")


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadParameter, match="is empty"):
        survey(str(tmp_path), 257, 33)


def test_a_vocabulary_without_room_for_bytes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadParameter, match="vocabulary = 256 .* at least 257"):
        survey("", 256, 33)


def test_text_comes_back_and_what_is_no_text_is_marked() -> None:
    assert text_of(tokenise("déjà vu".encode()).tolist()) == "déjà vu"
    assert text_of([BOS, 0xFF, 65]) == "\ufffdA"
