"""backward() and grad() inside a compiled function: how Dynamo traces them.

The traced program runs on fake tensors that leave a graph of nodes behind like others, so what backward() reaches is
known: if all of it was recorded by the program itself, from tensors that are leaves outside, too, the call is one node.
The node gives the new `.grad` of each leaf, and the program goes on with those:

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> def step(w, x):
...     (w * x).sum().backward()
...     return w.grad + 1
>>> print(captured(step, ones(2, requires_grad=True), ones(2)).replace("; ", "\\n"))
w, x -> run_backward = run_backward([(w * x).sum()], [None], [w], [None], None, False, False)
getitem = run_backward[0]
(getitem + 1, getitem)

Run by `aot` on fakes, the node leaves only derivative formulas behind: forward, backward, and the optimizer's update
are one graph. What a graph can't do breaks it: hooks, a history that began outside, one that lives on
(`dynamo/fakes/freed_history.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from minitorch_compile.autograd import entry_points
from minitorch_compile.autograd.freed_node import with_freed_history
from minitorch_compile.autograd.watching import watchers
from minitorch_compile.control import graph_step
from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.fakes.freed_history import BackwardCall, leaves_of
from minitorch_compile.dynamo.fakes.graph_steps import is_inside
from minitorch_compile.dynamo.guards.guards import Guard
from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.containers.lists import ListVariable
from minitorch_compile.dynamo.variables.containers.sequences import TupleVariable
from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
from minitorch_compile.dynamo.variables.tensors.tensor_hooks import registers_hooks
from minitorch_compile.tensor import Tensor

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.services import TracerServices

NONE = ConstantVariable(None)
FALSE = ConstantVariable(False)
NO_HOOKS = "({0}.accumulator is None or not ({0}.accumulator[0].hooks or {0}.accumulator[0].post_hooks))"
NO_HOOKS_BEHIND = "not {0}.grad_fn.hooks"


# --- the nodes --------------------------------------------------------------------------------------------------------


@graph_step
def run_backward(
    outputs: Sequence[Any],
    given: Sequence[Any],
    leaves: Sequence[Any],
    before: Sequence[Any],
    retain_graph: bool | None,
    create_graph: bool,
    only_these: bool,
) -> list[Any]:
    """backward(): the `.grad` of each leaf afterwards, given what it was before. The leaves are left as they are."""
    kept = [leaf.grad for leaf in leaves]
    try:
        for leaf, grad in zip(leaves, before, strict=True):
            leaf.grad = grad
        inputs = leaves if only_these else None
        entry_points.backward(list(outputs), list(given), retain_graph, create_graph, inputs=inputs)
        return [leaf.grad for leaf in leaves]
    finally:
        for leaf, grad in zip(leaves, kept, strict=True):
            leaf.grad = grad


@graph_step
def gradients_of(outputs: Sequence[Any], inputs: Sequence[Any], given: Sequence[Any], **options: Any) -> list[Any]:
    """grad(), as a list."""
    return list(entry_points.grad(list(outputs), list(inputs), list(given), **options))


# --- the rules --------------------------------------------------------------------------------------------------------


@handles(Tensor.backward)
def _backward_of_tensor(
    tracer: TracerServices,
    tensor: Value,
    gradient: Value = NONE,
    retain_graph: Value = NONE,
    create_graph: Value = FALSE,
    inputs: Value = NONE,
) -> Value:
    return _backward(tracer, tensor, gradient, retain_graph, create_graph, NONE, inputs)


@handles(entry_points.backward)
def _backward(
    tracer: TracerServices,
    tensors: Value,
    grad_tensors: Value = NONE,
    retain_graph: Value = NONE,
    create_graph: Value = FALSE,
    grad_variables: Value = NONE,
    inputs: Value = NONE,
) -> Value:
    given = grad_variables if tracer.is_none(grad_tensors) else grad_tensors
    outputs = _tensors(tracer, tensors, "the tensors of backward()")
    _check_circumstances(tracer)
    leaves = _leaves_behind(tracer, outputs)
    only_these = not tracer.is_none(inputs)
    if only_these:
        leaves = _tensors(tracer, inputs, "the inputs of backward()")
        if not all(leaf.source is not None and leaf.fake.is_leaf and leaf.fake.requires_grad for leaf in leaves):
            raise Unsupported("autograd-call", "backward(inputs=...) for tensors that are no leaves.")
    before = [leaf.getattr(tracer, "grad").realize() for leaf in leaves]
    arguments: list[Value] = [
        ListVariable(list(outputs)),
        ListVariable(_given(tracer, given, len(outputs))),
        ListVariable(list(leaves)),
        ListVariable(list(before)),
        _flag(tracer, retain_graph),
        _flag(tracer, create_graph),
        ConstantVariable(only_these),
    ]
    after = tracer.output.call("call_function", run_backward, arguments, {}).realize()
    for leaf, old, new in zip(leaves, before, tracer.unpack_all(after), strict=True):
        if new.realize() is not old and not tracer.is_none(new):
            leaf.setattr(tracer, "grad", new)
    _note(tracer)
    return NONE


@handles(entry_points.grad)
def _grad(
    tracer: TracerServices,
    outputs: Value,
    inputs: Value,
    grad_outputs: Value = NONE,
    *settings: Value,
    **options: Value,
) -> Value:
    if settings:
        raise Unsupported("autograd-call", "grad() with options by position; name them.")
    roots = _tensors(tracer, outputs, "the outputs of grad()")
    wanted = _tensors(tracer, inputs, "the inputs of grad()")
    _check_circumstances(tracer)
    _check_wanted(tracer, roots, wanted)
    given = _given(tracer, grad_outputs, len(roots))
    arguments: list[Value] = [ListVariable(list(roots)), ListVariable(list(wanted)), ListVariable(given)]
    found = tracer.output.call("call_function", gradients_of, arguments, options).realize()
    _note(tracer)
    return TupleVariable(tracer.unpack_all(found))


def _tensors(tracer: TracerServices, value: Value, what: str) -> list[TensorVariable]:
    """One tensor or a sequence of them."""
    tracked = value.realize()
    items = [tracked] if isinstance(tracked, TensorVariable) else [v.realize() for v in tracer.unpack_all(tracked)]
    found = [item for item in items if isinstance(item, TensorVariable)]
    if len(found) != len(items):
        raise Unsupported("wrong-arguments", f"{what} are not all tensors.")
    return found


def _given(tracer: TracerServices, given: Value, count: int) -> list[Value]:
    """The gradients of the outputs, None where there is none."""
    if tracer.is_none(given):
        return [NONE] * count
    tracked = given.realize()
    return [tracked] if isinstance(tracked, TensorVariable) else tracer.unpack_all(tracked)


def _flag(tracer: TracerServices, value: Value) -> Value:
    return NONE if tracer.is_none(value) else ConstantVariable(tracer.truth(value))


def _check_circumstances(tracer: TracerServices) -> None:
    """Breaks inside transforms, and where somebody watches what is recorded: anomaly mode, hooks on saved tensors."""
    output = tracer.output
    if is_inside(output.graph):
        raise Unsupported("autograd-call", "backward() or grad() inside a transform (vmap, grad, ...).")
    if registers_hooks(output):
        raise Unsupported("autograd-call", "backward() or grad() after a hook was registered, which it would call.")
    if watchers:
        raise Unsupported("autograd-call", "backward() in anomaly mode, or with hooks on saved tensors.")
    source = output.constant_source(watchers, "watchers")
    output.guards.add(Guard(source, "AUTOGRAD_STATE", "not {0}", "no anomaly mode and no hooks on saved tensors"))


def _leaves_behind(tracer: TracerServices, roots: Sequence[TensorVariable]) -> list[TensorVariable]:
    """The leaves that gradients arrive at: tensors from outside, without hooks."""
    leaves = []
    for leaf in leaves_of([root.fake for root in roots]):
        known = None if leaf is None else tracer.output.tensor_of(leaf)
        if known is None:
            raise _reaches_back()
        if known.source is None:
            raise Unsupported(
                "autograd-call",
                "the function itself makes a leaf that gradients go to.",
                "make it outside and pass it in, or use grad() of torch.func.",
            )
        if not known.real._requires_grad:
            raise Unsupported("autograd-call", "it goes through a view that requires grad since its base does.")
        _refuse_hooks(tracer, known, known.real.accumulator)
        leaves.append(known)
    return leaves


def _check_wanted(tracer: TracerServices, roots: Sequence[TensorVariable], wanted: Sequence[TensorVariable]) -> None:
    """grad() may end at a result of what came before the function, if that is all that is asked for of outside."""
    outside = [x for x in wanted if x.source is not None]
    computed = [x for x in outside if not x.fake.is_leaf]
    if computed and len(outside) > 1:
        raise _reaches_back()
    ends = {id(leaf) for leaf in leaves_of([x.fake for x in computed])}
    for leaf in leaves_of([root.fake for root in roots]):
        if id(leaf) not in ends and (leaf is None or tracer.output.tensor_of(leaf) is None):
            raise _reaches_back()
    if any(x.fake.is_leaf and not x.real._requires_grad and x.real.requires_grad for x in outside):
        raise Unsupported("autograd-call", "to a view that requires grad since its base does.")
    for x in outside:
        _refuse_hooks(tracer, x, x.real.accumulator if x.fake.is_leaf else (x.real.grad_fn, 0))


def _reaches_back() -> Unsupported:
    return Unsupported(
        "autograd-call",
        "the history of a tensor reaches back beyond the compiled function: an argument was computed with gradients.",
        "detach() the argument, or compile the function that computes it, too.",
    )


def _refuse_hooks(tracer: TracerServices, x: TensorVariable, edge: Any) -> None:
    if edge is not None and (edge[0].hooks or getattr(edge[0], "post_hooks", None)):
        raise Unsupported("autograd-call", "a tensor has hooks, which run when its gradient arrives.")
    assert x.source is not None
    check = NO_HOOKS if x.fake.is_leaf else NO_HOOKS_BEHIND
    tracer.output.guards.add(Guard(x.source, "NO_HOOKS", check, "no hooks on its gradient"))


def _note(tracer: TracerServices) -> None:
    """Remembers where the first walk was, to break there if the graph can't leave behind what it should."""
    output = tracer.output
    if output.backward_call is None:
        stack = tuple(frame.source_line() for frame in output.frames)
        output.backward_call = BackwardCall(output.step, output.frames[0].current, stack, with_freed_history)
