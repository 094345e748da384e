"""Floor 4: ahead-of-time autograd: from a captured graph to a forward and a backward graph of plain ops.

>>> from minitorch_compile.fx import symbolic_trace
>>> from minitorch_compile.tensor import tensor
>>> x = tensor(3.0, requires_grad=True)
>>> (y,) = aot_eager(symbolic_trace(lambda x: (x * x,)), [x])(x)
>>> y.backward()
>>> x.grad
tensor(6.)
"""

from minitorch_compile.aot.aot_function import aot_function
from minitorch_compile.aot.backends import aot_eager
from minitorch_compile.aot.call_compiler import CompiledGraph, Compiler
from minitorch_compile.aot.interpret import interpret
from minitorch_compile.aot.joint_graph import JointGraph, trace_joint
from minitorch_compile.aot.partitioning.min_cut import min_cut_partition
from minitorch_compile.aot.partitioning.partition import Partition, default_partition
from minitorch_compile.aot.partitioning.partitioners import chosen_partition, lookup_partitioner
from minitorch_compile.aot.tracing import Tracer, trace

__all__ = [
    "CompiledGraph",
    "Compiler",
    "JointGraph",
    "Partition",
    "Tracer",
    "aot_eager",
    "aot_function",
    "chosen_partition",
    "default_partition",
    "interpret",
    "lookup_partitioner",
    "min_cut_partition",
    "trace",
    "trace_joint",
]
