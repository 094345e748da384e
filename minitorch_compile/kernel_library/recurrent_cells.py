"""One step of each recurrent cell on kernels of the library, forwards and back.

A step is given what the input contributes to its gates, and the product of the state before with the weights of the
gates, each (batch, gates * hidden): the product is the caller's, the rest is one kernel.

>>> [(cell.op.name, cell.gates) for cell in CELLS]
[('lstm', 4), ('gru', 3), ('rnn_tanh', 1), ('rnn_relu', 1)]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from minitorch_compile.kernel_library.replaced import program
from minitorch_compile.tensor import Op, ops

Array = np.ndarray
Kept = tuple[Array, ...]  # what the way back needs of a step, besides the states before

# (by the input, by the state, h, c) -> (kept, new h, new c)
Step = Callable[[Array, Array, Array, Any], tuple[Kept, Array, Any]]
# (gradient of the output, of h by the step after, what that step carried back, kept, h before, c before)
#   -> (gradients of what the input contributed, of what the state contributed, what is carried back)
StepBack = Callable[[Array, Array, Any, Kept, Array, Any], tuple[Array, Array, Any]]


class Weights(NamedTuple):
    """The parameters of a layer or a cell: arrays. Either both biases are None or neither is."""

    w_ih: Array
    w_hh: Array
    b_ih: Any
    b_hh: Any


class Cell:
    """`op` is that of layers of it, `one` that of a single step; `name` that of its program. `has_c`: whether its state
    is (h, c)."""

    gates = 1
    has_c = False

    def __init__(self, op: Op, one: Op, name: str) -> None:
        self.op, self.one, self.name = op, one, name

    def has_programs(self) -> bool:
        """Whether the library has both."""
        return program(self.name) is not None and program(f"{self.name}_backward") is not None

    def bias(self, weights: Weights) -> Array:
        """What is added to the product of the input, for all steps, if there are biases."""
        return weights.b_ih + weights.b_hh

    def step(self, weights: Weights, batch: int) -> Step:
        """What computes a step."""
        hidden = weights.w_hh.shape[1]
        run, sizes, shapes = program(self.name), (batch * hidden,), ((batch, hidden),)

        def step(given: Array, product: Array, h: Array, c: Any) -> tuple[Kept, Array, Any]:
            (new,) = run(sizes, shapes, (given, product))
            return (new,), new, None

        return step

    def step_back(self, batch: int, hidden: int) -> StepBack:
        """What goes back through a step."""
        run, sizes, shapes = program(f"{self.name}_backward"), (batch * hidden,), ((batch, hidden),)

        def back(upper: Array, by_h: Array, carried: Any, kept: Kept, h: Array, c: Any) -> tuple[Array, Array, Any]:
            (by_gate,) = run(sizes, shapes, (upper, by_h, *kept))
            return by_gate, by_gate, None

        return back


class Lstm(Cell):
    """What is carried back is the gradient of c."""

    gates = 4
    has_c = True

    def step(self, weights: Weights, batch: int) -> Step:
        sizes = (batch, weights.w_hh.shape[1])
        run, shapes = program(self.name), (sizes,) * 7

        def step(given: Array, product: Array, h: Array, c: Any) -> tuple[Kept, Array, Any]:
            *kept, new_c, new_h = run(sizes, shapes, (given, product, c))
            return tuple(kept), new_h, new_c

        return step

    def step_back(self, batch: int, hidden: int) -> StepBack:
        run, sizes = program(f"{self.name}_backward"), (batch, hidden)
        shapes = ((batch, self.gates * hidden), sizes)

        def back(upper: Array, by_h: Array, by_c: Any, kept: Kept, h: Array, c: Any) -> tuple[Array, Array, Any]:
            by_gates, by_c = run(sizes, shapes, (upper, by_h, by_c, *kept, c))
            return by_gates, by_gates, by_c

        return back


class Gru(Cell):
    """What is carried back is the gradient of h that reaches it without a product. The bias of the new state's gate
    that goes with h is multiplied by the reset gate, so it can't be added beforehand."""

    gates = 3

    def bias(self, weights: Weights) -> Array:
        both, hidden = super().bias(weights), weights.w_hh.shape[1]
        both[-hidden:] = weights.b_ih[-hidden:]
        return both

    def step(self, weights: Weights, batch: int) -> Step:
        hidden = weights.w_hh.shape[1]
        run, sizes, shapes = program(self.name), (batch, hidden), ((batch, hidden),) * 5
        bias = np.zeros(hidden, np.float32) if weights.b_hh is None else weights.b_hh[-hidden:]

        def step(given: Array, product: Array, h: Array, c: Any) -> tuple[Kept, Array, Any]:
            *kept, new = run(sizes, shapes, (given, product, bias, h))
            return tuple(kept), new, None

        return step

    def step_back(self, batch: int, hidden: int) -> StepBack:
        run, sizes = program(f"{self.name}_backward"), (batch, hidden)
        shapes = (*((batch, self.gates * hidden),) * 2, sizes)
        nothing = np.zeros(sizes, np.float32)

        def back(upper: Array, by_h: Array, direct: Any, kept: Kept, h: Array, c: Any) -> tuple[Array, Array, Any]:
            before = nothing if direct is None else direct
            by_input, by_state, direct = run(sizes, shapes, (upper, by_h, before, *kept, h))
            return by_input, by_state, direct

        return back


TANH = Cell(ops.rnn_tanh, ops.rnn_tanh_cell, "tanh_cell")
RELU = Cell(ops.rnn_relu, ops.rnn_relu_cell, "relu_cell")
LSTM = Lstm(ops.lstm, ops.lstm_cell, "lstm_cell")
GRU = Gru(ops.gru, ops.gru_cell, "gru_cell")
CELLS = (LSTM, GRU, TANH, RELU)
