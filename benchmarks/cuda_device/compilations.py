"""How many kernels programs ask for at their first sizes, and at others; and how many of them had to be compiled.

    python -m benchmarks.cuda_device.compilations --out first.json

A second process with the same cache folder finds all of them on disk.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.cuda.runtime import required
from minitorch_compile.inductor.device_calls import numba_launcher

F = nn.functional


def pointwise(n: int) -> Any:
    x = torch.rand(n, n + 3, requires_grad=True)
    return ((x * 2).exp() / (1 + torch.rand(n + 3))).tanh().sum().backward()


def classifier(n: int) -> Any:
    model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2))
    images = torch.rand(n, 3, 2 * n, 2 * n)
    F.cross_entropy(model(images).mean((2, 3)), torch.randint(8, (n,))).backward()


def transformer(n: int) -> Any:
    layer, words = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), nn.Embedding(50, 16)
    optimizer = torch.optim.AdamW([*layer.parameters(), *words.parameters()])
    layer(words(torch.randint(50, (n, n + 5)))).square().mean().backward()
    optimizer.step()


def statistics(n: int) -> Any:
    x = torch.rand(n, 40 + n)
    return x.softmax(1), x.logsumexp(0), x.var(1), x.argmax(1), x.cumsum(0), x.sort(1), x.topk(3), x.median(1)


def indexing(n: int) -> Any:
    x, places = torch.rand(n, 7), torch.randint(n, (n,))
    x[places] = 1.0
    return (
        x[places],
        x.gather(0, places[:, None]),
        torch.cat([x, x]),
        x.flip(0),
        x.roll(2, 0),
        torch.where(x > 0.5, x, 0),
    )


PROGRAMS: list[Callable[[int], Any]] = [pointwise, classifier, transformer, statistics, indexing]
SIZES = (12, 15, 21)  # the classifier has more than 65,536 points from the second on


def counts() -> dict[str, dict[str, int]]:
    """By program: kernels asked for at each of the sizes, and compiled in all."""
    compiled = [0]
    make = numba_launcher.ptx_of

    def counting(*arguments: Any) -> bytes:
        compiled[0] += 1
        return make(*arguments)

    numba_launcher.ptx_of = counting
    found: dict[str, dict[str, int]] = {}
    torch.ones(1, device="cuda") + 1  # now there are kernels to be counted
    kernels = required().kernels
    for program in PROGRAMS:
        before = compiled[0]
        row = found[program.__name__] = {}
        for n in SIZES:
            asked = len(kernels.compiled)
            with torch.device("cuda"):
                program(n)
            row[f"asked at {n}"] = len(kernels.compiled) - asked
        row["compiled"] = compiled[0] - before
    numba_launcher.ptx_of = make
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="How many kernels are compiled, and when.")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    found = counts()
    for name, row in found.items():
        print(f"{name:14} {row}")
    if given.out:
        given.out.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
