"""Build a mutant of an operator: its version 1's source with the replacements, run as a module."""

import linecache
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from kernels.andrea.mutant import Mutant
from kernels.andrea.mutants import BY_NAME
from kernels.mutating import apply


@lru_cache
def mutated(name: str) -> ModuleType:
    """The operator's module with the mutant's replacements. KeyError for an unknown name."""
    mutant = BY_NAME[name]
    source = source_of(mutant)
    filename = f"<mutant {name}>"
    # Triton reads a kernel's source through inspect, which finds it in the line cache.
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    made = ModuleType(f"kernels.andrea.operators.mutant_{name.replace('-', '_')}")
    exec(compile(source, filename, "exec"), made.__dict__)
    return made


def source_of(mutant: Mutant) -> str:
    """The whole source of the operator, changed as the mutant says and nowhere else."""
    module = import_module(f"kernels.andrea.operators.{mutant.operator}")
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    for edit in mutant.edits:
        source = apply(source, edit)
    return source
