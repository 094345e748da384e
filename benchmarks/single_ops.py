"""Single operations, compiled against eager: where there is nothing to fuse, a kernel has to be as good as NumPy's.

    python -m benchmarks.single_ops                   all of them
    python -m benchmarks.single_ops argmax "cat"      those whose name contains a word

Each runs on one thread, on tensors of 2048 x 1024. Times are the best of interleaved rounds, in microseconds of
processor time, so that other programs disturb them little; a row that compiling makes slower by more than a tenth, and
that takes at least 100 us, is marked.

>>> [name for name in OPERATIONS if name.startswith("argmax")]
['argmax of rows', 'argmax of columns', 'argmax of all']
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
import minitorch_compile.nn.functional as F

Function = Callable[..., Any]

ROWS, COLUMNS = 2048, 1024
ROUNDS = 7
WORTH_A_LOOK = 1e-4  # seconds
UNARY = """
    abs acos asin asinh atan atanh ceil cos cosh erf erfc erfinv exp exp2 expm1 floor lgamma digamma log log10 log1p
    log2 neg reciprocal round rsqrt sigmoid sign signbit sin sinh sqrt square tan tanh trunc isnan clone
"""
ACTIVATIONS = "elu gelu hardswish leaky_relu logsigmoid mish relu selu silu softplus"
BINARY = "add sub mul div maximum minimum fmod remainder pow atan2 hypot logaddexp eq lt"
OF_INTEGERS = "mul floor_divide remainder bitwise_and maximum"
REDUCTIONS = "sum mean prod amax amin argmax argmin std var any count_nonzero"
ALONG_A_DIMENSION = "softmax log_softmax logsumexp cumsum cumprod cummax max sort"
MOVES: dict[str, Function] = {
    "cat rows": lambda x, y: torch.cat([x, y], 0),
    "cat columns": lambda x, y: torch.cat([x, y], 1),
    "cat odd pieces": lambda x, y: torch.cat([x[:, :7], y, x[:, 1:]], 1),
    "stack": lambda x, y: torch.stack([x, y], -1),
    "pad": lambda x, y: F.pad(x, (1, 2, 3, 4)),
    "pad by reflection": lambda x, y: F.pad(x[None], (5, 5), mode="reflect"),
    "roll": lambda x, y: torch.roll(x, 3, 1),
    "flip": lambda x, y: x.flip(1),
    "transpose": lambda x, y: x.t().contiguous(),
    "permute": lambda x, y: x.reshape(ROWS, 16, 64).permute(0, 2, 1).contiguous(),
    "repeat": lambda x, y: x.repeat(1, 2),
    "tril": lambda x, y: x.tril(),
    "where": lambda x, y: torch.where(x > y, x, y),
    "matrix times vector": lambda x, y: x @ y[0],
    "vector times matrix": lambda x, y: y[:, 0] @ x,
    "products of rows": lambda x, y: torch.einsum("ij,ij->i", x, y),
    "layer_norm": lambda x, y: F.layer_norm(x, (COLUMNS,)),
    "mse_loss": lambda x, y: F.mse_loss(x, y),
}


def _operations() -> dict[str, tuple[Function, str]]:
    """Each operation with the kind of its arguments: u (in (0, 1)), n (normal) or i (integers), one letter each."""
    found: dict[str, tuple[Function, str]] = {name: (getattr(torch, name), "u") for name in UNARY.split()}
    found |= {name: (getattr(F, name), "n") for name in ACTIVATIONS.split()}
    found |= {name: (getattr(torch, name), "uu") for name in BINARY.split()}
    found |= {f"{name} of integers": (getattr(torch, name), "ii") for name in OF_INTEGERS.split()}
    for name in REDUCTIONS.split():
        function = getattr(torch, name)
        found[f"{name} of rows"] = (lambda x, f=function: f(x, 1)), "n"
        found[f"{name} of columns"] = (lambda x, f=function: f(x, 0)), "n"
        found[f"{name} of all"] = function, "n"
    for name in ALONG_A_DIMENSION.split():
        found[f"{name} along rows"] = (lambda x, f=getattr(torch, name): f(x, 1)), "n"
    return found | {name: (function, "nn") for name, function in MOVES.items()}


OPERATIONS = _operations()


def arguments(kinds: str) -> list[Any]:
    make = {
        "u": lambda: torch.rand(ROWS, COLUMNS) * 0.9 + 0.05,
        "n": lambda: torch.randn(ROWS, COLUMNS),
        "i": lambda: torch.randint(1, 1000, (ROWS, COLUMNS)),
    }
    return [make[kind]() for kind in kinds]


def processor_seconds(function: Function, inputs: list[Any], calls: int) -> float:
    start = time.process_time()
    for _ in range(calls):
        function(*inputs)
    return (time.process_time() - start) / calls


def measure(function: Function, inputs: list[Any]) -> tuple[float, float]:
    """Seconds of an eager and of a compiled call."""
    compiled = torch.compile(function)
    compiled(*inputs)
    calls = max(1, int(4e-3 / max(processor_seconds(function, inputs, 1), 1e-7)))
    rounds = [
        (processor_seconds(function, inputs, calls), processor_seconds(compiled, inputs, calls)) for _ in range(ROUNDS)
    ]
    eager, later = zip(*rounds, strict=True)
    return min(eager), min(later)


def main(words: list[str]) -> None:
    torch.set_num_threads(1)
    print(f"{'operation':26} {'eager us':>10} {'compiled us':>12} {'speed-up':>9}")
    for name, (function, kinds) in OPERATIONS.items():
        if words and not any(word in name for word in words):
            continue
        torch.manual_seed(0)
        eager, compiled = measure(function, arguments(kinds))
        mark = "  slower" if eager / compiled < 0.9 and eager > WORTH_A_LOOK else ""
        print(f"{name:26} {eager * 1e6:10.1f} {compiled * 1e6:12.1f} {eager / compiled:8.2f}x{mark}", flush=True)
        torch.compiler.reset()


if __name__ == "__main__":
    main(sys.argv[1:])
