"""Launching a Triton kernel that is compiled already, without Triton's own argument handling.

An ordinary launch looks at every argument to find the right compiled kernel, which costs more
than a small kernel itself. Where shapes, dtypes, device and alignment are known to be those of
an earlier launch, the same compiled kernel can be called at once with plain addresses.
"""

from typing import Any

from triton.runtime import driver


class Launch:
    """A compiled kernel, its grid and its trailing arguments; call it with addresses.

    The caller answers for the addresses: same alignment (16 bytes) and dtypes as at the
    launch that compiled it, memory on the current device.
    """

    def __init__(
        self, compiled: Any, grid: int, tail: tuple[int | float, ...], device: int
    ) -> None:
        self.run = compiled.run
        self.function = compiled.function
        self.metadata = compiled.packed_metadata
        self.grid = grid
        self.tail = tail
        self.device = device
        self.stream = driver.active.get_current_stream

    def __call__(self, *addresses: int) -> None:
        self.run(
            self.grid, 1, 1, self.stream(self.device), self.function, self.metadata,
            None, None, None, *addresses, *self.tail,
        )  # fmt: skip


def aligned(*addresses: int) -> bool:
    """Whether all are on 16-byte boundaries, as Triton assumes of a kernel compiled so."""
    together = 0
    for address in addresses:
        together |= address
    return together & 15 == 0
