"""The problems of what turns logits into an update: loss, norm and clipping, AdamW."""

import math
from functools import partial
from types import ModuleType

import torch

from kernels.andrea.operators import adamw as adamw_oracle
from kernels.andrea.operators import grad_norm as grad_norm_oracle
from kernels.andrea.operators import loss as loss_oracle
from kernels.checking import Tolerance
from kernels.procedures.andrea.bench import Bench, exact
from kernels.procedures.andrea.checks_declared import Shape

Tensor = torch.Tensor
STEP, RATE, BETA1, BETA2, EPSILON = 3, 1e-2, 0.9, 0.999, 1e-8
update = partial(
    adamw_oracle.reference, step=STEP, lr=RATE, beta1=BETA1, beta2=BETA2, epsilon=EPSILON
)
BAD = {"a-nan": math.nan, "an-infinity": math.inf}
# 8 significant bits; the interpreter cuts the rest off where a GPU rounds to nearest.
BF16_COPY = Tolerance(1e-6, 2**-7)


def loss(bench: Bench, operator: ModuleType, shape: Shape) -> None:
    values, labels = loss_inputs(bench, shape)
    rows = len(labels)
    logits = bench.holds("logits", values)
    targets = bench.holds("targets", labels, torch.int32)
    by_row = shape.special == "upstream-by-row"
    upstream = bench.holds("upstream", torch.rand(rows if by_row else 1) + 0.5, torch.float32)
    # As in training the gradient is divided by the count; without its count a row's is O(1).
    scaled = upstream * rows
    count, losses = bench.number("count", 1), bench.number("losses", rows)
    lse, mean = bench.number("lse", rows), bench.number("loss", 1)
    loss_oracle.count(targets, count)
    operator.PAIR.forward(logits, targets, count, losses, lse, mean)
    exact_logits = logits.double()
    due_mean, due_losses, due_lse = loss_oracle.reference_forward(exact_logits, targets)
    bench.expect("losses", due_losses)
    bench.expect("loss", due_mean[None])
    loss_suspects(bench, exact_logits, targets, due_losses)

    dlogits = bench.changes("dlogits", values)
    operator.PAIR.backward(dlogits, targets, count, due_lse.float(), scaled)
    due = loss_oracle.reference_backward(exact_logits, targets, scaled.double())
    bench.expect("dlogits", due)
    kept = int((targets >= 0).sum())
    if kept > 1:
        bench.suspect("dlogits", "sum-not-mean", due * kept)
    if 0 < kept < rows:
        bench.suspect("dlogits", "ignored-counted", due * kept / rows)
    shifted = loss_oracle.reference_backward(exact_logits, targets.roll(-1), scaled.double())
    bench.suspect("dlogits", "labels-shifted", shifted)
    if hasattr(operator, "forward_backward"):
        in_one(bench, operator, values, targets, scaled)


def in_one(
    bench: Bench, operator: ModuleType, values: Tensor, targets: Tensor, upstream: Tensor
) -> None:
    """Both passes in one launch must give what the two give; the worse of the two is judged."""
    fused = bench.changes("dlogits in one launch", values)
    count, mean = bench.number("count again", 1), bench.number("loss again", 1)
    losses = bench.number("losses again", len(targets))
    loss_oracle.count(targets, count)
    operator.forward_backward(fused, targets, count, upstream, losses, mean)
    for name, again in (("dlogits", fused), ("losses", losses), ("loss", mean)):
        due = bench.due[name]
        difference = (again.double() - due.expected).abs().max()
        if not difference <= (due.got.double() - due.expected).abs().max():
            due.got = again


def loss_inputs(bench: Bench, shape: Shape) -> tuple[Tensor, Tensor]:
    rows, vocabulary = shape.sizes
    values = bench.normal(rows, vocabulary)
    labels = torch.randint(0, vocabulary, (rows,), generator=bench.source)
    if shape.special == "uniform":
        values[:] = 0.5  # the loss is ln V whatever the targets
    if shape.special == "some-ignored":
        labels[::3] = loss_oracle.IGNORED
    if shape.special == "all-ignored":
        labels[:] = loss_oracle.IGNORED
    if shape.special == "tiles-of-infinity":
        values[:, : vocabulary // 2] = -math.inf
        labels[:] = vocabulary - 1
    if shape.special == "large-logits":
        values = values * 5 + 200  # exp(200) overflows FP32
    if shape.special == "confident":
        values[torch.arange(rows), labels] = 12.0  # p near 1: p - 1 would cancel in BF16
    return values, labels


def loss_suspects(bench: Bench, logits: Tensor, targets: Tensor, losses: Tensor) -> None:
    _, shifted, _ = loss_oracle.reference_forward(logits, targets.roll(-1))
    bench.suspect("losses", "labels-shifted", shifted)
    if int((targets >= 0).sum()) > 1:
        bench.suspect("loss", "sum-not-mean", losses.sum()[None])
    if not bench.due["losses"].got.isfinite().all() and float(logits.max()) > 88:
        bench.sign("losses", "no-max-subtraction", largest=float(logits.max()))


def grad_norm(bench: Bench, operator: ModuleType, shape: Shape) -> None:
    (count,) = shape.sizes
    values = bench.normal(count)
    if shape.special == "below-threshold":
        values *= 0.5 / values.norm()
    if shape.special in BAD:
        values[count // 2] = BAD[shape.special]
    flat = bench.holds("flat", values, torch.float32)
    scale = bench.holds("scale", torch.ones(1), torch.float32)
    partials = bench.number("partials", operator.programs(flat))
    result = bench.changes("result", torch.zeros(4), torch.float32)
    operator.partial(flat, partials)
    operator.final(partials, scale, 1.0, result)
    scaled = bench.changes("scaled", values, torch.float32)
    operator.scale(scaled, result[1:2])

    sound = values.isfinite()
    finite = bool(sound.all())
    norm, factor = grad_norm_oracle.reference(flat, 1.0, 1.0)
    if not finite:  # the norm is not a number, the factor 0, and the update skips the step
        result[0] = float(result[0].isfinite())
        norm, factor = 0.0, 0.0
    for name, place, due in (("norm", 0, norm), ("factor", 1, factor), ("finite", 2, finite)):
        bench.outputs[name] = bench.guard(result[place : place + 1], torch.float32)
        bench.expect(name, torch.tensor([float(due)], dtype=torch.float64, device=bench.device))
    if norm:
        always = torch.full_like(bench.due["factor"].expected, 1 / norm)
        bench.suspect("factor", "always-clips", always)
    bench.expect("scaled", flat[sound].double() * factor)
    bench.due["scaled"].got = scaled[sound]


def adamw(bench: Bench, operator: ModuleType, shape: Shape) -> None:
    decaying, plain = shape.sizes
    count, finite = decaying + plain, shape.special != "not-finite"
    runs = [(0, decaying, True), (decaying, count, False)]
    start = {
        "w": bench.normal(count),
        "m": bench.normal(count, spread=0.1),
        "v": bench.normal(count, spread=0.1).abs(),
        "grads": bench.normal(count),
    }
    w, m, v, grads = (bench.changes(name, start[name], torch.float32) for name in start)
    before = exact(w, m, v, grads)
    working = bench.empty("working", count, dtype=torch.bfloat16)
    schedule = bench.holds(
        "schedule",
        torch.tensor([RATE, 1 / (1 - BETA1**STEP), 1 / (1 - BETA2**STEP)]),
        torch.float32,
    )
    result = bench.holds("result", torch.tensor([4.0, 0.25, float(finite), 0.0]), torch.float32)
    operator.step(
        w, grads, m, v, operator.chunks(runs, bench.device), schedule, result,
        BETA1, BETA2, EPSILON, 0.1, working,
    )  # fmt: skip
    decay = torch.zeros(count, dtype=torch.float64, device=bench.device)
    decay[:decaying] = 0.1
    due_w, due_m, due_v = before[:3]
    if finite:
        values = (before[0], before[3] * 0.25, *before[1:3])
        due_w, due_m, due_v = update(*values, decay=decay)
    for name, due in (("w", due_w), ("m", due_m), ("v", due_v)):
        bench.expect(name, due)
    bench.expect("grads", torch.zeros_like(due_w))
    bench.suspect("grads", "gradients-kept", before[3])
    bench.expect("working", due_w)
    bench.due["working"].tolerance = BF16_COPY
    if finite:
        adamw_suspects(bench, values, decay)
    else:  # a skipped step leaves the working copy as it was: nobody wrote it
        bench.due["working"].got = torch.where(working.isnan(), due_w, working.double())


def adamw_suspects(
    bench: Bench,
    values: tuple[Tensor, Tensor, Tensor, Tensor],
    decay: Tensor,
) -> None:
    w, g, m, v = values
    due_m, due_v = bench.due["m"].expected, bench.due["v"].expected
    raw = due_m / (due_v.sqrt() + EPSILON)
    bench.suspect("w", "no-bias-correction", w - RATE * (raw + decay * w))
    everywhere = torch.full_like(decay, 0.1)
    all_decay, _, _ = update(*values, decay=everywhere)
    bench.suspect("w", "decays-all", all_decay)
    nothing = torch.zeros_like(decay)
    _, coupled, _ = update(w, g + decay * w, m, v, decay=nothing)
    bench.suspect("m", "coupled-decay", coupled)


def casts(bench: Bench, operator: ModuleType, shape: Shape) -> None:
    """The working copy, W_Q, W_K and W_V side by side, and gradients set to zero."""
    (width,) = shape.sizes
    w = bench.holds("w", bench.normal(3, width, width), torch.float32)
    cast = bench.empty("cast", 3, width, width)
    operator.cast(w, cast)
    bench.expect("cast", w.double())
    packed = bench.empty("packed", width, 3, width)
    operator.pack(w, packed)
    bench.expect("packed", w.double().transpose(0, 1))
    bench.suspect("packed", "not-side-by-side", w.reshape(width, 3, width))
    kept = bench.normal(width, width)
    zeroed = bench.changes("zeroed", kept, torch.float32)
    operator.zero(zeroed)
    bench.expect("zeroed", torch.zeros_like(zeroed, dtype=torch.float64))
    bench.suspect("zeroed", "gradients-kept", kept.to(bench.device))
