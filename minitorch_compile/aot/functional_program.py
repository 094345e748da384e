"""From a captured graph to a functional one, and everything that the graph no longer says.

>>> from minitorch_compile.fx import symbolic_trace
>>> captured = symbolic_trace(lambda x, y: (x.add_(y).relu(), x))
>>> program = functional_program(captured, [empty_fake((2,)), empty_fake((2,))])
>>> print(program.graph_module.graph.compact())
x, y -> add = add(x, y); (add, relu(add))
>>> program.mutations, program.outputs[0], program.outputs[1]
([Mutation(input=0, writes=1, recorded=True)], FromGraph(position=0, ...), FromInput(index=0, ...))
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from minitorch_compile.amp.autocast_mode import _enter_autocast, _exit_autocast
from minitorch_compile.amp.autocast_state import setting_kept
from minitorch_compile.aot.aliasing.shared_memory import Sharing
from minitorch_compile.aot.backward_calls import BACKWARD_CALLS, differentiated_arguments
from minitorch_compile.aot.custom_calls import CustomCall, record_call
from minitorch_compile.aot.functionalize import Functionalize
from minitorch_compile.aot.keep_history import AotOp
from minitorch_compile.aot.output_plan import OutputPlan, OutputPlanner
from minitorch_compile.aot.seeded_random import DrawFrom
from minitorch_compile.aot.size_values import SizeValues
from minitorch_compile.aot.tracing import Retrace, Tracer, argument_names
from minitorch_compile.aot.verify import verify_functional
from minitorch_compile.autograd import Function
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.lazy_graph_module import LazyGraphModule
from minitorch_compile.fx.node import Node
from minitorch_compile.pytree import TreeSpec, tree_flatten
from minitorch_compile.symbolic import SymInt
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch import dispatch
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.grad_mode import is_grad_enabled, set_grad_enabled
from minitorch_compile.tensor.numerics.dtype import int64
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake, fake_like


@dataclass(frozen=True)
class Mutation:
    """The program overwrites an argument, this often if writes to `x.data` don't count; `recorded`: at least once with
    grad mode on, not by detach()."""

    input: int
    writes: int
    recorded: bool


@dataclass
class FunctionalProgram:
    """A program without effects, and its effects.

    The graph returns the new value of each argument in `mutations`, then `graph_output_count` tensors, from which
    `outputs` says how to make what the program returns, arranged as `output_spec`. If `drawn` isn't 0, its last two
    arguments are the seed and the offset of that many random numbers. `sizes` says which arguments are unknown sizes,
    if any is. `versions[i]`: how often result i was written to before the program returned it, if at all. `placed`: the
    arguments that as_strided looks at from a certain offset on: the program is for the offsets of the examples only.
    `grad_mode`: the one that the program starts in.
    """

    graph_module: GraphModule
    mutations: list[Mutation]
    outputs: list[OutputPlan]
    output_spec: TreeSpec
    graph_output_count: int
    drawn: Any
    sizes: SizeValues | None
    versions: dict[int, int]
    placed: list[int]
    grad_mode: bool
    calls_backward: bool = False

    @property
    def depends_on_layout(self) -> bool:
        """Whether it matters how the arguments lie in memory."""
        return bool(self.mutations or self.placed)

    @property
    def tells_history(self) -> bool:
        """Whether some nodes matter to differentiation only: a history in front of a value, or none."""
        calls = self.graph_module.graph.find_nodes(op="call_function")
        return any(isinstance(node.target, AotOp) or node.target is ops.detach for node in calls)

    @property
    def has_custom_calls(self) -> bool:
        """Whether an autograd.Function is applied."""
        return any(isinstance(node.target, CustomCall) for node in self.graph_module.graph.nodes)

    @property
    def records(self) -> bool:
        """Whether an operation ran with grad mode on: where the program starts with it off, it may switch it on."""
        if self.calls_backward:
            return False
        calls = self.graph_module.graph.find_nodes(op="call_function")
        ops_of_program = (node for node in calls if isinstance(node.target, (Op, CustomCall)))
        return any("no_grad" not in node.meta and not isinstance(node.target, AotOp) for node in ops_of_program)


class _ForwardTracer(Tracer):
    """A tracer that notes which ops ran without grad mode; the joint graph is differentiated accordingly."""

    def call(self, op: Op, arguments: tuple[Any, ...]) -> Node:
        node = super().call(op, arguments)
        if not is_grad_enabled():
            node.meta["no_grad"] = True
        return node


class _Rerun(Retrace):
    """Runs the captured graph; calls of an autograd.Function stay what they are, but for those inside a transform."""

    def __init__(self, module: GraphModule, tracer: Tracer, functional: Functionalize) -> None:
        super().__init__(module, tracer)
        self.functional = functional

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        applied = _applied_class(target)
        if applied is not None and not any(map(_is_differentiated, args)):
            return record_call(applied, self.tracer, self.functional, args)
        if target in BACKWARD_CALLS:
            self.tracer.inherited = {**self.tracer.inherited, "backward": True}
        if target is getattr and args[1:] == ("data",):
            return _data_of(self.functional, args[0])
        return super().call_function(target, args, kwargs)

    def origin(self, tensor: TensorBase) -> TensorBase:
        return self.functional.value_of(tensor)


def _data_of(functional: Functionalize, tensor: TensorBase) -> TensorBase:
    """A new name for `tensor.data`."""
    data: TensorBase = ops.detach(tensor)
    if not data.is_confined:  # what vmap shows of a batch has no name here; the batch has
        functional.name_of(data).root.is_data = True
    return data


def _applied_class(target: Any) -> type[Function] | None:
    """The subclass of Function whose `apply` a node calls, None if it calls something else."""
    owner = getattr(target, "__self__", None)
    return owner if isinstance(owner, type) and issubclass(owner, Function) else None


def _is_differentiated(x: Any) -> bool:
    """Whether a function transform in the program, such as func.grad, differentiates with respect to x."""
    return isinstance(x, TensorBase) and x.requires_grad


def functional_program(
    captured: GraphModule, example_inputs: Sequence[TensorBase], sharing: Sharing | None = None
) -> FunctionalProgram:
    """Traces the captured graph on fake tensors like the examples, without effects and without random state.

    With `sharing`, its bases are further arguments of the functional graph, and the arguments are windows of them.
    """
    tracer, functional = _ForwardTracer(), Functionalize()
    calls_backward = any(node.target in BACKWARD_CALLS for node in captured.graph.nodes)
    differentiated = differentiated_arguments(captured.graph) if calls_backward else frozenset()
    if sharing and differentiated:
        raise NotImplementedError(
            "aot: parameters of a training step share memory that it overwrites; a window of a base is no leaf. Give"
            " each parameter memory of its own"
        )
    examples = [*example_inputs, *(sharing.bases if sharing else ())]
    inputs = [
        _placeholder(tracer, name, x)
        if isinstance(x, SymInt)
        else functional.bind(_stand_in(x, name in differentiated), _placeholder(tracer, name, x))
        for name, x in zip(argument_names(captured, len(examples)), examples, strict=True)
    ]
    stream = DrawFrom(*(tracer.placeholder(name, empty_fake((), dtype=int64)) for name in ("seed", "offset")))
    casts = any(node.target in (_enter_autocast, _exit_autocast) for node in captured.graph.nodes)
    with (
        set_grad_enabled(is_grad_enabled()),  # the program may switch it, and not back
        setting_kept() if casts else nullcontext(),
        dispatch.mode(tracer),
        dispatch.mode(stream),
    ):
        with dispatch.mode(functional):
            if sharing:
                _share(inputs, sharing)
            returned, spec = tree_flatten(_Rerun(captured, tracer, functional).run(*inputs[: len(example_inputs)]))
        requires_grad = any(isinstance(x, TensorBase) and x.requires_grad for x in examples)
        planner = OutputPlanner(functional, inputs, differentiated=calls_backward or requires_grad)
        plans = planner.plan_all(returned)
        mutations = _mutations(functional, inputs)
        results = [inputs[m.input] for m in mutations] + planner.graph_outputs
        values = [_new(functional.value_of(x), functional.contents_of(x).base.value) for x in results]
        functional.uses.mark_overwritten(tracer)
    graph_module = _finish(tracer, values, results, isinstance(stream.drawn, SymInt) or stream.drawn > 0)
    return FunctionalProgram(
        graph_module,
        mutations,
        plans,
        spec,
        len(planner.graph_outputs),
        stream.drawn,
        SizeValues(example_inputs) if any(isinstance(x, SymInt) for x in example_inputs) else None,
        {len(mutations) + i: x.storage.version for i, x in enumerate(planner.graph_outputs) if x.storage.version},
        [i for i, x in enumerate(inputs) if isinstance(x, TensorBase) and x.storage in functional.placed],
        is_grad_enabled(),
        bool(differentiated),
    )


def _share(inputs: list[Any], sharing: Sharing) -> None:
    """Puts views of the bases in the place of arguments, and one tensor where two arguments are the same."""
    for i, view in sharing.views.items():
        with set_grad_enabled(view.tracked):
            inputs[i] = ops.as_strided(inputs[view.base], view.sizes, view.strides, view.offset)
    for i, first in sharing.same.items():
        inputs[i] = inputs[first]


def _new(value: TensorBase, base: TensorBase) -> TensorBase:
    """The value of a result; a copy if its base is a constant, which the program would have made anew on each run."""
    return value if base.is_fake else ops.clone(value)


def _stand_in(x: TensorBase, is_differentiated: bool) -> TensorBase:
    """One that the tape ignores, unless the program itself goes back to it: then it is a leaf."""
    stand_in = fake_like(x)
    stand_in.requires_grad = is_differentiated
    return stand_in


def _placeholder(tracer: Tracer, name: str, x: Any) -> Any:
    stand_in = tracer.placeholder(name, x)
    if isinstance(stand_in, TensorBase):
        stand_in.requires_grad = False
    return stand_in


def _mutations(functional: Functionalize, inputs: Sequence[TensorBase]) -> list[Mutation]:
    found: dict[int, Mutation] = {}  # by the id of the tensor: two arguments may be one
    for i, x in enumerate(inputs):
        if isinstance(x, TensorBase):
            contents = functional.contents_of(x)
            if contents.writes and contents.base.tensor is x:  # windows are written with their base
                found.setdefault(id(x), Mutation(i, x.storage.version, contents.base.recorded > 0))
    return list(found.values())


def _finish(tracer: Tracer, values: list[TensorBase], results: list[TensorBase], draws: bool) -> GraphModule:
    """The graph. Its output node promises the strides that the program's own tensors have."""
    graph_module = tracer.finish(tuple(values))
    graph = graph_module.graph
    graph.output_node().meta["val"] = tuple(map(fake_like, results))
    if not draws:
        for node in graph.find_nodes(op="placeholder")[-2:]:
            graph.erase_node(node)
    verify_functional(graph)
    return LazyGraphModule(graph_module.attributes, graph)
