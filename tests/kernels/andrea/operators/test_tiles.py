"""What the table of tiles gives to cards of every size."""

import pytest
import torch

from kernels.andrea.operators import layernorm_fast, tiles
from kernels.andrea.plan import MOST_PERSISTENT


@pytest.mark.parametrize("multiprocessors", [1, 132, 400])
def test_no_card_has_more_programs_than_the_plan_has_zones_for(
    multiprocessors: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiles, "multiprocessors", lambda device: multiprocessors)
    monkeypatch.setattr(tiles, "card_name", lambda device: "a card that the table does not name")
    programs = layernorm_fast.programs(2**20, 768, torch.device("cuda"))
    assert programs == min(4 * multiprocessors, MOST_PERSISTENT)
