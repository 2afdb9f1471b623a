"""The loss scale as the host knows it: told with the curves, without asking the device.

`scalars.k_advance` keeps it on the device. It follows from which updates were made, and those are
in the report of each step; reading the number itself would make the host wait.
"""

from kernels.andrea.scalars import GROWTH, LARGEST_SCALE


class Scale:
    def __init__(self, value: float, good: int) -> None:
        self.value, self.good = value, good
        self.told: float | None = None
        self.told_at = 0

    def follow(self, *, applied: bool) -> None:
        """What the device does after a step, to the bit: scales are powers of two."""
        if not applied:
            self.value, self.good = max(self.value * 0.5, 1.0), 0
            return
        self.good += 1
        if self.good == GROWTH:
            self.value, self.good = min(self.value * 2, LARGEST_SCALE.value), 0

    def news(self, step: int, distance: int) -> bool:
        """Whether it changed since it was last told, and that is at least `distance` steps ago."""
        if self.value == self.told or (self.told_at and step - self.told_at < distance):
            return False
        self.told, self.told_at = self.value, step
        return True
