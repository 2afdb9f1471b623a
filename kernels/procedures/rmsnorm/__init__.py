"""What the RMSNorm course can run. Declarations only: the code is imported when it runs."""

from typing import Any

from kernels.procedure import Device, Grid, Parameter, Procedure
from kernels.rmsnorm_mutants import BY_NAME

VERSIONS = (1, 2, 3)
SEED = Parameter(
    "seed",
    int,
    1,
    low=0,
    high=2**31 - 1,
    help="of every random draw; a check uses it and the next two",
)
STEPS = Parameter("steps", int, 100, low=1, high=1000, help="optimizer steps")
EXAMPLES = Parameter("examples", int, 32, low=1, high=512, help="examples a step")
LEARNING_RATE = Parameter("learning_rate", float, 1e-2, low=1e-6, high=1.0, help="of Adam")
ROWS = Parameter("rows", int, 128, low=1, high=65_536, help="M")
COLUMNS = Parameter("columns", int, 257, low=1, high=65_536, help="N")
DTYPE = Parameter("dtype", str, "FP32", choices=("FP32", "FP16", "BF16"), help="of x and gamma")
WARMUP = Parameter("warmup", int, 20, low=1, high=1000, help="calls before anything is timed")
SAMPLES = Parameter("samples", int, 50, low=5, high=1000, help="timed samples of each series")
CALLS = Parameter("calls", int, 20, low=1, high=1000, help="calls a sample")
N = Parameter("n", int, 257, low=2, high=4096, help="columns of the row of ones")
DELETE = Parameter("delete", bool, False, help="delete what is listed; without it nothing is")
EXAMPLE = Parameter("example", bool, False, help="first put example files there to look at")
MUTANT = Parameter(
    "mutant",
    str,
    "",
    choices=("", *BY_NAME),
    help="check this wrong version of the teaching kernel instead",
)

ROW_COUNTS = (1, 17, 128)
COLUMN_COUNTS = (31, 256, 257, 4096)
DTYPES = ("FP32", "FP16")

# 2 dtypes x 3 numbers of rows x 4 numbers of columns x 3 seeds = 72 cases.
GRID = Grid(
    rows=tuple(f"{dtype} · {rows}" for dtype in DTYPES for rows in ROW_COUNTS),
    columns=tuple(f"N = {columns}" for columns in COLUMN_COUNTS),
    slots=("1", "2", "3"),
)


CHECK: dict[str, Any] = {"parameters": (SEED, MUTANT), "versions": VERSIONS, "grid": GRID}


def declare(name: str, entry: str, **rest: Any) -> Procedure:
    return Procedure(f"rmsnorm.{name}", f"{__name__}.{entry}", **rest)


PROCEDURES = (
    declare("environment", "environment:run"),
    declare("reference", "reference:run", parameters=(SEED,)),
    declare("check-forward", "checks:check_forward", **CHECK),
    declare("check-backward", "checks:check_backward", **CHECK),
    declare("check-gamma", "checks:check_gamma", **CHECK),
    declare("contract", "contract:run", versions=VERSIONS),
    declare(
        "train-integration",
        "training:run",
        parameters=(SEED, STEPS, EXAMPLES, LEARNING_RATE),
        versions=VERSIONS,
        checkpoints=True,
    ),
    declare(
        "benchmark",
        "benchmark:run",
        parameters=(SEED, ROWS, COLUMNS, DTYPE, WARMUP, SAMPLES, CALLS),
        versions=(*VERSIONS, 4),  # 4 is a way to the kernels of 3 that only a GPU has
        devices=(Device.CUDA,),
    ),
    declare("exercise", "exercise:run", parameters=(N,)),
    declare(
        "figures",
        "figures:run",
        parameters=(SEED, STEPS, EXAMPLES, LEARNING_RATE),
        versions=VERSIONS,
    ),
    declare(
        "checkpoints",
        "checkpoints:run",
        parameters=(SEED, STEPS, EXAMPLES, LEARNING_RATE),
        versions=VERSIONS,
    ),
    declare("clean", "clean:run", parameters=(DELETE, EXAMPLE), uses_torch=False),
)
