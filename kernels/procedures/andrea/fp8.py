"""andrea.fp8: matrix products in E4M3 with one scale a tensor, beside BF16. An experiment.

E4M3 has 3 bits of mantissa and ends at 448: s = 448 / max|x| puts a tensor's largest value
there, q = E4M3(s x) is what a tensor core reads, and the product is divided by both scales. The
judge is float64; the error is the root of the summed squares over that of the result. Without
scales small weights round to few values or to none. On a GPU the tensor cores multiply, and the
products are timed too: as they are, and with the activation quantised first, as training must.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from kernels.events import Column, Event, Log, Metric, Note, Progress, Table
from kernels.procedure import Context, Device
from kernels.procedures.andrea.jobs import device_of
from kernels.procedures.andrea.small import judged
from kernels.timing import interleaved

Tensor = torch.Tensor
E4M3 = torch.float8_e4m3fn
LARGEST = 448.0
OUTLIER = 30_000.0  # times the largest value: one such element sets the scale of all others
# Of the result's size. Rounding to 3 bits is off by up to 1/16, to BF16's 7 by up to 1/256; over
# a long sum the errors partly cancel. Declared beforehand.
ALLOWED = {"bf16": 1 / 256, "fp8": 1 / 16}


@dataclass(frozen=True)
class Product:
    """x [rows, depth] as an activation, w [depth, columns] as a weight."""

    name: str
    x: Tensor
    w: Tensor


def run(context: Context) -> Iterator[Event]:
    device = device_of(context)
    rows: list[tuple[str | float, ...]] = []
    cases = products(context, device)
    for done, product in enumerate(cases, start=1):
        if context.stop.is_set():
            return
        due = product.x.double() @ product.w.double()
        errors = {name: error(way(product), due) for name, way in WAYS.items()}
        rows.append((product.name, *errors.values()))
        for name, value in errors.items():
            yield Metric(f"error-{name}", value, series=product.name)
        if product.name != "outlier":
            for name, allowed in ALLOWED.items():
                good = errors[name] <= allowed
                yield judged(f"{name}-{product.name}", good, errors[name], allowed)
        yield Progress(done, len(cases))
    columns = ("product", *(f"error-{name}" for name in WAYS))
    yield Table("fp8", tuple(Column(key) for key in columns), tuple(rows))
    if context.device is Device.CUDA:
        for product in cases[:2]:  # the others have no shape of their own
            yield from timed(product)
    else:
        yield Log(Note("log.andrea.interpreter-times"))


def products(context: Context, device: torch.device) -> list[Product]:
    """The shapes of a block's products, on values like those of training; and an outlier."""
    source = torch.Generator().manual_seed(context["seed"])
    rows, width = context["rows"], context["width"]

    def drawn(*shape: int, deviation: float = 1.0) -> Tensor:
        return (torch.randn(*shape, generator=source) * deviation).to(device)

    made = [
        Product("qkv", drawn(rows, width), drawn(width, 3 * width, deviation=0.02)),
        Product("mlp", drawn(rows, 4 * width), drawn(4 * width, width, deviation=0.02)),
        Product(
            "gradient", drawn(rows, width, deviation=1e-5), drawn(width, width, deviation=0.02)
        ),
    ]
    x = made[0].x.clone()
    x[0, 0] = OUTLIER * x.abs().max()
    return [*made, Product("outlier", x, made[0].w)]


def error(got: Tensor, due: Tensor) -> float:
    """Rows beside the first: an outlier there must not hide the others in its own size."""
    return float((got.double() - due)[1:].norm() / due[1:].norm())


def in_bf16(product: Product) -> Tensor:
    return multiply(product.x.bfloat16(), product.w.bfloat16())


def in_fp8(product: Product) -> Tensor:
    return multiply_e4m3(product, scale_of(product.x), scale_of(product.w))


def unscaled(product: Product) -> Tensor:
    one = torch.ones((), device=product.x.device, dtype=torch.float64)
    return multiply_e4m3(product, one, one)


def multiply(x: Tensor, w: Tensor) -> Tensor:
    return torch.mm(x, w) if x.is_cuda else (x.double() @ w.double()).bfloat16()


def multiply_e4m3(product: Product, x: Tensor, w: Tensor) -> Tensor:
    """By tensor cores; where there are none, exactly. x and w are the scales."""
    a, b = quantised(product.x, x), quantised(product.w, w)
    if a.is_cuda:
        return on_tensor_cores(a, by_columns(b), x, w)
    return (a.double() @ b.double() / (x * w)).bfloat16()


def on_tensor_cores(a: Tensor, b: Tensor, x: Tensor, w: Tensor) -> Tensor:
    inverses = (1 / x).float(), (1 / w).float()
    made: Tensor = torch._scaled_mm(a, b, *inverses, out_dtype=torch.bfloat16)
    return made


def by_columns(b: Tensor) -> Tensor:
    """As tensor cores want the second operand to lie."""
    return b.T.contiguous().T


WAYS: dict[str, Callable[[Product], Tensor]] = {
    "bf16": in_bf16,
    "fp8": in_fp8,
    "fp8-unscaled": unscaled,
}


def scale_of(x: Tensor) -> Tensor:
    return LARGEST / x.abs().max().double()


def quantised(x: Tensor, scale: Tensor) -> Tensor:
    """E4M3(scale x). What lies beyond 448 becomes 448: the format has no infinity."""
    return (x * scale).clamp(-LARGEST, LARGEST).to(E4M3)


def timed(product: Product) -> Iterator[Metric]:
    x, w = scale_of(product.x), scale_of(product.w)
    a, b = quantised(product.x, x), by_columns(quantised(product.w, w))
    inverses = (1 / x).float(), (1 / w).float()
    wide = product.x.bfloat16(), product.w.bfloat16()

    def multiplied(left: Tensor) -> Tensor:
        made: Tensor = torch._scaled_mm(left, b, *inverses, out_dtype=torch.bfloat16)
        return made

    def quantising() -> Tensor:
        scale = LARGEST / wide[0].abs().max().float()
        return multiplied(quantised(wide[0], scale))

    series: dict[str, Callable[[], object]] = {
        "bf16": lambda: torch.mm(*wide),
        "fp8": lambda: multiplied(a),
        "fp8-quantising": quantising,
    }
    for name, spread in interleaved(series, warmup=10, samples=30, calls=10).items():
        yield Metric("product-time", spread.median, unit="µs", series=f"{name} {product.name}")
