"""Recurrent networks, and their cells for one step.

>>> from minitorch_compile import nn, zeros
>>> lstm = nn.LSTM(input_size=3, hidden_size=4, num_layers=2, bidirectional=True)
>>> output, (h_n, c_n) = lstm(zeros(5, 2, 3))                            # (time, batch, features)
>>> output.shape, h_n.shape
(torch.Size([5, 2, 8]), torch.Size([4, 2, 4]))
>>> lstm
LSTM(3, 4, num_layers=2, bidirectional=True)
"""

from __future__ import annotations

import math
import numbers
from typing import Any

from minitorch_compile.control import disable
from minitorch_compile.nn import init
from minitorch_compile.nn.module import Module
from minitorch_compile.nn.parameter import Parameter
from minitorch_compile.nn.utils.rnn import PackedSequence
from minitorch_compile.tensor import Tensor, empty, ops
from minitorch_compile.user_warnings import warn_user

GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
OPS: dict[str, Any] = {"LSTM": ops.lstm, "GRU": ops.gru, "RNN_TANH": ops.rnn_tanh, "RNN_RELU": ops.rnn_relu}
# A compiled graph has every step written out. That is fast to run, but compiling takes a quarter of a second for each
# step: beyond this many, a compiled program breaks its graph and runs the layer as it is.
MOST_STEPS_COMPILED = 100
OPS_NOT_COMPILED = {mode: disable(op, reason="a recurrent layer over many steps") for mode, op in OPS.items()}


class RNNBase(Module):
    """Layers of recurrent cells over sequences.

    The input is (time, batch, features), or (batch, time, features) with `batch_first`, or one sequence (time,
    features), or a PackedSequence. The parameters of layer k are `weight_ih_l{k}`, `weight_hh_l{k}`, `bias_ih_l{k}`,
    `bias_hh_l{k}` and, with a projection, `weight_hr_l{k}`; `_reverse` is added for the direction back in time.

    Compiled, a layer is part of the graph unless the sequence is long (`MOST_STEPS_COMPILED`).
    """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = dropout
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._check_arguments()
        self._flat_weights_names: list[str] = []
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for suffix in (f"_l{layer}", f"_l{layer}_reverse")[: self._num_directions]:
                self._add_weights(layer, suffix, device, dtype)
        self.reset_parameters()

    def _check_arguments(self) -> None:
        if not isinstance(self.dropout, numbers.Number) or isinstance(self.dropout, bool) or not 0 <= self.dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if self.dropout > 0 and self.num_layers == 1:
            warn_user(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers"
                f" greater than 1, but got dropout={self.dropout} and num_layers={self.num_layers}"
            )
        if not isinstance(self.hidden_size, int):
            raise TypeError(f"hidden_size should be of type int, got: {type(self.hidden_size).__name__}")
        if self.hidden_size <= 0:
            raise ValueError("hidden_size must be greater than zero")
        if self.num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if self.proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")

    @property
    def _num_directions(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def _output_size(self) -> int:
        """The size of h: what a direction gives."""
        return self.proj_size or self.hidden_size

    def _add_weights(self, layer: int, suffix: str, device: Any, dtype: Any) -> None:
        gates = GATES[self.mode] * self.hidden_size
        inputs = self.input_size if layer == 0 else self._output_size * self._num_directions
        sizes: dict[str, tuple[int, ...]] = {
            "weight_ih": (gates, inputs),
            "weight_hh": (gates, self._output_size),
        }
        if self.bias:
            sizes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
        if self.proj_size:
            sizes["weight_hr"] = (self.proj_size, self.hidden_size)
        names = [name + suffix for name in sizes]
        for name, size in zip(names, sizes.values(), strict=True):
            self.register_parameter(name, Parameter(empty(size, device=device, dtype=dtype)))
        self._flat_weights_names += names
        self._all_weights.append(names)

    def reset_parameters(self) -> None:
        """All uniform in +-1/sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """Does nothing: PyTorch lays the weights out anew here for cuDNN, which is not used."""

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights(self) -> list[Any]:
        return [getattr(self, name) for name in self._flat_weights_names]

    # -------------------------------------------------------------------------------------------- calling

    def _run(self, input: Any, hx: Any, batch_sizes: Any) -> tuple[Any, ...]:
        """The output and the final states, each (layers * directions, batch, size)."""
        steps = input.shape[1 if self.batch_first else 0] if batch_sizes is None else len(batch_sizes)
        op = (OPS if steps <= MOST_STEPS_COMPILED else OPS_NOT_COMPILED)[self.mode]
        return op(
            input,
            hx,
            self._flat_weights,
            self.bias,
            self.num_layers,
            float(self.dropout),
            self.training,
            self.bidirectional,
            self.batch_first,
            batch_sizes,
        )

    def _state_sizes(self, batch: int) -> list[tuple[int, ...]]:
        """The sizes of each of the states."""
        return [(self.num_layers * self._num_directions, batch, self._output_size)]

    def _states(self, hx: Any) -> tuple[Any, ...]:
        """hx as a tuple of states, and the other way round: here there is one."""
        return (hx,)

    def _joined(self, states: Any) -> Any:
        return states[0]

    def _kept_in_order(self, states: Any, order: Any) -> tuple[Any, ...]:
        """The states with their sequences in another order."""
        return tuple(states) if order is None else tuple(ops.index_select(s, 1, order) for s in states)

    def forward(self, input: Any, hx: Any = None) -> Any:
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.dim() not in (2, 3):
            raise ValueError(f"{self._get_name()}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        batched = input.dim() == 3
        time_batch = input if batched else ops.unsqueeze(input, 0 if self.batch_first else 1)
        batch = time_batch.shape[0 if self.batch_first else 1]
        if hx is None:
            states = self._zeros(time_batch, batch)
        else:
            states = self._states(hx)
            self._check_dims(states, batched)
            states = states if batched else tuple(ops.unsqueeze(s, 1) for s in states)
        self._check_forward(time_batch, states, batch)
        output, *finals = self._run(time_batch, self._joined(states), None)
        if not batched:
            output = ops.squeeze(output, 0 if self.batch_first else 1)
            finals = [ops.squeeze(s, 1) for s in finals]
        return output, self._joined(finals)

    def _forward_packed(self, packed: PackedSequence, hx: Any) -> Any:
        batch_sizes = packed.batch_sizes.tolist()
        batch = batch_sizes[0]
        if hx is None:
            states = self._zeros(packed.data, batch)
        else:
            states = self._kept_in_order(self._states(hx), packed.sorted_indices)
        self._check_forward(packed.data, states, batch)
        data, *finals = self._run(packed.data, self._joined(states), batch_sizes)
        output = PackedSequence(data, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices)
        return output, self._joined(self._kept_in_order(finals, packed.unsorted_indices))

    def _zeros(self, input: Any, batch: int) -> tuple[Any, ...]:
        return tuple(ops.zeros(size, dtype=input.dtype, device=input.device) for size in self._state_sizes(batch))

    # -------------------------------------------------------------------------------------------- checks

    def _check_dims(self, states: tuple[Any, ...], batched: bool) -> None:
        wanted = 3 if batched else 2
        if any(s.dim() != wanted for s in states):
            kind = "batched 3-D" if batched else "unbatched 2-D"
            raise RuntimeError(
                f"For {kind} input, hx should also be {wanted}-D but got {states[0].dim()}-D tensor"
                if len(states) == 1
                else f"For {kind} input, hx and cx should also be {wanted}-D but got ({states[0].dim()}-D,"
                f" {states[1].dim()}-D) tensors"
            )

    def _check_forward(self, input: Any, states: tuple[Any, ...], batch: int) -> None:
        weight = self._flat_weights[0]
        if input.dtype != weight.dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). Convert input:"
                f" input.to({weight.dtype}), or convert model: model.to({input.dtype})"
            )
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.shape[-1]}"
            )
        for i, (state, size) in enumerate(zip(states, self._state_sizes(batch), strict=True)):
            if tuple(state.shape) != size:
                which = "hidden" if len(states) == 1 else f"hidden[{i}]"
                raise RuntimeError(f"Expected {which} size {size}, got {list(state.shape)}")

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        defaults = {
            "proj_size": 0,
            "num_layers": 1,
            "bias": True,
            "batch_first": False,
            "dropout": 0,
            "bidirectional": False,
        }
        changed = [(name, getattr(self, name)) for name, default in defaults.items() if getattr(self, name) != default]
        return text + "".join(f", {name}={value}" for name, value in changed)


class RNN(RNNBase):
    """Elman networks: h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu. Gives (output, h_n).

    `input_size`, `hidden_size`: how long x and h are; `num_layers`: one above the other; `nonlinearity`: "tanh" or
    "relu". `args`, `kwargs`: bias, batch_first (batch before time), dropout (between layers), bidirectional.

    >>> output, h_n = torch.nn.RNN(4, 3)(torch.zeros(5, 2, 4))
    >>> output.shape, h_n.shape
    (torch.Size([5, 2, 3]), torch.Size([1, 2, 3]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        *args: Any,
        **kwargs: Any,
    ) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", input_size, hidden_size, num_layers, *args, **kwargs)
        self.nonlinearity = nonlinearity


class GRU(RNNBase):
    """Gated recurrent units: r, z = sigmoid(..), n = tanh(W x + r (W h)), h' = (1 - z) n + z h. Gives (output, h_n).

    `args` are input_size, hidden_size and num_layers; `kwargs` those and bias, batch_first (batch before time), dropout
    (between layers), bidirectional.

    >>> output, h_n = torch.nn.GRU(4, 3, batch_first=True)(torch.zeros(2, 5, 4))
    >>> output.shape, h_n.shape
    (torch.Size([2, 5, 3]), torch.Size([1, 2, 3]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


class LSTM(RNNBase):
    """Long short-term memory: c' = f c + i g, h' = o tanh(c'). Gives (output, (h_n, c_n)).

    `proj_size`: h is projected to that size.

    `args` are input_size, hidden_size and num_layers; `kwargs` those and bias, batch_first (batch before time), dropout
    (between layers), bidirectional, proj_size.

    >>> output, (h_n, c_n) = torch.nn.LSTM(4, 3, batch_first=True)(torch.zeros(2, 5, 4))
    >>> output.shape, h_n.shape, c_n.shape
    (torch.Size([2, 5, 3]), torch.Size([1, 2, 3]), torch.Size([1, 2, 3]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def _state_sizes(self, batch: int) -> list[tuple[int, ...]]:
        layers = self.num_layers * self._num_directions
        return [(layers, batch, self._output_size), (layers, batch, self.hidden_size)]

    def _states(self, hx: Any) -> tuple[Any, ...]:
        return hx[0], hx[1]

    def _joined(self, states: Any) -> Any:
        return tuple(states)


# ---------------------------------------------------------------------------------------- cells


class RNNCellBase(Module):
    """One step of a recurrent layer on (batch, features), or on (features,)."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(empty((rows, hidden_size), device=device, dtype=dtype))
        self.register_parameter("bias_ih", Parameter(empty(rows, device=device, dtype=dtype)) if bias else None)
        self.register_parameter("bias_hh", Parameter(empty(rows, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """All uniform in +-1/sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _checked(self, input: Any, states: Any) -> tuple[Any, ...]:
        """The states, zeros if none are given. RuntimeError if sizes don't fit, ValueError for too many dimensions."""
        for name, x in (("input", input), *(("hidden", s) for s in states or ())):
            if x.dim() not in (1, 2):
                raise ValueError(f"{self._get_name()}: Expected {name} to be 1D or 2D, got {x.dim()}D instead")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {input.shape[-1]} expected {self.input_size}")
        batch = tuple(input.shape[:-1])
        if states is None:
            count = 2 if isinstance(self, LSTMCell) else 1
            return tuple(ops.zeros((*batch, self.hidden_size), dtype=input.dtype) for _ in range(count))
        for i, state in enumerate(states):
            if state.shape[-1] != self.hidden_size:
                raise RuntimeError(
                    f"hidden{i} has inconsistent hidden_size: got {state.shape[-1]}, expected {self.hidden_size}"
                )
            if tuple(state.shape[:-1]) != batch:
                raise RuntimeError(
                    f"Input batch size {_count(batch)} doesn't match hidden{i} batch size {_count(state.shape[:-1])}"
                )
        return tuple(states)

    def _weights(self) -> tuple[Any, ...]:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text


def _count(batch: tuple[int, ...]) -> int | str:
    return batch[0] if batch else "none"


class RNNCell(RNNCellBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Any:
        (state,) = self._checked(input, None if hx is None else (hx,))
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        op = ops.rnn_tanh_cell if self.nonlinearity == "tanh" else ops.rnn_relu_cell
        return op(input, state, *self._weights())


class LSTMCell(RNNCellBase):
    """One step of an LSTM: (h', c') from the input and (h, c)."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Any, Any]:
        return ops.lstm_cell(input, self._checked(input, hx), *self._weights())


class GRUCell(RNNCellBase):
    """One step of a GRU: h' from the input and h."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Any:
        (state,) = self._checked(input, None if hx is None else (hx,))
        return ops.gru_cell(input, state, *self._weights())
