"""How prims become calls of NVIDIA's libraries: lowerings that a GPU has instead of those that all targets share.

A rule that answers None leaves the call to the others: products of integers are loops, as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from minitorch_compile import prims
from minitorch_compile.cuda_runtime.cublas_lt import TYPES
from minitorch_compile.inductor.device_calls.attention_rules import attention_rules
from minitorch_compile.inductor.device_calls.convolution_rules import convolution_rules
from minitorch_compile.inductor.device_calls.cudnn_rules import cudnn_rules
from minitorch_compile.inductor.device_calls.extern_launches import reach
from minitorch_compile.inductor.device_calls.libraries import Libraries
from minitorch_compile.inductor.device_calls.library_epilogues import sum_rule, with_library_epilogues
from minitorch_compile.inductor.device_calls.one_op_graph import NoKernelError
from minitorch_compile.inductor.device_calls.product_launches import LINE_STEP, layout
from minitorch_compile.inductor.device_calls.solver_rules import solver_rules
from minitorch_compile.inductor.ir.buffer import Ints
from minitorch_compile.inductor.ir.loops import LoopGraph, TensorBox
from minitorch_compile.inductor.lowering.extern import matrix
from minitorch_compile.inductor.lowering.graph_lowering import GraphLowering
from minitorch_compile.inductor.lowering.half_precision import HALF
from minitorch_compile.inductor.lowering.stored_views import contiguous_view, stored_view
from minitorch_compile.inductor.lowering.table import Rule
from minitorch_compile.prims import Prim
from minitorch_compile.tensor.numerics.dtype import float32, float64
from minitorch_compile.tensor.tensor_base import empty_fake

TRANSFORMS = (prims.fft_c2c, prims.fft_r2c, prims.fft_c2r)


def library_rules(libraries: Libraries, in_graphs: bool = False) -> Mapping[str, Rule]:
    """The rules for what is there, and for what we make products of. `in_graphs`: not for single operations."""
    rules = convolution_rules(knows_half=libraries.products is not None)
    rules.update(cudnn_rules(libraries, rules))
    products = (prims.mm, prims.bmm)
    if libraries.products is not None:
        rules.update({prim.name: product_rule(prim) for prim in products})
        rules["add"] = sum_rule
    elif libraries.has_tensor_cores:
        rules.update({prim.name: tensor_core_rule(prim) for prim in products})
    rules.update({prim.name: transform_rule(prim, libraries) for prim in TRANSFORMS})
    rules.update(solver_rules(libraries))
    rules.update(attention_rules(libraries, in_graphs))
    return rules


def merging(libraries: Libraries, to_the_end: bool = False) -> Callable[[LoopGraph], LoopGraph]:
    """What makes one call of a product and the loop behind it, where cuBLASLt computes both. `to_the_end`: only where
    no other loop follows."""
    if libraries.products is None:
        return lambda graph: graph
    return partial(with_library_epilogues, to_the_end=to_the_end)


def product_rule(prim: Prim) -> Callable[..., TensorBox | None]:
    """Of floating and complex numbers, of two bytes, too: cuBLASLt adds them up in float32."""

    def rule(graph: GraphLowering, a: TensorBox, b: TensorBox) -> TensorBox | None:
        if a.dtype.name not in TYPES or a.sizes[-1] == 0:
            return None
        out = graph.new_buffer((*a.sizes[:-1], b.sizes[-1]), a.dtype)
        (result,) = graph.extern(prim.name, [matrix(graph, a), matrix(graph, b)], [out])
        return result

    return rule


def tensor_core_rule(prim: Prim) -> Callable[..., TensorBox | None]:
    """Of floats of two bytes, by a kernel of ours: which reads 16 bytes at once of factors as they lie, or copied."""

    def rule(graph: GraphLowering, a: TensorBox, b: TensorBox) -> TensorBox | None:
        sizes = (*a.sizes[:-1], b.sizes[-1])
        if a.dtype not in HALF or 0 in (*a.sizes, *sizes) or any(n % LINE_STEP for n in (a.sizes[-1], b.sizes[-1])):
            return None
        views = [matrix(graph, x) for x in (a, b)]
        views = [view if layout(view) else contiguous_view(graph, x) for view, x in zip(views, (a, b))]
        (result,) = graph.extern(prim.name, views, [graph.new_buffer(sizes, a.dtype)])
        return result

    return rule


def transform_rule(prim: Prim, libraries: Libraries) -> Callable[..., TensorBox]:
    """Of tensors as they lie, but for dimensions of which one element stands for all."""

    def rule(graph: GraphLowering, x: TensorBox, dims: Ints, *how: Any) -> TensorBox:
        if libraries.transforms is None:
            raise NoKernelError("cuFFT isn't there")
        if x.dtype.to_real() not in (float32, float64):
            raise NoKernelError(f"cuFFT is asked for float32 and float64, not {x.dtype}")
        view = stored_view(graph, x)
        if any(size > 1 and stride < 1 for size, stride in zip(view.sizes, view.strides)):
            view = contiguous_view(graph, x)
        meant = prim.meta(empty_fake(x.sizes, None, x.dtype), dims, *how)
        outputs = [graph.new_buffer(tuple(meant.sizes), meant.dtype)]
        if prim is prims.fft_c2r:  # whose last pass destroys what it reads
            spanned = (reach(view)[0],)
            outputs.append(graph.new_buffer(x.sizes if len(dims) > 1 else spanned, x.dtype))
        return graph.extern(prim.name, [view], outputs, dims, *how)[0]

    return rule
