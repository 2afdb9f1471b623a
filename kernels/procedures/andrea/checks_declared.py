"""The checks of the operators: what each compares and over which inputs. Needs no torch."""

from dataclasses import dataclass

from kernels.andrea.mutants import MUTANTS
from kernels.procedure import Grid, Parameter, Procedure

DTYPES = ("FP32", "FP16", "BF16")
FP32_ONLY = ("FP32",)
SEED = Parameter("seed", int, 1, low=0, high=2**31 - 1, help="of the values")
MICRO_BATCHES = Parameter(
    "micro_batches",
    int,
    2,
    low=1,
    high=8,
    help="launches on fresh values; gradients add up; small tiles from the second on",
)
PARTS = ((8,),)  # what has no tile of two sides or three: about so many parts
PRODUCTS = ((16, 32, 16), (32, 16, 16))  # rows, columns, depth


@dataclass(frozen=True)
class Shape:
    """One column of a check: `sizes` are the operator's, `special` names values of a kind.

    `label` is the sizes, or that name; "name.<label>" is its message.
    """

    label: str
    sizes: tuple[int, ...]
    special: str = ""


@dataclass(frozen=True)
class Check:
    """`tensors` are compared one by one: the slots of the grid.

    `tiles` are the sides of small ones, by turns, so that few elements need several.
    """

    operator: str
    tensors: tuple[str, ...]
    shapes: tuple[Shape, ...]
    dtypes: tuple[str, ...] = DTYPES
    versions: tuple[int, ...] = (1, 2)
    tiles: tuple[tuple[int, ...], ...] = PARTS

    @property
    def name(self) -> str:
        return f"andrea.check-{self.operator.replace('_', '-')}"

    @property
    def grid(self) -> Grid:
        return Grid(self.dtypes, tuple(shape.label for shape in self.shapes), self.tensors)


def special(name: str, sizes: tuple[int, ...]) -> Shape:
    return Shape(name, sizes, name)


def plain(*many: tuple[int, ...]) -> tuple[Shape, ...]:
    return tuple(Shape(" × ".join(map(str, sizes)), sizes) for sizes in many)


CHECKS = (
    Check(  # B, T, d, V
        "embed",
        ("out", "dwte", "dwpe"),
        (
            *plain((4, 32, 32, 257), (1, 1, 3, 5), (3, 17, 33, 11)),
            special("one-token", (2, 8, 16, 40)),
        ),
    ),
    Check(  # R, d
        "layernorm",
        ("y", "mean", "variance", "dx", "dgamma", "dbeta"),
        (
            *plain((4300, 129), (1, 1), (17, 3), (5, 255), (17, 257)),
            Shape("1 × 4095", (1, 4095)),
            special("large-mean", (17, 96)),
            special("row-of-zeros", (3, 65)),
        ),
    ),
    Check(  # R, d
        "residual", ("y", "dx", "ddelta"), plain((128, 32), (1, 1), (17, 257)), versions=(1,)
    ),
    Check(
        "attn_qkv",
        ("qkv", "dx", "dw"),
        plain((128, 32), (1, 3), (17, 33), (65, 48)),
        tiles=PRODUCTS,
    ),
    Check(  # B, T, heads, head width
        "attn",
        ("o", "lse", "dq", "dk", "dv"),
        (
            *plain((2, 32, 2, 16), (1, 1, 1, 16), (2, 17, 3, 5), (1, 65, 1, 32)),
            special("large-scores", (1, 192, 1, 64)),
        ),
        tiles=((16, 32), (32, 16)),  # queries, keys
    ),
    Check(
        "attn_out",
        ("y", "do", "dw"),
        plain((128, 32), (1, 3), (17, 33), (65, 48)),
        tiles=PRODUCTS,
    ),
    Check(  # R, d
        "mlp",
        ("h", "y", "dx", "dw_1", "dw_2"),
        (*plain((128, 32), (1, 3), (17, 33)), special("saturated", (17, 16))),
        tiles=PRODUCTS,
    ),
    Check(  # R, d, V
        "logits",
        ("logits", "dx", "de"),
        plain((64, 32, 257), (1, 3, 5), (17, 33, 255)),
        tiles=PRODUCTS,
    ),
    Check(  # R, V
        "loss",
        ("losses", "loss", "dlogits"),
        (
            *plain((20, 257), (1, 3), (5, 1000)),
            special("uniform", (4, 8449)),
            special("some-ignored", (17, 33)),
            special("all-ignored", (5, 33)),
            special("tiles-of-infinity", (3, 12_301)),
            special("rising", (3, 12_301)),
            special("large-logits", (5, 257)),
            special("confident", (9, 65)),
            special("upstream-by-row", (9, 65)),
            Shape("5 × 32770", (5, 32_770)),  # of the width that version 2 holds on a card
        ),
    ),
    Check(  # elements
        "grad_norm",
        ("norm", "factor", "finite", "skipped", "scaled"),
        (
            *plain((34_000,), (1,), (4097,), (4_400_000,)),
            special("below-threshold", (500,)),
            special("a-nan", (500,)),
            special("an-infinity", (500,)),
        ),
        FP32_ONLY,
        (1,),
    ),
    Check(  # elements that decay, elements that do not
        "adamw",
        ("w", "m", "v", "grads", "working"),
        (
            *plain((3000, 500), (1, 1), (257, 33)),
            special("small-moments", (300, 33)),
            special("not-finite", (300, 33)),
        ),
        FP32_ONLY,
        (1,),
    ),
    Check("casts", ("cast", "packed", "zeroed"), plain((16,), (1,), (33,)), versions=(1,)),  # d
)
BY_OPERATOR = {check.operator: check for check in CHECKS}


def declare(check: Check) -> Procedure:
    mutants = tuple(mutant.name for mutant in MUTANTS if mutant.operator == check.operator)
    mutant = Parameter(
        "mutant", str, "", choices=("", *mutants), help="check this wrong operator instead"
    )
    return Procedure(
        check.name,
        f"kernels.procedures.andrea.checks:{check.operator}",
        parameters=(SEED, MICRO_BATCHES, mutant),
        versions=check.versions,
        grid=check.grid,
    )


PROCEDURES = tuple(declare(check) for check in CHECKS)
