"""Convolutions and their gradients as calls of cuDNN, where it has an algorithm; else what `otherwise` makes of them.

cuDNN reads and writes tensors as they lie, row-major or with channels last: these last if one of the operands has them
so, as in PyTorch. What lies in another way is copied first.

>>> how = (1, 1), (0, 0), (1, 1)
>>> convolution_of("forward", "float32", (1, 3, 8, 8), (4, 3, 3, 3), (1, 4, 6, 6), last=True, how=how)
Convolution(kind='forward', element='float32', image=Layout(sizes=(1, 3, 8, 8), strides=(192, 1, 24, 3)), \
filters=Layout(sizes=(4, 3, 3, 3), strides=(27, 1, 9, 3)), out=Layout(sizes=(1, 4, 6, 6), strides=(144, 1, 24, 4)), \
stride=(1, 1), padding=(0, 0), dilation=(1, 1))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from minitorch_compile import prims
from minitorch_compile.cuda_runtime.cudnn import TYPES, Convolution, Kind, Layout
from minitorch_compile.inductor.device_calls.convolution_rules import is_channels_last, result_sizes
from minitorch_compile.inductor.device_calls.libraries import Libraries, convolution_switches
from minitorch_compile.inductor.ir.buffer import Ints
from minitorch_compile.inductor.ir.loops import TensorBox
from minitorch_compile.inductor.lowering.graph_lowering import GraphLowering
from minitorch_compile.inductor.lowering.stored_views import dense_view, stored_view
from minitorch_compile.inductor.lowering.table import Rule
from minitorch_compile.prims import Prim
from minitorch_compile.tensor.memory.memory_format import channels_last, strides_in
from minitorch_compile.tensor.memory.strides import contiguous_strides

CALL = "cudnn_convolution"
KINDS: dict[Prim, Kind] = {
    prims.convolution: "forward",
    prims.convolution_input_grad: "input gradient",
    prims.convolution_weight_grad: "filter gradient",
}


def cudnn_rules(libraries: Libraries, otherwise: Mapping[str, Rule]) -> dict[str, Rule]:
    """The rules of the three prims."""
    return {prim.name: _rule(prim, libraries, otherwise[prim.name]) for prim in KINDS}


def _rule(prim: Prim, libraries: Libraries, otherwise: Rule) -> Rule:
    def rule(graph: GraphLowering, first: TensorBox, second: TensorBox, *how: Any) -> Any:
        library = libraries.convolutions
        sizes = result_sizes(prim, first, second, how)
        if library is None or first.dtype.name not in TYPES or 0 in (*first.sizes, *second.sizes, *sizes):
            return otherwise(graph, first, second, *how)
        last = any(is_channels_last(stored_view(graph, box)) for box in (first, second))
        operands = _in_order(KINDS[prim], first.sizes, second.sizes, sizes)
        described = convolution_of(KINDS[prim], first.dtype.name, *operands, last=last, how=how[-4:-1])
        if not library.computes(described, convolution_switches(), libraries.runtime.current_stream()):
            return otherwise(graph, first, second, *how)
        views = [dense_view(graph, box, _strides(box.sizes, last)) for box in (first, second)]
        (result,) = graph.extern(CALL, views, [graph.new_buffer(sizes, first.dtype, _strides(sizes, last))], described)
        return result

    return rule


def _in_order(kind: Kind, first: Ints, second: Ints, result: Ints) -> tuple[Ints, Ints, Ints]:
    """The sizes of image, filters and out, from those of a prim's operands and of its result."""
    if kind == "forward":
        return first, second, result
    return (result, second, first) if kind == "input gradient" else (second, result, first)


def convolution_of(
    kind: Kind, element: str, image: Ints, filters: Ints, out: Ints, *, last: bool, how: Sequence[Any]
) -> Convolution:
    """A convolution of dense tensors; `how`: stride, padding and dilation."""
    x, w, y = (Layout(tuple(sizes), _strides(sizes, last)) for sizes in (image, filters, out))
    stride, padding, dilation = (tuple(pair) for pair in how)
    return Convolution(kind, element, x, w, y, stride, padding, dilation)


def _strides(sizes: Ints, last: bool) -> Ints:
    return strides_in(channels_last, sizes) if last else contiguous_strides(tuple(sizes))
