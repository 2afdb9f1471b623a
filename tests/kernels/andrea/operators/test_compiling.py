"""Every kernel compiles for cards that are not here, within the memory that they have."""

import os
import subprocess
import sys

import pytest

MODULE = "tests.kernels.andrea.operators.compiling"


@pytest.mark.parametrize(
    ("capability", "card", "shared_memory", "shapes"),
    [
        ("90", "NVIDIA H200", 227 * 1024, "gpt2-124M"),
        ("86", "a card that the table does not name", 64 * 1024, "gpt2-124M"),
        ("86", "a card that the table does not name", 64 * 1024, "odd"),
        ("90", "NVIDIA H200", 227 * 1024, "odd cut"),
        ("86", "a card that the table does not name", 64 * 1024, "gpt2-124M cut"),
    ],
)
def test_every_kernel_compiles_for_the_card(
    capability: str, card: str, shared_memory: int, shapes: str
) -> None:
    without = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, "-m", MODULE, capability, card, str(shared_memory), *shapes.split()],
        env=without,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
