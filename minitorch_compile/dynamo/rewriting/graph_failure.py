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

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.errors import UnexpectedData, Unsupported
from minitorch_compile.dynamo.fakes.fallible_operations import failing_nodes, unneeded_failing_nodes
from minitorch_compile.dynamo.fakes.graph_steps import confinement
from minitorch_compile.fx import Node
from minitorch_compile.fx.effects import is_random
from minitorch_compile.tensor.random.generator import default_generator
from minitorch_compile.tensor.tensor_base import TensorBase, kept_by

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.output_graph import OutputGraph
    from minitorch_compile.dynamo.rewriting.codegen import Codegen


def check_unneeded(output: OutputGraph, results: Sequence[Node]) -> None:
    """Breaks where a value that is only computed for its error can't be an output of the graph."""
    if output.has_steps and any(confinement(n.meta["val"]) for n in unneeded_failing_nodes(output.graph, results)):
        raise Unsupported("unrebuildable-value", "a transform computes something that may fail and drops it.")


class Before:
    """The tensors that a graph writes to, and the position in the random stream, as they were before it ran."""

    def __init__(self, tensors: Sequence[TensorBase]) -> None:
        self.position = default_generator.position()
        self.tensors = [(x, dict(kept_by(x)), x.storage.version) for x in _with_bases(tensors)]
        memories = [*{id(x.storage.memory): x.storage.memory for x in tensors}.values()]
        self.contents = [(memory, content, memory.version) for memory, content in zip(memories, _copied(memories))]

    def restore(self) -> None:
        """As if the graph had not run."""
        default_generator.set_position(*self.position)
        for memory, content, version in self.contents:
            if memory.buffer is None:
                memory.block.take(0, content, 0, memory.nbytes)
            else:
                memory.buffer[...] = content
            memory.version = version
        for x, attributes, version in self.tensors:
            kept_by(x).clear()
            kept_by(x).update(attributes)
            x.storage.version = version


def _copied(memories: Sequence[Any]) -> list[Any]:
    """What lies in each memory: an array, or, of a device's, a block there. Blocks of one device are copied at once."""
    contents = {id(memory): memory.buffer.copy() for memory in memories if memory.buffer is not None}
    devices: dict[Any, list[Any]] = {}
    for memory in memories:
        if memory.buffer is None:
            devices.setdefault(memory.block.device, []).append(memory)
    for there in devices.values():
        blocks = [memory.block for memory in there]
        contents.update(zip(map(id, there), blocks[0].copies(blocks)))
    return [contents[id(memory)] for memory in memories]


def _with_bases(tensors: Sequence[TensorBase]) -> list[TensorBase]:
    """A write to a view gives its base a new history."""
    return [*tensors, *(x.base for x in tensors if x.base is not None)]


def run_plainly(error: Exception, before: Before | None, plain: Callable[..., Any], *arguments: Any) -> Any:
    """The graph raised: the plain function raises at its own line, after what it did before, or handles the error."""
    if before is not None:
        before.restore()
    return plain(*arguments)


def raise_as_plain(error: Exception, before: Before | None, plain: Callable[..., Any], *arguments: Any) -> Any:
    """The same where the program has no handler. If the plain function succeeds, the compiled graph is wrong, unless it
    is one for other data."""
    result = run_plainly(error, before, plain, *arguments)
    if isinstance(error, UnexpectedData):
        return result
    raise error


def guarded_call(output: OutputGraph, codegen: Codegen, call: str, arguments: Sequence[str]) -> list[str]:
    """The statements that call the graph and, if it raises, run the plain function with these arguments."""
    nodes = list(output.graph.nodes)
    failing = failing_nodes(output.graph)
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
