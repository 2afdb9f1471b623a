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
from typing import Any

import numpy as np

from kernels.andrea.tokens import BOS, TOKENS
from kernels.artifacts import naming
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


@dataclass(frozen=True)
class Text:
    """A text that was looked through and found good; nothing of it is written yet."""

    name: str
    digest: str  # of its tokens
    count: int  # of its tokens
    files: tuple[Path, ...]
    standard: bool

    def __len__(self) -> int:
        return self.count

    def lay(self, folder: Path) -> Corpus:
        """Tokenised into a file under `folder`, unless it is there, and mapped into memory.

        Raises OSError, and BadParameter for a text that became another one meanwhile.
        """
        path = folder / f"corpus-{self.digest}.u16"
        if not holds(path, self.digest):
            write(self, path)
        return Corpus(self.name, self.digest, np.memmap(path, "<u2", mode="r"))


def survey(given: str, vocabulary: int, window: int) -> Text:
    """Look through the text, and write nothing.

    `window` is what one sequence needs: its context. Raises BadParameter in one sentence for a
    text that is missing, empty, binary or too short.
    """
    if vocabulary < TOKENS:
        raise BadParameter(
            f"vocabulary = {vocabulary} is not accepted: the corpus has {TOKENS} tokens "
            f"(256 bytes and one for the beginning); accepted: at least {TOKENS}."
        )
    root = Path(given) if given else Path(sysconfig.get_paths()["stdlib"])
    name = os.fsencode(root.name).decode("utf-8", "replace") if given else "python"
    files = tuple(text_files(root, standard=not given))
    digest, count = hashlib.sha256(), 0
    for tokens in tokens_of(files, standard=not given):
        digest.update(tokens.data)
        count += len(tokens)
    if count < window:
        raise BadParameter(
            f"corpus is too short: {count} tokens; accepted: at least {window}, the context."
        )
    return Text(name, shortened(digest), count, files, not given)


def text_files(root: Path, *, standard: bool) -> Iterator[Path]:
    """The files in an order that is the same on every machine. Raises BadParameter if none."""
    if not os.path.exists(root):  # false too for a name that no file can have
        raise BadParameter(f"corpus = {str(root)!r} is not there; {ACCEPTED}.")
    if root.is_file():
        found = [root]
    elif not root.is_dir():
        raise BadParameter(f"corpus = {str(root)!r} is neither a file nor a folder; {ACCEPTED}.")
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


def tokens_of(files: Iterable[Path], *, standard: bool) -> Iterator[np.ndarray]:
    """The tokens of each file, little-endian uint16. Raises BadParameter."""
    for path in files:
        if (content := read(path, may_skip=standard)) is not None:
            yield tokenise(content).astype("<u2")


def holds(path: Path, digest: str) -> bool:
    """Whether the tokens of that digest are in place already, as the file's name says."""
    try:
        with path.open("rb") as file:
            return shortened(hashlib.file_digest(file, "sha256")) == digest
    except FileNotFoundError:
        return False


def write(text: Text, path: Path) -> None:
    """All tokens in one file, put in place whole."""
    temporary = path.with_name(f".corpus.{os.getpid()}.part")
    digest = hashlib.sha256()
    with naming(path):
        try:
            with temporary.open("wb") as out:
                for tokens in tokens_of(text.files, standard=text.standard):
                    digest.update(tokens.data)
                    out.write(tokens.data)
            if shortened(digest) != text.digest:
                raise BadParameter(
                    "corpus changed while it was read; accepted: a text that stays as it is."
                )
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def shortened(digest: Any) -> str:
    """A SHA-256 as far as it names a file."""
    return str(digest.hexdigest())[:16]


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
