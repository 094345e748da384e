"""torch.cond and torch.while_loop in a graph: one node, which refers to graphs of the functions.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.func.control_flow import cond
>>> from minitorch_compile.tensor import ones
>>> print(captured(lambda x: cond(x.sum() > 0, lambda x: x.sin(), lambda x: x - 1, (x,)) * 2, ones(2)))
x -> (cond_op(x.sum() > 0, cond_true_0, cond_false_0, (x,))[0] * 2,)

The node is run as it is, and its graphs are compiled when they are first run (`aot/compiled_subgraphs.py`). A condition
that is known while tracing chooses at once, as `if` does.

Source: torch/_dynamo/variables/higher_order_ops.py.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.containers.sequences import SequenceVariable, TupleVariable
from minitorch_compile.dynamo.variables.functions.subgraphs import Subgraph, traced_apart
from minitorch_compile.dynamo.variables.tensors.data_numbers import DataNumberVariable
from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
from minitorch_compile.func.control_flow import cond, cond_op, while_loop, while_loop_op
from minitorch_compile.fx import Node
from minitorch_compile.pytree import tree_flatten, tree_unflatten
from minitorch_compile.symbolic import SymInt, surely_equal
from minitorch_compile.tensor import fake_like, grad_mode, ops
from minitorch_compile.tensor.numerics.dtype import bool_
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Tracer

NO_OPERANDS = TupleVariable([])


# --- cond -------------------------------------------------------------------------------------------------------------


@handles(cond, cond_op)
def _cond(tracer: Tracer, pred: Value, true_fn: Value, false_fn: Value, operands: Value = NO_OPERANDS) -> Value:
    chosen = pred.realize()
    if not isinstance(chosen, (TensorVariable, DataNumberVariable)):
        if not issubclass(chosen.python_type(), (int, float)):
            tracer.raise_error(RuntimeError, f"Expected pred to be bool or tensor, but got {chosen.describe()}.")
        return tracer.call(true_fn if tracer.truth(chosen) else false_fn, tracer.unpack_all(operands), {})
    if isinstance(chosen, TensorVariable) and chosen.fake.numel() != 1:  # type: ignore[attr-defined]
        sizes = list(chosen.fake.sizes)
        tracer.raise_error(RuntimeError, f"Expected pred to be bool or single-element tensor, but got sizes {sizes}.")
    _check_functions(tracer, (true_fn, false_fn), "Expect both branches to be callable.")
    if not isinstance(operands.realize(), SequenceVariable):
        shown = operands.realize().describe()
        tracer.raise_error(RuntimeError, f"Expect operands to be a tuple of tensors, but got {shown}.")
    branches = [
        traced_apart(tracer, f"a branch of torch.cond, {f.describe()},", _call_of(tracer, f, operands), [])
        for f in (true_fn.realize(), false_fn.realize())
    ]
    results = _agreed(*branches)
    given = [leaf for leaf in tree_flatten(tracer.graph_argument(operands))[0] if isinstance(leaf, Node)]
    outside = _joined(given, branches)
    modules = _modules(tracer, {"cond_true": (branches[0], outside), "cond_false": (branches[1], outside)})
    node = _node(tracer, cond_op, (tracer.graph_argument(chosen), *modules, tuple(outside)))
    return _result(tracer, node, results, branches[0])


def _check_functions(tracer: Tracer, functions: Sequence[Value], message: str) -> None:
    if not all(tracer.truth(tracer.is_callable(f)) for f in functions):
        tracer.raise_error(RuntimeError, message)


def _call_of(tracer: Tracer, function: Value, operands: Value) -> Any:
    return lambda: tracer.call(function, tracer.unpack_all(operands), {})


def _joined(first: Sequence[Node], subgraphs: Sequence[Subgraph]) -> list[Node]:
    """All that the graphs use, each once, `first` before the others."""
    used = dict.fromkeys(node for subgraph in subgraphs for node in subgraph.outside)
    return list(dict.fromkeys([*(node for node in first if node in used), *used]))


def _agreed(chosen: Subgraph, other: Subgraph) -> list[Any]:
    """What the results look like, which must be alike in both branches; constants must be the same."""
    if chosen.spec != other.spec:
        _refuse(f"the branches return what is nested differently: {chosen.spec} and {other.spec}")
    results: list[Any] = []
    for mine, its in zip(chosen.results, other.results, strict=True):
        if not (isinstance(mine, Node) and isinstance(its, Node)):
            if isinstance(mine, Node) or isinstance(its, Node) or type(mine) is not type(its) or mine != its:
                _refuse(f"the branches return {mine!r} and {its!r}; return tensors")
            results.append(mine)
            continue
        results.append(_like_both(mine.meta["val"], its.meta["val"]))
    return results


def _like_both(mine: Any, its: Any) -> Any:
    if not (isinstance(mine, TensorBase) and isinstance(its, TensorBase)):
        _refuse("a branch returns a number that is not known; return a tensor")
    for what in ("dtype", "device", "sizes", "strides"):
        found = getattr(mine, what), getattr(its, what)
        same = surely_equal(*found) if what in ("sizes", "strides") else found[0] == found[1]
        if not same:
            shown = [list(x) if isinstance(x, tuple) else x for x in found]
            _refuse(f"the branches return tensors of different {what}: {shown[0]} and {shown[1]}")
    return mine if mine.requires_grad else its


def _refuse(why: str) -> NoReturn:
    raise Unsupported("unsupported-call", f"torch.cond: {why}.")


# --- while_loop -------------------------------------------------------------------------------------------------------


@handles(while_loop, while_loop_op)
def _while_loop(
    tracer: Tracer, cond_fn: Value, body_fn: Value, carried_inputs: Value, additional_inputs: Value = NO_OPERANDS
) -> Value:
    _check_functions(tracer, (cond_fn, body_fn), "Expect cond_fn and body_fn to be callable.")
    carried, spec = tree_flatten(tracer.graph_argument(TupleVariable(tracer.unpack_all(carried_inputs))))
    followed = [_requires_grad(leaf) for leaf in carried]
    while True:
        body, made = _loop_function(tracer, "body_fn", body_fn, (carried, spec, followed), additional_inputs)
        now = [before or _requires_grad(leaf) for before, leaf in zip(followed, body.results)]
        if now == followed or len(now) != len(carried):
            break
        followed = now  # of the second round on
    _check_carried(body, carried, spec)
    test, seen = _loop_function(tracer, "cond_fn", cond_fn, (carried, spec, followed), additional_inputs)
    _check_test(test)
    results = [_wanted(leaf, wanted) for leaf, wanted in zip(body.results, followed)]
    additional = [node for node in _joined([], (test, body)) if node not in (*made, *seen)]
    modules = _modules(tracer, {"cond_fn": (test, [*seen, *additional]), "body_fn": (body, [*made, *additional])})
    node = _node(tracer, while_loop_op, (*modules, tuple(carried), tuple(additional)))
    return _result(tracer, node, results, body)


def _requires_grad(leaf: Any) -> bool:
    value = leaf.meta["val"] if isinstance(leaf, Node) else leaf
    return isinstance(value, TensorBase) and bool(value.requires_grad)


def _loop_function(
    tracer: Tracer, name: str, function: Value, carried: tuple[list[Any], Any, list[bool]], additional: Value
) -> tuple[Subgraph, list[Node]]:
    """The graph of a function of what is carried, and the nodes that stand for that in it."""
    leaves, spec, followed = carried
    stand_ins = [_stand_in(tracer, leaf, wanted) for leaf, wanted in zip(leaves, followed)]
    nodes = [tracer.graph_argument(value) for value in stand_ins]
    arguments = tracer.unpack_all(_tracked(tracer, tree_unflatten(stand_ins, spec)))
    what = f"{name} of torch.while_loop, {function.realize().describe()},"
    operands = TupleVariable([*arguments, *tracer.unpack_all(additional)])
    subgraph = traced_apart(tracer, what, _call_of(tracer, function, operands), nodes)
    for node in reversed(nodes):
        tracer.output.graph.erase_node(node)
    tracer.output.forget_erased_nodes(set(tracer.output.graph.nodes))
    return subgraph, nodes


def _stand_in(tracer: Tracer, leaf: Any, followed: bool) -> Value:
    """A tensor that looks like what is carried, or a whole number of which nothing is known."""
    value = leaf.meta["val"] if isinstance(leaf, Node) else leaf
    if isinstance(value, TensorBase):
        node = tracer.output.graph.call_function(ops.clone, (leaf,))
        node.meta["val"] = _like(tracer, value, followed)
        return TensorVariable(node, node.meta["val"], type(value))
    if not isinstance(value, (int, SymInt)) or isinstance(value, bool):
        tracer.raise_error(
            RuntimeError,
            "Expect carried_inputs to be a tuple of possibly nested dict/list/tuple that only consists of tensor or int"
            f" leaves, but got {value}.",
        )
    return tracer.output.unknown_whole_number(tracer.output.graph.call_function(operator.index, (leaf,)))


def _check_carried(body: Subgraph, carried: list[Any], spec: Any) -> None:
    if body.spec != spec:
        _refuse_loop(f"body_fn must return a tuple that is nested as carried_inputs: {spec}, but gave {body.spec}")
    for before, after in zip(carried, body.results, strict=True):
        if not isinstance(after, Node):  # it isn't the result where no round is run
            _refuse_loop(f"body_fn returns the constant {after!r}; compute it of what is carried")
        old, new = (x.meta["val"] if isinstance(x, Node) else x for x in (before, after))
        if not (isinstance(old, TensorBase) and isinstance(new, TensorBase)):
            if isinstance(old, TensorBase) or isinstance(new, TensorBase) or not isinstance(new, (int, SymInt)):
                _refuse_loop(f"body_fn takes {old} and returns {new}")
        elif old.dtype is not new.dtype or not surely_equal((old.sizes, old.strides), (new.sizes, new.strides)):
            shown = [f"{x.dtype} {list(x.sizes)} with strides {list(x.strides)}" for x in (old, new)]
            _refuse_loop(f"body_fn takes {shown[0]} and returns {shown[1]}")


def _check_test(test: Subgraph) -> None:
    answer = test.results[0] if len(test.results) == 1 else None
    seen = answer.meta["val"] if isinstance(answer, Node) else None
    if not (seen is True or isinstance(seen, TensorBase) and seen.dtype is bool_ and not seen.sizes):
        _refuse_loop("cond_fn must return a boolean scalar tensor or a boolean that depends on what is carried")


def _refuse_loop(why: str) -> NoReturn:
    raise Unsupported("unsupported-call", f"torch.while_loop: {why}.")


# --- the node ---------------------------------------------------------------------------------------------------------


def _modules(tracer: Tracer, subgraphs: dict[str, tuple[Subgraph, list[Node]]]) -> list[Node]:
    """Nodes that refer to the graphs, with placeholders for these nodes, by names that nobody has."""
    taken = {node.target for node in tracer.output.graph.find_nodes(op="get_attr")}
    number = next(n for n in itertools.count() if not any(f"{name}_{n}" in taken for name in subgraphs))
    nodes = []
    for name, (subgraph, outside) in subgraphs.items():
        node = tracer.output.graph.create_node("get_attr", f"{name}_{number}")
        node.meta.update(val=subgraph.module(outside, f"{name}_{number}"), stack=tracer.user_line())
        nodes.append(node)
    return nodes


def _node(tracer: Tracer, target: Any, args: tuple[Any, ...]) -> Node:
    output = tracer.output
    node = output.graph.call_function(target, args)
    node.meta.update(runs_plainly=True, may_raise=True, handled=output.is_handled(), **output.place())
    output.fakes.written_first = frozenset(output.fakes.written)
    return node


def _result(tracer: Tracer, node: Node, looks: list[Any], subgraph: Subgraph) -> Value:
    """The tracker of what the node gives: an item for each result that is no constant, nested as the function does."""
    values: list[Value] = []
    node.meta["val"] = tuple(_like(tracer, x, x.requires_grad) if isinstance(x, TensorBase) else x for x in looks)
    places = itertools.count()
    for leaf, look in zip(subgraph.results, node.meta["val"], strict=True):
        if not isinstance(leaf, Node):
            values.append(tracer.output.from_python(look))
            continue
        item = tracer.output.graph.call_function(operator.getitem, (node, next(places)))
        item.meta.update(node.meta, val=look)
        if isinstance(look, TensorBase):
            values.append(tracer.output.tensor_of_node(item, look))
        else:
            values.append(tracer.output.unknown_whole_number(item))
    return _tracked(tracer, tree_unflatten(values, subgraph.spec))


def _like(tracer: Tracer, x: TensorBase, requires_grad: bool) -> TensorBase:
    """A fake of its own that looks like x, and was computed if a gradient goes through it."""
    made = fake_like(x)
    made.requires_grad = False
    if not requires_grad:
        return made
    made.requires_grad = True
    with grad_mode.set_grad_enabled(True), tracer.output.fakes.active():
        recorded = ops.clone(made)
    recorded.strides, recorded.offset = made.strides, made.offset
    return recorded


def _wanted(leaf: Any, requires_grad: bool) -> Any:
    """What a result looks like, of which some round may be the last."""
    value = leaf.meta["val"] if isinstance(leaf, Node) else leaf
    if not isinstance(value, TensorBase) or value.requires_grad is requires_grad:
        return value
    look = fake_like(value)
    look.requires_grad = requires_grad
    return look


def _tracked(tracer: Tracer, value: Any) -> Value:
    """The tracker of tuples, lists and dicts of trackers."""
    if isinstance(value, Value):
        return value
    if isinstance(value, dict):
        keys = [tracer.output.from_python(key) for key in value]
        return tracer.build_map(keys, [_tracked(tracer, item) for item in value.values()])
    return tracer.build("tuple" if isinstance(value, tuple) else "list", [_tracked(tracer, item) for item in value])
