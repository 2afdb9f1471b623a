"""The inputs of the checks and what the float64 oracle says about them."""

from dataclasses import dataclass

import torch
import triton

from kernels import rmsnorm
from kernels.checking import Guarded, generator, guarded
from kernels.procedures.rmsnorm import COLUMN_COUNTS, DTYPES, ROW_COUNTS

TORCH_DTYPES = {"FP32": torch.float32, "FP16": torch.float16, "BF16": torch.bfloat16}


@dataclass(frozen=True)
class Input:
    """One input of a check, its tensors guarded, drawn by a pure function of its fields."""

    dtype: str
    rows: int
    columns: int
    seed: int
    x: Guarded
    gamma: Guarded
    dy: Guarded
    special: str = ""
    place: tuple[int, int, int] | None = None

    @property
    def block(self) -> int:
        return int(triton.next_power_of_2(self.columns))

    @property
    def strip(self) -> int:
        return strip(self.rows, self.columns)

    @property
    def labels(self) -> dict[str, str | int]:
        labels: dict[str, str | int] = {
            "dtype": self.dtype,
            "rows": self.rows,
            "columns": self.columns,
        }
        return labels | ({"input": self.special} if self.special else {"seed": self.seed})

    @property
    def id(self) -> str:
        return f"{self.dtype.lower()}-{self.rows}x{self.columns}-{self.special or self.seed}"


@dataclass(frozen=True)
class Place:
    dtype: str
    rows: int
    columns: int
    seed: int
    place: tuple[int, int, int]


def places(seed: int) -> list[Place]:
    """The 72 cases, row by row through the grid."""
    kinds = [(dtype, rows) for dtype in DTYPES for rows in ROW_COUNTS]
    return [
        Place(dtype, rows, columns, seed + slot, (i, j, slot))
        for i, (dtype, rows) in enumerate(kinds)
        for j, columns in enumerate(COLUMN_COUNTS)
        for slot in range(3)
    ]


def strip(rows: int, columns: int) -> int:
    """Canaries enough to catch a row stride of BLOCK, or a store without a mask."""
    block = int(triton.next_power_of_2(columns))
    return rows * (block - columns) + block


def draw(place: Place, device: torch.device, fresh: bool = False) -> Input:
    """Normal values for x, gamma and dy; `fresh` gives other values of the same kind."""
    source = generator(place.seed, place.rows, place.columns, int(fresh))
    x = torch.randn(place.rows, place.columns, generator=source)
    gamma = torch.randn(place.columns, generator=source)
    dy = torch.randn(place.rows, place.columns, generator=source)
    return given(place.dtype, x, gamma, dy, device, seed=place.seed, place=place.place)


def given(
    dtype: str,
    x: torch.Tensor,
    gamma: torch.Tensor,
    dy: torch.Tensor,
    device: torch.device,
    *,
    seed: int = 0,
    special: str = "",
    place: tuple[int, int, int] | None = None,
) -> Input:
    rows, columns = x.shape
    wide = strip(rows, columns)

    def guard(tensor: torch.Tensor) -> Guarded:
        return guarded(tensor.to(device, TORCH_DTYPES[dtype]), wide)

    return Input(dtype, rows, columns, seed, guard(x), guard(gamma), guard(dy), special, place)


@dataclass(frozen=True)
class Truth:
    """What is due, in float64, from the very values that the kernel reads."""

    y: torch.Tensor
    inverse: torch.Tensor
    dx: torch.Tensor
    dgamma: torch.Tensor


def truth(case: Input, eps: float) -> Truth:
    x, gamma, dy = (side.tensor.double() for side in (case.x, case.gamma, case.dy))
    dx, dgamma = rmsnorm.manual_backward(x, gamma, dy, eps)
    inverse = torch.rsqrt(x.square().mean(dim=-1) + eps)
    return Truth(rmsnorm.rmsnorm_reference(x, gamma, eps), inverse, dx, dgamma)


def specials(device: torch.device) -> list[Input]:
    """Inputs that random values never hit."""
    ones = torch.ones
    zero_dy = torch.linspace(-1, 1, 2 * 257).view(2, 257)
    return [
        # FP16 squares of 300 overflow: only an FP32 sum gives y = 1 and r = 1/300.
        given("FP16", ones(2, 257) * 300, ones(257), ones(2, 257), device, special="row-of-300"),
        # A zero row leaves eps alone under the root: y = 0, r = 1000, dx = 1000 * u.
        given("FP32", torch.zeros(2, 257), ones(257), zero_dy, device, special="row-of-zeros"),
        given("FP16", torch.zeros(2, 257), ones(257), zero_dy, device, special="row-of-zeros"),
        # |u| > 65.5 on a zero row: dx is beyond FP16, infinite exactly where the oracle is.
        given(
            "FP16", torch.zeros(2, 257), ones(257), zero_dy * 100, device, special="dx-beyond-fp16"
        ),
        # Rows of very different size: a row that reads its neighbour shows at once.
        given(
            "FP32",
            ones(3, 257) * torch.tensor([[1.0], [1e4], [1e-3]]),
            ones(257),
            ones(3, 257),
            device,
            special="unequal-rows",
        ),
    ]


def wider(device: torch.device) -> list[Input]:
    """What only a version with a wider contract takes: BF16, rows in chunks, no rows at all."""
    shapes = {
        "bf16-odd-columns": ("BF16", 17, 257),
        "bf16-even-columns": ("BF16", 5, 4096),
        "wide-rows": ("FP32", 2, 8193),
        "no-rows": ("FP32", 0, 257),
    }
    found = []
    for name, (dtype, rows, columns) in shapes.items():
        source = generator(rows, columns)
        x = torch.randn(rows, columns, generator=source)
        gamma = torch.randn(columns, generator=source)
        dy = torch.randn(rows, columns, generator=source)
        found.append(given(dtype, x, gamma, dy, device, special=name))
    return found
