"""How prims become calls of NVIDIA's libraries: lowerings that a GPU has instead of those that all targets share.

A rule that answers None leaves the call to the others: products of integers are loops, as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from minitorch_compile import prims
from minitorch_compile.cuda_runtime.cublas_lt import TYPES
from minitorch_compile.inductor.device_calls.convolution_rules import convolution_rules
from minitorch_compile.inductor.device_calls.libraries import Libraries
from minitorch_compile.inductor.device_calls.one_op_graph import NoKernelError
from minitorch_compile.inductor.ir.loops import TensorBox
from minitorch_compile.inductor.lowering.extern import matrix
from minitorch_compile.inductor.lowering.graph_lowering import GraphLowering
from minitorch_compile.inductor.lowering.table import Rule
from minitorch_compile.prims import Prim


def library_rules(libraries: Libraries) -> Mapping[str, Rule]:
    """The rules for what is there, and for what we make products of."""
    rules = convolution_rules(knows_half=libraries.products is not None)
    if libraries.products is not None:
        rules.update({prim.name: product_rule(prim) for prim in (prims.mm, prims.bmm)})
    return rules


def product_rule(prim: Prim) -> Callable[..., TensorBox | None]:
    """Of floating and complex numbers, of two bytes, too: cuBLASLt adds them up in float32."""

    def rule(graph: GraphLowering, a: TensorBox, b: TensorBox) -> TensorBox | None:
        if a.sizes[-1] == 0 and a.dtype.is_complex:
            raise NoKernelError("kernels don't make complex zeros yet")
        if a.dtype.name not in TYPES or a.sizes[-1] == 0:
            return None
        out = graph.new_buffer((*a.sizes[:-1], b.sizes[-1]), a.dtype)
        (result,) = graph.extern(prim.name, [matrix(graph, a), matrix(graph, b)], [out])
        return result

    return rule
