"""Version 2's step: fewer launches, and what is summed later is summed right."""

import pytest
import torch

from kernels.andrea.engine import Engine
from kernels.andrea.operators import layernorm_fast
from kernels.andrea.program import stacked
from tests.kernels.andrea.small import bits, engine


def gradients(made: Engine) -> bytes:
    """What all micro-batches of a step add up to."""
    for index in range(made.config.micro_batches):
        made.forward(index)
        made.backward(index)
    return bits(made)["gradients"]


def backward(made: Engine) -> list[str]:
    return [kernel for launch in made.programs[0].backward for kernel in launch.kernels]


def launched(made: Engine) -> list[str]:
    made.trace = []
    made.launch()
    names = [kernel for launch in made.trace for kernel in launch.kernels]
    made.trace = None
    return names


def test_the_norms_of_a_micro_batch_are_summed_in_one_launch_and_weights_packed_in_one() -> None:
    names = launched(engine(2, layers=3, micro_batches=2))
    assert names.count("k_layernorm_bwd_rows") == 2 * (2 * 3 + 1)
    assert names.count("k_layernorm_sums") == 2 and "k_layernorm_sum" not in names
    assert names.count("k_pack") == 1


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_summed_at_the_end_is_summed_at_once_to_the_bit(
    monkeypatch: pytest.MonkeyPatch, precision: str
) -> None:
    settings = {"layers": 2, "micro_batches": 2, "batch": 9, "context": 16, "precision": precision}
    later = engine(2, **settings)
    assert layernorm_fast.programs(later.config.rows, 16, later.device) == 2
    monkeypatch.setattr(layernorm_fast, "zones_in", lambda output: None)
    at_once = engine(2, **settings)
    assert "k_layernorm_sum" not in backward(later) and "k_layernorm_sum" in backward(at_once)
    assert gradients(later) == gradients(at_once)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_micro_batch_of_few_tokens_is_summed_right_too(rows: int) -> None:
    """The output of a norm has no room for two FP32 rows before it has two."""
    taught, made = (engine(version, batch=1, context=rows) for version in (1, 2))
    assert ("k_layernorm_sums" in backward(made)) == (rows > 1)
    for each in (taught, made):
        gradients(each)
    for name in ("lnf.gamma", "lnf.beta", "h0.ln2.gamma", "h0.ln2.beta"):
        one, other = (each.views.gradients[name] for each in (taught, made))
        assert torch.allclose(one, other, rtol=1e-4, atol=1e-6)
        assert other.any()


def test_zones_lie_in_the_memory_of_the_output_and_end_with_it() -> None:
    output = torch.zeros(6, 5, dtype=torch.float16)
    zones = layernorm_fast.zones_in(output)
    assert zones is not None and zones.shape == (1, 2, 5) and zones.dtype == torch.float32
    assert zones.data_ptr() == output.data_ptr() and zones.nbytes <= output.nbytes
    assert layernorm_fast.zones_in(output[:3]) is None


@pytest.mark.parametrize("layers", [1, 3])
def test_the_weights_of_all_layers_are_seen_as_one(layers: int) -> None:
    made = engine(2, layers=layers)
    every = stacked(made.config, made.views.weights)
    for i, one in enumerate(every):
        assert one.data_ptr() == made.views.weights[f"h{i}.w_qkv"].data_ptr()
        assert torch.equal(made.arena["packed"][i], one.transpose(0, 1))
