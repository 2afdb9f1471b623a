"""Attention, version 2: in which order its programs come, and that no result depends on it."""
# mypy: disable-error-code="no-untyped-def"

import pytest
import torch
import triton
import triton.language as tl

from kernels.andrea.operators import attn, attn_fast, tiles
from kernels.andrea.operators.attn_fast import turn

Tensor = torch.Tensor
BATCH, LENGTH, HEADS, WIDTH = 2, 65, 3, 5
PAIRS = BATCH * HEADS


@triton.jit
def k_turns(RANK, PAIR, TILES, PAIRS, GROUP):
    rank, pair = turn(TILES, PAIRS, GROUP)
    tl.store(RANK + tl.program_id(0), rank)
    tl.store(PAIR + tl.program_id(0), pair)


def turns(count: int, pairs: int, group: int) -> list[tuple[int, int]]:
    ranks, owners = (torch.full((count * pairs,), -1, dtype=torch.int32) for _ in range(2))
    k_turns[(count * pairs,)](ranks, owners, count, pairs, group)
    return list(zip(ranks.tolist(), owners.tolist(), strict=True))


@pytest.mark.parametrize("group", [1, 2, 4, 6, 100])
def test_every_tile_of_every_head_has_one_program(group: int) -> None:
    assert sorted(turns(5, 6, group)) == [(rank, pair) for rank in range(5) for pair in range(6)]


def test_the_longest_of_a_group_come_before_its_shorter_ones() -> None:
    found = turns(3, 5, 2)  # groups of 2, 2 and 1 heads
    assert found[:6] == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    assert found[6:12] == [(rank, pair + 2) for rank, pair in found[:6]]
    assert found[12:] == [(0, 4), (1, 4), (2, 4)]


def test_a_group_of_one_is_one_head_after_the_other() -> None:
    assert turns(2, 3, 1) == [(rank, pair) for pair in range(3) for rank in range(2)]


def results(monkeypatch: pytest.MonkeyPatch, reach: tiles.Reach) -> list[Tensor]:
    """o, lse, dq, dk and dv of version 2 with those tiles."""
    monkeypatch.setattr(tiles, "reach", lambda *asked: reach)
    source = torch.Generator().manual_seed(1)
    rows = BATCH * LENGTH
    q, k, v = torch.randn(rows, 3, HEADS * WIDTH, generator=source).unbind(1)
    do = torch.randn(rows, HEADS * WIDTH, generator=source)
    o, lse = torch.full_like(do, torch.nan), torch.full((PAIRS, LENGTH), torch.nan)
    dq, dk, dv = torch.full((rows, 3, HEADS * WIDTH), torch.nan).unbind(1)
    attn_fast.forward(q, k, v, o, lse, HEADS)
    attn_fast.backward(do, q, k, v, o, lse, dq, dk, dv, torch.empty(PAIRS, LENGTH), HEADS)
    due = attn.reference_forward(q, k, v, HEADS, LENGTH)
    due_gradients = attn.reference_backward(do, q, k, v, HEADS, LENGTH)
    found = [o, lse, dq, dk, dv]
    for got, expected in zip(found, (*due, *due_gradients), strict=True):
        assert torch.allclose(got, expected, atol=2e-5)
    return found


def test_the_order_of_programs_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    one, four = (results(monkeypatch, tiles.Reach(16, 32, group=group)) for group in (1, 4))
    assert all(torch.equal(a, b) for a, b in zip(one, four, strict=True))


@pytest.mark.parametrize(("queries", "keys"), [(32, 16), (16, 16), (128, 64)])
def test_queries_and_keys_may_be_cut_differently(
    monkeypatch: pytest.MonkeyPatch, queries: int, keys: int
) -> None:
    results(monkeypatch, tiles.Reach(queries, keys, group=4))
