"""Wrong versions of the operators, as data: what is replaced, where, and which check must see it.

A mutant is an operator with one or two replacements in its source, so it can never
drift from the kernel it distorts: a replacement that no longer fits exactly once is an error.
`tests/kernels/andrea/operators/test_mutants.py` says with which case each is killed. Nothing
here ever replaces the real kernel. Needs no torch.
"""

from kernels.andrea.mutant import Mutant
from kernels.andrea.mutants_blocks import BLOCKS
from kernels.andrea.mutants_tiles import TILES
from kernels.andrea.mutants_update import UPDATE

MUTANTS: tuple[Mutant, ...] = (*BLOCKS, *UPDATE, *TILES)
BY_NAME = {mutant.name: mutant for mutant in MUTANTS}
