"""The model that PyTorch is timed on is the engine's."""

import torch

from kernels.andrea import reference
from kernels.andrea.initial import weights
from kernels.andrea.layout import parameter_count
from kernels.andrea.program import cut
from kernels.procedures.andrea.peers import Model
from kernels.procedures.andrea.small import small, tokens


def test_the_peer_computes_the_same_loss_from_the_same_weights() -> None:
    config = small(4)
    w = cut(config, torch.from_numpy(weights(config) * 3))
    model = Model(config)
    assert sum(p.numel() for p in model.parameters()) == parameter_count(config)
    state = {
        "tokens.weight": w["wte"],
        "places.weight": w["wpe"],
        "last.weight": w["lnf.gamma"],
        "last.bias": w["lnf.beta"],
    }
    for i in range(config.layers):
        for norm in ("ln1", "ln2"):
            state[f"blocks.{i}.{norm}.weight"] = w[f"h{i}.{norm}.gamma"]
            state[f"blocks.{i}.{norm}.bias"] = w[f"h{i}.{norm}.beta"]
        state[f"blocks.{i}.qkv.weight"] = torch.cat(list(w[f"h{i}.w_qkv"]), dim=1).T
        for name, ours in (("out", "w_o"), ("up", "w_1"), ("down", "w_2")):
            state[f"blocks.{i}.{name}.weight"] = w[f"h{i}.{ours}"].T
    model.load_state_dict(state)
    ids, targets = (torch.from_numpy(part[0]) for part in tokens(config))
    due = reference.loss(config, {name: t.double() for name, t in w.items()}, ids, targets)
    assert abs(model(ids, targets).item() - due.item()) < 1e-5
