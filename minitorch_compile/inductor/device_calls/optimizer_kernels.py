"""Optimizers on a GPU: a step of many parameters as one kernel, each block of which does a part of one of them.

    blocks   | 0 | 1 | 2 | 3 | 4 | ...       ends: 1, 4, ...
             | p0| p1        | p2 ...        a block finds its parameter among the ends, and its part by what is left

The rules are those of `optim/fused_kernels.py`, with the same numbers. Addresses are parameters of the kernel, which
lie in the fastest memory that all threads read.

>>> text, kinds = step_together("sgd_step", 2, "float32", 256)
>>> print(text)
def sgd_step(p0, g0, p1, g1, end0, n0, end1, n1, sign, decay, lr):
    block = cuda.blockIdx.x
    if block < end0:
        p, g, n, part = p0, g0, n0, block
    else:
        p, g, n, part = p1, g1, n1, block - end0
    for j in range(part * 2048 + cuda.threadIdx.x, min(n, part * 2048 + 2048), 256):
        p[j] -= lr * (sign * g[j] + decay * p[j])
<BLANKLINE>
>>> kinds[3:5], kinds[-1]
(['float32', 'size'], '=float32')
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.inductor.device_calls.launcher import SIZE, Launch, Open

EACH = 8  # elements that a thread steps
MOST = 56  # parameters of one kernel, whose own parameters have to fit into 4 KiB


class UpdateRule(NamedTuple):
    """What is done with each element: the tensors, of which all but the second are written to, numbers, and lines."""

    tensors: tuple[str, ...]
    numbers: tuple[str, ...]
    lines: tuple[str, ...]


ADAM_NUMBERS = ("sign", "decay", "shrink", "fresh", "beta2", "fresh2", "eps", "rate", "root")
ADAM = (
    "gradient = sign * g[j] + decay * p[j]",
    "mean[j] += fresh * (gradient - mean[j])",
    "square[j] = beta2 * square[j] + fresh2 * gradient * gradient",
)
RULES = {
    "sgd_step": UpdateRule(("p", "g"), ("sign", "decay", "lr"), ("p[j] -= lr * (sign * g[j] + decay * p[j])",)),
    "sgd_momentum_step": UpdateRule(
        ("p", "g", "buffer"),
        ("sign", "decay", "lr", "momentum", "undampened", "ahead", "here"),
        (
            "gradient = sign * g[j] + decay * p[j]",
            "buffer[j] = momentum * buffer[j] + undampened * gradient",
            "p[j] -= lr * (ahead * buffer[j] + here * gradient)",
        ),
    ),
    "adam_step": UpdateRule(
        ("p", "g", "mean", "square"),
        ADAM_NUMBERS,
        (*ADAM, "p[j] = shrink * p[j] - rate * mean[j] / (math.sqrt(square[j]) / root + eps)"),
    ),
    "amsgrad_step": UpdateRule(
        ("p", "g", "mean", "square", "largest"),
        ADAM_NUMBERS,
        (
            *ADAM,
            "if not (largest[j] > square[j] or largest[j] != largest[j]):  # NaN wins",
            "    largest[j] = square[j]",
            "p[j] = shrink * p[j] - rate * mean[j] / (math.sqrt(largest[j]) / root + eps)",
        ),
    ),
    "adagrad_step": UpdateRule(
        ("p", "g", "total"),
        ("sign", "decay", "eps", "rate"),
        (
            "gradient = sign * g[j] + decay * p[j]",
            "total[j] += gradient * gradient",
            "p[j] -= rate * gradient / (math.sqrt(total[j]) + eps)",
        ),
    ),
}


def step_together(name: str, count: int, element: str, threads: int) -> tuple[str, list[str]]:
    """The text of a rule's kernel for so many parameters of a dtype, and the kinds of what it is given."""
    rule, part = RULES[name], threads * EACH
    tensors = [f"{tensor}{i}" for i in range(count) for tensor in rule.tensors]
    sizes = [f"{size}{i}" for i in range(count) for size in ("end", "n")]
    lines = [f"def {name}({', '.join([*tensors, *sizes, *rule.numbers])}):", "    block = cuda.blockIdx.x"]
    for i in range(count):
        test = f"if block < end{i}:" if i == 0 else f"elif block < end{i}:" if i < count - 1 else "else:"
        own = ", ".join(
            [*(f"{tensor}{i}" for tensor in rule.tensors), f"n{i}", f"block - end{i - 1}" if i else "block"]
        )
        assign = f"{', '.join(rule.tensors)}, n, part = {own}"
        lines += [f"    {test}", f"        {assign}"] if count > 1 else [f"    {assign}"]
    lines.append(f"    for j in range(part * {part} + cuda.threadIdx.x, min(n, part * {part} + {part}), {threads}):")
    lines += [f"        {line}" for line in rule.lines]
    return "\n".join(lines) + "\n", [element] * len(tensors) + [SIZE] * len(sizes) + [f"={element}"] * len(rule.numbers)


class OptimizerKernels:
    """The kernels of a runtime's devices. `compile` and `launcher` are those of `DeviceKernels`."""

    def __init__(self, kernels: Any) -> None:
        self.kernels = kernels
        self.runtime: Runtime = kernels.runtime
        self.launches: dict[Any, Launch] = {}

    def run(self, name: str, rows: Sequence[Sequence[Any]], numbers: Sequence[Sequence[float]]) -> None:
        """Steps the parameters, a row of tensors of one dtype and layout for each, all on one device."""
        element, index = rows[0][0].dtype, self.runtime.index_of(rows[0][0].device)
        stream, size = self.runtime.current_stream(index), element.itemsize
        together: dict[tuple[float, ...], list[Sequence[Any]]] = {}
        for row, own in zip(rows, numbers, strict=True):
            together.setdefault(tuple(own), []).append(row)
        for own, all_rows in together.items():
            for first in range(0, len(all_rows), MOST):
                part = all_rows[first : first + MOST]
                addresses = [x.storage.block.address + x.offset * size for row in part for x in row]
                launch = self.launch(name, element, [row[0].numel() for row in part])
                self._tell(name, part, addresses, stream)
                launch(addresses, stream, own)

    def launch(self, name: str, element: Any, lengths: list[int]) -> Launch:
        """A launch for parameters of so many elements; its numbers are left open."""
        key = name, element, tuple(lengths)
        if key not in self.launches:
            threads, rule = self.kernels.launcher.threads, RULES[name]
            text, kinds = step_together(name, len(lengths), element.name, threads)
            ends, sizes = 0, list[int]()
            for length in lengths:
                ends += -(-length // (threads * EACH))
                sizes += ends, length
            reaches = [(length, element.numpy) for length in lengths for _ in rule.tensors]
            opened = [Open(place) for place in range(len(rule.numbers))]
            self.launches[key] = self.kernels.compile(text, name, kinds)(max(ends, 1), reaches, [*sizes, *opened])
        return self.launches[key]

    def _tell(self, name: str, rows: Sequence[Sequence[Any]], addresses: Sequence[int], stream: Any) -> None:
        sanitizer = self.runtime.sanitizer
        if sanitizer is not None:
            nbytes = [x.numel() * x.dtype.itemsize for row in rows for x in row]
            spans, each = [*zip(addresses, nbytes)], len(rows[0])
            sanitizer.access(stream, name, spans[1::each], [span for i, span in enumerate(spans) if i % each != 1])
