"""How long a sample takes on a card: each token's operations launched, and replayed as recorded.

Both write the same text first; every token's logits must have the same bits. The engine stands
beside, as in training, and trains on between two samples: a recording must read the new weights.
"""

import time
from collections.abc import Iterator

import torch

from kernels.andrea.config import preset
from kernels.andrea.corpus import text_of
from kernels.andrea.engine import Engine
from kernels.andrea.sampling import Decoder, write
from kernels.andrea.scoring import SAMPLE_TOKENS
from kernels.procedures.andrea.small import give, tokens

PRESETS = ("12M", "gpt2-124M")


def main() -> None:
    if not torch.cuda.is_available():
        print("No GPU here: nothing is timed.")
        return
    for name in PRESETS:
        config = preset(name)
        engine = Engine(config, torch.device("cuda"), 2)
        give(engine, *tokens(config))
        began = time.perf_counter()
        decoder = Decoder(config, engine.views.masters, engine.arena.buffers)
        torch.cuda.synchronize()
        print(f"{name}: recorded in {1e3 * (time.perf_counter() - began):.0f} ms", flush=True)
        for _ in range(2):
            print(f"  {compared(decoder)}", flush=True)
            for _ in range(20):
                engine.step(engine.slots[0])


def compared(decoder: Decoder) -> str:
    graph = decoder.graph
    samples, rates = [], []
    for each in (graph, None):
        decoder.graph = each
        list(write(decoder, 20, 1, 1))
        before, _ = torch.cuda.mem_get_info()
        began = time.perf_counter()
        samples.append(list(seen(decoder)))
        rates.append(1e3 * (time.perf_counter() - began) / SAMPLE_TOKENS)
        lost = before - torch.cuda.mem_get_info()[0]
        if lost:
            print(f"  {lost} bytes of the card were taken meanwhile")
    decoder.graph = graph
    same = all(a[0] == b[0] and torch.equal(a[1], b[1]) for a, b in zip(*samples, strict=True))
    text = text_of(token for token, _ in samples[0])
    words = f"{rates[0]:.2f} ms a token replayed, {rates[1]:.2f} launched"
    return f"{words}; {'the same bits' if same else 'NOT the same bits'}: {text[:40]!r}"


def seen(decoder: Decoder) -> Iterator[tuple[int, torch.Tensor]]:
    """A sample's tokens, each with the logits it was drawn from."""
    for token in write(decoder, SAMPLE_TOKENS, 1, 1):
        yield token, decoder.host.clone()
