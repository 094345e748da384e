"""How the wrapper calls each extern kernel: the line of source, the names it imports, the scratch memory it needs.

The arguments of a line are the pointers of inputs and outputs, already moved to a view's offset, and numbers.

>>> from minitorch_compile.inductor.ir import Buffer, ExternCall, StridedView
>>> from minitorch_compile.tensor.dtype import float32
>>> a, b = Buffer.contiguous("a", (4, 8), float32), Buffer.contiguous("b", (5, 8), float32)
>>> out = Buffer.contiguous("out", (4, 5), float32)
>>> transposed = StridedView(b, (8, 5), (1, 8))
>>> call = ExternCall("mm", [StridedView(a, (4, 8), (8, 1)), transposed], [out])
>>> source_of(call, ["a", "b", "out"], "").lines
['gemm(False, True, 4, 5, 8, a, 8, b, 8, 0.0, out, 5)']
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from minitorch_compile.inductor.extern import convolution, pooling
from minitorch_compile.inductor.ir import ExternCall, matrix_layout
from minitorch_compile.tensor.strides import numel


class ExternSource(NamedTuple):
    """Lines for the wrapper's body, and definitions for the top of the file."""

    lines: list[str]
    definitions: Sequence[str] = ()


Rule = Callable[[ExternCall, Sequence[str], str], ExternSource]
_rules: dict[str, Rule] = {}


def extern_source(*kernels: str) -> Callable[[Rule], Rule]:
    def declare(rule: Rule) -> Rule:
        _rules.update(dict.fromkeys(kernels, rule))
        return rule

    return declare


def source_of(call: ExternCall, pointers: Sequence[str], workspace: str) -> ExternSource:
    """The source of one call. `pointers` are the texts for inputs, then outputs."""
    return _rules[call.kernel](call, pointers, workspace)


def workspace_bytes(call: ExternCall) -> int:
    """The scratch memory that a call needs."""
    if call.kernel not in convolution.KERNELS:
        return 0
    return convolution.workspace_elements(_convolution_shape(call)) * call.outputs[0].dtype.itemsize


# ------------------------------------------------------------------------------------------ matrix products


def _gemm(call: ExternCall, pointers: Sequence[str]) -> str:
    a, b = call.inputs
    (rows, inner), columns = a.sizes[-2:], b.sizes[-1]
    first_layout, second_layout = matrix_layout(a), matrix_layout(b)
    assert first_layout and second_layout, "lowering makes matrices that BLAS can read"
    (turned_a, step_a), (turned_b, step_b) = first_layout, second_layout
    first, second, out = pointers
    return (
        f"gemm({turned_a}, {turned_b}, {rows}, {columns}, {inner},"
        f" {first}, {step_a}, {second}, {step_b}, 0.0, {out}, {columns})"
    )


@extern_source("mm")
def _(call: ExternCall, pointers: Sequence[str], workspace: str) -> ExternSource:
    return ExternSource([_gemm(call, pointers)])


@extern_source("bmm")
def _(call: ExternCall, pointers: Sequence[str], workspace: str) -> ExternSource:
    a, b = call.inputs
    steps = [a.strides[0], b.strides[0], numel(call.outputs[0].sizes[1:])]
    moved = [f"advance({pointer}, n * {step})" for pointer, step in zip(pointers, steps)]
    return ExternSource([f"for n in range({a.sizes[0]}):", f"    {_gemm(call, moved)}"])


# ------------------------------------------------------------------------------------------ images


def _convolution_shape(call: ExternCall) -> tuple[int, ...]:
    first, second, out = call.inputs[0].sizes, call.inputs[1].sizes, call.outputs[0].sizes
    if call.kernel == "convolution":
        x, w, y = first, second, out
    elif call.kernel == "convolution_input_grad":
        x, w, y = out, second, first
    else:
        x, w, y = second, out, first
    stride, padding, dilation, groups = call.parameters[-4:]
    return convolution.shape_of(tuple(x), tuple(w), tuple(y), stride, padding, dilation, groups)


@extern_source(*convolution.KERNELS)
def _(call: ExternCall, pointers: Sequence[str], workspace: str) -> ExternSource:
    name = f"{call.kernel}_{call.outputs[0].dtype.name}"
    columns = workspace or pointers[-1]  # a kernel that unfolds nothing is never handed real scratch memory
    return ExternSource(
        [f"{name}({', '.join(pointers)}, {columns}, integers({_convolution_shape(call)}))"],
        [f'{name} = convolution_kernel("{call.kernel}", "{call.outputs[0].dtype.name}")'],
    )


@extern_source("max_pool2d")
def _(call: ExternCall, pointers: Sequence[str], workspace: str) -> ExternSource:
    kernel, stride, padding, dilation, _ = call.parameters
    shape = pooling.shape_of(call.inputs[0].sizes, call.outputs[0].sizes, kernel, stride, padding, dilation)
    name = f"max_pool2d_{call.outputs[0].dtype.name}"
    return ExternSource(
        [f"{name}({', '.join(pointers)}, integers({shape}))"],
        [f'{name} = max_pool_kernel("{call.outputs[0].dtype.name}")'],
    )


@extern_source("max_pool2d_backward")
def _(call: ExternCall, pointers: Sequence[str], workspace: str) -> ExternSource:
    sizes, places = call.outputs[0].sizes, numel(call.inputs[0].sizes[2:])
    name = f"max_pool2d_backward_{call.outputs[0].dtype.name}"
    return ExternSource(
        [f"{name}({', '.join(pointers)}, {numel(sizes[:2])}, {places}, {numel(sizes[2:])})"],
        [f'{name} = max_pool_backward_kernel("{call.outputs[0].dtype.name}")'],
    )
