"""Convolutions and pooling, compiled, beside PyTorch's eager ones (oneDNN), each on one thread.

    TORCH_PYTHON=/path/to/python python -m benchmarks.convolutions [words of rows' names ...]

Each row has three ratios, PyTorch's time over ours: of the forward pass, of the gradient of the input, and of the
gradient of the weight. So above 1 is ahead. The two libraries take turns, in processes of their own, on the clock of
the processor's time; what stands in the table are medians.
"""

from __future__ import annotations

import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

PASSES = ("forward", "input", "weight")
ROUNDS, SECONDS = 7, 0.03  # turns, and how long each takes, about


class Convolution(NamedTuple):
    """`image` and `kernel` have one to three dimensions; `transposed` turns the roles of input and output."""

    images: int
    channels: int
    image: tuple[int, ...]
    filters: int
    kernel: tuple[int, ...]
    stride: int = 1
    padding: int = 0
    dilation: int = 1
    groups: int = 1
    transposed: bool = False
    channels_last: bool = False

    def operands(self) -> list[tuple[int, ...]]:
        """The sizes of the input and of the weight."""
        first, second = (self.channels, self.filters) if self.transposed else (self.filters, self.channels)
        return [(self.images, self.channels, *self.image), (first, second // self.groups, *self.kernel)]

    def function(self, torch: Any) -> Callable[..., Any]:
        dimensions = len(self.image)
        functional = torch.nn.functional
        how = {"stride": self.stride, "padding": self.padding, "dilation": self.dilation, "groups": self.groups}
        convolve = getattr(functional, f"conv_transpose{dimensions}d" if self.transposed else f"conv{dimensions}d")
        return lambda x, w: convolve(x, w, None, **how)


class Pooling(NamedTuple):
    """A call of torch.nn.functional on images of these sizes; there is no weight."""

    name: str
    image: tuple[int, ...]
    arguments: tuple[Any, ...]
    channels_last: bool = False

    def operands(self) -> list[tuple[int, ...]]:
        return [self.image]

    def function(self, torch: Any) -> Callable[..., Any]:
        pool = getattr(torch.nn.functional, self.name)
        return lambda x: pool(x, *self.arguments)


def square(images: int, channels: int, side: int, filters: int, kernel: int, **how: Any) -> Convolution:
    return Convolution(images, channels, (side, side), filters, (kernel, kernel), **how)


ROWS: dict[str, Convolution | Pooling] = {
    "3x3 of 3 channels": square(16, 3, 32, 16, 3, padding=1),
    "3x3 of 3 channels, large": square(2, 3, 128, 32, 3, padding=1),
    "3x3 of 16 channels": square(16, 16, 32, 16, 3, padding=1),
    "3x3 of 64 channels": square(4, 64, 32, 64, 3, padding=1),
    "3x3 of 64 channels, 56x56": square(1, 64, 56, 64, 3, padding=1),
    "3x3 of 128 channels": square(4, 128, 16, 128, 3, padding=1),
    "3x3 of 256 channels, 7x7": square(2, 256, 7, 256, 3, padding=1),
    "7x7, stride 2": square(1, 3, 112, 32, 7, stride=2, padding=3),
    "5x5": square(4, 16, 28, 32, 5, padding=2),
    "3x3, stride 2": square(8, 32, 32, 64, 3, stride=2, padding=1),
    "4x4, stride 4": square(8, 3, 32, 96, 4, stride=4),
    "3x3, dilation 2": square(4, 32, 32, 32, 3, padding=2, dilation=2),
    "3x3 in 4 groups": square(4, 64, 32, 64, 3, padding=1, groups=4),
    "1x1": square(4, 64, 28, 128, 1),
    "1x1, 7x7": square(4, 256, 7, 256, 1),
    "1x1, few channels": square(8, 16, 32, 64, 1),
    "1x1, stride 2": square(8, 32, 32, 64, 1, stride=2),
    "depthwise 3x3": square(4, 64, 32, 64, 3, padding=1, groups=64),
    "depthwise 3x3, stride 2": square(4, 64, 32, 64, 3, stride=2, padding=1, groups=64),
    "depthwise 5x5": square(4, 64, 28, 64, 5, padding=2, groups=64),
    "depthwise 7x7": square(2, 96, 28, 96, 7, padding=3, groups=96),
    "depthwise 3x3, 7x7": square(4, 256, 7, 256, 3, padding=1, groups=256),
    "transposed 2x2": square(4, 64, 16, 32, 2, stride=2, transposed=True),
    "transposed 4x4": square(4, 64, 16, 32, 4, stride=2, padding=1, transposed=True),
    "one dimension": Convolution(8, 32, (512,), 32, (5,), padding=2),
    "one dimension, causal": Convolution(4, 64, (1024,), 64, (3,), padding=4, dilation=4),
    "three dimensions": Convolution(2, 16, (8, 16, 16), 16, (3, 3, 3), padding=1),
    "channels-last 3x3": square(4, 64, 32, 64, 3, padding=1, channels_last=True),
    "channels-last 3x3 of 3": square(16, 3, 32, 16, 3, padding=1, channels_last=True),
    "channels-last 3x3 of 128": square(4, 128, 16, 128, 3, padding=1, channels_last=True),
    "channels-last 3x3 of 256": square(2, 256, 7, 256, 3, padding=1, channels_last=True),
    "channels-last, stride 2": square(8, 32, 32, 64, 3, stride=2, padding=1, channels_last=True),
    "channels-last in 4 groups": square(4, 64, 32, 64, 3, padding=1, groups=4, channels_last=True),
    "channels-last 1x1": square(4, 64, 28, 128, 1, channels_last=True),
    "channels-last depthwise": square(4, 64, 32, 64, 3, padding=1, groups=64, channels_last=True),
    "max pool 2x2": Pooling("max_pool2d", (8, 32, 32, 32), (2,)),
    "max pool 3x3, stride 2": Pooling("max_pool2d", (4, 64, 32, 32), (3, 2, 1)),
    "max pool 3x3, stride 1": Pooling("max_pool2d", (4, 64, 16, 16), (3, 1, 1)),
    "average pool 2x2": Pooling("avg_pool2d", (8, 32, 32, 32), (2,)),
    "average pool 3x3": Pooling("avg_pool2d", (4, 64, 32, 32), (3, 2, 1)),
    "adaptive to 1x1": Pooling("adaptive_avg_pool2d", (8, 64, 16, 16), (1,)),
    "adaptive to 3x3": Pooling("adaptive_avg_pool2d", (8, 64, 16, 16), (3,)),
    "adaptive max to 4x4": Pooling("adaptive_max_pool2d", (8, 64, 18, 18), (4,)),
}


# ------------------------------------------------------------------------------------------------ one library


def steps_of(torch: Any, compile: Callable[[Any], Any], row: Convolution | Pooling) -> Iterator[Callable[[], Any]]:
    """The passes of a row, each a function that computes nothing else."""
    rng = np.random.default_rng(0)
    tensors = [torch.from_numpy(rng.standard_normal(sizes).astype(np.float32)) for sizes in row.operands()]
    if row.channels_last:
        tensors = [tensor.to(memory_format=torch.channels_last) for tensor in tensors]
    function = row.function(torch)
    compiled = compile(function)

    def forward() -> Any:
        with torch.no_grad():
            return compiled(*tensors)

    yield forward
    for chosen in range(len(tensors)):
        operands = [tensor.detach().requires_grad_(i == chosen) for i, tensor in enumerate(tensors)]
        out = compile(function)(*operands)
        grad = torch.from_numpy(rng.standard_normal(tuple(out.shape)).astype(np.float32))
        grad = grad.to(memory_format=torch.channels_last) if row.channels_last else grad
        yield partial(torch.autograd.grad, out, operands[chosen], grad, retain_graph=True)


def sum_of_squares(result: Any) -> float:
    (tensor,) = result if isinstance(result, tuple) else (result,)
    return float((tensor.double() ** 2).sum())


def serve(library: str) -> None:
    """Answers requests [row] with checksums of its passes, and [pass, calls] with seconds a call."""
    torch: Any = importlib.import_module(library)
    torch.set_num_threads(1)
    compile = (lambda function: function) if library == "torch" else torch.compile
    steps: list[Callable[[], Any]] = []
    for line in sys.stdin:
        request = json.loads(line)
        if isinstance(request[0], str):
            steps = list(steps_of(torch, compile, ROWS[request[0]]))
            answer: Any = [sum_of_squares(step()) for step in steps]
        else:
            number, calls = request
            start = time.process_time()
            for _ in range(calls):
                steps[number]()
            answer = (time.process_time() - start) / calls
        print(json.dumps(answer), flush=True)


# ------------------------------------------------------------------------------------------------ both


class Library:
    """A process that answers the requests of `serve`."""

    def __init__(self, python: str, library: str) -> None:
        one = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        self.process = subprocess.Popen(
            [python, "-m", "benchmarks.convolutions", "--serve", library],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", env={**os.environ, **one},
        )  # fmt: skip

    def ask(self, *request: Any) -> Any:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def measure(row: str, ours: Library, theirs: Library) -> list[tuple[float, float]]:
    """Seconds a call of both, for each pass. ArithmeticError if they compute different things."""
    found, wanted = ours.ask(row), theirs.ask(row)
    if not np.allclose(found, wanted, rtol=1e-3):
        raise ArithmeticError(f"{row}: squares of the results add up to {found}, in PyTorch to {wanted}")
    return [one_pass(number, ours, theirs) for number in range(len(found))]


def one_pass(number: int, ours: Library, theirs: Library) -> tuple[float, float]:
    calls = [max(1, int(SECONDS / (library.ask(number, 2) + 1e-7))) for library in (ours, theirs)]
    times = [[library.ask(number, n) for library, n in zip((ours, theirs), calls)] for _ in range(ROUNDS)]
    mine, other = (statistics.median(column) for column in zip(*times))
    return mine, other


def main(words: list[str]) -> None:
    ours, theirs = Library(sys.executable, "minitorch_compile"), Library(os.environ["TORCH_PYTHON"], "torch")
    print(f"{'PyTorch / ours (ours in us)':<28}" + "".join(f"{name:>16}" for name in PASSES))
    ratios: list[float] = []
    for row in ROWS:
        if words and not any(word in row for word in words):
            continue
        columns = measure(row, ours, theirs)
        ratios += [other / mine for mine, other in columns]
        cells = "".join(f"{other / mine:>8.2f} {f'({mine * 1e6:.0f})':>7}" for mine, other in columns)
        print(f"{row:<28}{cells}", flush=True)
    print(f"geometric mean {np.exp(np.mean(np.log(ratios))):.2f} of {len(ratios)} passes")


if __name__ == "__main__":
    serve(sys.argv[2]) if sys.argv[1:2] == ["--serve"] else main(sys.argv[1:])
