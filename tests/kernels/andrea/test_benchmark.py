"""andrea.benchmark: every choice of peers that is declared is one that can be made."""

import sys

import pytest
import torch

from kernels.procedures.andrea import PEERS as DECLARED
from kernels.procedures.andrea.benchmark import PEERS, memory_lost
from kernels.procedures.andrea.peers import NAMES, deterministic, peer
from kernels.procedures.andrea.small import small


def test_the_declared_choices_are_those_there_are() -> None:
    assert DECLARED.choices == tuple(PEERS)
    assert {name for names in PEERS.values() for name in names} == set(NAMES)


def test_a_deterministic_peer_leaves_pytorch_as_it_was() -> None:
    seen = []

    def failing() -> None:
        seen.append(torch.are_deterministic_algorithms_enabled())
        raise RuntimeError("no such algorithm")

    with pytest.raises(RuntimeError, match="no such algorithm"):
        deterministic(failing)()
    assert seen == [True]
    assert not torch.are_deterministic_algorithms_enabled()


@pytest.mark.parametrize("name", ["eager", "eager-deterministic"])
def test_a_peer_makes_steps(name: str) -> None:
    step = peer(name, small(4), torch.device("cpu"))
    step()
    step()


def test_liger_where_it_is_not_installed_is_said_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "liger_kernel", None)
    with pytest.raises(RuntimeError, match="Liger-Kernel is not installed"):
        peer("liger", small(4), torch.device("cpu"))


@pytest.mark.parametrize(("after", "lost"), [(900, 100.0), (1000, 0.0), (1700, 0.0)])
def test_memory_that_is_free_no_longer_is_lost_and_what_another_gave_back_is_not(
    after: int, lost: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    free, steps = iter([1000, after]), []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (next(free), 2000))
    assert memory_lost(lambda: steps.append(1), 5) == lost
    assert len(steps) == 6
