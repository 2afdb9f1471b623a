"""rmsnorm.environment: what there is, and whether it computes. If this fails, stop here."""
# mypy: disable-error-code="no-untyped-def"

from collections.abc import Iterator

import torch
import triton
import triton.language as tl

from kernels import machine
from kernels.events import Case, Column, Event, Table, Verdict
from kernels.procedure import Context, Device

SIZE = 1000  # not a power of two, so that the mask is used


@triton.jit
def add_kernel(A, B, C, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    place = tl.arange(0, BLOCK)
    keep = place < SIZE
    total = tl.load(A + place, mask=keep, other=0) + tl.load(B + place, mask=keep, other=0)
    tl.store(C + place, total, mask=keep)


def run(context: Context) -> Iterator[Event]:
    device = torch.device(context.device.value)
    yield Table("environment", (Column("fact"), Column("value")), facts(device))
    yield case("torch", torch_computes(device))
    yield case("triton", triton_computes(device))
    yield case("oracle", float64_computes(device))


def facts(device: torch.device) -> tuple[tuple[str, str], ...]:
    common = (
        ("python", machine.python_version()),
        ("torch", machine.package_version("torch")),
        ("triton", machine.package_version("triton")),
        ("device", device.type),
    )
    if device.type != Device.CUDA:
        return (*common, ("processor", machine.processor_name()), ("kernels", "interpreter"))
    card = torch.cuda.get_device_properties(device)
    return (
        *common,
        ("card", card.name),
        ("driver", machine.driver_version()),
        ("capability", f"{card.major}.{card.minor}"),
        ("multiprocessors", str(card.multi_processor_count)),
        ("memory", f"{card.total_memory / 2**30:.1f} GiB"),
        ("kernels", "compiled"),
    )


def case(name: str, good: bool) -> Case:
    return Case(name, Verdict.PASSED if good else Verdict.FAILED, {"check": name})


def torch_computes(device: torch.device) -> bool:
    a = torch.arange(12.0, device=device).view(3, 4)
    return torch.equal(
        (a @ a.T).cpu(), torch.arange(12.0).view(3, 4) @ torch.arange(12.0).view(3, 4).T
    )


def triton_computes(device: torch.device) -> bool:
    a = torch.arange(float(SIZE), device=device)
    c = torch.full_like(a, float("nan"))
    add_kernel[(1,)](a, a, c, SIZE, triton.next_power_of_2(SIZE))
    return torch.equal(c, 2 * a)


def float64_computes(device: torch.device) -> bool:
    third = torch.ones(1, dtype=torch.float64, device=device) / 3
    return abs(float(third) - 1 / 3) < 1e-16
