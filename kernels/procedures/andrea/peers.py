"""The same model in PyTorch, as one would write it there: what the engine is timed against.

FP32 weights, products under autocast, flash attention, the fused AdamW, clipping by the global
norm: eager, compiled, or eager with Liger-Kernel's LayerNorm and its loss joined to the head,
where that package is installed. None of it is deterministic but what is called so.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy, gelu, scaled_dot_product_attention

from kernels.andrea.config import Config, Precision
from kernels.timing import Call

Tensor = torch.Tensor
WIDTHS = {Precision.FP16: torch.float16, Precision.BF16: torch.bfloat16}
AUTOTUNE, DETERMINISTIC = "max-autotune", "-deterministic"
MODES = {"compile": "default", AUTOTUNE: AUTOTUNE}
NAMES = (
    *("eager", "compile", "liger"),
    *(f"{name}{DETERMINISTIC}" for name in ("eager", "compile")),
    *(AUTOTUNE, f"{AUTOTUNE}{DETERMINISTIC}"),
)


class Block(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        d, self.heads = config.width, config.heads
        self.ln1, self.ln2 = (nn.LayerNorm(d, eps=config.layernorm_epsilon) for _ in range(2))
        self.qkv, self.out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False)
        self.up = nn.Linear(d, config.hidden, bias=False)
        self.down = nn.Linear(config.hidden, d, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, d = x.shape
        parts = self.qkv(self.ln1(x)).view(batch, length, 3, self.heads, -1)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        mixed = scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, d))
        return x + self.down(gelu(self.up(self.ln2(x)), approximate="tanh"))


class Model(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.tokens = nn.Embedding(config.vocabulary, config.width)
        self.places = nn.Embedding(config.context, config.width)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.last = nn.LayerNorm(config.width, eps=config.layernorm_epsilon)
        nn.init.normal_(self.tokens.weight, std=0.02)
        nn.init.normal_(self.places.weight, std=0.02)

    def forward(self, ids: Tensor, targets: Tensor) -> Tensor:
        x = self.tokens(ids) + self.places.weight[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.loss(self.last(x).flatten(0, 1), targets.flatten())

    def loss(self, x: Tensor, targets: Tensor) -> Tensor:
        return cross_entropy(x @ self.tokens.weight.T, targets)


class LigerModel(Model):
    """The same with Liger's operators. Raises RuntimeError where they are not installed."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.joined_loss = liger("fused_linear_cross_entropy", "FusedLinearCrossEntropy")
        norm = liger("layer_norm", "LayerNorm")
        for module in self.modules():
            if isinstance(module, nn.LayerNorm):
                module.forward = partial(liger_norm, norm, module)  # type: ignore[method-assign]

    def loss(self, x: Tensor, targets: Tensor) -> Tensor:
        found: Tensor = self.joined_loss(x, self.tokens.weight, targets)[0]
        return found


def liger(module: str, name: str) -> Callable[..., Any]:
    try:
        found = import_module(f"liger_kernel.ops.{module}")
    except ImportError as error:
        raise RuntimeError(f"Liger-Kernel is not installed: {error}") from error
    made: Callable[..., Any] = getattr(found, f"Liger{name}Function").apply
    return made


def liger_norm(norm: Callable[..., Any], module: nn.LayerNorm, x: Tensor) -> Tensor:
    y: Tensor = norm(x, module.weight, module.bias, module.eps)
    return y


def peer(name: str, config: Config, device: torch.device) -> Call:
    """A training step on tokens that stay the same; `name` is one of NAMES."""
    way = name.removesuffix(DETERMINISTIC)
    model = (LigerModel if way == "liger" else Model)(config).to(device)
    call = torch.compile(model, mode=MODES[way]) if way in MODES else model
    step = training_step(model, call, config, device)
    return deterministic(step) if name != way else step


def training_step(
    model: nn.Module, call: Callable[..., Tensor], config: Config, device: torch.device
) -> Call:
    optimizer = torch.optim.AdamW(
        model.parameters(),
        lr=config.learning_rate,
        betas=(config.beta1, config.beta2),
        eps=config.epsilon,
        weight_decay=config.decay,
        fused=True,
    )
    shape = config.batch, config.context
    ids, targets = (torch.randint(config.vocabulary, shape, device=device) for _ in range(2))
    width = WIDTHS.get(config.precision)

    def step() -> None:
        for _ in range(config.micro_batches):
            with torch.autocast(device.type, width, enabled=width is not None):
                loss = call(ids, targets)
            (loss / config.micro_batches).backward()
        nn.utils.clip_grad_norm_(model.parameters(), config.clip)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def deterministic(step: Call) -> Call:
    """The step with PyTorch's deterministic algorithms, and without what else that switches on:
    filling every new tensor with NaN."""
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]

    def stepped() -> None:
        torch.use_deterministic_algorithms(True)
        try:
            step()
        finally:
            torch.use_deterministic_algorithms(False)

    return stepped
