"""rmsnorm.contract: what a version refuses and what it just accepts, and that a refusal comes
before anything is allocated or written.

The tensors of the limits are on torch's meta device: they have a shape and no memory.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kernels.contract import Contract, ContractError
from kernels.events import Case, Event, Note, Progress, Verdict
from kernels.procedure import Context
from kernels.rmsnorm import CALLS, EPS, check_contract
from kernels.rmsnorm_versions import VERSIONS, Version


class Watch(TorchDispatchMode):
    """Notes every operation that torch is asked for: an allocation is one, a write too."""

    def __init__(self) -> None:
        super().__init__()
        self.operations: list[str] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.operations.append(str(func))
        return func(*args, **(kwargs or {}))


@dataclass(frozen=True)
class Refusal:
    """A call that must be refused with the message `code`."""

    name: str
    code: str
    call: Callable[[], object]


def run(context: Context) -> Iterator[Event]:
    version = VERSIONS[context.version]
    device = torch.device(context.device.value)
    refused = [*common_refusals(version, device), *limit_refusals(version.contract)]
    accepted = acceptances(version, device)
    total = len(refused) + len(accepted)
    for done, refusal in enumerate(refused, start=1):
        yield judge_refusal(refusal)
        yield Progress(done, total)
    for done, (name, call) in enumerate(accepted.items(), start=len(refused) + 1):
        yield judge_acceptance(name, call)
        yield Progress(done, total)


def judge_refusal(refusal: Refusal) -> Case:
    """Refused with the right sentence, and nothing was asked of torch before that."""
    before = dict(CALLS)
    why, good = Note("why.not-refused"), False
    with Watch() as watch:
        try:
            refusal.call()
        except ContractError as error:
            why, good = error.note, error.note.code == refusal.code
    if watch.operations or before != CALLS:
        why, good = Note("why.touched-before-refusal", {"operation": first(watch)}), False
    labels: dict[str, str | int] = {"input": refusal.name, "expected": "refused"}
    return Case(f"refused-{refusal.name}", verdict(good), labels, why=why)


def first(watch: Watch) -> str:
    return watch.operations[0] if watch.operations else "CALLS"


def judge_acceptance(name: str, call: Callable[[], object]) -> Case:
    labels: dict[str, str | int] = {"input": name, "expected": "accepted"}
    try:
        call()
    except ContractError as error:
        return Case(f"accepted-{name}", Verdict.FAILED, labels, why=error.note)
    return Case(f"accepted-{name}", Verdict.PASSED, labels)


def verdict(good: bool) -> Verdict:
    return Verdict.PASSED if good else Verdict.FAILED


def common_refusals(version: Version, device: torch.device) -> list[Refusal]:
    x, gamma = torch.ones(4, 6, device=device), torch.ones(6, device=device)
    wide, dy = torch.ones(6, 4, device=device), torch.ones(4, 6, device=device)
    strided = torch.ones(12, device=device)[::2]
    elsewhere = torch.ones(6, device="meta")
    doubles = x.double()
    cube, plain = x[None], torch.ones(6, device=device).double()
    lost, short = torch.ones(4, 0, device=device), gamma[:5]

    def forward(code: str, name: str, *arguments: Any) -> Refusal:
        return Refusal(name, f"refusal.{code}", lambda: version.apply(*arguments))

    def backward(code: str, name: str, upstream: torch.Tensor) -> Refusal:
        return Refusal(
            name,
            f"refusal.{code}",
            lambda: check_contract(x, gamma, EPS, upstream, version.contract),
        )

    return [
        forward("not-contiguous", "transposed-x", wide.T, gamma, EPS),
        forward("not-contiguous", "sliced-gamma", x, strided, EPS),
        forward("dtype", "float64-x", doubles, gamma, EPS),
        forward("dtype", "float64-gamma", x, plain, EPS),
        forward("devices", "gamma-elsewhere", x, elsewhere, EPS),
        forward("epsilon", "epsilon-zero", x, gamma, 0.0),
        forward("epsilon", "epsilon-negative", x, gamma, -1e-6),
        forward("epsilon", "epsilon-nan", x, gamma, float("nan")),
        forward("epsilon", "epsilon-infinite", x, gamma, float("inf")),
        forward("epsilon", "epsilon-text", x, gamma, "1e-6"),
        forward("rank", "three-dimensions", cube, gamma, EPS),
        forward("gamma-length", "short-gamma", x, short, EPS),
        forward("empty", "no-columns", lost, gamma[:0], EPS),
        backward("dy-shape", "dy-shape", dy[:3]),
        backward("dy-dtype", "dy-dtype", dy.half()),
        backward("dy-device", "dy-elsewhere", torch.ones(4, 6, device="meta")),
        backward("not-contiguous", "dy-transposed", wide.T),
    ]


def limit_refusals(contract: Contract) -> list[Refusal]:
    """One beyond each limit of this version's contract."""
    found = [limit(contract, "columns", "one-column-too-many", 1, contract.max_columns + 1)]
    if contract.scratch_limit is not None:
        found.append(limit(contract, "scratch", "one-row-too-many", 4097, 4096))
    if not contract.empty_rows:
        found.append(limit(contract, "empty", "no-rows", 0, 257))
    if torch.bfloat16 not in contract.dtypes:
        found.append(limit(contract, "dtype", "bfloat16-x", 4, 6, torch.bfloat16))
    return found


def limit(
    contract: Contract,
    code: str,
    name: str,
    rows: int,
    columns: int,
    dtype: torch.dtype = torch.float32,
) -> Refusal:
    x, gamma = on_paper(rows, columns, dtype)
    return Refusal(name, f"refusal.{code}", lambda: check_contract(x, gamma, EPS, None, contract))


def on_paper(
    rows: int, columns: int, dtype: torch.dtype = torch.float32
) -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.empty(rows, columns, device="meta", dtype=dtype)
    return x, torch.empty(columns, device="meta", dtype=dtype)


def acceptances(version: Version, device: torch.device) -> dict[str, Callable[[], object]]:
    """What stands just inside the limits, and what looks odd and is fine."""
    contract = version.contract
    sizes = {"most-columns": (1, contract.max_columns)}
    if contract.scratch_limit is not None:
        sizes["scratch-exactly"] = (4096, 4096)
    if contract.empty_rows:
        sizes["no-rows"] = (0, 257)
    found: dict[str, Callable[[], object]] = {}
    for name, (rows, columns) in sizes.items():
        x, gamma = on_paper(rows, columns)
        found[name] = partial(check_contract, x, gamma, EPS, None, contract)
    for dtype in contract.dtypes:
        x, gamma = torch.ones(4, 6, device=device, dtype=dtype), torch.ones(6, device=device)
        name = f"{str(dtype).removeprefix('torch.')}-x-float32-gamma"
        found[name] = partial(version.apply, x, gamma, EPS)
    found["expanded-dy-through-autograd"] = lambda: expanded(version, device)
    return found


def expanded(version: Version, device: torch.device) -> None:
    """.sum().backward() sends a dy of stride 0; the wrapper makes it contiguous."""
    x = torch.ones(4, 6, device=device, requires_grad=True)
    version.apply(x, torch.ones(6, device=device), EPS).sum().backward()
