"""rmsnorm.train-integration: a small network trained twice, by the reference and by the kernel.

Linear(16 -> 32), RMSNorm(32), SiLU, Linear(32 -> 1), from the same initial weights, with the
same batches, Adam and mean squared error. The two must stay together, the kernel must have
been the one that ran, and the saved weights must come back unchanged.
"""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import mse_loss, silu

from kernels.artifacts import store
from kernels.checking import generator
from kernels.events import Artifact, Case, Event, Metric, Progress, Verdict
from kernels.procedure import Context
from kernels.procedures.rmsnorm.data import HIDDEN, INPUTS, Partition, batch, partition
from kernels.rmsnorm import CALLS, EPS, rmsnorm_reference
from kernels.rmsnorm_versions import VERSIONS

Norm = Callable[[torch.Tensor, torch.Tensor, float], torch.Tensor]
CHECKPOINT = "checkpoints/rmsnorm-kernel.pt"
START_TOLERANCE = 1e-5  # both paths in FP32, one step of rounding apart
FIVE_DIGITS = 5e-6


class Network(nn.Module):
    """The network of the course; `norm` is what stands between its two layers."""

    def __init__(self, norm: Norm, seed: int) -> None:
        super().__init__()
        self.norm = norm
        source = generator(seed, 4)
        self.first = nn.Linear(INPUTS, HIDDEN)
        self.gamma = nn.Parameter(torch.ones(HIDDEN))
        self.second = nn.Linear(HIDDEN, 1)
        for layer in (self.first, self.second):
            bound = layer.in_features**-0.5
            nn.init.uniform_(layer.weight, -bound, bound, generator=source)
            nn.init.uniform_(layer.bias, -bound, bound, generator=source)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        hidden = self.norm(self.first(inputs), self.gamma, EPS)
        output: torch.Tensor = self.second(silu(hidden))
        return output


@dataclass
class Pair:
    """The two paths with their optimizers and the data they share."""

    reference: Network
    kernel: Network
    optimizers: dict[str, torch.optim.Adam]
    train: Partition
    test: Partition
    device: torch.device

    @property
    def paths(self) -> dict[str, Network]:
        return {"reference": self.reference, "kernel": self.kernel}


def pair(context: Context) -> Pair:
    device = torch.device(context.device.value)
    seed = context["seed"]
    norms = {"reference": rmsnorm_reference, "kernel": VERSIONS[context.version].apply}
    networks = {name: Network(norm, seed).to(device) for name, norm in norms.items()}
    optimizers = {
        name: torch.optim.Adam(network.parameters(), lr=context["learning_rate"])
        for name, network in networks.items()
    }
    data = partition("train", seed), partition("test", seed)
    return Pair(networks["reference"], networks["kernel"], optimizers, *data, device)


def run(context: Context) -> Iterator[Event]:
    both = pair(context)
    yield from compare_start(context, both)
    yield from train(context, both)
    yield save(context, both.kernel)
    if context.stop.is_set():
        return
    yield from compare_test(both)
    yield from compare_reload(context, both)


def compare_start(context: Context, both: Pair) -> Iterator[Event]:
    """Before any step: the same output and the same gradients, to rounding."""
    inputs, targets = examples(context, both, 0)
    outputs, gradients = {}, {}
    for name, network in both.paths.items():
        outputs[name] = network(inputs)
        loss = mse_loss(outputs[name], targets)
        gradients[name] = torch.autograd.grad(loss, tuple(network.parameters()))
    output_error = largest_difference(outputs["reference"], outputs["kernel"])
    pairs = zip(gradients["reference"], gradients["kernel"], strict=True)
    gradient_error = max(largest_difference(a, b) for a, b in pairs)
    yield Metric("initial-output-error", output_error)
    yield Metric("initial-gradient-error", gradient_error)
    yield case("initial-output", output_error <= START_TOLERANCE, output_error, START_TOLERANCE)
    yield case(
        "initial-gradient", gradient_error <= START_TOLERANCE, gradient_error, START_TOLERANCE
    )


def train(context: Context, both: Pair) -> Iterator[Event]:
    """The steps. The counters are read around the loop: evaluation would count too."""
    CALLS.update(forward=0, backward=0)
    steps = context["steps"]
    for step in range(steps):
        if context.stop.is_set():
            return
        inputs, targets = examples(context, both, step)
        for name, network in both.paths.items():
            loss = mse_loss(network(inputs), targets)
            both.optimizers[name].zero_grad()
            loss.backward()
            both.optimizers[name].step()
            yield Metric("loss", loss.item(), step + 1, series=name)
        yield Progress(step + 1, steps)
        if context.checkpoint.is_set():
            context.checkpoint.clear()
            yield save(context, both.kernel)
    for name, count in CALLS.items():
        yield Metric("calls", count, series=name)
        yield case(f"calls-{name}", count == steps, abs(count - steps), 0.0)


def examples(context: Context, both: Pair, step: int) -> tuple[torch.Tensor, torch.Tensor]:
    inputs, targets = batch(both.train, context["seed"], step, context["examples"])
    return inputs.to(both.device), targets.to(both.device)


def compare_test(both: Pair) -> Iterator[Event]:
    errors = {name: test_error(network, both.test) for name, network in both.paths.items()}
    for name, value in errors.items():
        yield Metric("test-mse", value, series=name)
    difference = abs(errors["reference"] - errors["kernel"])
    yield case("test-mse", difference <= FIVE_DIGITS, difference, FIVE_DIGITS)


def test_error(network: Network, test: Partition) -> float:
    device = network.gamma.device
    with torch.no_grad():
        return float(mse_loss(network(test.inputs.to(device)), test.targets.to(device)))


def save(context: Context, network: Network) -> Artifact:
    made = io.BytesIO()  # torch tells of a full disk in words of its own
    torch.save(network.state_dict(), made)
    return store(context, CHECKPOINT, lambda path: keep(path, made.getvalue()))


def keep(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def load(context: Context, network: Network) -> None:
    weights = torch.load(context.outputs / CHECKPOINT, weights_only=True)
    network.load_state_dict(weights)


def compare_reload(context: Context, both: Pair) -> Iterator[Event]:
    """The saved weights in a new network: weights only, no state of the optimizer."""
    fresh = Network(both.kernel.norm, context["seed"] + 1).to(both.device)
    load(context, fresh)
    inputs = both.test.inputs.to(both.device)
    with torch.no_grad():
        difference = largest_difference(fresh(inputs), both.kernel(inputs))
    yield Metric("reload-difference", difference)
    yield case("reload", difference == 0.0, difference, 0.0)


def largest_difference(a: torch.Tensor, b: torch.Tensor) -> float:
    return float((a - b).detach().abs().max())


def case(name: str, good: bool, error: float, allowed: float) -> Case:
    verdict = Verdict.PASSED if good else Verdict.FAILED
    return Case(name, verdict, {"check": name}, max_abs_error=error, atol=allowed, rtol=0.0)
