"""Build a mutant of an operator: its source with the replacements, run as a module."""

import linecache
import sys
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
    made = run(f"mutant {name}", source_of(mutant))
    if not mutant.part:
        return made
    # The operator as it is, but for the functions that it takes from the changed file.
    took = f"from kernels.andrea.operators.{mutant.part} import "
    sys.modules[made.__name__] = made
    operator = file_of(operator_of(mutant)).replace(took, f"from {made.__name__} import ")
    return run(f"beside mutant {name}", operator)


def run(title: str, source: str) -> ModuleType:
    filename = f"<{title}>"
    # Triton reads a kernel's source through inspect, which finds it in the line cache.
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    made = ModuleType(f"kernels.andrea.operators.{title.replace('-', '_').replace(' ', '_')}")
    exec(compile(source, filename, "exec"), made.__dict__)
    return made


def source_of(mutant: Mutant) -> str:
    """The whole source of the mutant's file, changed as it says and nowhere else."""
    source = file_of(mutant.part or operator_of(mutant))
    for edit in mutant.edits:
        source = apply(source, edit)
    return source


def operator_of(mutant: Mutant) -> str:
    return mutant.operator if mutant.version == 1 else f"{mutant.operator}_fast"


def file_of(module: str) -> str:
    made = import_module(f"kernels.andrea.operators.{module}")
    return Path(str(made.__file__)).read_text(encoding="utf-8")
