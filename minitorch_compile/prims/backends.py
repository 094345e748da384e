"""The backend that stops after decomposition: graphs of prims are interpreted.

>>> from minitorch_compile.fx import symbolic_trace
>>> from minitorch_compile.tensor import tensor
>>> x = tensor([1.0, 1.0], requires_grad=True)
>>> (y,) = aot_eager_decomp(symbolic_trace(lambda x: (x.softmax(0),)), [x])(x)
>>> y.detach()
tensor([0.5000, 0.5000])
"""

from __future__ import annotations

from collections.abc import Sequence

from minitorch_compile.aot import CompiledGraph, aot_function, chosen_partition, interpret
from minitorch_compile.aot.passes.node_facts import register_vocabulary
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.prims.decomposer import decompose
from minitorch_compile.prims.decomposition_table import beyond_prims
from minitorch_compile.prims.prim import table
from minitorch_compile.tensor.tensor_base import TensorBase


def aot_eager_decomp(captured: GraphModule, example_inputs: Sequence[TensorBase]) -> CompiledGraph:
    """A captured graph differentiated, rewritten to prims (as far as possible), partitioned, then run with NumPy."""
    return aot_function(
        captured,
        example_inputs,
        interpret,
        partition_fn=chosen_partition,
        decompose=lambda graph: decompose(graph, keep=beyond_prims),
    )


register_vocabulary("prims", table)  # passes over graphs of prims make nodes of prims
