"""What every launcher refuses: memory that a kernel would read or write at the wrong place."""

import torch

from kernels.contract import ContractError


def contiguous(**tensors: torch.Tensor) -> None:
    """Each has elements, and they lie one after another: kernels compute addresses from shapes."""
    for name, tensor in tensors.items():
        if not tensor.is_contiguous():
            raise ContractError("not-contiguous", tensor=name)
        if tensor.numel() == 0:
            raise ContractError("no-elements", tensor=name)


def rows(**tensors: torch.Tensor) -> None:
    """Each has elements, and within a row they lie one after another; rows may be apart."""
    for name, tensor in tensors.items():
        if tensor.numel() == 0:
            raise ContractError("no-elements", tensor=name)
        if tensor.stride(-1) != 1 and tensor.shape[-1] > 1:
            raise ContractError("not-contiguous", tensor=name)


def alike(**tensors: torch.Tensor) -> None:
    """All have the same shape and the same strides: one address is computed for all."""
    (first, like), *others = tensors.items()
    for name, tensor in others:
        if tensor.shape != like.shape or tensor.stride() != like.stride():
            raise ContractError("not-alike", tensor=name, other=first)
