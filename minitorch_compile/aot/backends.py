"""The backend that stops after ahead-of-time autograd: forward and backward graph are interpreted."""

from __future__ import annotations

from collections.abc import Sequence

from minitorch_compile.aot.aot_function import aot_function
from minitorch_compile.aot.call_compiler import CompiledGraph
from minitorch_compile.aot.interpret import interpret
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.tensor.tensor_base import TensorBase


def aot_eager(captured: GraphModule, example_inputs: Sequence[TensorBase]) -> CompiledGraph:
    """A captured graph made functional, differentiated and partitioned, and then run with NumPy."""
    return aot_function(captured, example_inputs, interpret)
