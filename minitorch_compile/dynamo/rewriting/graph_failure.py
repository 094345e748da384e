"""What happens if a graph raises while it runs: an index out of range, a matrix that is not invertible.

While tracing there is no data, so the trace went on as if the operation succeeded. When it does not, everything that
the graph changed is put back, and the plain function runs instead: it makes the side effects that come before the
error, then raises at the user's line, or goes into the user's handler.

>>> from minitorch_compile.dynamo.eval_frame import optimize
>>> from minitorch_compile.dynamo.testing import eager
>>> from minitorch_compile.tensor import tensor, zeros
>>> def f(x, index, log):
...     x.add_(1)
...     log.append("added")
...     return x[index]
>>> x, log = zeros(2), []
>>> optimize(f, eager)(x, tensor([5]), log)
Traceback (most recent call last):
    ...
IndexError: index 5 is out of bounds for dimension 0 with size 2
>>> x, log                                                                    # as the plain function leaves them
(tensor([1., 1.]), ['added'])
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.capture.graph_steps import confinement
from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.fx import Node
from minitorch_compile.fx.effects import is_impure, is_random
from minitorch_compile.tensor import Op
from minitorch_compile.tensor.dispatch.op_families import InplaceOp
from minitorch_compile.tensor.random.generator import default_generator
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.output_graph import OutputGraph
    from minitorch_compile.dynamo.rewriting.codegen import Codegen

FALLIBLE_KINDS = frozenset(("indexing", "linalg", "sampling", "loss", "sorting"))
NEVER_FAIL = frozenset(("tril", "triu", "flip", "resample", "argsort", "isin_elements", "argwhere"))
FALLIBLE = frozenset(("binary_cross_entropy",))  # a target outside [0, 1]
# What asks its first argument for sizes and dtype only: a backend may leave out what computes its elements.
LOOKING = frozenset(
    [f"new_{what}" for what in ("zeros", "ones", "full", "empty", "empty_strided", "tensor")]
    + [f"{what}_like" for what in ("zeros", "ones", "full", "empty", "rand", "randn", "randint")]
)
FALLIBLE_WITH_INTEGERS = frozenset(("floor_divide", "remainder", "fmod", "pow"))  # by zero, or to a negative power


def may_raise(op: Op, args: Sequence[Any]) -> bool:
    """Whether it depends on the data if the operation succeeds."""
    if isinstance(op, InplaceOp):
        op = op.functional
    if op.name in FALLIBLE_WITH_INTEGERS or (op.name == "div" and any(isinstance(x, str) for x in args)):
        return not any(_is_floating(x) for x in args)
    return op.name in FALLIBLE or (op.kind in FALLIBLE_KINDS and op.name not in NEVER_FAIL)


def _is_floating(x: Any) -> bool:
    return x.dtype.is_floating_point if isinstance(x, TensorBase) else isinstance(x, float)


def failing_nodes(output: OutputGraph) -> list[Node]:
    """The nodes that may raise, in order."""
    return [node for node in output.graph.nodes if node.meta.get("may_raise")]


def unneeded_failing_nodes(output: OutputGraph, results: Sequence[Node]) -> list[Node]:
    """Those whose value nobody asks for. They are made outputs of the graph, so that no backend leaves them out."""
    needed: set[Node] = set()
    waiting = [*results, *(n for n in output.graph.nodes if n.op.startswith("call") and is_impure(n))]
    while waiting:
        node = waiting.pop()
        if node not in needed:
            needed.add(node)
            waiting += [x for x in node.all_input_nodes if not (_only_looks(node) and x is node.args[0])]
    needed.update(n for n in failing_nodes(output) if _is_item_of(n, needed))
    return [n for n in failing_nodes(output) if n not in needed and isinstance(n.meta["val"], TensorBase)]


def check_unneeded(output: OutputGraph, results: Sequence[Node]) -> None:
    """Breaks where a value that is only computed for its error can't be an output of the graph."""
    if output.has_steps and any(confinement(n.meta["val"]) for n in unneeded_failing_nodes(output, results)):
        raise Unsupported("unrebuildable-value", "a transform computes something that may fail and drops it.")


def _only_looks(node: Node) -> bool:
    """Whether the elements of its first argument make no difference to a node."""
    return (node.target if node.op == "call_method" else getattr(node.target, "name", "")) in LOOKING


def _is_item_of(node: Node, needed: set[Node]) -> bool:
    """Whether it only takes one of the results of a call that is made anyway."""
    owner = node.args[0] if node.target is operator.getitem else None
    return owner in needed and not isinstance(owner.meta["val"], TensorBase)


class Before:
    """The tensors that a graph writes to, and the position in the random stream, as they were before it ran."""

    def __init__(self, tensors: Sequence[TensorBase]) -> None:
        self.position = default_generator.position()
        self.tensors = [(x, dict(vars(x)), x.storage.version) for x in _with_bases(tensors)]
        memories = {id(x.storage.memory): x.storage.memory for x in tensors}
        self.contents = [(memory, memory.buffer.copy(), memory.version) for memory in memories.values()]

    def restore(self) -> None:
        """As if the graph had not run."""
        default_generator.set_position(*self.position)
        for memory, content, version in self.contents:
            memory.buffer[...] = content
            memory.version = version
        for x, attributes, version in self.tensors:
            vars(x).clear()
            vars(x).update(attributes)
            x.storage.version = version


def _with_bases(tensors: Sequence[TensorBase]) -> list[TensorBase]:
    """A write to a view gives its base a new history."""
    return [*tensors, *(x.base for x in tensors if x.base is not None)]


def run_plainly(error: Exception, before: Before | None, plain: Callable[..., Any], *arguments: Any) -> Any:
    """The graph raised: the plain function raises at its own line, after what it did before, or handles the error."""
    if before is not None:
        before.restore()
    return plain(*arguments)


def raise_as_plain(error: Exception, before: Before | None, plain: Callable[..., Any], *arguments: Any) -> None:
    """The same where the program has no handler. If the plain function succeeds, the compiled graph is wrong."""
    run_plainly(error, before, plain, *arguments)
    raise error


def guarded_call(output: OutputGraph, codegen: Codegen, call: str, arguments: Sequence[str]) -> list[str]:
    """The statements that call the graph and, if it raises, run the plain function with these arguments."""
    nodes = list(output.graph.nodes)
    failing = failing_nodes(output)
    changes = bool(output.written_inputs) or any(map(is_random, nodes))
    if changes and not failing:
        return [call]  # nothing in it depends on the data
    lines, before = [], "None"
    if changes:
        before = output.names.fresh("before")
        lines = [f"{before} = {codegen.constant(Before, 'Before')}({_written_first(output, codegen)})"]
    failure = output.names.fresh("failure")
    handler = run_plainly if any(node.meta.get("handled") for node in failing) else raise_as_plain
    again = f"{codegen.constant(handler, handler.__name__)}({', '.join([failure, before, 'plain', *arguments])})"
    lines += [f"{failure} = None", "try:", f"    {call}", "except Exception as error:", f"    {failure} = error"]
    return [*lines, f"if {failure} is not None:", f"    return {again}"]


def _written_first(output: OutputGraph, codegen: Codegen) -> str:
    """The tensors from outside to keep copies of: those that are written to before the failure.

    Backends that don't run the nodes in order write to arguments last of all.
    """
    first = [v for v in output.written_inputs if v.fake.storage in output.fakes.written_first]
    names = [codegen.read(variable.source) for variable in first if variable.source is not None]
    return f"({', '.join(names)},)" if names else "()"
