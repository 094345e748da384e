"""Generated kernels against eager NumPy: pointwise chains, normalisations, reductions along each axis.

    python benchmarks/kernels.py            all rows
    python benchmarks/kernels.py softmax    rows whose name contains a word

Times are medians of interleaved runs, in microseconds; `GB/s` counts what the compiled kernels read and write at least.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
import minitorch_compile.nn.functional as F

ROUNDS = 15


def chain(a: Any, b: Any) -> Any:
    return torch.relu(a * b + 1) * 0.5 + a


def transcendental_row_sum(x: Any, y: Any) -> Any:
    return (torch.sin(x) * torch.exp(y) + torch.tanh(x * y)).sum(1)


def layer_norm_gelu(x: Any, weight: Any, bias: Any) -> Any:
    return F.gelu(F.layer_norm(x, (x.shape[-1],), weight, bias))


def softmax(x: Any) -> Any:
    return torch.softmax(x, -1)


def softmax_first(x: Any) -> Any:
    return torch.softmax(x, 0)


def row_sum(x: Any) -> Any:
    return x.sum(1)


def column_sum(x: Any) -> Any:
    return x.sum(0)


def total(x: Any) -> Any:
    return (x * x).sum()


def transpose_add(x: Any, y: Any) -> Any:
    return x.t() + y


def rows() -> list[tuple[str, Callable[..., Any], tuple[Any, ...]]]:
    """Name, function, inputs."""
    torch.manual_seed(0)
    r = torch.randn
    return [
        ("pointwise chain 4x4", chain, (r(4, 4), r(4, 4))),
        ("pointwise chain 64x64", chain, (r(64, 64), r(64, 64))),
        ("pointwise chain 1024x1024", chain, (r(1024, 1024), r(1024, 1024))),
        ("sin*exp+tanh row sum 1024x1024", transcendental_row_sum, (r(1024, 1024), r(1024, 1024))),
        ("softmax 64x64", softmax, (r(64, 64),)),
        ("softmax 4096x1024", softmax, (r(4096, 1024),)),
        ("softmax dim 0 1024x1024", softmax_first, (r(1024, 1024),)),
        ("layernorm+gelu 4096x256", layer_norm_gelu, (r(4096, 256), r(256), r(256))),
        ("row sum 2048x1024", row_sum, (r(2048, 1024),)),
        ("column sum 2048x1024", column_sum, (r(2048, 1024),)),
        ("sum of squares 4M", total, (r(2048, 2048),)),
        ("transpose add 1024x1024", transpose_add, (r(1024, 1024), r(1024, 1024))),
    ]


def seconds(function: Callable[..., Any], inputs: tuple[Any, ...], repeat: int) -> float:
    start = time.perf_counter()
    for _ in range(repeat):
        function(*inputs)
    return (time.perf_counter() - start) / repeat


def measure(function: Callable[..., Any], inputs: tuple[Any, ...]) -> tuple[float, float, float]:
    """Seconds of the first compiled call, of an eager call, of a compiled call."""
    compiled = torch.compile(function)
    start = time.perf_counter()
    compiled(*inputs)
    first = time.perf_counter() - start
    repeat = max(1, int(2e-3 / max(seconds(function, inputs, 1), 1e-7)))
    pairs = [(seconds(function, inputs, repeat), seconds(compiled, inputs, repeat)) for _ in range(ROUNDS)]
    eager, later = zip(*pairs)
    return first, statistics.median(eager), statistics.median(later)


def main(words: list[str]) -> None:
    print(f"{'row':32} {'eager us':>10} {'compiled us':>12} {'speed-up':>9} {'GB/s':>7} {'first call s':>13}")
    for name, function, inputs in rows():
        if words and not any(word in name for word in words):
            continue
        first, eager, compiled = measure(function, inputs)
        result = function(*inputs)
        moved = sum(x.numel() * x.dtype.itemsize for x in (*inputs, result))
        speed = f"{eager / compiled:8.2f}x"
        print(
            f"{name:32} {eager * 1e6:10.1f} {compiled * 1e6:12.1f} {speed} {moved / compiled / 1e9:7.1f} {first:13.2f}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
