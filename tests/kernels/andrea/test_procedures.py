"""The engine's Procedures, run on the interpreter."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch

from kernels.andrea import reference
from kernels.andrea.checkpoint import Checkpoint, save
from kernels.andrea.config import preset
from kernels.andrea.initial import weights
from kernels.andrea.layout import layout
from kernels.andrea.plan import BESIDE_ON_GPU, decoder, plan
from kernels.andrea.program import cut
from kernels.andrea.sampling import Decoder, write
from kernels.events import Outcome, Sample
from kernels.messages import MESSAGES
from kernels.procedure import BadParameter
from kernels.procedures.andrea import jobs
from kernels.procedures.andrea.small import small
from kernels.registry import get, parse
from tests.kernels.running import run

TINY = {"width": 16, "layers": 1, "context": 8, "batch": 2}


@pytest.mark.parametrize("version", [1, 2])
def test_every_gradient_agrees_with_autograd(tmp_path: Path, version: int) -> None:
    said = run("andrea.gradcheck", tmp_path, version)
    assert said.end.outcome is Outcome.PASSED
    assert said.end.passed == 51
    assert all(row[1] > 1e-3 for row in said.tables["gradients"].rows)  # zeros would fail


def test_in_fp16_too(tmp_path: Path) -> None:
    assert run("andrea.gradcheck", tmp_path, precision="fp16").end.outcome is Outcome.PASSED


def test_gradients_add_up(tmp_path: Path) -> None:
    said = run("andrea.accumulation", tmp_path)
    assert said.end.outcome is Outcome.PASSED
    assert said.metric("forward-calls") == said.metric("backward-calls") == 4
    assert said.metric("optimizer-calls") == 1
    assert len(said.cases) == 7


def test_clipping(tmp_path: Path) -> None:
    said = run("andrea.clip", tmp_path)
    assert said.end.outcome is Outcome.PASSED
    assert said.metric("norm-after", "above") == pytest.approx(1.0, abs=1e-6)
    assert said.metric("norm-after", "below") == said.metric("norm-before", "below") < 1


def test_moments_in_fp16_vanish(tmp_path: Path) -> None:
    said = run("andrea.adamw", tmp_path)
    assert said.end.outcome is Outcome.PASSED
    rows = {round(math.log10(row[0])): row for row in said.tables["adamw-moments"].rows}
    assert rows[-4][1] == pytest.approx(1e-11) and rows[-4][2] == 0
    assert rows[-3][4] > 1000 * rows[-3][3]


def test_the_trace_pairs_every_kernel(tmp_path: Path) -> None:
    said = run("andrea.trace", tmp_path, **TINY)
    assert said.end.outcome is Outcome.PASSED
    rows = said.tables["launches"].rows
    assert ("k_attn_out_bwd", "k_attn_out_fwd") in [row[3:] for row in rows]
    assert said.metric("launches-forward") > 10


def test_the_plan_of_120m_is_told_without_making_it(tmp_path: Path) -> None:
    said = run("andrea.memory-plan", tmp_path, config="120M", full=True)
    assert said.end.outcome is Outcome.PASSED
    assert said.metric("parameters") == 92_248_320
    rows = said.tables["memory-plan"].rows
    assert sum(row[4] for row in rows) == said.metric("plan-bytes")
    assert sum(row[1] for row in said.tables["memory-summary"].rows) == said.metric("plan-bytes")


def test_an_untied_head_is_planned_trained_and_written_with(tmp_path: Path) -> None:
    """The published counts fit an untied head only."""
    published = run("andrea.memory-plan", tmp_path, config="120M", tied=False)
    assert published.metric("parameters") == 98_737_152
    text = tmp_path / "text.txt"
    text.write_text("abc " * 99)
    shape = {**TINY, "tied": False}
    said = run("andrea.train", tmp_path, corpus=str(text), steps=1, sample_tokens=3, **shape)
    assert said.end.outcome is Outcome.PASSED
    file = tmp_path / "step_000001.bin"
    weights = 2 * 257 * 16 + 8 * 16 + 12 * 16 * 16 + 6 * 16
    assert file.stat().st_size == 8 + 12 * weights
    shape.pop("batch")
    for tied, outcome in ((False, Outcome.PASSED), (True, Outcome.FAILED)):
        given = {**shape, "tied": tied, "checkpoint": str(file), "tokens": 3}
        assert run("andrea.generate", tmp_path, **given).end.outcome is outcome


def test_writing_is_refused_where_the_memory_does_not_hold_the_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "free_memory", lambda device: 100_000)
    end = run("andrea.generate", tmp_path).end
    assert end.note is not None and end.note.code == "end.refused-width"
    assert "width: this model needs " in str(end.note.params["reason"])
    assert "100.00 kB are free" in str(end.note.params["reason"])


def test_a_card_s_memory_says_what_batch_it_holds(tmp_path: Path) -> None:
    held = {}
    for name in ("12M", "120M"):
        settings = {"config": name, "gigabytes": 8.0}
        held[name] = int(run("andrea.memory-plan", tmp_path, **settings).metric("largest-batch"))
        room = 8 * 10**9 - BESIDE_ON_GPU
        fits = [plan(preset(name, {"batch": held[name] + more})).bytes <= room for more in (0, 1)]
        assert fits == [True, False]
    assert held["12M"] > held["120M"] >= 8


def test_eight_bits_with_scales_beside_bf16(tmp_path: Path) -> None:
    said = run("andrea.fp8", tmp_path)
    assert said.end.outcome is Outcome.PASSED
    assert said.metric("error-bf16", "qkv") < said.metric("error-fp8", "qkv") / 5
    assert said.metric("error-fp8-unscaled", "gradient") == 1  # all of it rounded to zero
    assert said.metric("error-fp8", "outlier") > 3 * said.metric("error-fp8", "qkv")


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        ("train", {"heads": 5}, "heads = 5 does not divide width = 32; accepted: 1, 2, 4"),
        ("trace", {"config": "12M", "heads": 7}, "heads = 7 does not divide width = 384"),
        *(
            (
                name,
                {"precision": value},
                f"{value!r} is not accepted; accepted: fp32, fp16, bf16, or ",
            )
            for name in ("train", "resume-proof", "trace", "gradcheck", "benchmark")
            for value in ("fp8-e4m3", "nothing")
        ),
        ("generate", {"precision": "nothing"}, "fp32, fp16, bf16, fp8-e4m3, or leave it out."),
        ("check-mlp", {"mutant": "nothing"}, ", or leave it out."),
        ("train", {"steps": 10, "warmup": 11}, "longer than steps = 10"),
        ("train", {"polish": True}, "polish = True needs resume"),
        ("train", {"config": "13M"}, "accepted: micro, 12M, 120M, gpt2-124M"),
        ("train", {"depth": 2}, "has no parameter 'depth'; it accepts: config"),
        ("fp8", {"rows": 17}, "rows = 17 is not accepted; accepted: a multiple of 16"),
        ("memory-plan", {"batch": -1}, "batch = -1 is not accepted"),
        ("generate", {"vocabulary": 50}, "vocabulary = 50 is not accepted: text takes 257 tokens"),
        ("generate", {"prompt": "\udcff"}, "prompt = '\\udcff' is not accepted; accepted: text"),
        ("train", {"layers": 10**7}, "layers = 10000000 is not accepted; accepted: a whole number"),
        *(
            (name, {"width": 8192, "heads": 64, "layers": 3}, " makes 2418663424 weights; accepted")
            for name in ("train", "generate", "memory-plan", "benchmark", "resume-proof")
        ),
        ("benchmark", {"tied": False}, "has no parameter 'tied'"),
        *(
            (name, {key: value}, f"{key} = {value} is not accepted; accepted: a")
            for name in ("train", "resume-proof")
            for key, value in (("floor", -0.5), ("clip", -0.3), ("decay", -1e-9), ("clip", -1.5))
        ),
        ("train", {"warmup": -2}, "from 0 to 10000000, or -1, as the preset says"),
    ],
)
def test_a_bad_parameter_is_refused_when_it_is_read(
    name: str, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadParameter) as refused:
        parse(get(f"andrea.{name}"), changes)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"vocabulary": 100}, "vocabulary = 100 is not accepted"),
        ({"corpus": "/nowhere/at/all"}, "is not there; accepted: a UTF-8 text file"),
        ({"resume": "/nowhere/step_000001.bin"}, "is not there; accepted: a checkpoint"),
        ({"batch": 10_000_000}, "accepted: a smaller batch"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
def test_what_shows_only_when_it_runs_ends_in_one_sentence_and_nothing_is_written(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    out = tmp_path / "out"
    end = run("andrea.train", out, **changes).end
    assert end.outcome is Outcome.FAILED
    assert end.note is not None and end.note.code == f"end.refused-{next(iter(changes))}"
    assert end.note.code in MESSAGES
    assert said in str(end.note.params["reason"])
    assert not out.exists()


def test_a_model_writes_from_a_checkpoint(tmp_path: Path) -> None:
    config = small(1, vocabulary=257, context=8)
    flat = weights(config)
    save(tmp_path / "step_000070.bin", Checkpoint(70, flat, flat, flat))
    shape = {"vocabulary": 257, "width": 16, "heads": 2, "layers": 2, "context": 8}
    file = str(tmp_path / "step_000070.bin")
    said = run("andrea.generate", tmp_path, checkpoint=file, prompt="déf ", tokens=20, **shape)
    assert said.end.outcome is Outcome.PASSED
    sample = next(event for event in said.events if isinstance(event, Sample))
    assert sample.text.startswith("déf ") and len(sample.text) > 8
    assert sample.step == 70


def test_a_checkpoint_of_another_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"\0" * 20)
    end = run("andrea.generate", tmp_path, checkpoint=str(tmp_path / "a.bin")).end
    assert end.note is not None and "checkpoint: a.bin" in str(end.note.params["reason"])


def test_the_decoder_computes_what_the_model_does() -> None:
    config = small(1, vocabulary=300, context=16)
    flat = torch.from_numpy(weights(config) * 10)
    memory = {buffer.name: torch.zeros(buffer.shape) for buffer in decoder(config)}
    made = Decoder(config, cut(config, flat), memory)
    exact = {slot.name: cut(config, flat)[slot.name].double() for slot in layout(config)}
    ids = torch.tensor([[256, 1, 2, 3, 250, 6, 7, 7]])
    due = reference.logits(config, exact, ids)[0]
    for token, expected in zip(ids[0].tolist(), due, strict=True):
        made.take(token)
        assert torch.allclose(made.logits[0].double(), expected[:257], atol=1e-5)


def test_reading_a_token_looks_at_the_device_only_so_that_it_can_be_replayed() -> None:
    config = small(1, vocabulary=257, context=8)
    logits = []
    for lost in (False, True):
        memory = {buffer.name: torch.zeros(buffer.shape) for buffer in decoder(config)}
        made = Decoder(config, cut(config, torch.from_numpy(weights(config))), memory)
        for token in (256, 5, 9):
            made.take(token)
            if lost:
                made.position = 77  # the host's own count, by which nothing may be addressed
        logits.append(made.logits.clone())
    assert torch.equal(logits[0], logits[1])


def test_a_text_longer_than_the_context_goes_on_and_is_the_same_each_time() -> None:
    config = small(1, vocabulary=257, context=8)
    memory = {buffer.name: torch.zeros(buffer.shape) for buffer in decoder(config)}
    made = Decoder(config, cut(config, torch.from_numpy(weights(config))), memory)
    texts = [list(write(made, 30, seed=5, step=step, prompt=b"a")) for step in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]
    assert len(texts[0]) == 30 and max(texts[0]) <= 256
