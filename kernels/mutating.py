"""Build a mutant of version 1: its module's source with the replacements, run as a module."""

import ast
import linecache
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from kernels import rmsnorm
from kernels.rmsnorm_mutants import BY_NAME, Edit, Mutant
from kernels.rmsnorm_versions import Version, teaching


@lru_cache
def mutated(name: str) -> Version:
    """Version 1 with the mutant's replacements. Raises KeyError for an unknown name."""
    return teaching(module(BY_NAME[name]))


def module(mutant: Mutant) -> ModuleType:
    source = source_of(mutant)
    name = f"kernels.rmsnorm_mutant_{mutant.name.replace('-', '_')}"
    filename = f"<mutant {mutant.name}>"
    # Triton reads a kernel's source through inspect, which finds it in the line cache.
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    made = ModuleType(name)
    exec(compile(source, filename, "exec"), made.__dict__)
    return made


def source_of(mutant: Mutant) -> str:
    """The whole source of `rmsnorm.py`, changed as the mutant says and nowhere else."""
    source = Path(rmsnorm.__file__).read_text(encoding="utf-8")
    for edit in mutant.edits:
        source = apply(source, edit)
    return source


def apply(source: str, edit: Edit) -> str:
    nodes = [node for node in ast.parse(source).body if getattr(node, "name", "") == edit.symbol]
    if len(nodes) != 1 or nodes[0].end_lineno is None:
        raise ValueError(f"{edit.symbol} is not one function of its file")
    lines = source.splitlines(keepends=True)
    first, last = nodes[0].lineno - 1, nodes[0].end_lineno
    body = "".join(lines[first:last])
    if body.count(edit.old) != 1:
        raise ValueError(f"{edit.old!r} occurs {body.count(edit.old)} times in {edit.symbol}")
    return "".join(lines[:first]) + body.replace(edit.old, edit.new) + "".join(lines[last:])
