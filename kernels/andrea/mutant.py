"""What a wrong version of an operator is, as data."""

from dataclasses import dataclass

from kernels.rmsnorm_mutants import Edit


@dataclass(frozen=True)
class Mutant:
    """The case on `tensor` over the inputs `shape` must fail, and its note must be `why`.

    `hidden_by` is the number of micro-batches with which nobody can see it.
    """

    name: str
    operator: str
    edits: tuple[Edit, ...]
    tensor: str
    shape: str
    why: str
    hidden_by: int = 0


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
