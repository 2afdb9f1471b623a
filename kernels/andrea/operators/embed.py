"""The embedding, read from top to bottom: formula, oracle, kernels.

    out[b, t] = wte[ids[b, t]] + wpe[t]       wte [V, d] tokens, wpe [>= T, d] positions
    dwte[v] += sum of dout over every place that holds token v
    dwpe[t] += sum over b of dout[b, t]

ids get no gradient: they are not numbers to move but names. Saved: ids. A token that occurs
twice gets both gradients; one that does not occur keeps its exact zero. With a tied head dwte
also receives the gradient of the logits: two contributions to one buffer.

Adding with atomics would make the sum depend on who comes first. Instead the places are sorted
by token when the batch is made (`segments`): places order[first[v]:first[v + 1]] hold token v,
and one program adds them up in that order.

Bytes (s = bytes of an element, n = R*d): forward 3*n*s, backward 2*n*s + 8 bytes for every
gradient element touched. n FLOPs forward, 2*n backward.
"""
# mypy: disable-error-code="no-untyped-def"

import torch
import triton
import triton.language as tl

from kernels.andrea.operators import Pair, requirements, tiles

Tensor = torch.Tensor


def segments(ids: Tensor, vocabulary: int) -> tuple[Tensor, Tensor]:
    """order [R] and first [V + 1], int32: the places of ids (on the CPU) sorted by token."""
    tokens = ids.flatten().long()
    order = torch.argsort(tokens, stable=True)
    bounds = torch.arange(vocabulary + 1)
    first = torch.searchsorted(tokens[order], bounds)
    return order.int(), first.int()


def reference_forward(ids: Tensor, wte: Tensor, wpe: Tensor) -> Tensor:
    return (wte[ids.long()] + wpe[: ids.shape[1]]).flatten(0, 1)


def reference_backward(dout: Tensor, ids: Tensor, vocabulary: int) -> tuple[Tensor, Tensor]:
    """dwte [V, d] and dwpe [T, d]."""
    hot = torch.nn.functional.one_hot(ids.flatten().long(), vocabulary).to(dout.dtype)
    return hot.T @ dout, dout.view(*ids.shape, -1).sum(dim=0)


@triton.jit
def k_embed_fwd(IDS, WTE, WPE, OUT, R, T, D: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    keep = (row < R)[:, None] & (column < D)[None, :]
    token = tl.load(IDS + row, mask=row < R, other=0).to(tl.int64)
    position = row % T
    wte = tl.load(WTE + token[:, None] * D + column[None, :], mask=keep, other=0)
    wpe = tl.load(WPE + position[:, None] * D + column[None, :], mask=keep, other=0)
    out = wte.to(tl.float32) + wpe.to(tl.float32)
    tl.store(OUT + row[:, None] * D + column[None, :], out, mask=keep)


@triton.jit
def k_embed_bwd(
    DOUT, ORDER, FIRST, DWTE, DWPE, R, T, V, TOKEN_PROGRAMS,
    D: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    column = tl.arange(0, BLOCK)
    program = tl.program_id(0)
    total = tl.zeros((ROWS, BLOCK), dtype=tl.float32)
    if program < TOKEN_PROGRAMS:  # these programs own rows of dwte: the same lane, one token
        row = program * ROWS + tl.arange(0, ROWS)
        keep = row < V
        begin = tl.load(FIRST + row, mask=keep, other=0)
        count = tl.load(FIRST + row + 1, mask=keep, other=0) - begin
        for i in range(0, tl.max(count, axis=0)):
            there = i < count
            place = tl.load(ORDER + begin + i, mask=there, other=0).to(tl.int64)
            reach = there[:, None] & (column < D)[None, :]
            dout = tl.load(DOUT + place[:, None] * D + column[None, :], mask=reach, other=0)
            total += dout.to(tl.float32)
        owned = DWTE + row.to(tl.int64)[:, None] * D + column[None, :]
        keep = (keep & (count > 0))[:, None] & (column < D)[None, :]
    else:  # and these own rows of dwpe: position t of every sequence
        row = (program - TOKEN_PROGRAMS) * ROWS + tl.arange(0, ROWS)
        keep = (row < T)[:, None] & (column < D)[None, :]
        for start in range(0, R, T):
            place = (start + row).to(tl.int64)
            dout = tl.load(DOUT + place[:, None] * D + column[None, :], mask=keep, other=0)
            total += dout.to(tl.float32)
        owned = DWPE + row.to(tl.int64)[:, None] * D + column[None, :]
    tl.store(owned, tl.load(owned, mask=keep, other=0) + total, mask=keep)  # +=


def forward(ids: Tensor, wte: Tensor, wpe: Tensor, out: Tensor) -> None:
    """Fill out [B*T, d] for ids [B, T]. An id outside the table is the caller's to refuse."""
    requirements.contiguous(ids=ids, wte=wte, wpe=wpe, out=out)
    rows, width = out.shape
    tall = tiles.rows(rows, width, out.device)
    with torch.cuda.device_of(out):
        k_embed_fwd[(triton.cdiv(rows, tall),)](
            ids, wte, wpe, out, rows, ids.shape[1], width, tiles.block(width), tall
        )


def backward(
    dout: Tensor, order: Tensor, first: Tensor, dwte: Tensor, dwpe: Tensor, length: int
) -> None:
    """dwte += and dwpe +=, for sequences of `length` tokens; order and first from `segments`."""
    requirements.contiguous(dout=dout, order=order, first=first, dwte=dwte, dwpe=dwpe)
    rows, width = dout.shape
    vocabulary = first.numel() - 1
    tall = 1 if dout.is_cuda else tiles.rows(max(vocabulary, length), width, dout.device)
    token_programs = triton.cdiv(vocabulary, tall)
    grid = (token_programs + triton.cdiv(length, tall),)
    with torch.cuda.device_of(dout):
        k_embed_bwd[grid](
            dout, order, first, dwte, dwpe, rows, length, vocabulary, token_programs,
            width, tiles.block(width), tall,
        )  # fmt: skip


PAIR = Pair(forward, backward)
