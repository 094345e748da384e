"""Recurrent layers: a step is one small product and one kernel, and all that steps share is one product.

The formula (`tensor/ops/recurrent.py`) takes a dozen operations for a step, each of which is recorded. Here a layer is
one node. Its way back goes through the steps once, and gives the gradients of weights and inputs by one product each
over all steps. A gradient that is itself recorded is that of the formula. A cell is a layer of one step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from minitorch_compile.autograd import Function
from minitorch_compile.kernel_library.formula_gradients import gradients_by_formula
from minitorch_compile.kernel_library.recurrent_cells import CELLS, Cell, Weights
from minitorch_compile.kernel_library.replaced import LEAST, dense, recorded_composite
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.cpu.blas import matmul
from minitorch_compile.tensor.grad_mode import state as grad_state
from minitorch_compile.tensor.tensor_base import TensorBase, wrap

Array = np.ndarray
FORMULAS = {op: op.kernel for cell in CELLS for op in (cell.op, cell.one)}  # as they were before their short cuts


class RecurrentLayer(Function):
    """(cell, x (time, batch, inputs), h and c (batch, hidden), w_ih, w_hh, b_ih, b_hh) -> (h of all steps, last h, last
    c if the cell has one). c may be None, and so may both biases."""

    @staticmethod
    def forward(ctx: Any, cell: Cell, *tensors: Any) -> tuple[Any, ...]:
        return _forward(ctx, cell, tensors, tensors[0].array)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        arrays, x = _dense_gradients(ctx, grads), ctx.saved_tensors[0]
        found = _by_formula(_layer_by_formula, ctx, grads) if arrays is None else _backward(ctx, x.array, *arrays)
        return None, *found


class RecurrentCell(Function):
    """(cell, x (batch, inputs), ...) -> (h, and c if the cell has one): a layer of one step."""

    @staticmethod
    def forward(ctx: Any, cell: Cell, *tensors: Any) -> tuple[Any, ...]:
        return _forward(ctx, cell, tensors, tensors[0].array[np.newaxis])[1:]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        arrays = _dense_gradients(ctx, grads)
        found = _by_formula(_cell_by_formula, ctx, grads) if arrays is None else _backward_of_one(ctx, *arrays)
        return None, *found


def _array(t: Any) -> Any:
    return None if t is None else t.array


def _forward(ctx: Any, cell: Cell, tensors: Sequence[Any], x: Array) -> tuple[Any, ...]:
    h, c, *params = map(_array, tensors[1:])
    weights = Weights(*params)
    time, batch, inputs = x.shape
    by_inputs = matmul(x.reshape(-1, inputs), weights.w_ih.T)
    if weights.b_ih is not None:
        by_inputs += cell.bias(weights)
    by_inputs = by_inputs.reshape(time, batch, -1)
    step, turned = cell.step(weights, batch), weights.w_hh.T
    steps, out = [], np.empty((time, *h.shape), np.float32)
    for t in range(time):
        before = h, c
        kept, h, c = step(by_inputs[t], matmul(h, turned), h, c)
        steps.append((kept, *before))
        out[t] = h
    ctx.save_for_backward(*tensors)
    ctx.cell, ctx.steps = cell, steps
    return wrap(out), *(wrap(state.copy()) for state in (h, c) if state is not None)


def _dense_gradients(ctx: Any, grads: Sequence[Any]) -> tuple[Array, ...] | None:
    """The arrays of the gradients; None if the formula is to be asked, as where a tensor isn't dense any more."""
    tensors = *map(ops.contiguous, grads), *(t for t in ctx.saved_tensors if t is not None)
    arrays = None if grad_state.enabled else dense(*tensors)
    return arrays and arrays[: len(grads)]


def _backward_of_one(ctx: Any, by_h: Array, *by_c: Array) -> tuple[Any, ...]:
    x = ctx.saved_tensors[0].array[np.newaxis]
    return _backward(ctx, x, by_h[np.newaxis], np.zeros_like(by_h), *by_c)


def _backward(ctx: Any, x: Array, upper: Array, by_h: Array, by_c: Any = None) -> tuple[Any, ...]:
    """The gradients of x, h, c and the weights. `upper` is that of all steps' h, `by_h` and `by_c` of the last."""
    weights = Weights(*map(_array, ctx.saved_tensors[3:]))
    by_input, by_state, by_h, by_c = _back_through_steps(ctx, weights.w_hh, upper, by_h, by_c)
    before = np.concatenate([h for _, h, _ in ctx.steps])
    by_x = matmul(by_input, weights.w_ih).reshape(ctx.saved_tensors[0].sizes)
    by_weights = matmul(by_input.T, x.reshape(-1, x.shape[2])), matmul(by_state.T, before)
    found = [None if array is None else wrap(array) for array in (by_x, by_h, by_c, *by_weights)]
    if weights.b_ih is None:
        return *found, None, None
    return *found, wrap(by_input.sum(0)), wrap(by_state.sum(0))


def _back_through_steps(
    ctx: Any, w_hh: Array, upper: Array, by_h: Array, carried: Any
) -> tuple[Array, Array, Array, Any]:
    """The gradients of what the inputs and the states contributed to all gates, (time * batch, gates * hidden), and of
    the first h and c."""
    time, batch, hidden = upper.shape
    by_input = np.empty((time, batch, w_hh.shape[0]), np.float32)
    by_state = np.empty_like(by_input)
    back = ctx.cell.step_back(batch, hidden)
    for t in reversed(range(time)):
        kept, h, c = ctx.steps[t]
        by_input[t], by_state[t], carried = back(upper[t], by_h, carried, kept, h, c)
        by_h = matmul(by_state[t], w_hh)
    if carried is not None and not ctx.cell.has_c:
        by_h, carried = by_h + carried, None
    return by_input.reshape(-1, w_hh.shape[0]), by_state.reshape(-1, w_hh.shape[0]), by_h, carried


def _by_formula(formula: Callable[..., Sequence[Any]], ctx: Any, grads: Sequence[Any]) -> tuple[Any, ...]:
    return gradients_by_formula(partial(formula, ctx.cell), ctx.saved_tensors, grads)


def _layer_by_formula(cell: Cell, x: Any, h: Any, c: Any, *params: Any) -> Sequence[Any]:
    given = [p for p in params if p is not None]
    states = ops.unsqueeze(h, 0), c if c is None else ops.unsqueeze(c, 0)
    hx = states if cell.has_c else states[0]
    out, *lasts = FORMULAS[cell.op](x, hx, given, len(given) == len(params), 1, 0.0, False, False)
    return out, *(ops.squeeze(last, 0) for last in lasts)


def _cell_by_formula(cell: Cell, x: Any, h: Any, c: Any, *params: Any) -> Sequence[Any]:
    result = FORMULAS[cell.one](x, (h, c) if cell.has_c else h, *params)
    return result if cell.has_c else (result,)


# ------------------------------------------------------------------------------------------------ layers


def _layers(cell: Cell, input: Any, hx: Any, params: Sequence[Any], *how: Any, **named: Any) -> Any:
    """`how`: has_biases, num_layers, dropout, train, bidirectional, and perhaps batch_first and batch_sizes."""
    if named or not 5 <= len(how) <= 7:
        return None
    options: list[Any] = [*how, *(False, None)[len(how) - 5 :]]
    has_biases, num_layers, dropout, train, bidirectional, batch_first, batch_sizes = options
    each, directions = 4 if has_biases else 2, 2 if bidirectional else 1
    states = hx if cell.has_c else (hx,)
    if batch_sizes is not None or not params or not _fits(cell, input, states, params):
        return None
    expected = _sizes_of_weights(cell, input.sizes[2], states[0].sizes[2], num_layers, directions, has_biases)
    if [p.sizes for p in params] != expected:
        return None
    if tuple(states[0].sizes[:2]) != (num_layers * directions, input.sizes[0 if batch_first else 1]):
        return None
    x = ops.contiguous(ops.transpose(input, 0, 1)) if batch_first else ops.contiguous(input)
    first = list(zip(*(map(ops.contiguous, ops.unbind(state)) for state in states), strict=True))
    finals: list[Any] = []
    for layer in range(num_layers):
        outputs = []
        for direction in range(directions):
            place = len(finals)
            weights = [*params[place * each : (place + 1) * each], *[None] * (4 - each)]
            given = ops.contiguous(ops.flip(x, (0,))) if direction else x
            out, *final = RecurrentLayer.apply(cell, given, *_with_c(first[place]), *weights)
            outputs.append(ops.flip(out, (0,)) if direction else out)
            finals.append(final)
        x = ops.cat(outputs, 2) if bidirectional else outputs[0]
        if dropout and train and layer < num_layers - 1:
            x = ops.dropout(x, dropout, True)
    lasts = [ops.stack(parts) for parts in zip(*finals, strict=True)]
    return ops.transpose(x, 0, 1) if batch_first else x, *lasts


def _with_c(states: Sequence[Any]) -> tuple[Any, Any]:
    return (*states, None)[:2]


def _sizes_of_weights(
    cell: Cell, inputs: int, hidden: int, layers: int, directions: int, has_biases: bool
) -> list[tuple[int, ...]]:
    """The sizes of all parameters, in their order."""
    rows = cell.gates * hidden
    first, later = (
        [(rows, width), (rows, hidden), *[(rows,)] * 2 * has_biases] for width in (inputs, directions * hidden)
    )
    return first * directions + later * directions * (layers - 1)


def _fits(cell: Cell, input: Any, states: Sequence[Any], params: Sequence[Any], dims: int = 3) -> bool:
    """Whether all are float32 in main memory, input and states of `dims` dimensions, and there is much to do."""
    tensors = [input, *states, *params]
    if not all(isinstance(x, TensorBase) and 0 not in x.sizes for x in tensors) or len(input.sizes) != dims:
        return False
    sizes = states[0].sizes
    if len(states) != 1 + cell.has_c or len(sizes) != dims or any(state.sizes != sizes for state in states):
        return False
    work = cell.gates * sizes[-1] * math.prod(input.sizes[:-1])
    if work < LEAST or dense(*params) is None or dense(input) is None or any(dense(s) is None for s in states):
        return False
    return cell.has_programs()


# ------------------------------------------------------------------------------------------------ cells


def _one_step(cell: Cell, input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
    states, biases = tuple(hx) if cell.has_c else (hx,), [b for b in (b_ih, b_hh) if b is not None]
    if len(biases) == 1 or not _fits(cell, input, states, (w_ih, w_hh, *biases), 2):
        return None
    (batch, inputs), hidden = input.sizes, states[0].sizes[1]
    expected = _sizes_of_weights(cell, inputs, hidden, 1, 1, bool(biases))
    if [p.sizes for p in (w_ih, w_hh, *biases)] != expected or states[0].sizes[0] != batch:
        return None
    x, *first = map(ops.contiguous, (input, *states))
    results = RecurrentCell.apply(cell, x, *_with_c(first), w_ih, w_hh, b_ih, b_hh)
    return results if cell.has_c else results[0]


for _cell in CELLS:
    recorded_composite(_cell.op)(partial(_layers, _cell))
    recorded_composite(_cell.one)(partial(_one_step, _cell))
