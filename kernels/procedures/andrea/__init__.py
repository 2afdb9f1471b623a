"""What the ANDREA course can run. Declarations only: the code is imported when it runs."""

from typing import Any

from kernels.andrea.config import PRESETS, Precision
from kernels.procedure import Device, Parameter, Procedure
from kernels.procedures.andrea import checks_declared

VERSIONS = (1, 2)  # of the operators: as taught, and fast
AS_PRESET = -1  # of what may be 0
ZERO_AS_PRESET = "0: as the preset says"
SHAPES = ("vocabulary", "width", "heads", "layers", "context", "batch", "micro_batches")

CONFIG = Parameter("config", str, "micro", choices=tuple(PRESETS), help="the preset")
SEED = Parameter("seed", int, 20261130, low=0, high=2**31 - 1, help="of every random draw")


def precisions(*accepted: Precision) -> Parameter:
    return Parameter(
        "precision", str, "", choices=("", *map(str, accepted)), help="of the matrix products"
    )


PRECISION = precisions(*Precision)
TRAINABLE = precisions(*(one for one in Precision if one is not Precision.FP8))
STEPS = Parameter("steps", int, 0, low=0, high=10**7, help=f"optimizer steps; {ZERO_AS_PRESET}")
RATE = Parameter("learning_rate", float, 0.0, low=0.0, high=1.0, help=f"its peak; {ZERO_AS_PRESET}")


def presets_own(name: str, kind: type, high: float, about: str) -> Parameter:
    """A number from 0 on that the preset has a value of its own for."""
    unset = {"unset": kind(AS_PRESET), "unset_means": "as the preset says"}
    return Parameter(name, kind, kind(AS_PRESET), low=kind(0), high=kind(high), help=about, **unset)


SCHEDULE = (
    presets_own("warmup", int, 10**7, "steps; 0: none"),
    presets_own("floor", float, 1, "of the rate; 1: flat"),
    presets_own("clip", float, 1e9, "of the norm; 0: none"),
    presets_own("decay", float, 10, "of weights; 0: none"),
)
# Every number of the shape may be changed, under the name it has in the configuration.
MOST = {"layers": 10_000, "micro_batches": 10_000}
SHAPE = tuple(
    Parameter(name, int, 0, low=0, high=MOST.get(name, 10**7), help=ZERO_AS_PRESET)
    for name in SHAPES
)
TIED = Parameter("tied", bool, True, help="whether the head is the token table")
MODEL = (CONFIG, SEED, PRECISION, *SHAPE, TIED)
TRAINED_TIED = (CONFIG, SEED, TRAINABLE, *SHAPE)  # for what knows no other
TRAINED_MODEL = (*TRAINED_TIED, TIED)

CORPUS = Parameter(
    "corpus",
    str,
    "",
    help="a UTF-8 file or folder; empty: the standard library's source",
    path=True,
)
EVERY = "steps between two; 0: 100, or a third of a short run"
TRAIN = (
    *TRAINED_MODEL,
    *(STEPS, RATE, *SCHEDULE, CORPUS),
    Parameter("sample_every", int, 0, low=0, high=10**7, help=EVERY),
    Parameter("checkpoint_every", int, 0, low=0, high=10**7, help=EVERY),
    Parameter("sample_tokens", int, 420, low=1, high=10_000, help="tokens of a sample"),
    Parameter("resume", str, "", help="a checkpoint to continue from", path=True),
    Parameter("polish", bool, False, help="continue with another corpus or schedule"),
)
HALF = Parameter("half", int, 5, low=1, high=1000, help="k: steps before the stop, and after")
CHECKPOINT = Parameter(
    "checkpoint", str, "", help="a checkpoint; empty: untrained weights", path=True
)
PROMPT = Parameter("prompt", str, "", help="the text to continue")
TOKENS = Parameter("tokens", int, 420, low=1, high=10_000, help="how many to write")
TEMPERATURE = Parameter("temperature", float, 0.8, low=0.01, high=10.0, help="1: as learnt")
FULL = Parameter("full", bool, False, help="every buffer of every block")
SAMPLES = Parameter("samples", int, 20, low=5, high=1000, help="timed samples of each series")
PEERS = Parameter(
    "peers",
    str,
    "compile",
    choices=("none", "eager", "compile", "liger", "deterministic", "max-autotune", "all"),
    help="which of PyTorch's ways; max-autotune, in all too, takes minutes",
)


def declare(name: str, entry: str, check: str = "check", **rest: Any) -> Procedure:
    """`check` refuses, as soon as parameters are read, a model that cannot be."""
    check = f"{__name__}.configuring:{check}"
    return Procedure(f"andrea.{name}", f"{__name__}.{entry}", check=check, **rest)


TRAINED = "check_training"
ROWS = Parameter("rows", int, 256, low=16, high=65_536, help="tokens; a multiple of 16")
WIDTH = Parameter("width", int, 128, low=16, high=8192, help="a multiple of 16")
ROOM = Parameter(
    "gigabytes", float, 0.0, low=0.0, high=10_000.0, help="of a card; says what batch it holds"
)
PROCEDURES = (
    declare(
        "train",
        "train:run",
        TRAINED,
        parameters=TRAIN,
        versions=VERSIONS,
        wall_seconds=4 * 3600,
        checkpoints=True,
        proof="andrea.resume-proof",
    ),
    declare(
        "resume-proof",
        "resume:run",
        TRAINED,
        parameters=(*TRAINED_MODEL, RATE, *SCHEDULE, HALF, CORPUS),
        versions=VERSIONS,
        wall_seconds=1200,
    ),
    declare(
        "memory-plan",
        "memory:run",
        parameters=(*MODEL, STEPS, FULL, ROOM),
        versions=VERSIONS,
        uses_torch=False,
    ),
    declare("fp8", "fp8:run", "check_products", parameters=(SEED, ROWS, WIDTH)),
    declare("accumulation", "accumulation:run", parameters=(SEED,), versions=VERSIONS),
    declare("clip", "clip:run", parameters=(SEED,)),
    declare("adamw", "adamw:run", parameters=(SEED,)),
    declare(
        "generate",
        "generate:run",
        "check_writing",
        parameters=(*MODEL, CHECKPOINT, PROMPT, TOKENS, TEMPERATURE),
    ),
    declare("trace", "trace:run", TRAINED, parameters=TRAINED_MODEL, versions=VERSIONS),
    declare("gradcheck", "gradcheck:run", TRAINED, parameters=(SEED, TRAINABLE), versions=VERSIONS),
    declare(
        "benchmark",
        "benchmark:run",
        TRAINED,
        parameters=(*TRAINED_TIED, SAMPLES, PEERS),
        versions=(2, 1),
        devices=(Device.CUDA,),
        wall_seconds=1200,
    ),
    *checks_declared.PROCEDURES,
)
