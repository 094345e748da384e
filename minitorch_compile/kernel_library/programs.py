"""What is in the library: each operation as a program in ops over sizes that it doesn't know.

A program is what a call comes down to once its tensors lie in memory without gaps: `layer_norm` of any number of
dimensions is one of (rows, columns). The code generator traces it (`inductor/library_writer/`); the ops in it say what
it means. Gradients are the formulas of the table of derivatives.

>>> PROGRAMS["log_softmax_backward"].inputs
{'grad': ('rows', 'columns'), 'out': ('rows', 'columns')}
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from minitorch_compile.autograd.derivative_table import DERIVATIVES
from minitorch_compile.kernel_library import fused_channels, fused_elements  # noqa: F401 (they fill FUSED)
from minitorch_compile.kernel_library.activations import ACTIVATIONS
from minitorch_compile.kernel_library.fused import FUSED
from minitorch_compile.tensor import Tensor, ops

Function = Callable[..., Any]


class ProgramSource(NamedTuple):
    """`inputs`: the sizes of each tensor by their names. `numbers`: parameters that are floats. `sizes`: those names,
    in the order in which a call gives them. All tensors are float32."""

    function: Function
    sizes: tuple[str, ...]
    inputs: dict[str, tuple[str, ...]]
    numbers: tuple[str, ...]


PROGRAMS: dict[str, ProgramSource] = {}


def program(name: str, sizes: str, numbers: str = "", **inputs: str) -> Callable[[Function], Function]:
    """Registers the function below, which takes the tensors, then the numbers."""

    def register(function: Function) -> Function:
        shapes = {tensor: tuple(names.split()) for tensor, names in inputs.items()}
        PROGRAMS[name] = ProgramSource(function, tuple(sizes.split()), shapes, tuple(numbers.split()))
        return function

    return register


def gradients(op: Any, grad: Any, out: Any, *parameters: Any) -> tuple[Any, ...]:
    """The entries of a derivative, each computed."""
    entries = DERIVATIVES[op].formula(grad, out, *parameters)
    entries = entries if isinstance(entries, tuple) else (entries,)
    return tuple(entry() if callable(entry) else entry for entry in entries)


# ------------------------------------------------------------------------------------------------ normalisation

ROWS = {"x": "rows columns", "weight": "columns", "bias": "columns"}
STATISTICS = {"mean": "rows one", "rstd": "rows one"}


@program("layer_norm", "rows columns", "eps", **ROWS)
def _(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Any:
    return ops.native_layer_norm(x, tuple(x.sizes[1:]), weight, bias, eps)


@program("layer_norm_plain", "rows columns", "eps", x="rows columns")
def _(x: Tensor, eps: float) -> Any:
    return ops.native_layer_norm(x, tuple(x.sizes[1:]), None, None, eps)


@program("layer_norm_by_input", "rows columns", grad="rows columns", x="rows columns", weight="columns", **STATISTICS)
def _(grad: Tensor, x: Tensor, weight: Tensor, mean: Tensor, rstd: Tensor) -> Any:
    return _layer_norm_entries(grad, x, weight, mean, rstd)[0]()


@program("layer_norm_by_parameters", "rows columns", grad="rows columns", x="rows columns", **STATISTICS)
def _(grad: Tensor, x: Tensor, mean: Tensor, rstd: Tensor) -> Any:
    like = ops.sum(x, 0)
    entries = _layer_norm_entries(grad, x, like, mean, rstd)
    return entries[2](), entries[3]()


def _layer_norm_entries(grad: Tensor, x: Tensor, weight: Tensor, mean: Tensor, rstd: Tensor) -> Any:
    formula = DERIVATIVES[ops.native_layer_norm].formula
    return formula((grad, None, None), (None, mean, rstd), x, tuple(x.sizes[1:]), weight, weight, 0.0)


@program("rms_norm", "rows columns", "eps", x="rows columns", weight="columns")
def _(x: Tensor, weight: Tensor, eps: float) -> Any:
    return ops.rms_norm(x, tuple(x.sizes[1:]), weight, eps)


IMAGES = "samples channels area"
CHANNELS = {"weight": "channels", "bias": "channels"}


PIXELS = "pixels channels"  # of images that lie channels last; or samples that are no images


def _batch_norm(name: str, images: str, statistics: str) -> None:
    @program(name, images, "eps", x=images, **CHANNELS)
    def _(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Any:
        return ops.native_batch_norm(x, weight, bias, eps)

    two = {"mean": statistics, "variance": statistics}

    @program(f"{name}_backward", images, "eps", grad=images, x=images, weight="channels", **two)
    def _(grad: Tensor, x: Tensor, weight: Tensor, mean: Tensor, variance: Tensor, eps: float) -> Any:
        return gradients(ops.native_batch_norm, (grad, None, None), (None, mean, variance), x, weight, weight, eps)[:3]


_batch_norm("batch_norm", IMAGES, "one channels one")
_batch_norm("batch_norm_of_pixels", PIXELS, "one channels")


# ------------------------------------------------------------------------------------------------ softmax

MATRIX = "rows columns"


@program("softmax", MATRIX, x=MATRIX)
def _(x: Tensor) -> Any:
    return ops.softmax(x, 1)


@program("log_softmax", MATRIX, x=MATRIX)
def _(x: Tensor) -> Any:
    return ops.log_softmax(x, 1)


@program("softmax_backward", MATRIX, grad=MATRIX, out=MATRIX)
def _(grad: Tensor, out: Tensor) -> Any:
    return gradients(ops.softmax, grad, out, out, 1, None)[0]


@program("log_softmax_backward", MATRIX, grad=MATRIX, out=MATRIX)
def _(grad: Tensor, out: Tensor) -> Any:
    return gradients(ops.log_softmax, grad, out, out, 1, None)[0]


# ------------------------------------------------------------------------------------------------ elements


def _elementwise(name: str, function: Function, numbers: str = "") -> None:
    program(name, "elements", numbers, x="elements")(function)


def _by_input(name: str, op: Any, *options: Any, numbers: str = "") -> None:
    """The gradient of an op on elements whose formula needs its input, and these numbers."""
    program(f"{name}_backward", "elements", numbers, grad="elements", x="elements")(
        lambda grad, x, *given: gradients(op, grad, None, x, *options, *given)[0]
    )


def _by_output(name: str, op: Any) -> None:
    """The gradient of an op on elements whose formula needs its result."""
    program(f"{name}_backward", "elements", grad="elements", out="elements")(
        lambda grad, out: gradients(op, grad, out, out)[0]
    )


for _name, _op, _options in (
    ("gelu", ops.gelu, ("none",)),
    ("tanh_gelu", ops.gelu, ("tanh",)),
):
    _elementwise(_name, lambda x, op=_op, options=_options: op(x, *options))
    _by_input(_name, _op, *_options)

for _op, _numbers in ACTIVATIONS.items():
    _elementwise(_op.name, _op, _numbers)
    _by_input(_op.name, _op, numbers=_numbers)


@program("elu", "elements", "below scale steep", x="elements")
def _(x: Tensor, below: float, scale: float, steep: float) -> Any:
    """elu, told the products of its numbers, which a kernel doesn't multiply: `below` = alpha * scale."""
    return ops.where(x <= 0, ops.expm1(ops.where(x <= 0, x, 0.0) * steep) * below, x * scale)


@program("elu_backward", "elements", "slope scale steep", grad="elements", x="elements")
def _(grad: Tensor, x: Tensor, slope: float, scale: float, steep: float) -> Any:
    """`slope` = alpha * scale * steep."""
    return grad * ops.where(x <= 0, ops.exp(ops.where(x < 0, x, 0.0) * steep) * slope, scale)


for _op in (ops.erf, ops.sigmoid):
    _elementwise(_op.name, _op)

for _op in (ops.relu, ops.sigmoid, ops.tanh):
    _by_output(_op.name, _op)

# ------------------------------------------------------------------------------------------------ cells

# What the input, and the state before, contribute to the gates.
FOUR_GATES = {"x": "rows four columns", "h": "rows four columns"}
THREE_GATES = {"x": "rows three columns", "h": "rows three columns"}


@program("lstm_cell", MATRIX, **FOUR_GATES, c=MATRIX)
def _(x: Tensor, h: Tensor, c: Tensor) -> Any:
    """The gates, the new c's tanh, the new c, the new h."""
    i, f, g, o = ops.unbind(x + h, 1)
    i, f, g, o = ops.sigmoid(i), ops.sigmoid(f), ops.tanh(g), ops.sigmoid(o)
    c = f * c + i * g
    squashed = ops.tanh(c)
    return i, f, g, o, squashed, c, o * squashed


ARRIVING = {"upper": MATRIX, "by_h": MATRIX}  # what arrives at h: their sum


@program("lstm_cell_backward", MATRIX, **ARRIVING, by_c=MATRIX, **dict.fromkeys(("i", "f", "g", "o", "s", "c"), MATRIX))
def _(upper: Any, by_h: Any, by_c: Any, *kept: Any) -> Any:
    """The gradients of the gates before they were squashed, and of c."""
    i, f, g, o, squashed, c = kept
    by_h = upper + by_h
    by_c = by_c + gradients(ops.tanh, by_h * o, squashed, c)[0]
    by_gates = (
        gradients(ops.sigmoid, by_c * g, i, i)[0],
        gradients(ops.sigmoid, by_c * c, f, f)[0],
        gradients(ops.tanh, by_c * i, g, g)[0],
        gradients(ops.sigmoid, by_h * squashed, o, o)[0],
    )
    return ops.stack(by_gates, 1), by_c * f


@program("gru_cell", MATRIX, **THREE_GATES, bias="columns", before=MATRIX)
def _(x: Tensor, h: Tensor, bias: Tensor, before: Tensor) -> Any:
    """The gates, what of the new state's gate the first of them is multiplied with, the new h."""
    r, z, _ = ops.unbind(ops.sigmoid(x + h), 1)
    by_state = h[:, 2] + bias
    new = ops.tanh(x[:, 2] + r * by_state)
    return r, z, new, by_state, new + z * (before - new)


@program(
    "gru_cell_backward", MATRIX, **ARRIVING, direct=MATRIX, **dict.fromkeys(("r", "z", "n", "s", "before"), MATRIX)
)
def _(upper: Any, by_h: Any, direct: Any, *kept: Any) -> Any:
    """The gradients of what the input and the state contributed to the gates, and of the state as far as it was mixed
    into the new one: in the step before it arrives at h as `direct`."""
    r, z, new, by_state, before = kept
    by_h = upper + by_h + direct
    by_new = gradients(ops.tanh, by_h * (1 - z), new, new)[0]
    gates = (
        gradients(ops.sigmoid, by_new * by_state, r, r)[0],
        gradients(ops.sigmoid, by_h * (before - new), z, z)[0],
    )
    return ops.stack((*gates, by_new), 1), ops.stack((*gates, by_new * r), 1), by_h * z


def _elman_cell(name: str, op: Any) -> None:
    program(f"{name}_cell", "elements", x="elements", h="elements")(lambda x, h: op(x + h))
    program(f"{name}_cell_backward", "elements", upper="elements", by_h="elements", out="elements")(
        lambda upper, by_h, out: gradients(op, upper + by_h, out, out)[0]
    )


_elman_cell("tanh", ops.tanh)
_elman_cell("relu", ops.relu)


# ------------------------------------------------------------------------------------------------ sums


@program("sum_of_rows", MATRIX, x=MATRIX)
def _(x: Tensor) -> Any:
    return ops.sum(x, 1)


@program("cumsum_of_rows", MATRIX, x=MATRIX)
def _(x: Tensor) -> Any:
    return ops.cumsum(x, 1)


@program("cumsum_of_columns", MATRIX, x=MATRIX)
def _(x: Tensor) -> Any:
    return ops.cumsum(x, 0)


# ------------------------------------------------------------------------------------------------ fused functions

for _name, _row in FUSED.items():
    _sizes, _inputs = " ".join(_row.size_names), {tensor: " ".join(names) for tensor, names in _row.inputs.items()}
    program(_name, _sizes, _row.numbers, **_inputs)(_row.formula)
    program(f"{_name}_backward", _sizes, _row.numbers, **{"upper": next(iter(_inputs.values())), **_inputs})(
        _row.slopes
    )
