"""The loss curve of a GPT that trains on a GPU in bfloat16 autocast, with either library.

    python -m benchmarks.cuda_device.gpt_curve --library torch --out torch.json

Twelve layers, 768 wide, on 8 sequences of 1,024 tokens: GPT-2's small size. Weights and batches are drawn by NumPy, so
both libraries begin alike and see the same. With `--scores` attention has other kernels, which round elsewhere. Prints
the losses, the seconds of the last step and the most memory.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import time
import zlib
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

CUDA = "cuda"


@dataclass(frozen=True)
class Size:
    """How large the model and its batches are."""

    layers: int = 12
    width: int = 768
    heads: int = 12
    vocabulary: int = 50_304
    batch: int = 8
    length: int = 1024


def gpt(torch: Any, size: Size) -> Any:
    """The model, made of that library's modules, on the GPU."""
    nn, functional = torch.nn, torch.nn.functional

    class Block(nn.Module):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.before, self.between = nn.LayerNorm(size.width), nn.LayerNorm(size.width)
            self.attend, self.project = nn.Linear(size.width, 3 * size.width), nn.Linear(size.width, size.width)
            self.widen, self.narrow = nn.Linear(size.width, 4 * size.width), nn.Linear(4 * size.width, size.width)

        def forward(self, x: Any) -> Any:
            batch, length, width = x.shape
            parts = self.attend(self.before(x)).split(width, dim=2)
            q, k, v = (t.view(batch, length, size.heads, width // size.heads).transpose(1, 2) for t in parts)
            attended = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.project(attended.transpose(1, 2).reshape(batch, length, width))
            return x + self.narrow(functional.gelu(self.widen(self.between(x))))

    class GPT(nn.Module):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(size.vocabulary, size.width)
            self.places = nn.Embedding(size.length, size.width)
            self.blocks = nn.Sequential(*[Block() for _ in range(size.layers)])
            self.norm, self.head = nn.LayerNorm(size.width), nn.Linear(size.width, size.vocabulary, bias=False)
            self.head.weight = self.tokens.weight

        def forward(self, tokens: Any) -> Any:
            x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
            return self.head(self.norm(self.blocks(x)))

    with torch.device(CUDA):
        model = GPT()
    for name, parameter in model.named_parameters():
        parameter.data.copy_(torch.from_numpy(drawn(name, tuple(parameter.shape), size.layers)))
    return model


def drawn(name: str, shape: tuple[int, ...], layers: int) -> np.ndarray:
    """GPT-2's first weights, which only their name decides."""
    if len(shape) == 1:
        return np.full(shape, float(name.endswith("weight")), np.float32)
    deviation = 0.02 / math.sqrt(2 * layers) if "project" in name or "narrow" in name else 0.02
    return (deviation * np.random.default_rng(zlib.crc32(name.encode())).standard_normal(shape)).astype(np.float32)


def batches(size: Size, steps: int) -> np.ndarray:
    """Sequences to learn from: a token mostly decides the next one, else it is one of the frequent ones."""
    random = np.random.default_rng(0)
    follows, shape = random.permutation(size.vocabulary), (steps, size.batch, size.length + 1)
    frequent = np.minimum(random.zipf(1.3, shape), size.vocabulary) - 1
    tokens, decided = frequent.copy(), random.random(shape) < 0.7
    for place in range(1, size.length + 1):
        tokens[..., place] = np.where(decided[..., place], follows[tokens[..., place - 1]], frequent[..., place])
    return tokens


def curve(torch: Any, size: Size, steps: int) -> dict[str, Any]:
    """Trains, and gives the losses, the seconds of each step and the most bytes that tensors took."""
    model, numbers = gpt(torch, size), batches(size, steps)
    optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4, betas=(0.9, 0.95), weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 20))
    losses, seconds = [], []
    for step in range(steps):
        began = time.perf_counter()
        tokens = torch.from_numpy(numbers[step]).to(CUDA)
        with torch.autocast(CUDA, dtype=torch.bfloat16):
            logits = model(tokens[:, :-1])
            loss = torch.nn.functional.cross_entropy(logits.reshape(-1, size.vocabulary), tokens[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        seconds.append(time.perf_counter() - began)
        print(f"step {step:3}  loss {losses[-1]:8.4f}  {seconds[-1]:6.2f} s", flush=True)
    return {"losses": losses, "seconds": seconds, "bytes": torch.cuda.max_memory_allocated()}


def main() -> None:
    parser = argparse.ArgumentParser(description="The loss curve of a GPT on a GPU.")
    parser.add_argument("--library", default="minitorch_compile", choices=["torch", "minitorch_compile"])
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--size", default="{}", help='another size, as {"layers": 1, "width": 16}')
    parser.add_argument("--scores", action="store_true", help="attention by a matrix of scores")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    torch = importlib.import_module(given.library)
    attention = importlib.import_module(f"{given.library}.nn.attention")
    with attention.sdpa_kernel(attention.SDPBackend.MATH) if given.scores else nullcontext():
        result = curve(torch, Size(**json.loads(given.size)), given.steps)
    print(f"last step {result['seconds'][-1]:.3f} s, most memory {result['bytes'] / 2**30:.1f} GiB")
    if given.out:
        given.out.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
