"""LSTM layers: a step is one small product and one kernel, and all that steps share is one product.

The formula (`tensor/ops/recurrent.py`) takes a dozen operations for a step, each of which is recorded. Here a layer is
one node. Its way back goes through the steps once, and gives the gradients of weights and inputs by one product each
over all steps. A gradient that is itself recorded is that of the formula.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from minitorch_compile.autograd import Function, enable_grad, grad
from minitorch_compile.kernel_library.replaced import LEAST, dense, program, recorded_composite
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.cpu.blas import matmul
from minitorch_compile.tensor.grad_mode import state as grad_state
from minitorch_compile.tensor.tensor_base import TensorBase, wrap

Array = np.ndarray
GATES = 4


class _Step(NamedTuple):
    """What the way back needs of a step: the gates, the new cell's tanh, and the states before."""

    gates: tuple[Array, ...]
    squashed: Array
    h: Array
    c: Array


class LSTMLayer(Function):
    """(x (time, batch, inputs), h and c (batch, hidden), w_ih, w_hh, b_ih, b_hh) -> (h of all steps, last h, last c).
    Both biases may be None."""

    @staticmethod
    def forward(ctx: Any, *tensors: Any) -> tuple[Any, Any, Any]:
        arrays: list[Any] = [None if t is None else t.array for t in tensors]
        x, h, c, w_ih, w_hh, *biases = arrays
        time, batch, inputs = x.shape
        hidden = h.shape[1]
        by_inputs = matmul(x.reshape(-1, inputs), w_ih.reshape(GATES, hidden, inputs).transpose(0, 2, 1))
        if biases[0] is not None:
            by_inputs += (biases[0] + biases[1]).reshape(GATES, 1, hidden)
        turned = np.ascontiguousarray(w_hh.reshape(GATES, hidden, hidden).transpose(0, 2, 1))
        run, out, steps = program("lstm_cell"), np.empty((time, batch, hidden), np.float32), []
        sizes, shapes = (batch * hidden,), ((batch, hidden),) * 7
        for t in range(time):
            given = by_inputs[:, t * batch : (t + 1) * batch]
            i, f, g, o, new_c, squashed, new_h = run(sizes, shapes, (*given, *matmul(h, turned), c))
            steps.append(_Step((i, f, g, o), squashed, h, c))
            out[t], h, c = new_h, new_h, new_c
        ctx.save_for_backward(*tensors)
        ctx.steps = steps
        return wrap(out), wrap(h.copy()), wrap(c.copy())

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        tensors, grads = ctx.saved_tensors, tuple(map(ops.contiguous, grads))
        arrays = None if grad_state.enabled else dense(*grads, *(t for t in tensors if t is not None))
        if arrays is None:
            return _by_formula(tensors, grads)
        upper, by_h, by_c, x, _, _, w_ih, w_hh = arrays[:8]
        by_gates, by_h, by_c = _back_through_steps(ctx.steps, upper, by_h, by_c, w_hh)
        before = np.concatenate([step.h for step in ctx.steps])
        by_x = matmul(by_gates, w_ih).reshape(x.shape)
        by_weights = matmul(by_gates.T, x.reshape(-1, x.shape[2])), matmul(by_gates.T, before)
        found = map(wrap, (by_x, by_h, by_c, *by_weights))
        if tensors[5] is None:
            return (*found, None, None)
        by_bias = by_gates.sum(0)
        return (*found, wrap(by_bias), wrap(by_bias.copy()))


def _back_through_steps(
    steps: Sequence[_Step], upper: Array, by_h: Array, by_c: Array, w_hh: Array
) -> tuple[Array, Array, Array]:
    """The gradients of all gates before they were squashed, (time * batch, 4 * hidden), and of the first h and c."""
    time, batch, hidden = upper.shape
    by_gates = np.empty((time, batch, GATES, hidden), np.float32)
    run, sizes, shapes = program("lstm_cell_backward"), (batch * hidden,), ((batch, hidden),) * 5
    for t in reversed(range(time)):
        gates, squashed, _, c = steps[t]
        *by_each, by_c = run(sizes, shapes, (upper[t], by_h, by_c, *gates, squashed, c))
        for gate, by_gate in enumerate(by_each):
            by_gates[t, :, gate] = by_gate
        by_h = matmul(by_gates[t].reshape(batch, GATES * hidden), w_hh)
    return by_gates.reshape(time * batch, GATES * hidden), by_h, by_c


def _by_formula(tensors: Sequence[Any], grads: Sequence[Any]) -> tuple[Any, ...]:
    """The gradients, recorded if that is asked for."""
    wanted = [i for i, t in enumerate(tensors) if t is not None and t.requires_grad]
    recorded = grad_state.enabled
    with enable_grad():
        x, h, c, *params = (t if t is None or recorded else t.detach().requires_grad_(t.requires_grad) for t in tensors)
        given = [p for p in params if p is not None]
        states = ops.unsqueeze(h, 0), ops.unsqueeze(c, 0)
        out, last_h, last_c = FORMULA[0](x, states, given, len(given) == GATES, 1, 0.0, False, False)
        results = out, ops.squeeze(last_h, 0), ops.squeeze(last_c, 0)
        inputs = [(x, h, c, *params)[i] for i in wanted]
        found = dict(zip(wanted, grad(results, inputs, grads, create_graph=recorded, allow_unused=True)))
    return tuple(map(found.get, range(len(tensors))))


FORMULA: list[Callable[..., Any]] = [ops.lstm.kernel]  # as it was before it got this short cut


@recorded_composite(ops.lstm)
def _(input: Any, hx: Sequence[Any], params: Sequence[Any], *how: Any, **named: Any) -> Any:
    """`how`: has_biases, num_layers, dropout, train, bidirectional, and perhaps batch_first and batch_sizes."""
    if named or not 5 <= len(how) <= 7:
        return None
    options: list[Any] = [*how, *(False, None)[len(how) - 5 :]]
    has_biases, num_layers, dropout, train, bidirectional, batch_first, batch_sizes = options
    each, directions = 4 if has_biases else 2, 2 if bidirectional else 1
    if batch_sizes is not None or not params or not _fits(input, hx, params):
        return None
    expected = _sizes_of_weights(input.sizes[2], hx[0].sizes[2], num_layers, directions, has_biases)
    if [p.sizes for p in params] != expected:
        return None
    if tuple(hx[0].sizes[:2]) != (num_layers * directions, input.sizes[0 if batch_first else 1]):
        return None
    x = ops.contiguous(ops.transpose(input, 0, 1)) if batch_first else ops.contiguous(input)
    states = list(zip(*(map(ops.contiguous, ops.unbind(state)) for state in hx), strict=True))
    finals: list[Any] = []
    for layer in range(num_layers):
        outputs = []
        for direction in range(directions):
            place = len(finals)
            weights = [*params[place * each : (place + 1) * each], *[None] * (4 - each)]
            given = ops.contiguous(ops.flip(x, (0,))) if direction else x
            out, *final = LSTMLayer.apply(given, *states[place], *weights)
            outputs.append(ops.flip(out, (0,)) if direction else out)
            finals.append(final)
        x = ops.cat(outputs, 2) if bidirectional else outputs[0]
        if dropout and train and layer < num_layers - 1:
            x = ops.dropout(x, dropout, True)
    lasts = [ops.stack(parts) for parts in zip(*finals, strict=True)]
    return ops.transpose(x, 0, 1) if batch_first else x, *lasts


def _sizes_of_weights(
    inputs: int, hidden: int, layers: int, directions: int, has_biases: bool
) -> list[tuple[int, ...]]:
    """The sizes of all parameters, in their order."""
    rows = GATES * hidden
    first, later = (
        [(rows, width), (rows, hidden), *[(rows,)] * 2 * has_biases] for width in (inputs, directions * hidden)
    )
    return first * directions + later * directions * (layers - 1)


def _fits(input: Any, hx: Sequence[Any], params: Sequence[Any]) -> bool:
    """Whether all are float32 tensors in main memory, input and states of three dimensions, and there is much to do."""
    tensors = [input, *hx, *params]
    if not all(isinstance(x, TensorBase) and 0 not in x.sizes for x in tensors) or len(input.sizes) != 3:
        return False
    if len(hx) != 2 or len(hx[0].sizes) != 3 or hx[0].sizes != hx[1].sizes:
        return False
    hidden, steps = hx[0].sizes[2], input.sizes[0] * input.sizes[1]
    if steps * hidden * GATES < LEAST or dense(*tensors[3:]) is None or dense(input) is None:
        return False
    if any(dense(state) is None for state in hx):
        return False
    return program("lstm_cell") is not None and program("lstm_cell_backward") is not None
