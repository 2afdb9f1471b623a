"""The problems of what turns logits into an update: loss, norm and clipping, AdamW."""

import math
from functools import partial
from types import ModuleType

import torch

from kernels.andrea.operators import adamw as adamw_oracle
from kernels.andrea.operators import grad_norm as grad_norm_oracle
from kernels.andrea.operators import loss as loss_oracle
from kernels.andrea.operators import tiles
from kernels.checking import Tolerance
from kernels.procedures.andrea.bench import Bench, exact
from kernels.procedures.andrea.checks_declared import Shape

Tensor = torch.Tensor
STEP, RATE, BETA1, BETA2, EPSILON = 3, 1e-2, 0.9, 0.999, 1e-8
update = partial(
    adamw_oracle.reference, step=STEP, lr=RATE, beta1=BETA1, beta2=BETA2, epsilon=EPSILON
)
MEAN, SKIPPED = 0.25, 2.0  # of four micro-batches; steps skipped before
BAD = {"a-nan": math.nan, "an-infinity": math.inf}
# 8 significant bits; the interpreter cuts the rest off where a GPU rounds to nearest.
BF16_COPY = Tolerance(1e-6, 2**-7)


def loss(bench: Bench, operator: ModuleType, shape: Shape) -> None:
    values, labels = loss_inputs(bench, shape)
    rows = len(labels)
    logits = bench.holds("logits", values)
    targets = bench.holds("targets", labels, torch.int32)
    upstream = bench.holds("upstream", upstream_of(values, labels, shape), torch.float32)
    # As in training the gradient is divided by the count; without its count a row's is O(1).
    scaled = upstream * rows
    count, losses = bench.number("count", 1), bench.number("losses", rows)
    lse, mean = bench.number("lse", rows), bench.number("loss", 1)
    loss_oracle.count(targets, count)
    operator.PAIR.forward(logits, targets, count, losses, lse, mean)
    exact_logits = logits.double()
    due_mean, due_losses, due_lse = loss_oracle.reference_forward(exact_logits, targets)
    # They are FP32 from the first sum on, whatever the logits are.
    bench.expect("losses", due_losses, dtype=torch.float32)
    bench.expect("loss", due_mean[None], dtype=torch.float32)
    loss_suspects(bench, exact_logits, targets, due_losses, shape)

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
    _, first = loss_oracle.sides(rows, values.shape[1], bench.device)
    left = torch.cat([due[:, :first], exact_logits[:, first:]], dim=1)
    bench.suspect("dlogits", "first-tile-only", left, size=first)
    hot = torch.nn.functional.one_hot(targets.clamp(min=0).long(), values.shape[1])
    rounded = exact_logits.softmax(dim=-1).to(bench.dtype).double() - hot
    share = (targets >= 0) * scaled.double() / max(1, kept)
    bench.suspect("dlogits", "softmax-rounded", rounded * share[:, None])
    if hasattr(operator, "forward_backward"):
        in_one(bench, operator, values, targets, scaled)


def upstream_of(values: Tensor, labels: Tensor, shape: Shape) -> Tensor:
    """One number; or one a row, so that the gradient of a label that p - 1 makes small is not."""
    rows = len(labels)
    if shape.special == "confident":
        sure = values.double().softmax(dim=-1)[torch.arange(rows), labels]
        return (torch.rand(rows) + 0.5) / (1 - sure)
    return torch.rand(rows if shape.special == "upstream-by-row" else 1) + 0.5


def in_one(
    bench: Bench, operator: ModuleType, values: Tensor, targets: Tensor, upstream: Tensor
) -> None:
    """Both passes in one launch must give what the two give, and zeros behind each row."""
    rows, vocabulary = values.shape
    behind = 6 + vocabulary % 2  # rows are whole 32-bit words
    wide = torch.cat([values, torch.full((rows, behind), 100.0)], dim=1)
    fused = bench.changes("dlogits in one launch", wide)
    count, mean = bench.number("count again", 1), bench.number("loss again", 1)
    losses = bench.number("losses again", rows)
    loss_oracle.count(targets, count)
    logits = fused[:, :vocabulary]
    operator.forward_backward(logits, targets, count, upstream, losses, mean, behind)
    zeros = torch.zeros(rows, behind, dtype=torch.float64, device=bench.device)
    bench.also("dlogits", fused, torch.cat([bench.due["dlogits"].expected, zeros], dim=1))
    for name, again in (("losses", losses), ("loss", mean)):
        bench.also(name, again, bench.due[name].expected)


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
    if shape.special == "rising":  # the largest so far grows from tile to tile, but for the last
        values += torch.linspace(0, 12, vocabulary)
        values[:, -(vocabulary % 16) :] = -200.0
        labels.clamp_(max=vocabulary - 16)
    if shape.special == "confident":  # p rounds to 1 in 16 bits, and p - 1 to nothing
        values -= 8.0 if bench.dtype == torch.float32 else 11.25
        values[torch.arange(rows), labels] = 0.0
    return values.to(bench.dtype).float(), labels


def loss_suspects(
    bench: Bench, logits: Tensor, targets: Tensor, losses: Tensor, shape: Shape
) -> None:
    _, shifted, _ = loss_oracle.reference_forward(logits, targets.roll(-1))
    bench.suspect("losses", "labels-shifted", shifted)
    if int((targets >= 0).sum()) > 1:
        bench.suspect("loss", "sum-not-mean", losses.sum()[None])
    _, first = loss_oracle.sides(len(logits), logits.shape[1], bench.device)
    missing = logits.logsumexp(dim=-1) - logits[:, :first].logsumexp(dim=-1)
    bench.suspect("losses", "first-tile-only", losses - missing * (targets >= 0), size=first)
    if not bench.due["losses"].got.isfinite().all() and shape.special == "rising":
        bench.sign("losses", "max-of-last-tile")
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
    scale = bench.holds("scale", torch.full((1,), MEAN), torch.float32)
    partials = bench.number("partials", operator.programs(flat))
    result = bench.changes("result", torch.full((4,), SKIPPED), torch.float32)
    operator.partial(flat, partials)
    operator.final(partials, scale, 1.0, result)
    scaled = bench.changes("scaled", values, torch.float32)
    operator.scale(scaled, result[1:2])

    sound = values.isfinite()
    finite = bool(sound.all())
    norm, factor = grad_norm_oracle.reference(flat, MEAN, 1.0) if finite else (0.0, 0.0)
    due = {"norm": norm, "factor": factor, "finite": finite, "skipped": SKIPPED + (not finite)}
    for place, (name, value) in enumerate(due.items()):
        bench.outputs[name] = bench.guard(result[place : place + 1], torch.float32)
        expected = torch.tensor([float(value)], dtype=torch.float64, device=bench.device)
        bench.expect(name, expected)
    if finite:
        norm_suspects(bench, flat, norm)
    else:  # the norm is what the bad number is, the factor 0, and the update skips the step
        alike = result[:1].isnan() if math.isnan(BAD[shape.special]) else result[:1].isinf()
        bench.due["norm"].got, bench.due["norm"].expected = alike.float(), torch.ones_like(expected)
        bench.suspect("skipped", "skip-uncounted", torch.full_like(expected, SKIPPED))
    bench.expect("scaled", flat[sound].double() * factor)
    bench.due["scaled"].got = scaled[sound]


def norm_suspects(bench: Bench, flat: Tensor, norm: float) -> None:
    bench.suspect("norm", "scale-ignored", bench.due["norm"].expected / MEAN)
    bench.suspect(
        "factor", "always-clips", torch.full_like(bench.due["factor"].expected, MEAN / norm)
    )
    stretch = grad_norm_oracle.stretch(flat)
    block = tiles.flat(flat.numel(), bench.device, grad_norm_oracle.TILE)
    first = [flat[start : start + block] for start in range(0, flat.numel(), stretch)]
    seen = torch.cat(first).double().norm() * MEAN
    bench.suspect("norm", "first-tile-only", seen[None], size=block)


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
    small = shape.special == "small-moments"
    if small:  # sqrt of the corrected v is about epsilon; every second element was never touched
        start["m"], start["v"] = start["m"] * 1e-5, start["v"] * 3e-18
        start["grads"] *= 0.0
        start["m"][::2], start["v"][::2] = 0.0, 0.0
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
    bench.expect("w", due_w)
    bench.expect("m", due_m, 1e-6 if small else 1.0)
    bench.expect("v", due_v, 1e-18 if small else 1.0)
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
    corrected = due_m / (1 - BETA1**STEP), due_v / (1 - BETA2**STEP)
    inside = corrected[0] / (corrected[1] + EPSILON).sqrt()
    bench.suspect("w", "epsilon-inside", w - RATE * (inside + decay * w))
    moved = w - RATE * corrected[0] / (corrected[1].sqrt() + EPSILON)
    bench.suspect("w", "decays-after", moved - RATE * decay * moved)
    if bench.due["w"].got.isnan().any():
        bench.sign("w", "no-epsilon")


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
