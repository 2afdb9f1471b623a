"""The text a model learns from, as a memory-mapped file of tokens. Needs no torch.

A token is a byte (0 to 255); 256, the beginning-of-sequence token, stands before each file.
The default corpus is the source of the running Python's own standard library: real text that
every machine has. Any UTF-8 text file can be given instead, or a folder of them.
"""

import hashlib
import os
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernels.andrea.tokens import BOS, TOKENS
from kernels.procedure import BadParameter

STANDARD_LIBRARY = ""  # the parameter's default value
SKIPPED = {"site-packages", "dist-packages", "test", "tests", "idlelib", "__pycache__"}
LARGEST_FILE = 1 << 30
ACCEPTED = "accepted: a UTF-8 text file, or a folder of them"


@dataclass(frozen=True)
class Corpus:
    name: str
    digest: str  # of the tokens: a resumed run must meet the same text
    tokens: np.ndarray  # uint16, memory-mapped, read only

    def __len__(self) -> int:
        return len(self.tokens)


def prepare(given: str, folder: Path, vocabulary: int, window: int) -> Corpus:
    """Tokenise the text into a file under `folder` and map it into memory.

    `window` is what one sequence needs: its context. Raises BadParameter in one sentence for a
    text that is missing, empty, binary or too short.
    """
    if vocabulary < TOKENS:
        raise BadParameter(
            f"vocabulary = {vocabulary} is not accepted: the corpus has {TOKENS} tokens "
            f"(256 bytes and one for the beginning); accepted: at least {TOKENS}."
        )
    root = Path(given) if given else Path(sysconfig.get_paths()["stdlib"])
    files = list(text_files(root, standard=not given))
    digest, path = write(files, folder, window, standard=not given)
    tokens = np.memmap(path, "<u2", mode="r")
    return Corpus(root.name if given else "python", digest, tokens)


def text_files(root: Path, *, standard: bool) -> Iterator[Path]:
    """The files in an order that is the same on every machine. Raises BadParameter if none."""
    if not root.exists():
        raise BadParameter(f"corpus = {str(root)!r} is not there; {ACCEPTED}.")
    if root.is_file():
        found = [root]
    elif standard:
        found = list(python_files(root))
    else:
        found = [p for p in root.rglob("*") if p.is_file() and not hidden(p.relative_to(root))]
    found.sort(key=lambda path: path.relative_to(root).parts)
    if not any(path.stat().st_size for path in found):
        raise BadParameter(f"corpus = {str(root)!r} is empty; {ACCEPTED}.")
    yield from found


def python_files(root: Path) -> Iterator[Path]:
    """Without a look into the folders that are skipped: one may hold tens of thousands of files."""
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if name not in SKIPPED]
        yield from (Path(folder, name) for name in names if name.endswith(".py"))


def hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def write(files: list[Path], folder: Path, window: int, *, standard: bool) -> tuple[str, Path]:
    """All texts as tokens in one file, whose name is the digest of what it holds.

    Raises BadParameter, and leaves no file, when they are fewer than `window`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f".corpus.{os.getpid()}.part"
    digest = hashlib.sha256()
    try:
        with temporary.open("wb") as out:
            for path in files:
                if (content := read(path, may_skip=standard)) is None:
                    continue
                tokens = tokenise(content).astype("<u2").tobytes()
                digest.update(tokens)
                out.write(tokens)
        if (count := temporary.stat().st_size // 2) < window:
            raise BadParameter(
                f"corpus is too short: {count} tokens; accepted: at least {window}, the context."
            )
        name = digest.hexdigest()[:16]
        target = folder / f"corpus-{name}.u16"
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    return name, target


def read(path: Path, *, may_skip: bool = False) -> bytes | None:
    """The file's bytes. Raises BadParameter when they are no text, or gives None if it may."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise BadParameter(
                f"corpus: {path} has more than {LARGEST_FILE} bytes; accepted: files up to that."
            )
        content = path.read_bytes()
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        if may_skip:  # a distribution's own test files, in other encodings
            return None
        raise BadParameter(
            f"corpus: {path} is not UTF-8 text (byte {error.start}); {ACCEPTED}."
        ) from None
    except OSError as error:
        raise BadParameter(
            f"corpus: {path} cannot be read: {error.strerror}; {ACCEPTED}."
        ) from None
    if b"\0" in content:
        raise BadParameter(f"corpus: {path} is binary (it holds a zero byte); {ACCEPTED}.")
    return content


def tokenise(content: bytes) -> np.ndarray:
    """The beginning-of-sequence token, then one token a byte."""
    tokens = np.empty(len(content) + 1, np.uint16)
    tokens[0] = BOS
    tokens[1:] = np.frombuffer(content, np.uint8)
    return tokens


def text_of(tokens: Iterable[int]) -> str:
    """Bytes that are no UTF-8 become the replacement character; other tokens are left out."""
    return bytes(token for token in tokens if token < 256).decode("utf-8", "replace")
