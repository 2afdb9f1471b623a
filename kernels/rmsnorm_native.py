"""RMSNorm version 4: version 3 with Autograd's node in C++, for where the way there matters.

A backward pass runs on the engine's own thread. A node in Python makes that thread fetch the
interpreter's state from another core, which was measured to cost more than the kernels; the
node in `rmsnorm_node.cpp` needs no interpreter. It is compiled on first use (half a minute),
so this version needs a C++ compiler besides a GPU, and refuses where there is none. It takes
what version 3 does in one launch each way: 1 to 512 rows, N up to 8,192. Its calls are not
counted in CALLS, because Python does not see them.
"""

import ctypes
import shutil
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
import triton

from kernels import rmsnorm_direct, rmsnorm_fast
from kernels.contract import ContractError
from kernels.launching import aligned
from kernels.procedure import DeviceNotAvailable
from kernels.rmsnorm import EPS, check_contract

Tensor = torch.Tensor
SOURCE = Path(__file__).with_name("rmsnorm_node.cpp")
CONTRACT = replace(
    rmsnorm_fast.CONTRACT,
    max_columns=rmsnorm_fast.WIDE,
    max_rows=rmsnorm_direct.FEW_ROWS,
    empty_rows=False,
)


def rmsnorm_native(x: Tensor, gamma: Tensor, eps: float = EPS) -> Tensor:
    """`kernels.rmsnorm.rmsnorm` by version 4, under the contract above."""
    call = node().call
    y: Tensor | None = call(x, gamma, eps)
    if y is None:
        prepare(x, gamma, eps)
        y = call(x, gamma, eps)
        assert y is not None
    return y


def prepare(x: Tensor, gamma: Tensor, eps: float) -> None:
    """Check the contract, have Triton compile both kernels, and hand them to the node."""
    check_contract(x, gamma, eps, contract=CONTRACT)
    if not aligned(x.data_ptr(), gamma.data_ptr()):
        raise ContractError("alignment")
    if x.device.index != torch.cuda.current_device():
        raise ContractError("current-device")
    rows, columns = x.shape
    plain, scale = x.detach(), gamma.detach()
    y, inverse = torch.empty_like(plain), torch.empty(rows, device=x.device)
    forward = rmsnorm_fast.launch_forward(plain, scale, y, inverse, eps)
    backward = rmsnorm_direct.launch_backward(
        plain, scale, y, inverse, torch.empty_like(plain), inverse, torch.empty_like(scale)
    )
    programs = rmsnorm_fast.forward_plan(rows, columns, x.device).programs
    there = entry(forward, programs)
    back = entry(backward, rmsnorm_direct.once_grid(rows, columns))
    node().add_lane(launcher(), there, back, plain, scale, float(eps))


def entry(compiled: Any, grid: int) -> tuple[int, int, int, int]:
    """What cuLaunchKernel wants to know of a kernel: address, grid, threads, shared memory."""
    meta = compiled.metadata
    if meta.global_scratch_size or meta.profile_scratch_size or meta.num_ctas != 1:
        raise RuntimeError("a kernel that needs scratch cannot be launched without Triton")
    return compiled.function, grid, 32 * meta.num_warps, meta.shared


def launcher() -> int:
    address = ctypes.cast(ctypes.CDLL("libcuda.so.1").cuLaunchKernel, ctypes.c_void_p).value
    assert address is not None
    return address


@lru_cache
def node() -> Any:
    """The C++ part, compiled into torch's extension folder the first time."""
    if shutil.which("g++") is None or shutil.which("ninja") is None:
        raise DeviceNotAvailable("refusal.no-compiler")
    # Slow to import and needed here alone.
    from torch.utils import cpp_extension

    headers = Path(triton.__file__).parent / "backends" / "nvidia" / "include"
    return cpp_extension.load(
        "chainrule_rmsnorm_node",
        [str(SOURCE)],
        extra_cflags=["-O2"],
        extra_include_paths=[str(headers)],
        extra_ldflags=[f"-L{Path(torch.__file__).parent / 'lib'}", "-lc10_cuda"],
    )
