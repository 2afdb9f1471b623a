"""What a wrong version of an operator is, as data."""

from dataclasses import dataclass

from kernels.rmsnorm_mutants import Edit


@dataclass(frozen=True)
class Mutant:
    """The case on `tensor` over the inputs `shape` must fail, and its note must be `why`.

    `hidden_by` is the number of micro-batches with which nobody can see it. The edits are made in
    the operator's file of that version, or in `part`, a file whose functions its kernels call.
    """

    name: str
    operator: str
    edits: tuple[Edit, ...]
    tensor: str
    shape: str
    why: str
    hidden_by: int = 0
    version: int = 1
    dtype: str = "FP32"
    part: str = ""


def overwrites(operator: str, symbol: str, old: str, tensor: str, shape: str) -> Mutant:
    """`=` where `+=` is due: right with one micro-batch, wrong from the second on."""
    new = old.replace("add(", "put(").replace(" + total", " * 0 + total")
    return Mutant(
        f"{operator.replace('_', '-')}-overwrites-{tensor.replace('_', '-')}",
        operator,
        (Edit(symbol, old, new),),
        tensor,
        shape,
        "why.overwritten",
        hidden_by=1,
    )
