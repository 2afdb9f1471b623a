"""rmsnorm.clean: what earlier Runs left in the output folder, listed; deleted only if told.

It looks nowhere else and follows no link: a link is listed and removed as a link, and what it
points to stays. Read the list before asking for anything to be deleted.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kernels.events import Case, Column, Event, Note, Table, Verdict
from kernels.events import Log as Line
from kernels.procedure import Context


@dataclass(frozen=True)
class Found:
    path: Path
    kind: str  # file, link, folder
    bytes: int


def run(context: Context) -> Iterator[Event]:
    root = context.outputs.resolve()
    if context["example"]:
        put_examples(root)
    found = candidates(root)
    columns = (Column("path"), Column("kind"), Column("bytes", "B"))
    rows = tuple((str(f.path.relative_to(root)), f.kind, f.bytes) for f in found)
    yield Table("candidates", columns, rows)
    if not context["delete"]:
        yield Line(
            Note("log.clean-dry", {"count": len(found), "bytes": sum(f.bytes for f in found)})
        )
        yield case("nothing-deleted", candidates(root) == found)
        return
    for item in reversed(found):  # what is in a folder before the folder
        if item.kind == "folder":
            item.path.rmdir()
        else:
            item.path.unlink()
    yield Line(Note("log.cleaned", {"count": len(found)}))
    yield case("folder-empty", not candidates(root))


def candidates(root: Path) -> list[Found]:
    """Everything below root, folders before what is in them, links not followed."""
    found: list[Found] = []
    for path in sorted(root.iterdir()):
        if path.is_symlink():
            found.append(Found(path, "link", 0))
        elif path.is_dir():
            found.extend((Found(path, "folder", 0), *candidates(path)))
        else:
            found.append(Found(path, "file", path.stat().st_size))
    return found


def put_examples(root: Path) -> None:
    """Files like those a training leaves, and a link that points out of the folder."""
    (root / "checkpoints").mkdir(exist_ok=True)
    (root / "checkpoints" / "example.pt").write_bytes(bytes(1024))
    (root / "example.log").write_text("step 1\nstep 2\n", encoding="utf-8")
    link = root / "link-out"
    if not link.is_symlink():
        link.symlink_to(root.parent)


def case(name: str, good: bool) -> Case:
    return Case(name, Verdict.PASSED if good else Verdict.FAILED, {"check": name})
