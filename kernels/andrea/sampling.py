"""Free text from a model, one token at a time, in plain PyTorch on buffers made beforehand.

Keys and values of past tokens are kept, so that a token costs one row of each product. It needs
weights only: those of a checkpoint, or the FP32 masters of a model in training. Draws are a
function of (seed, step), so a resumed run writes the same samples.

A token is some 20 small operations a layer. On a GPU they are recorded once and replayed, since
launching each from Python takes longer than all of them do; the token and its place are therefore
read from device memory. The operations are the same ones, so the bits are too.
"""

import math
from collections.abc import Iterable, Iterator

import numpy as np
import torch

from kernels.andrea.config import Config
from kernels.andrea.draws import Purpose, uniform
from kernels.andrea.tokens import BOS, TOKENS

Tensor = torch.Tensor
TEMPERATURE = 0.8


class Decoder:
    """`weights` by name, FP32; `memory` holds the buffers of `plan.decoder`, by name."""

    def __init__(self, config: Config, weights: dict[str, Tensor], memory: dict[str, Tensor]):
        self.config, self.w = config, weights
        self.keys, self.values = memory["decoder.keys"], memory["decoder.values"]
        self.x, self.normed, self.delta = memory["decoder.rows"].unbind()
        self.qkv, self.o = memory["decoder.qkv"], memory["decoder.o"]
        self.hidden, self.active = memory["decoder.hidden"].unbind()
        self.scores, self.shares = memory["decoder.scores"].unbind()
        self.logits, self.stats = memory["decoder.logits"], memory["decoder.stats"].unbind()
        self.past = memory["decoder.past"]
        device = self.past.device
        self.token, self.place = torch.zeros(2, dtype=torch.int64, device=device).split(1)
        self.seen = torch.zeros(1, device=device)  # what a place of `past` becomes
        self.host = torch.zeros(self.logits.shape)
        self.graph: torch.cuda.CUDAGraph | None = None
        self.restart()
        if device.type == "cuda":
            self.graph = self.recorded(device)
            self.restart()

    @property
    def window(self) -> int:
        return self.keys.shape[2]

    def restart(self) -> None:
        self.position = 0
        self.place.zero_()
        self.past.fill_(-math.inf)
        self.keys.zero_()
        self.values.zero_()

    def take(self, token: int) -> None:
        """Read one more token; `logits` then say what may follow it."""
        self.token.fill_(token)
        if self.graph is not None:
            self.graph.replay()
        else:
            self.read()
        self.position += 1

    def recorded(self, device: torch.device) -> torch.cuda.CUDAGraph:
        """`read` as a graph, after it ran once: what a first run sets up cannot be recorded."""
        side = torch.cuda.Stream(device)
        side.wait_stream(torch.cuda.current_stream(device))
        with torch.cuda.stream(side):
            self.read()
        torch.cuda.current_stream(device).wait_stream(side)
        torch.cuda.synchronize(device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.read()
        return graph

    def read(self) -> None:
        """The token in `token`, at the place in `place`, which then moves on."""
        w, c = self.w, self.config
        self.past.index_copy_(0, self.place, self.seen)
        torch.index_select(w["wte"], 0, self.token, out=self.x)
        torch.index_select(w["wpe"], 0, self.place, out=self.delta)
        self.x.add_(self.delta)
        for i in range(c.layers):
            self.attend(i)
            self.norm(f"h{i}.ln2")
            torch.mm(self.normed, w[f"h{i}.w_1"], out=self.hidden)
            torch.ops.aten.gelu.out(self.hidden, approximate="tanh", out=self.active)
            torch.mm(self.active, w[f"h{i}.w_2"], out=self.delta)
            self.x.add_(self.delta)
        self.norm("lnf")
        head = w["wte" if c.tied else "head"][:TOKENS]
        torch.mm(self.normed, head.T, out=self.logits)
        self.place.add_(1)

    def attend(self, i: int) -> None:
        w, c = self.w, self.config
        self.norm(f"h{i}.ln1")
        for part, name in zip(self.qkv, ("w_q", "w_k", "w_v"), strict=True):
            torch.mm(self.normed, w[f"h{i}.{name}"], out=part)
        q, k, v = (part.view(c.heads, 1, c.head_width) for part in self.qkv)
        self.keys[i].index_copy_(1, self.place, k)
        self.values[i].index_copy_(1, self.place, v)
        torch.bmm(q, self.keys[i].transpose(1, 2), out=self.scores)
        self.scores.div_(math.sqrt(c.head_width)).add_(self.past)
        torch.softmax(self.scores, dim=-1, out=self.shares)
        torch.bmm(self.shares, self.values[i], out=self.o)
        torch.mm(self.o.view(1, -1), w[f"h{i}.w_o"], out=self.delta)
        self.x.add_(self.delta)

    def norm(self, name: str) -> None:
        torch.ops.aten.native_layer_norm.out(
            self.x, [self.config.width], self.w[f"{name}.gamma"], self.w[f"{name}.beta"],
            self.config.layernorm_epsilon, out0=self.normed, out1=self.stats[0], out2=self.stats[1],
        )  # fmt: skip

    def chances(self, temperature: float) -> np.ndarray:
        """The probability of each token to come next, in float64."""
        self.host.copy_(self.logits)
        scaled = self.host[0].numpy().astype(np.float64) / temperature
        grown = np.exp(scaled - scaled.max())
        chances: np.ndarray = grown / grown.sum()
        return chances


def write(
    decoder: Decoder,
    count: int,
    seed: int,
    step: int,
    prompt: Iterable[int] = (),
    temperature: float = TEMPERATURE,
) -> Iterator[int]:
    """`count` tokens that follow the beginning and the prompt.

    A text longer than the window is continued from its last half.
    """
    text = list(prompt)
    begin(decoder, last(text, decoder.window - 1))
    for draw in uniform(seed, Purpose.SAMPLE, step, count):
        token = pick(decoder.chances(temperature), draw)
        yield token
        text.append(token)
        if decoder.position == decoder.window:
            begin(decoder, last(text, decoder.window // 2))
        else:
            decoder.take(token)


def begin(decoder: Decoder, past: list[int]) -> None:
    """Read the beginning and these tokens."""
    decoder.restart()
    for token in [BOS, *past]:
        decoder.take(token)


def last(text: list[int], count: int) -> list[int]:
    return text[max(0, len(text) - count) :]


def pick(chances: np.ndarray, draw: float) -> int:
    """The token in whose stretch of the cumulated probabilities `draw` falls."""
    return min(int(np.searchsorted(np.cumsum(chances), draw, side="right")), len(chances) - 1)
