"""A call of one op as a schedule: traced on stand-ins, written in prims, lowered, fused. As for any graph.

>>> from minitorch_compile.tensor import ones, ops
>>> schedule_of(ops.softmax, (ones(2, 3), 1, None), (ones(2, 3),)).kernel_count
1
>>> schedule_of(ops.linalg_inv, (ones(2, 2),), (ones(2, 2),))
Traceback (most recent call last):
minitorch_compile.inductor.device_calls.one_op_graph.NoKernelError: an algorithm of LAPACK, which works on whole ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from minitorch_compile.aot.tracing import trace
from minitorch_compile.fx import Node
from minitorch_compile.inductor.device_calls.device_limits import device_limits
from minitorch_compile.inductor.device_calls.extern_launches import launches
from minitorch_compile.inductor.device_calls.split_for_device import split_for_device
from minitorch_compile.inductor.ir.loops import LoopGraph
from minitorch_compile.inductor.lowering import lower
from minitorch_compile.inductor.lowering.table import WITHOUT_A_KERNEL, Rule
from minitorch_compile.inductor.lowering.table import table as lowerings
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.schedule import Schedule, call_of
from minitorch_compile.inductor.schedule.scheduler import schedule
from minitorch_compile.inductor.targets import find_target
from minitorch_compile.prims import Prim, decompose
from minitorch_compile.prims.decomposition_table import Rule as Decomposition
from minitorch_compile.prims.decomposition_table import refusal_of_call
from minitorch_compile.pytree import tree_leaves
from minitorch_compile.tensor import no_grad
from minitorch_compile.tensor.dispatch.argument_devices import all_tensors
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.memory.device import CPU
from minitorch_compile.tensor.numerics.dtype import (
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

# Those that kernels know.
DTYPES = frozenset(
    (float64, float32, float16, bfloat16, int64, int32, int16, int8, uint8, bool_, complex64, complex128)
)


NONE: Mapping[str, Rule] = {}


class NoKernelError(Exception):
    """Why there is no kernel of ours for a call."""


def with_tensors(arguments: Sequence[Any], tensors: Iterator[Any]) -> list[Any]:
    """The arguments with others in the places of their tensors."""
    return [
        next(tensors)
        if isinstance(value, TensorBase)
        else type(value)(with_tensors(value, tensors))
        if isinstance(value, (list, tuple))
        else value
        for value in arguments
    ]


def as_stand_ins(arguments: Sequence[Any]) -> list[Any]:
    """The arguments with tensors without data in the places of their tensors."""
    return with_tensors(arguments, (empty_fake(x.sizes, x.strides, x.dtype) for x in all_tensors(arguments)))


def _as_tuple(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def schedule_of(
    op: Op,
    bound: Sequence[Any],
    tensors: Sequence[TensorBase],
    rules: Mapping[str, Rule] = NONE,
    call: Callable[..., Any] | None = None,
    decompositions: Mapping[Op, Decomposition] | None = None,
    merged: Callable[[LoopGraph], LoopGraph] = lambda graph: graph,
) -> Schedule:
    """NoKernelError, with the reason, if part of it is neither loops nor what is launched as it is. `rules`: for prims
    that a library computes. `call`: what is traced, if not the op itself. `decompositions`: of ops that a library
    computes whole. `merged`: the graph of loops with what a library does at once as one call."""
    reason = refusal_of_call(op, tuple(bound))
    if reason is not None:
        raise NoKernelError(reason)
    called = call or op
    stand_ins = [empty_fake(x.sizes, x.strides, x.dtype) for x in tensors]
    with no_grad(), CPU:
        traced = trace(lambda *tensors: _as_tuple(called(*with_tensors(bound, iter(tensors)))), stand_ins)
        module = decompose(traced, decompositions=decompositions)
    for node in module.graph.nodes:
        name = node.target.name if isinstance(node.target, Prim) else ""
        if name and name not in lowerings and name not in rules:
            raise NoKernelError(WITHOUT_A_KERNEL.get(name, f"the prim {name} isn't lowered to loops"))
        if name in find_target("cuda").missing:
            raise NoKernelError(f"there is no device function of {name}")
        for value in tree_leaves(node.meta.get("val")):
            if isinstance(value, TensorBase) and value.dtype not in DTYPES and not _is_for_libraries(node, rules):
                raise NoKernelError(f"kernels don't compute in {value.dtype} yet")
    result = schedule(split_for_device(merged(lower(module, rules))), device_limits())
    for step in result.steps:
        if not isinstance(step, Group) and call_of(step).kernel not in launches:
            raise NoKernelError("the library that computes it on a GPU isn't connected yet")
    return result


def _is_for_libraries(node: Node, rules: Mapping[str, Rule]) -> bool:
    """Whether no loop reads or makes the value of a node: only what has a rule of its own does."""
    makers = [node] if node.op == "call_function" else []
    return all(
        other.op == "output" or (isinstance(other.target, Prim) and other.target.name in rules)
        for other in [*makers, *node.users]
    )
