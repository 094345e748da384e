"""A program as a graph of the ops that it runs on arguments like these, containers and writes included.

>>> from minitorch_compile.func import grad
>>> from minitorch_compile.tensor import ones
>>> print(make_fx(grad(lambda x: (x.sin() * 2).sum()))(ones(3)).graph.compact())
x_1 -> mul(mul(expand(view(full((), 1, torch.float32), (1,)), (3,)), 2), cos(detach(x_1)))

Unlike `symbolic_trace` it goes below autograd, transforms and composite ops; unlike the compiler it keeps writes as
they are. What depends on the numbers in a tensor can't be traced. In PyTorch it is in
`torch.fx.experimental.proxy_tensor`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from minitorch_compile import pytree
from minitorch_compile.aot.tracing import Tracer
from minitorch_compile.fx.arguments import map_aggregate
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.pytree_code import _PyTreeCodeGen, _PyTreeInfo
from minitorch_compile.tensor.dispatch import dispatch
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.tensor_base import TensorBase

MODES = ("real", "fake", "symbolic")


class OpTracer(Tracer):
    """As the compiler's tracer; but a write is a node, and its value what is read from then on."""

    def __init__(self, decompositions: Mapping[Any, Callable[..., Any]]) -> None:
        super().__init__()
        self.decompositions = decompositions

    def process(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if op in self.decompositions:
            with dispatch.mode(self):
                return self.decompositions[op](*args, **kwargs)
        if op.kind != "inplace":
            return super().process(op, args, kwargs)
        bound = op.bind(args, kwargs)
        node = self.call(op, map_aggregate(bound, self.as_argument))
        self.track(bound[0], node)
        return bound[0]


def make_fx(
    f: Callable[..., Any],
    decomposition_table: Mapping[Any, Callable[..., Any]] | None = None,
    tracing_mode: str = "real",
    _allow_non_fake_inputs: bool = False,
    *,
    pre_dispatch: bool = False,
    record_module_stack: bool = False,
    _error_on_data_dependent_ops: bool = True,
) -> Callable[..., GraphModule]:
    """A function that traces `f` on its arguments. `decomposition_table` says for ops which function to trace in their
    place. Sizes are those of the arguments in every `tracing_mode`."""
    if tracing_mode not in MODES:
        raise AssertionError(f"tracing_mode must be one of {', '.join(MODES)}, but got {tracing_mode!r}")
    if pre_dispatch:
        raise NotImplementedError(
            "make_fx: pre_dispatch=True is not offered; leave it out, or take the graph from above autograd that"
            " torch.compile gives a backend of your own"
        )

    @functools.wraps(f)
    def traced(*args: Any) -> GraphModule:
        return _traced(f, args, decomposition_table or {})

    return traced


def get_proxy_mode() -> Tracer | None:
    """The tracer that writes down what runs now, None if nothing does."""
    return next((mode for mode in reversed(dispatch.stacks.modes) if isinstance(mode, Tracer)), None)


def _traced(f: Callable[..., Any], args: tuple[Any, ...], table: Mapping[Any, Callable[..., Any]]) -> GraphModule:
    tracer = OpTracer(table)
    parameters = _parameters(f, len(args))
    stand_ins = [_argument(tracer, name, value) for name, value in zip(parameters, args)]
    with dispatch.mode(tracer):
        result = f(*stand_ins)
    leaves, spec = pytree.tree_flatten(result)
    in_spec = pytree.tree_flatten(args)[1]
    if not all(child.is_leaf() for child in in_spec.children()):
        tracer.graph.set_codegen(_PyTreeCodeGen(_PyTreeInfo(parameters, in_spec, spec)))
        result = leaves
    made = tracer.finish(result)
    return GraphModule(made, made.graph, getattr(f, "__name__", type(f).__name__))


def _parameters(f: Callable[..., Any], count: int) -> list[str]:
    """A name for each argument."""
    try:
        known = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        known = []
    names = [each.name for each in known if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    return (names + [f"arg{i}" for i in range(len(names), count)])[:count]


def _argument(tracer: OpTracer, name: str, value: Any) -> Any:
    """The argument with a stand-in for each tensor; other leaves are as given, and have a placeholder that nobody
    reads."""
    leaves, spec = pytree.tree_flatten(value)
    stand_ins = []
    for number, leaf in enumerate(leaves, 1):
        if isinstance(leaf, TensorBase):
            stand_in = tracer.placeholder(f"{name}_{number}", leaf)
            stand_in.requires_grad = leaf.requires_grad
            stand_ins.append(stand_in)
        else:
            tracer.graph.placeholder(f"{name}_{number}")
            stand_ins.append(leaf)
    return pytree.tree_unflatten(stand_ins, spec)


__all__ = ["make_fx"]
