"""Recurrent networks: a cell, a loop over time, and layers of such loops.

Everything that doesn't depend on the step before is computed for all steps at once: one matrix product projects the
whole input of a layer. What remains for a step is one small product and a few pointwise ops.

Sequences of different lengths lie packed: row after row of the first step, then of the second, ..., longest sequence
first. `batch_sizes` says how many sequences take part in each step. A padded batch is the special case in which all do.

>>> from minitorch_compile.tensor import ones
>>> x, h, w = ones(3, 1, 2), ones(1, 1, 1), ones(1, 2)
>>> out, h_n = rnn_relu(x, h, [w, ones(1, 1)], False, 1, 0.0, False, False, False)
>>> out[:, 0, 0], h_n[0, 0, 0]                                # each step adds 1 + 1 to the state
(tensor([3., 5., 7.]), tensor(7.))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.op import Tensor
from minitorch_compile.tensor.ops.blending import addcmul
from minitorch_compile.tensor.ops.contraction import addmm, linear, mm
from minitorch_compile.tensor.ops.dropout import dropout
from minitorch_compile.tensor.ops.joining import cat, stack
from minitorch_compile.tensor.ops.pointwise import add, mul, relu, sigmoid, sub, tanh
from minitorch_compile.tensor.ops.reshaping import reshape
from minitorch_compile.tensor.ops.split_copy import split_with_sizes_copy
from minitorch_compile.tensor.ops.splitting import unbind
from minitorch_compile.tensor.ops.view import select, slice, t, transpose

State = tuple[Any, ...]  # (h,), or (h, c) of an LSTM: each (sequences, hidden)
Inputs = tuple[Any, ...]  # what the input contributes to a step: one product, or two for a GRU
Projection = Callable[[Any], Inputs]
Cell = Callable[[Inputs, State], State]  # from the state before to the state after

# ---------------------------------------------------------------------------------------- cells
#
# `_*_layer(weights)` prepares what all steps share: the projection of the input, and the function of one step.


class _Weights:
    """The parameters of one direction of one layer; biases and the projection may be None."""

    def __init__(self, parameters: Sequence[Any], has_biases: bool) -> None:
        rest = list(parameters)
        self.w_ih, self.w_hh = rest.pop(0), rest.pop(0)
        self.b_ih: Any = rest.pop(0) if has_biases else None
        self.b_hh: Any = rest.pop(0) if has_biases else None
        self.w_hr = rest.pop(0) if rest else None

    def both_biases(self) -> Any:
        return None if self.b_ih is None or self.b_hh is None else add(self.b_ih, self.b_hh)


def _elman(activation: Callable[[Any], Any]) -> Callable[[_Weights], tuple[Projection, Cell]]:
    """h' = activation(W_ih x + b_ih + W_hh h + b_hh)  (Elman 1990)."""

    def layer(w: _Weights) -> tuple[Projection, Cell]:
        bias, recurrent = w.both_biases(), t(w.w_hh)

        def step(x: Inputs, state: State) -> State:
            return (activation(addmm(x[0], state[0], recurrent)),)

        return lambda x: (linear(x, w.w_ih, bias),), step

    return layer


def _lstm(w: _Weights) -> tuple[Projection, Cell]:
    """Long short-term memory (Hochreiter and Schmidhuber 1997; with projection: Sak, Senior and Beaufays 2014).

    i, f, g, o = sigmoid, sigmoid, tanh, sigmoid of W_ih x + b_ih + W_hh h + b_hh;  c' = f c + i g;  h' = o tanh(c').
    """
    bias, recurrent = w.both_biases(), t(w.w_hh)
    project = None if w.w_hr is None else t(w.w_hr)

    def step(x: Inputs, state: State) -> State:
        h, c = state
        i, f, g, o = split_with_sizes_copy(addmm(x[0], h, recurrent), (c.sizes[1],) * 4, 1)
        c = addcmul(mul(sigmoid(f), c), sigmoid(i), tanh(g))
        h = mul(sigmoid(o), tanh(c))
        return (h if project is None else mm(h, project)), c

    return lambda x: (linear(x, w.w_ih, bias),), step


def _gru(w: _Weights) -> tuple[Projection, Cell]:
    """Gated recurrent unit (Cho et al. 2014), the reset gate applied after the product, as in cuDNN.

    r, z = sigmoid(W x + b + W' h + b');  n = tanh(W_n x + b_n + r (W'_n h + b'_n));  h' = n + z (h - n).
    """
    size = w.w_hh.sizes[1]
    parts = (2 * size, size)  # both gates; the new state
    bias, bias_new = (None, None) if w.b_ih is None else split_with_sizes_copy(w.b_ih, parts)
    bias_h, bias_h_new = (None, None) if w.b_hh is None else split_with_sizes_copy(w.b_hh, parts)
    bias = bias if bias_h is None else add(bias, bias_h)
    w_ih, w_ih_new = split_with_sizes_copy(w.w_ih, parts)
    w_hh, w_hh_new = (t(part) for part in split_with_sizes_copy(w.w_hh, parts))

    def step(x: Inputs, state: State) -> State:
        (x_gates, x_new), (h,) = x, state
        r, z = split_with_sizes_copy(sigmoid(addmm(x_gates, h, w_hh)), (size, size), 1)
        h_new = mm(h, w_hh_new) if bias_h_new is None else addmm(bias_h_new, h, w_hh_new)
        new = tanh(addcmul(x_new, r, h_new))
        return (addcmul(new, z, sub(h, new)),)

    return lambda x: (linear(x, w_ih, bias), linear(x, w_ih_new, bias_new)), step


# ---------------------------------------------------------------------------------------- the loop over time


def _forwards(
    step: Cell, inputs: Sequence[Inputs], batch_sizes: Sequence[int], state: State
) -> tuple[list[Any], State]:
    """The h of every step, and the last state of every sequence. A sequence that has ended leaves the batch."""
    outputs: list[Any] = []
    ended: list[State] = []
    for x, size in zip(inputs, batch_sizes, strict=True):
        if size < state[0].sizes[0]:
            ended.append(tuple(slice(s, 0, size, None) for s in state))
            state = tuple(slice(s, 0, 0, size) for s in state)
        state = step(x, state)
        outputs.append(state[0])
    if ended:  # the shortest sequence, which is the last of the batch, ended first
        state = tuple(cat(parts[::-1]) for parts in zip(*ended, state, strict=True))
    return outputs, state


def _backwards(
    step: Cell, inputs: Sequence[Inputs], batch_sizes: Sequence[int], first: State
) -> tuple[list[Any], State]:
    """The same from the last step to the first: a shorter sequence joins the batch where it ends."""
    outputs: list[Any] = []
    state = tuple(slice(s, 0, 0, batch_sizes[-1]) for s in first)
    for x, size in zip(inputs[::-1], batch_sizes[::-1], strict=True):
        present = state[0].sizes[0]
        if size > present:
            state = tuple(cat([s, slice(f, 0, present, size)]) for s, f in zip(state, first, strict=True))
        state = step(x, state)
        outputs.append(state[0])
    return outputs[::-1], state


class _Network:
    """Layers of loops over packed rows: (rows, input size) to (rows, directions * hidden size)."""

    def __init__(
        self, cell: Callable[[_Weights], Any], params: Sequence[Any], has_biases: bool, layers: int, bidirectional: bool
    ) -> None:
        self.cell = cell
        self.loops = (_forwards, _backwards)[: 1 + bidirectional]
        self.layers = layers
        count = len(params) // (layers * len(self.loops))
        if count * layers * len(self.loops) != len(params):
            raise RuntimeError(
                f"expected a list of the same number of weights for {layers} layers in {len(self.loops)} directions,"
                f" got {len(params)}"
            )
        self.weights = [_Weights(params[i : i + count], has_biases) for i in range(0, len(params), count)]

    def run(
        self, rows: Any, batch_sizes: Sequence[int], states: Sequence[Any], dropout_p: float, train: bool
    ) -> tuple[Any, list[Any]]:
        """The last layer's rows, and the final states: (layers * directions, sequences, size) each, as those given."""
        initial = list(zip(*(unbind(s) for s in states), strict=True))
        finals: list[State] = []
        for layer in range(self.layers):
            if layer:
                rows = dropout(rows, dropout_p, train)
            directions = []
            for direction, loop in enumerate(self.loops):
                place = layer * len(self.loops) + direction
                project, step = self.cell(self.weights[place])
                inputs = list(zip(*(split_with_sizes_copy(part, batch_sizes) for part in project(rows)), strict=True))
                outputs, final = loop(step, inputs, batch_sizes, initial[place])
                finals.append(final)
                directions.append(cat(outputs))
            rows = cat(directions, 1) if len(directions) > 1 else directions[0]
        return rows, [stack(parts) for parts in zip(*finals, strict=True)]


def _run(
    cell: Callable[[_Weights], Any],
    input: Any,
    states: Sequence[Any],
    params: Sequence[Any],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
    batch_sizes: Sequence[int] | None,
) -> tuple[Any, ...]:
    network = _Network(cell, params, has_biases, num_layers, bidirectional)
    if batch_sizes is not None:
        rows, finals = network.run(input, batch_sizes, states, dropout, train)
        return rows, *finals
    if batch_first:
        input = transpose(input, 0, 1)
    time, batch, features = input.sizes
    if time == 0:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    rows, finals = network.run(reshape(input, (time * batch, features)), (batch,) * time, states, dropout, train)
    out = reshape(rows, (time, batch, rows.sizes[1]))
    return transpose(out, 0, 1) if batch_first else out, *finals


# ---------------------------------------------------------------------------------------- what people call


@composite()
def rnn_tanh(
    input: Tensor,
    hx: Tensor,
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool = False,
    batch_sizes: Sequence[int] | None = None,
) -> Any:
    """(output, h_n) of layers of Elman cells with tanh. `params`: w_ih, w_hh(, b_ih, b_hh) of each layer and direction.

    input (time, batch, features), hx (layers * directions, batch, hidden). With `batch_sizes`, input is packed.
    """
    return _run(
        _elman(tanh),
        input,
        (hx,),
        params,
        has_biases,
        num_layers,
        dropout,
        train,
        bidirectional,
        batch_first,
        batch_sizes,
    )


@composite()
def rnn_relu(
    input: Tensor,
    hx: Tensor,
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool = False,
    batch_sizes: Sequence[int] | None = None,
) -> Any:
    """The same with relu."""
    return _run(
        _elman(relu),
        input,
        (hx,),
        params,
        has_biases,
        num_layers,
        dropout,
        train,
        bidirectional,
        batch_first,
        batch_sizes,
    )


@composite()
def gru(
    input: Tensor,
    hx: Tensor,
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool = False,
    batch_sizes: Sequence[int] | None = None,
) -> Any:
    """(output, h_n) of layers of gated recurrent units."""
    return _run(
        _gru, input, (hx,), params, has_biases, num_layers, dropout, train, bidirectional, batch_first, batch_sizes
    )


@composite()
def lstm(
    input: Tensor,
    hx: Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool = False,
    batch_sizes: Sequence[int] | None = None,
) -> Any:
    """(output, h_n, c_n) of layers of long short-term memories; hx is (h_0, c_0). A fifth weight w_hr projects h."""
    return _run(
        _lstm, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first, batch_sizes
    )


def _one_step(cell: Callable[[_Weights], Any], input: Any, state: State, *weights: Any) -> State:
    present = [w for w in weights if w is not None]
    project, step = cell(_Weights(present, len(present) == 4))
    if len(input.sizes) == 2:
        return step(project(input), state)
    new = step(project(reshape(input, (1, -1))), tuple(reshape(s, (1, -1)) for s in state))
    return tuple(select(s, 0, 0) for s in new)


@composite()
def rnn_tanh_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Any:
    """One step of an Elman cell with tanh: the new h. (batch, features), or without the batch."""
    return _one_step(_elman(tanh), input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


@composite()
def rnn_relu_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Any:
    """The same with relu."""
    return _one_step(_elman(relu), input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


@composite()
def gru_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Any:
    """One step of a gated recurrent unit: the new h."""
    # Not by _gru, which cuts the weights in two: that pays only over many steps.
    size, last = hx.sizes[-1], len(hx.sizes) - 1
    x_gates, x_new = split_with_sizes_copy(linear(input, w_ih, b_ih), (2 * size, size), last)
    h_gates, h_new = split_with_sizes_copy(linear(hx, w_hh, b_hh), (2 * size, size), last)
    r, z = split_with_sizes_copy(sigmoid(add(x_gates, h_gates)), (size, size), last)
    new = tanh(addcmul(x_new, r, h_new))
    return addcmul(new, z, sub(hx, new))


@composite()
def lstm_cell(
    input: Tensor,
    hx: Sequence[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Any:
    """One step of a long short-term memory: the new (h, c)."""
    return _one_step(_lstm, input, tuple(hx), w_ih, w_hh, b_ih, b_hh)
