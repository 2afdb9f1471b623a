"""What the RMSNorm course can run. Declarations only: the code is imported when it runs."""

from kernels.procedure import Grid, Parameter, Procedure

VERSIONS = (1,)
SEED = Parameter("seed", int, 1, low=0, high=2**31 - 1, help="first of the three seeds of a check")

ROW_COUNTS = (1, 17, 128)
COLUMN_COUNTS = (31, 256, 257, 4096)
DTYPES = ("FP32", "FP16")

# 2 dtypes x 3 numbers of rows x 4 numbers of columns x 3 seeds = 72 cases.
GRID = Grid(
    rows=tuple(f"{dtype} · {rows}" for dtype in DTYPES for rows in ROW_COUNTS),
    columns=tuple(f"N = {columns}" for columns in COLUMN_COUNTS),
    slots=("1", "2", "3"),
)

PROCEDURES = (
    Procedure(
        "rmsnorm.check-forward",
        "kernels.procedures.rmsnorm.checks:check_forward",
        parameters=(SEED,),
        versions=VERSIONS,
        grid=GRID,
    ),
)
