"""Trainings as their Events tell them, for pages drawn from rows: see `tests.browser.made`."""

import math
from typing import Any

Said = tuple[str, dict[str, Any]]
CLIP = 1.0
PHASES = (("random", 1), ("frequency", 9), ("structure", 41), ("coherence", 121))


def loss_at(step: int) -> float:
    """Falls from 5.5 to about 2, with a wave that stands for noise."""
    return 1.9 + 3.6 * math.exp(-step / 60) + 0.22 * math.sin(step * 2.399) * math.exp(-step / 400)


def trained(steps: int = 300, lost_at: int = 0, telemetry: bool = False) -> list[Said]:
    """A training of so many steps; where `lost_at` is a step its worker was lost, and it went on
    from the checkpoint before."""
    said: list[Said] = [schedule(steps)]
    if telemetry:
        said.append(note("log.andrea.power-limit", watts=700))
    else:
        said.append(note("log.andrea.no-telemetry"))
    smooth = loss_at(1)
    for step in range(1, (lost_at or steps) + 1):
        smooth = 0.9 * smooth + 0.1 * loss_at(step)
        said += at(step, smooth, steps, telemetry)
    if lost_at:
        back = lost_at // 100 * 100
        file = f"step_{back:06d}.bin"
        restart = note("log.resumed-after-restart", attempt=2, step=back, file=file)
        said += [restart, note("log.andrea.resumed", step=back, file=file)]
        for step in range(back + 1, steps + 1):
            said += at(step, loss_at(step), steps, telemetry)
    return said


def resumed(after: int, steps: int) -> list[Said]:
    """A training that goes on from the checkpoint at `after`: it says once more in which phase
    it is."""
    phase = [name for name, first in PHASES if first <= after][-1]
    said = [
        schedule(steps), note("log.andrea.no-telemetry"),
        note("log.andrea.resumed", step=after, file=f"step_{after:06d}.bin"),
        note("log.andrea.phase", phase=phase, step=after + 1),
    ]  # fmt: skip
    for step in range(after + 1, steps + 1):
        said += at(step, loss_at(step), steps, telemetry=False)
    return said


def schedule(steps: int) -> Said:
    return note(
        "log.andrea.schedule", steps=steps, warmup=steps // 10, clip=CLIP, peak=0.003, floor=0.1,
        context=64, vocabulary=257,
    )  # fmt: skip


def at(step: int, smooth: float, steps: int, telemetry: bool) -> list[Said]:
    rate = 0.003 * min(1.0, step / (steps // 10)) * (1 + math.cos(math.pi * step / steps)) / 2
    norm = 0.7 + 0.5 * math.exp(-step / 20) + 0.35 * math.sin(step * 1.7)
    said = [metric("loss", loss_at(step), step)]
    if step % max(1, steps // 1000) == 0:  # as a Run of many steps tells them
        said += [
            metric("ema", smooth, step), metric("learning-rate", rate, step),
            metric("norm", norm, step), ("progress", {"done": step, "total": steps}),
        ]  # fmt: skip
    said += [note("log.andrea.phase", phase=name, step=at) for name, at in PHASES if at == step]
    if step % max(5, steps // 500) == 0:
        said.append(metric("memory", 1.9e6, step, "bytes"))
        if telemetry:
            said += gauges(step)
    if step % 100 == 0:
        said += [sample(step), checkpoint(step)]
    return said


def gauges(step: int) -> list[Said]:
    return [
        metric("tokens-per-second", 410_000 + 900 * math.sin(step), step),
        metric("gpu-use", 97 + math.sin(step), step, "percent"),
        metric("gpu-power", 560 + 40 * math.sin(step), step, "W"),
        metric("gpu-temperature", 55 + step / 100, step, "°C"),
    ]


def sample(step: int) -> Said:
    good = step > 100
    text = "def forward(self, x):\n    return self.norm(x)\n" if good else "the the the the the"
    parts = {"bigrams": 0.9, "trigrams": 0.95, "words": 0.5, "characters": 0.75} if good else {
        "bigrams": 0.1, "trigrams": 0.1, "words": 1.0, "characters": 0.1}  # fmt: skip
    weights = {"bigrams": 35, "trigrams": 35, "words": 20, "characters": 10}
    total = sum(weights[name] * share for name, share in parts.items())
    return "sample", {"step": step, "text": text, "scores": {"score": total, **parts}}


def checkpoint(step: int) -> Said:
    name = f"step_{step:06d}.bin"
    return "artifact", {
        "name": name, "media": "application/octet-stream", "bytes": 400_000, "sha256": "0" * 64,
    }  # fmt: skip


def metric(name: str, value: float, step: int, unit: str | None = None) -> Said:
    return "metric", {"name": name, "value": value, "step": step} | ({"unit": unit} if unit else {})


def note(code: str, **params: Any) -> Said:
    return "log", {"note": {"code": code, "params": params}, "level": "info"}
