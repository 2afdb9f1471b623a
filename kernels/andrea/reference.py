"""The model in plain PyTorch, differentiated by Autograd: the judge of the engine.

Written from the formulas and from nothing of the engine's but the names of its weights, so that
an error in the operators cannot repeat itself here. In float64 it is the oracle.
"""

import math

import torch
from torch.nn.functional import cross_entropy

from kernels.andrea.config import Config

Tensor = torch.Tensor
Weights = dict[str, Tensor]


def logits(config: Config, w: Weights, ids: Tensor) -> Tensor:
    """[B, T, V] for ids [B, T]."""
    x = w["wte"][ids] + w["wpe"][: ids.shape[1]]
    for i in range(config.layers):
        x = x + attention(config, w, i, norm(config, x, w, f"h{i}.ln1"))
        x = x + mlp(w, i, norm(config, x, w, f"h{i}.ln2"))
    head = w["wte"] if config.tied else w["head"]
    return norm(config, x, w, "lnf") @ head.T


def loss(config: Config, w: Weights, ids: Tensor, targets: Tensor) -> Tensor:
    """The mean over all positions whose target is not -1."""
    flat = logits(config, w, ids).flatten(0, 1)
    return cross_entropy(flat, targets.flatten(), ignore_index=-1)


def norm(config: Config, x: Tensor, w: Weights, name: str) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred * centred).mean(-1, keepdim=True)
    scaled = centred / torch.sqrt(variance + config.layernorm_epsilon)
    return scaled * w[f"{name}.gamma"] + w[f"{name}.beta"]


def attention(config: Config, w: Weights, i: int, x: Tensor) -> Tensor:
    batch, length, width = x.shape

    def heads(name: str) -> Tensor:
        rows = x @ w[f"h{i}.{name}"]
        return rows.view(batch, length, config.heads, config.head_width).transpose(1, 2)

    scores = heads("w_q") @ heads("w_k").transpose(-1, -2) / math.sqrt(config.head_width)
    future = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
    shares = scores.masked_fill(future, -math.inf).softmax(-1)
    mixed = (shares @ heads("w_v")).transpose(1, 2).reshape(batch, length, width)
    return mixed @ w[f"h{i}.w_o"]


def mlp(w: Weights, i: int, x: Tensor) -> Tensor:
    h = x @ w[f"h{i}.w_1"]
    inner = math.sqrt(2 / math.pi) * (h + 0.044715 * h**3)
    return (0.5 * h * (1 + torch.tanh(inner))) @ w[f"h{i}.w_2"]
