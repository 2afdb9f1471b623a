"""The list of kernels forgets none and names none that is not there."""

import ast
import subprocess
import sys
from pathlib import Path

from kernels import registry
from kernels.andrea import listing

ROOT = Path(__file__).parents[3]


def kernels_on_disk() -> set[str]:
    """Every Triton function called k_… under kernels/andrea, found without the list's help."""
    found = set()
    for file in sorted((ROOT / "kernels" / "andrea").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(
                "triton.jit" in ast.unparse(item) for item in node.decorator_list
            ):
                if node.name.startswith("k_"):
                    found.add(f"{file.relative_to(ROOT).as_posix()}::{node.name}")
    return found


def test_every_kernel_of_the_engine_is_listed_once() -> None:
    rows = (*listing.pairs(), *listing.left_out())
    listed = [str(k) for r in rows for k in (*r.forward, *r.backward, *r.beside, *r.faster)]
    assert sorted(listed) == sorted(kernels_on_disk())


def test_eight_pairs_have_both_twins_and_utilities_have_none() -> None:
    assert len(listing.pairs()) == 8
    assert all(row.forward and row.backward for row in listing.pairs())
    logits, *utilities = listing.left_out()
    assert logits.forward and logits.backward
    assert all(row.beside and not row.forward for row in utilities)


def test_every_check_is_a_procedure() -> None:
    for row in (*listing.pairs(), *listing.left_out()):
        assert registry.get(row.check).name == row.check


def test_listing_imports_no_torch() -> None:
    code = (
        "import sys; from kernels.andrea import listing; listing.pairs(); listing.left_out(); "
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr
