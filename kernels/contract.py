"""The contract of an operator's version, and its refusals."""

from dataclasses import dataclass

import torch

from kernels.events import Note
from kernels.messages import sentence


@dataclass(frozen=True)
class Contract:
    """What a version accepts. It belongs to the version: a wider one needs its own tests."""

    dtypes: tuple[torch.dtype, ...]
    max_columns: int
    scratch_limit: int | None = None  # bytes, None for no bound
    empty_rows: bool = False
    max_rows: int | None = None

    @property
    def accepted(self) -> str:
        return ", ".join(str(dtype).removeprefix("torch.") for dtype in self.dtypes)


class ContractError(ValueError):
    """An input was refused before any output was written. `note` says which rule, and why."""

    def __init__(self, code: str, **params: str | int | float) -> None:
        self.note = Note(f"refusal.{code}", params)
        super().__init__(sentence(self.note))
