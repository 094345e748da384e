"""What a row of the table is: a program, its sizes, and how its steps are made.

A kernel is a function and its inputs. A model is a module, its inputs and the loss of its output; it makes two rows:
inference, and a training step (forward, loss, backward, AdamW). Both are built anew for each way of running them, from
NumPy's random numbers, so that all start from the same weights and inputs.

>>> @kernel(small=(2, 3))
... def double(rows: int, columns: int) -> Kernel:
...     return Kernel(lambda x: x + x, (rows * columns,))
>>> ROWS.pop("double small").step(None, lambda f: f)()
12
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

Compile = Callable[[Any], Any]
Step = Callable[[], Any]


class Kernel(NamedTuple):
    """`function(*inputs)` is what gets compiled and timed; `backward` adds the gradients of the inputs.

    The gradient of the result is then the first input, so both have the same sizes.
    """

    function: Callable[..., Any]
    inputs: tuple[Any, ...]
    backward: bool = False


class Model(NamedTuple):
    """A module, its inputs, and the loss of its output."""

    module: Any
    inputs: tuple[Any, ...]
    loss: Callable[[Any], Any]


@dataclass(frozen=True)
class Row:
    """One line of the table. `step(torch, compile)` builds everything and gives the function to call repeatedly."""

    name: str
    category: str
    step: Callable[[Any, Compile], Step]


ROWS: dict[str, Row] = {}


def kernel(**sizes: tuple[int, ...]) -> Callable[[Callable[..., Kernel]], Callable[..., Kernel]]:
    """Makes a row of a function that builds a Kernel, for each of these sizes."""

    def declare(build: Callable[..., Kernel]) -> Callable[..., Kernel]:
        for size, numbers in sizes.items():
            name = f"{build.__name__} {size}"
            ROWS[name] = Row(name, "kernels", kernel_step(build, numbers))
        return build

    return declare


def kernel_step(build: Callable[..., Kernel], numbers: tuple[int, ...]) -> Callable[[Any, Compile], Step]:
    def step(torch: Any, compile: Compile) -> Step:
        function, inputs, backward = build(*numbers)
        compiled = compile(function)
        if not backward:
            return lambda: compiled(*inputs)
        grad = inputs[0].detach()
        return lambda: torch.autograd.grad(compiled(*inputs), inputs, grad)

    return step


def model(build: Callable[[], Model]) -> Callable[[], Model]:
    """Makes two rows of a function that builds a Model: inference and training."""
    name = build.__name__
    ROWS[f"{name} inference"] = Row(f"{name} inference", "inference", inference_step(build))
    ROWS[f"{name} training"] = Row(f"{name} training", "training", training_step(build))
    return build


def whole_step(build: Callable[[], Model]) -> Callable[[], Model]:
    """Another row: the training step compiled as one function, backward pass and optimizer included."""
    name = f"{build.__name__} whole step"
    ROWS[name] = Row(name, "whole step", training_step(build, whole=True))
    return build


def inference_step(build: Callable[[], Model]) -> Callable[[Any, Compile], Step]:
    def step(torch: Any, compile: Compile) -> Step:
        module, inputs, _ = build()
        fill(torch, module)
        compiled = compile(module.eval())

        def run() -> Any:
            with torch.no_grad():
                return compiled(*inputs)

        return run

    return step


def training_step(build: Callable[[], Model], whole: bool = False) -> Callable[[Any, Compile], Step]:
    """Model and loss are compiled, or the `whole` step. Its result is the loss."""

    def step(torch: Any, compile: Compile) -> Step:
        module, inputs, loss_of = build()
        fill(torch, module)
        optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3, fused=True)
        forward: Callable[..., Any] = lambda *inputs: loss_of(module(*inputs))
        compiled = forward if whole else compile(forward)

        def train() -> Any:
            optimizer.zero_grad()
            loss = compiled(*inputs)
            loss.backward()
            optimizer.step()
            return loss

        return compile(train) if whole else train

    return step


# ------------------------------------------------------------------------------------------------ the same numbers


def generator(name: str) -> np.random.Generator:
    """Random numbers that only the name decides."""
    return np.random.default_rng(zlib.crc32(name.encode()))


def fill(torch: Any, module: Any) -> None:
    """Draws every parameter by its name: matrices of about unit gain, scales around one, small biases."""
    for name, parameter in module.named_parameters():
        shape = tuple(parameter.shape)
        values = generator(name).standard_normal(shape)
        if len(shape) >= 2:
            values /= math.sqrt(max(1, values[0].size))
        else:
            values = 0.1 * values + (1.0 if name.endswith("weight") else 0.0)
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(values.astype(np.float32)))
