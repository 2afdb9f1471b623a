"""A mistake in a course's files, said so that its author can mend it."""

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Fault:
    """`file` is relative to the courses folder; `where` is a key path, a block id or empty."""

    file: str
    where: str
    sentence: str

    def __str__(self) -> str:
        place = f"{self.file}: {self.where}" if self.where else self.file
        return f"{place}: {self.sentence}"


class ContentError(ValueError):
    """A formula, a link, a figure or a source reference that cannot be rendered."""
