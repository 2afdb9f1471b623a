"""FP32 to 16 bits, two numbers an instruction.

Triton rounds one number at a time, on the unit that also computes exp2 and serves 16 lanes a
clock; from compute capability 8.0 on another unit rounds two at once, to the same bits. It is
asked for in assembler, which the interpreter does not know: there Triton's own conversion stands.
"""
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache

import torch
import triton
import triton.language as tl


@triton.jit
def packed(even, odd, DTYPE: tl.constexpr, ASSEMBLER: tl.constexpr):
    """Two numbers in a 32-bit word, `even` in its lower half."""
    if ASSEMBLER:
        if DTYPE == tl.bfloat16:
            return tl.inline_asm_elementwise(
                "cvt.rn.bf16x2.f32 $0, $1, $2;", "=r,r,r", [odd, even], tl.uint32, True, 1
            )
        else:
            return tl.inline_asm_elementwise(
                "cvt.rn.f16x2.f32 $0, $1, $2;", "=r,r,r", [odd, even], tl.uint32, True, 1
            )
    else:
        low = even.to(DTYPE).to(tl.uint16, bitcast=True).to(tl.uint32)
        return low | (odd.to(DTYPE).to(tl.uint16, bitcast=True).to(tl.uint32) << 16)


@triton.jit
def narrow(x, DTYPE: tl.constexpr, ASSEMBLER: tl.constexpr):
    """x in that dtype. With ASSEMBLER a thread must hold neighbours in pairs."""
    if ASSEMBLER:
        if DTYPE == tl.bfloat16:
            return tl.inline_asm_elementwise(
                "cvt.rn.bf16x2.f32 $0, $2, $1;", "=r,r,r", [x], tl.bfloat16, True, 2
            )
        else:
            return tl.inline_asm_elementwise(
                "cvt.rn.f16x2.f32 $0, $2, $1;", "=r,r,r", [x], tl.float16, True, 2
            )
    else:
        return x.to(DTYPE)


def assembler(tensor: torch.Tensor) -> bool:
    """Whether its device rounds two numbers of its dtype at once."""
    return tensor.is_cuda and tensor.element_size() == 2 and capability(tensor.device) >= 8


@lru_cache
def capability(device: torch.device) -> int:
    return torch.cuda.get_device_capability(device)[0]
