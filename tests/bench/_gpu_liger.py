"""Liger-Kernel's operators, launched as its own functions launch them, where it is installed."""

import importlib
from typing import Any

import torch

from tests.bench._gpu_candidates import Call, Tensor
from tests.bench._gpu_loss import Problem, Way


def liger(module: str) -> Any:
    """One of its modules, or None."""
    try:
        return importlib.import_module(f"liger_kernel.ops.{module}")
    except ImportError as error:
        print(f"Liger-Kernel is not timed: {error}")
        return None


def liger_norm(dy: Tensor, x: Tensor, gamma: Tensor, beta: Tensor) -> Call | None:
    """Its LayerNorm's backward pass, which knows no residual gradient to add to."""
    ops = liger("layer_norm")
    if ops is None:
        return None
    _, x, mean, rstd, _, _ = ops.layer_norm_forward(x, gamma, beta, 1e-5)
    return lambda: ops.layer_norm_backward(dy, x, gamma, beta, mean, rstd)


def liger_loss(problem: Problem, columns: int) -> Way | None:
    """Its kernel and the sum of its losses, kept in FP32 here. Its Python function asks the device
    for the count of targets first, which a graph cannot hold; that wait is not in the figure."""
    ops = liger("cross_entropy")
    if ops is None:
        return None
    targets = problem.targets.long()
    count = float(problem.count)

    def way(logits: Tensor) -> None:
        losses = torch.zeros(len(targets), device="cuda")
        ops.liger_cross_entropy_kernel[(len(targets),)](
            X_ptr=logits, X_stride=logits.stride(0), Y_ptr=targets, Y_stride=1,
            weight_ptr=None, loss_ptr=losses, z_loss_ptr=None, loss_stride=1,
            token_accuracy_ptr=None, token_accuracy_stride=0,
            predicted_tokens_ptr=None, predicted_tokens_stride=0,
            n_cols=columns, n_non_ignore=count, sum_non_ignore_weight=count, weight_sum=0.0,
            ignore_index=-1, lse_square_scale=0.0, label_smoothing=0.0, reduction="mean",
            softcap=None, RETURN_Z_LOSS=False, RETURN_TOKEN_ACCURACY=False,
            RETURN_PREDICTED_TOKENS=False, BLOCK_SIZE=ops.MAX_FUSED_SIZE, HAS_WEIGHT=False,
            HAS_SOFTCAPPING=False, HAS_GRADIENTS=True, num_warps=32,
        )  # fmt: skip
        losses.sum()
        torch.mul(losses, count, out=problem.losses)  # a row's own, as the judge wants it

    return way
